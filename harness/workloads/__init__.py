"""Workloads: the script language, and workloads generated from a seed."""

from harness.steps.step import Step
from harness.steps.text import ScriptError, call_step, check_order, parse, render
from harness.workloads.boundary import generate

__all__ = ["ScriptError", "Step", "call_step", "check_order", "generate", "parse", "render"]

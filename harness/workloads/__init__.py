"""Workloads: the script language, and workloads generated from a seed."""

from harness.workloads.boundary import generate
from harness.workloads.script import ScriptError, Step, call_step, check_order, parse, render

__all__ = ["ScriptError", "Step", "call_step", "check_order", "generate", "parse", "render"]

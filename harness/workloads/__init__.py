"""Workloads: what clients do, as vocabularies of steps, and steps generated from a seed."""

from harness.steps.step import Step
from harness.steps.text import ScriptError, check_order, parse, render
from harness.workloads.boundary import generate
from harness.workloads.boundary_steps import BoundarySteps
from harness.workloads.boundary_text import call_step

__all__ = [
    "BoundarySteps",
    "ScriptError",
    "Step",
    "call_step",
    "check_order",
    "generate",
    "parse",
    "render",
]

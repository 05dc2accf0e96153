"""Hypothesis state machines that own a simulated world, and the way back to a failing one."""

from harness.history.outcome import Outcome, definitely_not, done, unknown
from harness.steps.explore import explore, play
from harness.steps.machine import SimulatedMachine, Violated, step
from harness.steps.machine_program import Step

__all__ = [
    "Outcome",
    "SimulatedMachine",
    "Step",
    "Violated",
    "definitely_not",
    "done",
    "explore",
    "play",
    "step",
    "unknown",
]

"""Hypothesis state machines that own a simulated world, and the way back to a failing one."""

from harness.state_machines.machine import SimulatedMachine, Violated, step
from harness.state_machines.outcome import Outcome, definitely_not, done, unknown

__all__ = [
    "Outcome",
    "SimulatedMachine",
    "Violated",
    "definitely_not",
    "done",
    "step",
    "unknown",
]

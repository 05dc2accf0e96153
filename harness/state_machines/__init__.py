"""Hypothesis state machines that own a simulated world, and the way back to a failing one."""

from harness.state_machines.explore import explore, play
from harness.state_machines.machine import SimulatedMachine, Violated, step
from harness.state_machines.outcome import Outcome, definitely_not, done, unknown
from harness.state_machines.program import Step

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

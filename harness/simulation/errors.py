"""What can go wrong with a simulation itself.

SimulationError
├── Deadlock        nothing can run any more, and somebody still waits
├── StillWaiting    the simulated time allowed has passed, and somebody still waits
├── Runaway         code runs for ever without time passing
├── NodeFailed      the program of a node ended with an exception
├── Diverged        two runs of the same program were not the same
└── Unsupported     simulated code asked for something that would end determinism
"""

from __future__ import annotations


class SimulationError(Exception):
    """A simulation that cannot go on; never a verdict on the system in it."""


class Deadlock(SimulationError):
    """Nothing can run any more; the message says who waits for what."""


class StillWaiting(SimulationError):
    """Something took more simulated time than it was given; the message says who waits."""


class Runaway(SimulationError):
    """Time does not pass; the message says what keeps running."""


class NodeFailed(SimulationError):
    """The program of a node ended with an exception, which is the cause of this one."""


class Diverged(SimulationError):
    """The same program and seed gave something else; the message names the first difference."""


class Unsupported(SimulationError):
    """Threads, real sockets, signals: not in here."""

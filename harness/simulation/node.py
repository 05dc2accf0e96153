"""A node: a machine with a disk and clocks, and the program that is started on it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from harness.simulation.clock import NodeClock
from harness.simulation.disk import SimDisk
from harness.simulation.process import Process
from reference_impl.ports import Ports

Program = Callable[[Ports], Coroutine[Any, Any, None]]

LOG_LINES = 1000  # kept of each node


@dataclass(slots=True, kw_only=True, eq=False)
class Node:
    """One machine. Its disk and clocks outlive its processes; ``number`` names it in histories."""

    name: str
    number: int
    program: Program
    disk: SimDisk
    clock: NodeClock
    lives: int = 0
    process: Process | None = None
    main: asyncio.Task[None] | None = None
    stopping: bool = False  # its program was asked to end
    log_lines: deque[str] = field(default_factory=lambda: deque(maxlen=LOG_LINES))

    @property
    def up(self) -> bool:
        """Whether a process of it is alive, running or paused."""
        return self.process is not None and self.process.alive

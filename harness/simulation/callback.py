"""What the loop runs, and what it asks of a network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any, Protocol

from harness.simulation.clock import NS
from harness.simulation.process import Process


class Fabric(Protocol):
    """The network behind the loop's connections and servers."""

    async def connect(self, factory: Callable[[], Any], host: str, port: int) -> tuple[Any, Any]:
        """A transport and its protocol, once the other side has accepted."""
        ...

    def listen(self, factory: Callable[[], Any], host: str, port: int) -> asyncio.AbstractServer:
        """Somebody who accepts connections there."""
        ...


class Callback(asyncio.TimerHandle):
    """Something to run, and whose it is. Shares the parent's interface, none of its parts."""

    __slots__ = ("args", "function", "off", "process", "when_ns", "where")

    def __init__(
        self,
        function: Callable[..., object],
        args: tuple[Any, ...],
        where: Context,
        process: Process | None,
        when_ns: int,
    ) -> None:
        self.function = function
        self.args = args
        self.where = where
        self.process = process
        self.when_ns = when_ns
        self.off = False

    def cancel(self) -> None:
        """Never run it; let go of what it would have touched."""
        self.off = True
        self.function, self.args = _nothing, ()

    def cancelled(self) -> bool:
        """Whether somebody cancelled it."""
        return self.off

    def when(self) -> float:
        """The moment, in seconds of simulated time."""
        return self.when_ns / NS

    def __repr__(self) -> str:
        return f"<{self.function!r} at {self.when():.6f} s>"


def _nothing() -> None:
    pass

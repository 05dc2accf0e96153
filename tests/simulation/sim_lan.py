"""A few hosts on a simulated network, and protocols that write down what they are told."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.simulation.clock import NS, NodeClock
from harness.simulation.loop import SimLoop
from harness.simulation.network import SimNetwork
from harness.simulation.process import Process, current_process

Result = TypeVar("Result")

PORT = 9092


class Told(asyncio.Protocol):
    """Writes down what happens to its connection, and in whose name it was told."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.data = bytearray()
        self.pieces: list[bytes] = []
        self.story: list[str] = []
        self.by: list[str | None] = []
        self.keeps_open = True
        self.held_back = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._tell("made")

    def data_received(self, data: bytes) -> None:
        self.data += data
        self.pieces.append(data)
        self._tell("data")

    def eof_received(self) -> bool:
        self._tell("end")
        return self.keeps_open

    def connection_lost(self, exc: Exception | None) -> None:
        self._tell("closed" if exc is None else type(exc).__name__)

    def pause_writing(self) -> None:
        assert not self.held_back
        self.held_back = True

    def resume_writing(self) -> None:
        assert self.held_back
        self.held_back = False

    @property
    def last(self) -> str:
        return self.story[-1]

    def _tell(self, what: str) -> None:
        process = current_process()
        self.by.append(None if process is None else process.name)
        if what != "data" or self.story[-1] != "data":
            self.story.append(what)


class Lan:
    """Hosts `a`, `b` and `c`, each with a process."""

    def __init__(self, seed: int = 1) -> None:
        self.loop = SimLoop(random.Random(seed))
        self.network = SimNetwork(self.loop, random.Random(seed + 1))
        self.loop.fabric = self.network
        self.processes: dict[str, Process] = {}
        for name in "abc":
            self.start(name)

    def start(self, name: str) -> Process:
        self.network.add_host(name)
        self.network.host_up(name)
        process = self.processes[name] = Process(name, NodeClock(lambda: self.loop.now_ns))
        self.loop.processes.append(process)
        return process

    def begin(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Code of a host, which runs while time passes; `lab` is a host too."""
        context = self.processes[name].context.copy() if name != "lab" else None
        return self.loop.create_task(work, context=context)

    def run(self, name: str, work: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(self.begin(name, work))

    def serve(self, name: str, port: int = PORT) -> list[Told]:
        """Whoever connects, as its other side sees it."""
        accepted: list[Told] = []

        def factory() -> Told:
            accepted.append(Told())
            return accepted[-1]

        self.run(name, self.loop.create_server(factory, name, port))
        return accepted

    def connect(self, source: str, target: str, port: int = PORT) -> Told:
        transport, told = self.run(source, self.loop.create_connection(Told, target, port))
        assert told.transport is transport
        return told  # type: ignore[no-any-return]

    def pair(self, source: str = "a", target: str = "b") -> tuple[Told, Told]:
        """A connection that is open at both sides."""
        accepted = self.serve(target)
        client = self.connect(source, target)
        self.wait(0.01)
        return client, accepted[-1]

    def wait(self, seconds: float) -> None:
        self.loop.run_for(round(seconds * NS))

    def uncaught(self) -> list[dict[str, Any]]:
        """What nobody caught so far; forgotten with this."""
        errors, self.loop.errors = self.loop.errors, []
        return errors

    def seconds(self) -> float:
        return self.loop.now_ns / NS

    def pause(self, name: str) -> None:
        self.processes[name].paused = True

    def resume(self, name: str) -> None:
        self.processes[name].paused = False
        self.loop.unpark(self.processes[name])

    def kill(self, name: str) -> None:
        process = self.processes[name]
        process.alive = False
        self.network.process_killed(process)
        process.end()

    def lose_power(self, name: str) -> None:
        self.processes[name].alive = False
        self.network.power_lost(name)
        self.processes[name].end()

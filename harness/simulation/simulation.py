"""A cluster in one process: nodes, what connects them, and time that passes when told to.

    with Simulation(seed=7) as sim:
        sim.add("n1", program)
        sim.add("n2", program)
        sim.run(client(sim.lab))     # until it is done
        cut = sim.levers.cut("n1", "n2")
        sim.advance(30)              # seconds, which take as long as what happens in them
        cut.release()

A program is an ``async`` function that gets its ports and runs until it returns or dies. Nothing in
it can tell that the network, the disk, the object store, the database and the clocks are not real.
All chance comes from the seed, in streams of their own: that a fault draws a number does not change
the delays of the network.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextvars import Context
from dataclasses import asdict
from types import TracebackType
from typing import Any, Literal, TypeVar

from harness.simulation.clock import EPOCH_MS, NS, NodeClock
from harness.simulation.disk import SimDisk
from harness.simulation.errors import NodeFailed
from harness.simulation.gate import Effects, SimGate
from harness.simulation.levers import SimLevers
from harness.simulation.loop import SimLoop
from harness.simulation.network import SimNetwork
from harness.simulation.node import Node, Program
from harness.simulation.object_store import SimObjectStore
from harness.simulation.observer import NodeTrace, Observer, Unobserved
from harness.simulation.process import Process
from harness.simulation.workers import SimWorkers
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import ControlPlane, Gate, Network, Ports
from reference_impl.ports.disk import GatedDisk
from reference_impl.ports.network import GatedNetwork
from reference_impl.ports.object_store import GatedObjectStore

Result = TypeVar("Result")

PATIENCE_S = 3600.0  # of simulated time: whoever waits longer waits for ever


class Simulation:
    """Everything that is simulated together, from one seed."""

    def __init__(
        self,
        seed: int,
        *,
        observer: Observer | None = None,
        control_plane: Callable[[str, Gate], ControlPlane] | None = None,
        forgiving: bool = False,
    ) -> None:
        """With ``forgiving`` a node may end by itself (``exits``) or leave an error uncaught
        (``uncaught``), as processes may; otherwise either is raised where time passes."""
        self.seed = seed
        self.observer = observer or Unobserved()
        # What SimLoop leaves out of an event loop raises NotImplementedError when it is asked for.
        self.loop = SimLoop(self.chance("order"))  # type: ignore[abstract]
        self.network = SimNetwork(self.loop, self.chance("network"))
        self.loop.fabric = self.network
        self.store = SimObjectStore(self.chance("object store"))
        self.registers = Registers()
        self.nodes: dict[str, Node] = {}
        self.lab: Network = StreamNetwork()
        self.effects = Effects(self.loop, self.chance("effects"), kill=self._kill_here)
        self.levers = SimLevers(self)
        self._control_plane = control_plane or self._memory_control_plane
        self._outside = Context()
        self._failed: list[tuple[str, BaseException]] = []
        self._forgiving = forgiving
        self.exits: list[str] = []  # nodes that ended by themselves, in order
        self.uncaught: list[str] = []

    def chance(self, stream: str) -> random.Random:
        """A stream of chance of its own."""
        return random.Random(f"{self.seed}/{stream}")

    # Time.

    @property
    def now_ns(self) -> int:
        """The true time, since the simulation began."""
        return self.loop.now_ns

    @property
    def now_ms(self) -> int:
        """The time of day, as a node's clock shows it that nobody has shifted."""
        return EPOCH_MS + self.now_ns // 1_000_000

    def run(self, work: Coroutine[Any, Any, Result], *, within_s: float = PATIENCE_S) -> Result:
        """Run the lab's own code until it is done, and the nodes with it."""
        try:
            return self.loop.run_within(work, limit_ns=int(within_s * NS))
        finally:
            self._complain()

    def run_until(self, reached: Callable[[], bool], *, within_s: float = PATIENCE_S) -> None:
        """Run until it is so, as asked after everything that happens."""
        try:
            self.loop.run_until(reached, limit_ns=int(within_s * NS))
        finally:
            self._complain()

    def advance(self, seconds: float) -> None:
        """Let this much simulated time pass."""
        self.loop.run_for(int(seconds * NS))
        self._complain()

    def spawn(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Code of the lab that goes on while time passes."""
        return self.loop.create_task(work, context=self._outside.copy())

    # Nodes.

    def add(
        self, name: str, program: Program, *, start: bool = True, number: int | None = None
    ) -> Node:
        """A new machine with an empty disk, and its program on it."""
        if name in self.nodes:
            raise ValueError(f"there is a node {name!r} already")
        node = Node(
            name=name,
            number=len(self.nodes) + 1 if number is None else number,
            program=program,
            disk=SimDisk(self.chance(f"disk of {name}")),
            clock=NodeClock(lambda: self.loop.now_ns),
        )
        self.nodes[name] = node
        self.network.add_host(name)
        if start:
            self.start(name)
        return node

    def start(self, name: str) -> None:
        """Start the program of a node that is down, on the disk as it is."""
        node = self.nodes[name]
        if node.up:
            raise ValueError(f"{name} is up already")
        node.lives += 1
        node.stopping = False
        node.process = process = Process(name, node.clock, node.lives)
        self.network.host_up(name)
        self.loop.processes.append(process)
        node.main = self.loop.create_task(
            node.program(self._ports(node, process)),
            name=f"the program of {name}",
            context=process.context.copy(),
        )
        node.main.add_done_callback(
            lambda main: self._exited(process, main), context=self._outside.copy()
        )

    def kill(self, name: str) -> dict[str, int]:
        """`kill -9`: the process is gone; the kernel of its machine closes what it had open."""
        node, process = self._running(name)
        process.alive = False
        self.network.process_killed(process)
        node.disk.kill()
        return self._end(node, process)

    def lose_power(self, name: str, *, lose: Literal["some", "all"] = "some") -> dict[str, int]:
        """The machine goes dark without a word, and forgets what was not synced."""
        node, process = self._running(name)
        process.alive = False
        self.network.power_lost(name)
        loss = node.disk.lose_power(lose=lose)
        return {**self._end(node, process), **asdict(loss)}

    def pause(self, name: str) -> Process:
        """The process stands still, and will not know it."""
        _, process = self._running(name)
        process.paused = True
        return process

    def resume(self, process: Process) -> None:
        """A process that stood still goes on, unless it is dead by now."""
        process.paused = False
        self.loop.unpark(process)

    def _running(self, name: str) -> tuple[Node, Process]:
        node = self.nodes[name]
        if node.process is None:
            raise ValueError(f"{name} is down")
        return node, node.process

    def _end(self, node: Node, process: Process) -> dict[str, int]:
        node.process = node.main = None
        self.loop.processes.remove(process)
        self.effects.process_ended(process)
        tasks_ended = process.end()
        return {"processes_ended": int(process.ended), "tasks_ended": tasks_ended}

    def close(self) -> None:
        """End everything; may be called again."""
        self.loop.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ports(self, node: Node, process: Process) -> Ports:
        trace = NodeTrace(self.observer, node.number)
        gate = SimGate(self.effects, process, trace, node.disk)
        return Ports(
            name=node.name,
            network=GatedNetwork(StreamNetwork(), gate),
            disk=GatedDisk(node.disk, gate),
            object_store=GatedObjectStore(self.store, gate),
            control_plane=self._control_plane(node.name, gate),
            clock=node.clock,
            rng=self.chance(f"life {node.lives} of {node.name}"),
            workers=SimWorkers(),
            write_log_line=node.log_lines.append,
        )

    def _memory_control_plane(self, node: str, gate: Gate) -> ControlPlane:
        return MemoryControlPlane(self.registers, gate=gate)

    def _kill_here(self, process: Process) -> None:
        """A process is to die in the middle of an effect: at once, but not by its own hand."""
        process.alive = False
        self.loop.call_soon(self._buried, process, context=self._outside.copy())

    def _buried(self, process: Process) -> None:
        if self.nodes[process.name].process is process:
            self.kill(process.name)

    def _exited(self, process: Process, main: asyncio.Task[None]) -> None:
        """The program of a node returned or raised: its process is over."""
        node = self.nodes[process.name]
        if node.process is not process or not process.alive:
            return
        error = None if main.cancelled() else main.exception()
        if not node.stopping:
            self.exits.append(node.name)
        if error is not None:
            self._failed.append((node.name, error))
        self.kill(node.name)

    def _complain(self) -> None:
        """What no code caught is nobody's expected result."""
        if self._forgiving:
            self.uncaught += [repr(one.get("exception")) for one in self.loop.errors]
            self._failed.clear()
            self.loop.errors.clear()
            return
        if self._failed:
            name, error = self._failed.pop(0)
            raise NodeFailed(f"the program of {name} ended with {error!r}") from error
        if self.loop.errors:
            context = self.loop.errors.pop(0)
            uncaught = context.get("exception")
            raise NodeFailed(f"nobody caught {uncaught!r}: {context.get('message')}") from uncaught

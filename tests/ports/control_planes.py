"""Control planes to be held to the contract of their port, and the troubles they can get into.

In memory a trouble is played at the gate. In a simulation it is a condition of the network between
simulated nodes and the registers, and a caller that is killed is a node that dies. On PostgreSQL it
is a real one: a proxy refuses connections or swallows a reply that the database has sent, the
schema is gone, a trigger raises the error of a conflict or of a full disk. The contract is that a
caller cannot tell which it was.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from harness.processes.database import Database
from harness.proxies.postgres import PostgresProxy, Upstream
from harness.proxies.thread import LOOPBACK
from harness.simulation.gate import Condition
from harness.simulation.process import Process
from harness.simulation.simulation import Simulation
from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.memory import MemoryControlPlane, Registers
from reference_impl.control_plane.postgres import PostgresControlPlane, rows
from reference_impl.ports import ControlPlane, Ports
from reference_impl.ports.control_plane import AnswerT, PartitionAnswer, Request
from reference_impl.ports.effects import Effect, Gate, Result, TracingGate, Trouble

# What PostgreSQL calls each trouble that a trigger can raise.
CONDITIONS = {
    Trouble.CONFLICT: "serialization_failure",
    Trouble.FULL: "disk_full",
    Trouble.CANCELLED: "query_canceled",
    Trouble.LOCKED: "lock_not_available",
    Trouble.SEVERED: "connection_failure",
    Trouble.UNREADY: "object_not_in_prerequisite_state",
}

Returned = TypeVar("Returned")
Row = dict[str, object]


class Seen(NamedTuple):
    """One effect, as a gate reported it."""

    number: int
    port: str
    call: str
    args: Mapping[str, object]
    outcome: str


class Watch(Protocol):
    """What a test sees of the gate of a node, and does to it."""

    seen: list[Seen]

    def stop_before(self, number: int) -> None:
        """This effect is not carried out before `go_on`."""

    async def stopped(self) -> None:
        """Return once that effect waits."""

    def go_on(self) -> None:
        """Let it pass."""


class WatchedGate:
    """Remembers what it traced; can keep one effect waiting, and play a trouble."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.trouble: Trouble | None = None
        self._numbered = TracingGate(self)
        self._stops_at = 0
        self._stopped, self._goes_on = asyncio.Event(), asyncio.Event()

    def effect(self, **reported: Any) -> None:
        self.seen.append(Seen(**reported))

    async def run(self, effect: Effect[Result]) -> Result:
        async def do() -> Result:
            return await self._do(effect, self._numbered.count)  # it has counted this one

        return await self._numbered.run(replace(effect, do=do))

    def stop_before(self, number: int) -> None:
        """This effect is not carried out before `go_on`."""
        self._stops_at = number

    async def stopped(self) -> None:
        """Return once that effect waits."""
        await self._stopped.wait()

    def go_on(self) -> None:
        self._goes_on.set()

    async def _do(self, effect: Effect[Result], number: int) -> Result:
        if number == self._stops_at:
            self._stopped.set()
            await self._goes_on.wait()
        if self.trouble is None:
            return await effect.do()
        if self.trouble is Trouble.LOST:
            await effect.do()
        return effect.failed(self.trouble)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node's port, and the gate it passes."""

    plane: ControlPlane
    gate: Watch

    async def ask(self, f: str, *, partition: int = 0, **arguments: Any) -> Any:
        """How one partition of the topic `t` answers."""
        where = {"topic": "t", "partition": partition}
        answer = await self.plane.call(request_of({"f": f, **where, **arguments}))
        return answer.partitions[0]


class Subject(Protocol):
    """A control plane under test: nodes on one database."""

    def node(self) -> Node:
        """Another node of the same database."""

    def meeting(self, node: Node, trouble: Trouble) -> Any:
        """A context in which the transactions of a node meet this trouble."""

    async def kill(self, node: Node, call: asyncio.Task[PartitionAnswer]) -> None:
        """Kill a node in the middle of this call of it; what has not left never will."""

    def rows(self) -> list[Row]:
        """All that is stored, not through the port."""

    def run(self, story: Coroutine[Any, Any, Returned]) -> Returned:
        """Run a coroutine to its end, where the nodes live."""

    def close(self) -> None:
        """Let go of everything."""


class _OnRealLoop:
    """Runs stories on an ordinary event loop; one that waits for ever fails."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, story: Coroutine[Any, Any, Returned]) -> Returned:
        return self._runner.run(asyncio.wait_for(story, timeout=20))

    async def kill(self, node: Node, call: asyncio.Task[PartitionAnswer]) -> None:
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    def close(self) -> None:
        self._runner.close()


class InMemory(_OnRealLoop):
    """Registers in memory; troubles are played at the gates."""

    def __init__(self) -> None:
        super().__init__()
        self._registers = Registers()
        self.rows = self._registers.rows

    def node(self) -> Node:
        gate = WatchedGate()
        return Node(plane=MemoryControlPlane(self._registers, gate=gate), gate=gate)

    @contextmanager
    def meeting(self, node: Node, trouble: Trouble) -> Iterator[None]:
        assert isinstance(node.gate, WatchedGate)
        node.gate.trouble = trouble
        try:
            yield
        finally:
            node.gate.trouble = None


class Simulated:
    """The nodes of a simulation, whose gates let things happen to what they ask."""

    def __init__(self) -> None:
        self._sim = Simulation(3, observer=self, control_plane=self._plane)
        self._planes: dict[str, ControlPlane] = {}
        self._gates: list[HoldingGate] = []
        self.rows = self._sim.registers.rows
        self.run = self._sim.run
        self.close = self._sim.close

    def node(self) -> Node:
        gate = HoldingGate(self._sim, f"n{len(self._gates) + 1}")
        self._gates.append(gate)
        self._sim.add(gate.name, _idle)
        process = self._sim.nodes[gate.name].process
        assert process is not None
        return Node(plane=_InNode(self._sim, process, self._planes[gate.name]), gate=gate)

    @contextmanager
    def meeting(self, node: Node, trouble: Trouble) -> Iterator[None]:
        assert isinstance(node.gate, HoldingGate)
        lost = trouble is Trouble.LOST
        condition = Condition(
            port="control_plane",
            node=node.gate.name,
            trouble=None if lost else trouble,
            loses_replies=lost,
        )
        self._sim.effects.conditions.append(condition)
        try:
            yield
        finally:
            self._sim.effects.conditions.remove(condition)

    async def kill(self, node: Node, call: asyncio.Task[PartitionAnswer]) -> None:
        assert isinstance(node.gate, HoldingGate)
        self._sim.kill(node.gate.name)
        node.gate.drop()
        await asyncio.sleep(60)
        assert not call.done()

    def effect(self, node: int, **reported: Any) -> None:
        self._gates[node - 1].seen.append(Seen(**reported))

    def _plane(self, node: str, gate: Gate) -> ControlPlane:
        plane = MemoryControlPlane(self._sim.registers, gate=gate)
        self._planes[node] = plane
        return plane


class HoldingGate:
    """The gate of a simulated node, through its simulation."""

    def __init__(self, sim: Simulation, name: str) -> None:
        self.name = name
        self.seen: list[Seen] = []
        self._effects = sim.effects
        self._hold = Condition(port="control_plane", node=name, holds=True, left=0)

    def stop_before(self, number: int) -> None:
        self._hold.left = number - self._effects.counts[self.name]
        self._effects.conditions.append(self._hold)

    async def stopped(self) -> None:
        while True:
            while not self._hold.held:
                await asyncio.sleep(0.001)  # of simulated time
            if self._hold.left == 0:
                return
            self._hold.release()

    def go_on(self) -> None:
        self._hold.release()

    def drop(self) -> None:
        self._hold.drop()


class _InNode:
    """The control plane of a simulated node, called by that node."""

    def __init__(self, sim: Simulation, process: Process, plane: ControlPlane) -> None:
        self._sim = sim
        self._context = process.context
        self._plane = plane
        self.close = plane.close

    async def call(self, request: Request[Any, AnswerT]) -> AnswerT:
        call = self._plane.call(request)
        return await self._sim.loop.create_task(call, context=self._context.copy())


async def _idle(ports: Ports) -> None:
    await asyncio.get_running_loop().create_future()


class OnPostgres(_OnRealLoop):
    """A real database, with a proxy in front of each node."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._proxy = PostgresProxy(Upstream(host=LOOPBACK, port=database.port))
        self._nodes: list[Node] = []
        self._execute("DELETE FROM logs")
        self._execute("DELETE FROM topics")

    def node(self) -> Node:
        port = self._proxy.way(str(len(self._nodes)))
        dsn = make_conninfo(self._database.dsn, port=port, sslmode="disable", gssencmode="disable")
        gate = WatchedGate()
        node = Node(plane=PostgresControlPlane(dsn, gate=gate), gate=gate)
        self._nodes.append(node)
        return node

    @contextmanager
    def meeting(self, node: Node, trouble: Trouble) -> Iterator[None]:
        caller = str(self._nodes.index(node))
        pull = {
            Trouble.REFUSED: self._proxy.refuse,
            Trouble.LOST: self._proxy.lose_replies,
        }.get(trouble)
        if pull is not None:
            lever = pull(caller)
            try:
                yield
            finally:
                self._proxy.thread.order(lever.release())
            return
        condition = CONDITIONS.get(trouble)
        self._database.hide(True) if condition is None else self._raise(condition)
        try:
            yield
        finally:
            self._database.hide(False) if condition is None else self._raise_no_more()

    def _raise(self, condition: str) -> None:
        self._execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$BEGIN RAISE {condition}; END$$"
        )
        self._execute("CREATE TRIGGER fail BEFORE UPDATE ON logs EXECUTE FUNCTION fail()")

    def _raise_no_more(self) -> None:
        self._execute("DROP FUNCTION fail CASCADE")

    def rows(self) -> list[Row]:
        return rows(self._database.dsn)

    def close(self) -> None:
        for node in self._nodes:
            self.run(node.plane.close())
        self._proxy.close()
        super().close()

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self._database.dsn, autocommit=True) as connection:
            connection.execute(statement.encode())


@functools.cache
def _database() -> Database:
    database = Database(schema_upto=None, mutants=())
    atexit.register(database.close)
    return database


@contextmanager
def opened(name: str) -> Iterator[Subject]:
    """The control plane of that name: memory, simulated, postgres."""
    found: Subject
    if name == "postgres":
        found = OnPostgres(_database())
    else:
        found = InMemory() if name == "memory" else Simulated()
    try:
        yield found
    finally:
        found.close()

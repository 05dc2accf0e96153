"""One whole transaction, with something done to one of its effects, or to two of them.

A producer begins, writes to two partitions that different brokers lead, commits an offset, and ends
its transaction; before that one was aborted. A *point* is an act on the n-th effect of a node,
counted from there. What it hit is mended a while later, so that two points of two brokers take the
majority away for that long and no longer. In the end every node is up, and then: nothing is open,
nothing is lost or there twice, both coordinators answer, and the id can be used again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clients.admin import create_topic
from harness.clients.raw import RawClient
from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.levers import has_acted
from harness.simulation.gate import Act
from harness.simulation.lever import SimLever
from harness.simulation.simulation import Simulation
from harness.simulation.sweep import ALL_ACTS, Point
from tests.coordinators.transaction_bench import TOPIC
from tests.coordinators.transaction_ledger import Ledger
from tests.coordinators.transaction_trial import (
    FOLLOWERS_S,
    SETTINGS,
    committed_offset,
    stable_end,
    until,
)
from tests.coordinators.transactor import Brokers, Stopped, Transactor, read_committed

PLAN = DeploymentPlan(brokers=3, properties=SETTINGS)
ID = "x"
MENDED_AFTER_S = 5.0  # longer than the session of a broker
PATIENCE_S = 20.0  # of clients: for two points, one after the other
TIMEOUT_MS = 30_000  # of transactions, so that none is aborted while its producer is patient
REST_S = TIMEOUT_MS / 1000 + 12.0  # in which nothing may be open any more
KILLS = (Act.KILL, Act.KILL_AFTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What came of one run: the effects of each node, whether all points were reached, and what
    was wrong."""

    effects: dict[str, int]
    reached: bool
    problems: tuple[str, ...]


def transacted(points: Sequence[Point], *, end: str, protocol: int = 2, seed: int = 0) -> Swept:
    """Play the transaction with these points."""
    with Simulation(seed, forgiving=True) as sim:
        return _Transacting(sim, end, protocol).play(points)


class _Transacting:
    """The scenario in one simulation."""

    def __init__(self, sim: Simulation, end: str, protocol: int) -> None:
        self.sim = sim
        self.end = end
        self.ledger = Ledger()
        self.problems = self.ledger.findings
        self._mended: dict[Point, None] = {}
        cluster = SimulatedCluster(sim, PLAN)
        cluster.settle()
        client = RawClient(sim.lab, cluster.address(1))
        sim.run(create_topic(client, TOPIC, assignments=[[1, 2, 3], [2, 3, 1]]))
        self.brokers = Brokers(sim.lab, {one: cluster.address(one) for one in PLAN.broker_ids})
        self.producer = self._producer(protocol)
        sim.run(self._begin())

    def _producer(self, protocol: int) -> Transactor:
        return Transactor(
            ID,
            self.ledger,
            lambda: self.sim.now_ms,
            protocol=protocol,
            timeout_ms=TIMEOUT_MS,
            patience_s=PATIENCE_S,
        )

    async def _begin(self) -> None:
        """Coordinators there are, and an aborted transaction in each log."""
        await self.producer.transact(self.brokers, [0, 1], offset=True, end="abort")
        assert await until(self._nothing_open, REST_S)
        await asyncio.sleep(2.0)

    def play(self, points: Sequence[Point]) -> Swept:
        before = dict(self.sim.effects.counts)
        levers = [
            self.sim.levers.at_effect(one.node, before[one.node] + one.effect, one.act)
            for one in points
        ]
        self.sim.run(self._transact(list(zip(points, levers, strict=True))))
        self.sim.advance(1.0)  # its markers are written
        effects = {name: count - before[name] for name, count in self.sim.effects.counts.items()}
        reached = all(has_acted(lever.counts) for lever in levers)
        for one, lever in zip(points, levers, strict=True):
            self._mend(one, lever)
        self.sim.run(self._judge())
        self.brokers.close()
        return Swept(effects=effects, reached=reached, problems=tuple(self.problems))

    def _mend(self, point: Point, lever: SimLever) -> None:
        """The lever lets go, and the node is up; a log that was out of service is in service."""
        if point in self._mended:
            return
        self._mended[point] = None
        lever.release()
        if self.sim.nodes[point.node].up and point.act not in KILLS:
            self.sim.kill(point.node)
        if not self.sim.nodes[point.node].up:
            self.sim.start(point.node)

    async def _transact(self, points: Sequence[tuple[Point, SimLever]]) -> None:
        self.producer.ready = False  # so that it begins with InitProducerId
        mending = [asyncio.ensure_future(self._mend_later(*one)) for one in points]
        try:
            await self.producer.transact(self.brokers, [0, 1, 0], offset=True, end=self.end)
        except Stopped as stopped:
            self.problems.append(f"stuck: it cannot {self.end}: {stopped}")
        for one in mending:
            one.cancel()

    async def _mend_later(self, point: Point, lever: SimLever) -> None:
        await lever.acted()
        await asyncio.sleep(MENDED_AFTER_S)
        self._mend(point, lever)

    async def _judge(self) -> None:
        self.brokers.close()  # what is left of connections to those that died
        if not await until(self._nothing_open, REST_S):
            self.problems.append("hangs: a transaction stays open")
        after = self._producer(2)
        try:
            await after.transact(self.brokers, [0, 1], offset=False, end="commit")
        except Stopped as stopped:
            self.problems.append(f"stuck: the id cannot be used again: {stopped}")
        if not await until(self._nothing_open, REST_S):
            self.problems.append("hangs: the next transaction stays open")
        await asyncio.sleep(FOLLOWERS_S)
        logs: dict[int, Any] = {}
        for broker in PLAN.broker_ids:
            try:
                logs = {
                    index: await read_committed(self.brokers, broker, index) for index in (0, 1)
                }
            except ConnectionError as error:
                self.problems.append(f"unread: broker-{broker}: {error}")
                continue
            self.ledger.settled(logs, f"broker-{broker}")
        told = await committed_offset(self.brokers, ID)
        if told is None:
            self.problems.append("stuck: no broker tells the offset")
        else:
            self.ledger.offset_is(ID, told, logs)

    async def _nothing_open(self) -> bool:
        return all([await stable_end(self.brokers, index) for index in (0, 1)])


def all_points(effects: dict[str, int], acts: Sequence[Any] = ALL_ACTS) -> list[Point]:
    """Every act on every effect of the brokers and the controller."""
    return [
        Point(node=node, effect=number, act=act)
        for node in (*PLAN.names, CONTROLLER)
        for number in range(1, effects.get(node, 0) + 1)
        for act in acts
    ]


def pairs_of(points: Sequence[Point], budget: int, seed: int = 0) -> Iterator[tuple[Point, Point]]:
    """So many pairs of acts on different effects, drawn."""
    rng = random.Random(f"{seed}/pairs of a transaction")
    drawn: dict[tuple[Point, Point], None] = {}
    while len(drawn) < budget:
        one, two = rng.sample(points, 2)
        if (one.node, one.effect) != (two.node, two.effect) and (one, two) not in drawn:
            drawn[one, two] = None
            yield one, two


def sentence(points: Sequence[Point], swept: Swept) -> str:
    """What was done, and what came of it."""
    return f"{', '.join(map(str, points))}: {'; '.join(swept.problems)}"

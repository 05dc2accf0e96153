"""Load on a cluster while things befall it, then peace, then the last reads.

Clients go on until they are told to stop: producers that want all replicas, one that is content
with the leader, two idempotent ones, a reader at each broker, askers of offsets and epochs, one who
deletes, one whose batches are damaged. Meanwhile one fault follows the other; after each the
cluster is given time to recover (`at_rest.py`), and what it does is recorded: whether that is
enough the rules say. In the end nobody sends any more, and the log is read from its start to its
end everywhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from conformance.classic.arena import Arena, Heal
from conformance.classic.at_rest import Rest, read_everything
from conformance.classic.offers import ASSUMPTIONS, FAULTS
from harness.clients.admin import Refused, create_topic, leadership
from harness.clients.answers import UnreadableAnswer
from harness.clients.operations import Defect, TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.plan import CONTROLLER, broker_name
from harness.workloads.partition_log import PartitionClients

LASTS_S = 3.0
BETWEEN_S = 1.0
QUIET_S = 2.5  # before the first fault and after the last: what holds only in peace is judged there
BOUND_S = 60.0  # in which a healed cluster has to come to rest, and a request to succeed
CLASSIC = "classic"
IDEMPOTENT = {"i1": 7001, "i2": 7002}
_LOST = (OSError, TimeoutError)


@dataclass(slots=True, kw_only=True)
class Campaign:
    """One campaign on one partition."""

    arena: Arena
    seed: int
    topic: str = "classic"
    faults: tuple[str, ...] = FAULTS
    pace: float = 1.0  # how much longer than usual clients rest
    lasts_s: float = LASTS_S
    bound_s: float = BOUND_S
    progress: Callable[[str], None] = lambda text: None
    clients: PartitionClients = field(init=False)
    _chance: random.Random = field(init=False)
    rest: Rest = field(init=False)
    _resting: bool = False

    def __post_init__(self) -> None:
        self._chance = random.Random(f"{self.seed}/campaign")
        self.clients = PartitionClients(
            network=self.arena.network,
            address=self.arena.address,
            recorder=self.arena.recorder,
            tp=TopicPartition(self.arena.recorder.topic(self.topic), 0),
            recorded_topic=self.topic,
            now_ms=self.arena.now_ms,
        )
        self.rest = Rest(
            clients=self.clients,
            brokers=self.arena.brokers,
            campaign=CLASSIC,
            bound_s=self.bound_s,
            nodes=self.arena.nodes,
        )

    async def run(self) -> None:
        """Play it from the first request to the last read.

        A cluster that does not come to rest, or whose clients make no progress, is hurt no more:
        what it still shows is read.
        """
        phase = self.arena.recorder.phase
        try:
            await self._create()
        except UnreadableAnswer:
            return  # it is recorded, and there is no topic to go on with
        sound = await self._recovers()
        loaded = phase(CLASSIC, "load")
        working = [asyncio.ensure_future(self._work(*one)) for one in self._workers()]
        await asyncio.sleep(QUIET_S)
        if sound:
            chaos = phase(CLASSIC, "chaos")
            sound = await self._suffer()
            chaos()
        await asyncio.sleep(QUIET_S)
        self._resting = True
        for one in working:
            await one
        loaded()
        if sound:
            self.progress("coming to rest")
            self.rest.idempotent = IDEMPOTENT
            await self._recovers()
        await read_everything(self.clients, CLASSIC, self.arena.brokers)

    async def _suffer(self) -> bool:
        """One fault after the other; whether the cluster recovered from each."""
        order = list(self.faults)
        self._chance.shuffle(order)
        for fault in order:
            self.progress(fault)
            self.rest.look_at_nodes()
            # Longer than the fault itself: who was deposed has to find out first.
            resume_assumption = self.arena.recorder.suspend_assumption(ASSUMPTIONS[fault], fault)
            self.arena.recorder.plan_part = f"classic/{fault}"
            heal = await self._inject(fault)
            self.arena.recorder.plan_part = None
            await asyncio.sleep(self.lasts_s)
            await heal()
            if not await self._recovers():
                return False
            resume_assumption()
            await asyncio.sleep(BETWEEN_S)
        return True

    async def _recovers(self) -> bool:
        """Whether the cluster comes to rest, and its clients make progress."""
        resting = await self.rest.converge()
        return await self.rest.progress() and resting

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    def _workers(self) -> list[tuple[float, Callable[[int], Awaitable[object]]]]:
        """How long each client rests between two things it does, and what it does at a broker."""
        clients, brokers = self.clients, self.arena.brokers
        tails = dict.fromkeys(brokers, 0)

        async def follow(broker: int, _: int) -> None:
            before = tails[broker]
            tails[broker] = await clients.read(f"tail-{broker}", broker, before)
            if tails[broker] == before:  # perhaps it was deleted meanwhile
                tails[broker] = max(before, clients.end - 50)

        async def anywhere(by: str, broker: int) -> None:
            await clients.read(by, broker, self._chance.randrange(clients.end + 2))

        async def beyond(by: str, broker: int) -> None:
            await clients.read(by, broker, clients.end + 100_000)

        async def ago(by: str, ask: int) -> None:
            ago_ms = self._chance.randrange(2000)
            await clients.look(by, ask, max(0, self.arena.now_ms() - ago_ms))

        workers: list[tuple[float, Callable[[int], Awaitable[object]]]] = [
            (0.02, lambda ask: clients.send("p1", ask, acks=-1)),
            (0.03, lambda ask: clients.send("p2", ask, acks=-1)),
            (0.10, lambda ask: clients.send("p3", ask, acks=1)),
            (0.02, lambda ask: clients.send_idempotent("i1", ask, producer_id=IDEMPOTENT["i1"])),
            (0.05, lambda ask: clients.send_idempotent("i2", ask, producer_id=IDEMPOTENT["i2"])),
            (0.40, lambda ask: clients.send_defective("torn", ask, Defect.TORN)),
            (0.20, lambda ask: clients.look("latest", ask, -1)),
            (0.30, lambda ask: clients.look("earliest", ask, -2)),
            (0.30, lambda ask: clients.look("max", ask, -3)),
            (0.20, lambda ask: ago("ago", ask)),
            (0.30, lambda ask: clients.ask_epoch_end("epochs", ask, self._chance.randrange(3))),
            (2.00, lambda ask: clients.delete("deleter", ask, max(0, clients.end - 50))),
            (0.50, lambda ask: beyond("beyond", ask)),
            (0.05, lambda ask: anywhere("anywhere", ask)),
        ]
        return workers + [(0.03, partial(follow, broker)) for broker in brokers]

    async def _work(self, rest_s: float, act: Callable[[int], Awaitable[object]]) -> None:
        while not self._resting:
            await act(self._chance.choice(self.arena.brokers))
            await asyncio.sleep(self.pace * rest_s * (0.5 + self._chance.random()))

    # ── faults ───────────────────────────────────────────────────────────────────────────────────

    async def _inject(self, fault: str) -> Heal:
        arena = self.arena
        if fault == "kill-controller":
            return await arena.kill(CONTROLLER)
        leader = await self._leader()
        name = broker_name(leader)
        if fault == "pause-leader":
            return await arena.pause(name, self.clients.stalled)
        if fault == "kill-leader":
            return await arena.kill(name)
        if fault == "cut-off-leader":
            return await arena.cut(name, both=True)
        if fault == "silence-leader":
            return await arena.cut(name, both=False)
        if fault == "reimage-follower":
            follower = self._chance.choice([one for one in arena.brokers if one != leader])
            return await arena.reimage(broker_name(follower))
        raise ValueError(f"there is no fault {fault!r}")

    # ── the cluster ──────────────────────────────────────────────────────────────────────────────

    async def _create(self) -> None:
        brokers = self.arena.brokers
        try:
            await create_topic(
                self._client(brokers[0]),
                self.clients.tp.topic,
                assignments=[list(brokers)],
                configs={"min.insync.replicas": "2" if len(brokers) > 2 else "1"},
            )
        except UnreadableAnswer as nonsense:
            self.clients.heard_nonsense(brokers[0], "create_topics", nonsense)
            raise
        except _LOST:
            raise Refused(f"broker {brokers[0]} does not answer CreateTopics") from None

    async def _leader(self) -> int:
        """Who leads by what a broker says, the first that is asked; it was at rest just now."""
        for broker in self.arena.brokers:
            with suppress(*_LOST):
                seen = await leadership(self._client(broker), self.clients.tp, timeout_s=2.0)
                if seen.leader in self.arena.brokers:
                    return seen.leader
        return self._chance.choice(self.arena.brokers)

    def _client(self, broker: int) -> RawClient:
        return RawClient(self.arena.network, self.arena.address(broker))

"""Load on a cluster while things befall it, then peace, then the last reads.

Clients go on until they are told to stop: producers that want all replicas, one that is content
with the leader, two idempotent ones, a reader at each broker, askers of offsets and epochs, one who
deletes, one whose batches are damaged. Meanwhile one fault follows the other; after each the
cluster has to recover (every replica in sync, in the eyes of every broker). In the end nobody sends
any more, and the log is read from its start to its end everywhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from conformance.classic.arena import Arena, Heal
from harness.clients.admin import create_topic, leadership
from harness.clients.answers import UnreadableAnswer
from harness.clients.operations import Defect, Place
from harness.clients.raw import RawClient
from harness.clusters.plan import CONTROLLER, broker_name
from harness.sut.errors import LabBroken
from harness.workloads.partition_log import PartitionClients

# What befalls the cluster, and which assumption of the catalogue does not hold meanwhile.
ASSUMPTIONS = {
    "pause-leader": "one-leader",
    "kill-leader": "replica-up",
    "cut-off-leader": "one-leader",
    "silence-leader": "one-leader",
    "kill-controller": "one-leader",
    "reimage-follower": "replica-up",
}
FAULTS = tuple(ASSUMPTIONS)
LASTS_S = 3.0
BETWEEN_S = 1.0
QUIET_S = 2.5  # before the first fault and after the last: what holds only in peace is judged there
PATIENCE_S = 90.0
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
    progress: Callable[[str], None] = lambda text: None
    clients: PartitionClients = field(init=False)
    _chance: random.Random = field(init=False)
    _resting: bool = False
    _last_seen: str = ""  # by whoever waits for the cluster to come to rest

    def __post_init__(self) -> None:
        self._chance = random.Random(f"{self.seed}/campaign")
        self.clients = PartitionClients(
            network=self.arena.network,
            address=self.arena.address,
            recorder=self.arena.recorder,
            place=Place(self.arena.recorder.topic(self.topic), 0),
            recorded_topic=self.topic,
            now_ms=self.arena.now_ms,
        )

    async def run(self) -> None:
        """Play it from the first request to the last read."""
        try:
            await self._create()
        except UnreadableAnswer:
            return  # it is recorded, and there is no topic to go on with
        working = [asyncio.ensure_future(self._work(*one)) for one in self._workers()]
        await asyncio.sleep(QUIET_S)
        order = list(self.faults)
        self._chance.shuffle(order)
        for fault in order:
            self.progress(fault)
            # Longer than the fault itself: who was deposed has to find out first.
            judged_again = self.arena.recorder.begin_spending(ASSUMPTIONS[fault], fault)
            heal = await self._inject(fault)
            await asyncio.sleep(self.lasts_s)
            await heal()
            await self._converge()
            judged_again()
            await asyncio.sleep(BETWEEN_S)
        await asyncio.sleep(QUIET_S)
        self._resting = True
        for one in working:
            await one
        self.progress("coming to rest")
        await self._converge()
        for broker in self.arena.brokers:
            await self.clients.read_all("last", broker)

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
            (0.02, lambda ask: clients.send_idempotent("i1", ask, producer_id=7001)),
            (0.05, lambda ask: clients.send_idempotent("i2", ask, producer_id=7002)),
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
                self.clients.place.topic,
                assignments=[list(brokers)],
                configs={"min.insync.replicas": "2" if len(brokers) > 2 else "1"},
            )
        except UnreadableAnswer as nonsense:
            self.clients.heard_nonsense(brokers[0], "create_topics", nonsense)
            raise
        await self._converge()

    async def _leader(self) -> int:
        """Who leads, as soon as a broker knows."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for broker in self.arena.brokers:
                    with suppress(*_LOST):
                        place = self.clients.place
                        seen = await leadership(self._client(broker), place, patience_s=1.0)
                        if seen.leader >= 0:
                            return seen.leader
                await asyncio.sleep(0.1)

    async def _converge(self) -> None:
        """Wait until every broker says that every replica is in sync."""
        place = self.clients.place
        try:
            async with asyncio.timeout(PATIENCE_S):
                for broker in self.arena.brokers:
                    while not await self._all_in_sync(broker, place):
                        await asyncio.sleep(0.1)
        except TimeoutError:
            raise LabBroken(
                f"the cluster did not come to rest within {PATIENCE_S:.0f} s after everything was"
                f" healed: {self._last_seen}; what was recorded until then is kept"
            ) from None

    async def _all_in_sync(self, broker: int, place: Place) -> bool:
        self._last_seen = f"broker {broker} does not answer"
        with suppress(*_LOST):
            seen = await leadership(self._client(broker), place, patience_s=2.0)
            in_sync = ", ".join(map(str, sorted(seen.isr))) or "none"
            self._last_seen = f"broker {broker} names {seen.leader} leader and {in_sync} in sync"
            return seen.leader >= 0 and len(seen.isr) == len(self.arena.brokers)
        return False

    def _client(self, broker: int) -> RawClient:
        return RawClient(self.arena.network, self.arena.address(broker))

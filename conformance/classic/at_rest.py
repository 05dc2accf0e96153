"""Waiting for a cluster to come to rest, and for its clients to make progress.

A cluster is at rest when all brokers answer and name the same leader in the same epoch, with every
one of them that is a replica in sync. Every look is recorded, so that rules can say what was seen
last when the bound is over. Progress is one request of each kind that clients need, each tried
until it succeeds or has been tried for the bound: an append that wants all replicas, what
idempotent producers have under way, the latest offset, the end of an epoch, the record that was
appended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle

from conformance.classic.arena import NodeRow
from harness.clients.admin import Leadership
from harness.workloads.partition_log import PartitionClients

LATEST = -1
ALL_REPLICAS = -1
KEPT = 20  # of the latest records nobody deletes
PAUSE_S = 0.1
LAST_LOOKS = 20
CONVERGE, PROGRESS, FINAL_READS = "converge", "progress", "final-reads"


def is_at_rest(seen: Mapping[int, Leadership | None]) -> bool:
    """Whether brokers agree and all of them are in sync, by what each of them said."""
    told = [one for one in seen.values() if one is not None]
    if not told or len(told) < len(seen) or told[0].leader < 0:
        return False
    agreed = all((one.leader, one.epoch) == (told[0].leader, told[0].epoch) for one in told)
    return agreed and all(set(seen) & set(one.replicas) <= set(one.isr) for one in told)


@dataclass(slots=True, kw_only=True)
class Rest:
    """One partition of a cluster, to be waited for."""

    clients: PartitionClients
    brokers: tuple[int, ...]
    campaign: str
    bound_s: float
    pause_s: float = PAUSE_S  # between two looks, or two attempts
    idempotent: dict[str, int] = field(default_factory=dict)  # producer ids by client
    nodes: Callable[[], list[NodeRow]] = list  # which nodes run, where that can be seen
    _looks: int = 0

    async def converge(self) -> bool:
        """Look until the cluster is at rest or the bound is over; whether it is."""
        recorder = self.clients.recorder
        end = recorder.phase(self.campaign, CONVERGE, bound_s=self.bound_s)
        resting = await self.look_until_at_rest()
        self.look_at_nodes()
        end(at_rest=resting)
        return resting

    async def progress(self) -> bool:
        """Try what clients need, each until it succeeds or the bound is over; whether all did."""
        recorder = self.clients.recorder
        end = recorder.phase(self.campaign, PROGRESS, bound_s=self.bound_s)
        offsets: list[int] = []
        done = await self._appended(offsets)
        for by, producer_id in self.idempotent.items():
            done = await self._finished(by, producer_id) and done
        for ask in (self._latest, self._epoch_end):
            done = await self._until_any(ask) and done
        for offset in offsets:
            done = await self._until_any(partial(self._read_back, offset)) and done
        end(done=done)
        return done

    async def look_until_at_rest(self) -> bool:
        """The same outside of a phase: nothing is promised while a fault is in force."""
        return await self._until(self._look)

    def look_at_nodes(self) -> None:
        """Record which nodes run, where that can be seen."""
        rows = self.nodes()
        if rows:
            self.clients.recorder.probe("nodes", rows)

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> bool:
        self._looks += 1
        asked = [
            self.clients.ask_leader(f"rest-{broker}", broker, look=self._looks)
            for broker in self.brokers
        ]
        told = await asyncio.gather(*asked)
        return is_at_rest(dict(zip(self.brokers, told, strict=True)))

    async def _appended(self, offsets: list[int]) -> bool:
        """Append a record that all replicas have to take; its offset goes to the list."""

        async def append(ask: int) -> bool:
            offset = await self.clients.send("last", ask, acks=ALL_REPLICAS)
            offsets.extend([] if offset is None else [offset])
            return offset is not None

        return await self._until_any(append)

    async def _finished(self, by: str, producer_id: int) -> bool:
        """Let an idempotent producer try again what it has under way."""

        async def finish(ask: int) -> bool:
            if self.clients.unfinished(by):
                await self.clients.send_idempotent(by, ask, producer_id=producer_id)
            return not self.clients.unfinished(by)

        return await self._until_any(finish)

    async def _latest(self, ask: int) -> bool:
        return await self.clients.look("last", ask, LATEST) is not None

    async def _epoch_end(self, ask: int) -> bool:
        return await self.clients.ask_epoch_end("last", ask, 0)

    async def _read_back(self, offset: int, ask: int) -> bool:
        """Read what was appended, or what came after it, where a broker says the leader is."""
        self._looks += 1
        seen = await self.clients.ask_leader(f"rest-{ask}", ask, look=self._looks)
        if seen is None or seen.leader not in self.brokers:
            return False
        start = max(offset, self.clients.end - KEPT)  # what is older may be deleted
        return await self.clients.read("last", seen.leader, start) > start

    async def _until_any(self, reached: Callable[[int], Awaitable[bool]]) -> bool:
        """The same, asking one broker after the other who leads."""
        asked = cycle(self.brokers)

        async def tried() -> bool:
            if await reached(next(asked)):
                return True
            await self._look()  # where no leader is known nothing else was recorded
            return False

        return await self._until(tried)

    async def _until(self, reached: Callable[[], Awaitable[bool]]) -> bool:
        """Try until it is so; the last attempt begins when the bound is over since the first."""
        loop = asyncio.get_running_loop()
        if await reached():
            return True
        deadline = loop.time() + self.bound_s
        while True:
            await asyncio.sleep(self.pause_s)
            last = loop.time() >= deadline
            if await reached():
                return True
            if last:
                return False


async def read_everything(clients: PartitionClients, campaign: str, brokers: Sequence[int]) -> None:
    """Read the end of the log, then the log from its start to its end, at every broker."""
    end = clients.recorder.phase(campaign, FINAL_READS)
    for broker in brokers:
        await clients.read("last", broker, clients.end)
        for _ in range(LAST_LOOKS):  # a follower hears late how far the log is committed
            if await clients.read_all("last", broker) >= clients.end:
                break
            await asyncio.sleep(PAUSE_S)
    end()

"""One partition at its edges: a client that knows what it appended and asks about every bound.

It does one thing after the other, so that what a log has to answer follows from what it answered
before. Batches are remembered with their bytes, records and timestamps, in the order of their
offsets: reads begin in their middle and end one byte before their end, searches ask beside their
timestamps, producers send them again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.clients import operations
from harness.clients.admin import Leadership
from harness.clients.operations import NO_PRODUCER, Defect, Within, batch_of
from harness.clients.raw import RawClient
from harness.history.outcome import Outcome
from harness.workloads.asked_again import AskingAgain
from harness.workloads.partition_log import EARLIEST, PartitionClients

BY = "edges"
NO_EPOCH = -1
LEADER_KNOWN_S = 5.0  # in which some broker has to name a leader
PAUSE_S = 0.1
# No answer, no such partition, no leader, another leader.
_ELSEWHERE = (None, 3, 5, 6)
SEQUENCES = 1 << 31  # after the last one a producer begins again


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBatch:
    """A batch that was acknowledged."""

    offset: int
    records: tuple[tuple[str, int], ...]
    size: int
    producer: tuple[int, int, int]
    codec: int

    @property
    def end(self) -> int:
        """The offset behind its last record."""
        return self.offset + len(self.records)


@dataclass(slots=True, kw_only=True)
class EdgeLog(PartitionClients):
    """A partition, what is known of its batches, and who led it last."""

    batches: list[KnownBatch] = field(default_factory=list)  # by offset
    leader: Leadership | None = None
    log_start: int = 0  # as last heard
    lost: bool = False  # no broker named a leader in time: it is not waited for again
    asking: AskingAgain | None = None

    async def locate(self) -> Leadership | None:
        """Ask the brokers, one after the other, who leads; None if none of them knows in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LEADER_KNOWN_S * self.on.pace
        while True:
            for broker in self.on.brokers:
                seen = await self._leadership(BY, broker)
                if seen is not None and seen.leader in self.on.brokers:
                    self.leader, self.lost = seen, False
                    return seen
            if self.lost or loop.time() >= deadline:
                self.lost = True
                return None
            await asyncio.sleep(PAUSE_S * self.on.pace)

    async def append(
        self,
        stamps: Sequence[int],
        *,
        acks: int = -1,
        producer: tuple[int, int, int] = NO_PRODUCER,
        codec: int = 0,
        size: int = 0,
        timeout_ms: int = 1000,
        defect: Defect = Defect.NONE,
        within: Within | None = None,
    ) -> Outcome | None:
        """Append a batch with these timestamps, its values as long as told; None: no leader."""
        name = self._fresh()
        values = [f"{name}-{number}".ljust(size, ".") for number in range(len(stamps))]
        records = list(zip(values, stamps, strict=True))
        return await self._sent(
            name,
            records,
            acks=acks,
            producer=producer,
            codec=codec,
            defect=defect,
            timeout_ms=timeout_ms,
            within=within,
        )

    async def again(self, batch: KnownBatch) -> Outcome | None:
        """Send a batch that was acknowledged once more, as a client does that lost the answer."""
        producer, codec = batch.producer, batch.codec
        records = list(batch.records)
        return await self._sent(
            self._fresh(), records, acks=-1, producer=producer, codec=codec, known=True
        )

    async def _sent(
        self,
        name: str,
        records: list[tuple[str, int]],
        *,
        acks: int,
        producer: tuple[int, int, int],
        codec: int,
        known: bool = False,
        **said: Any,
    ) -> Outcome | None:
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        outcome = await self._produce_at(
            BY, self.leader.leader, name, records, acks=acks, producer=producer, codec=codec, **said
        )
        if outcome.type == "ok" and not known:
            size = len(batch_of(records, producer, codec=codec))
            at, placed = int(outcome.fields["offset"]), tuple(records)
            one = KnownBatch(offset=at, records=placed, size=size, producer=producer, codec=codec)
            self.batches = sorted([*self.batches, one], key=lambda each: each.offset)
        return self._heard(outcome)

    async def fetch(
        self,
        offset: int,
        *,
        max_bytes: int = 1 << 20,
        epoch: int | None = None,
        at: int = -1,
        committed: bool = False,
        rack: str = "",
    ) -> Outcome | None:
        """Read at the leader, or at another broker, naming its epoch or another one, and a rack."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        named = self.leader.epoch if epoch is None else epoch
        fetch = partial(self._fetched, offset=offset, leader_epoch=named, rack=rack)
        isolation = "read_committed" if committed else "read_uncommitted"
        outcome = await self._asked(
            BY,
            self.leader.leader if at < 0 else at,
            "fetch",
            lambda client: fetch(client, max_bytes=max_bytes, committed=committed),
            offset=offset,
            leader_epoch=named,
            isolation=isolation,
            max_bytes=max_bytes,
            **({"rack": rack} if rack else {}),
        )
        if outcome.type == "ok":
            self.end = max(self.end, int(outcome.fields["high_watermark"]))
            self.log_start = max(self.log_start, int(outcome.fields["log_start_offset"]))
        return self._heard(outcome) if at < 0 else outcome

    async def _fetched(self, client: RawClient, **how: Any) -> Outcome:
        """One fetch, as this client makes it."""
        return await operations.fetch(client, self.tp, max_wait_ms=1, **how)

    async def search(self, timestamp: int, *, epoch: int | None = None) -> Outcome | None:
        """Ask the leader for an offset by a time."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        named = self.leader.epoch if epoch is None else epoch
        outcome = await self._asked(
            BY,
            self.leader.leader,
            "list_offsets",
            lambda client: operations.list_offsets(
                client, self.tp, timestamp=timestamp, leader_epoch=named
            ),
            timestamp=timestamp,
            isolation="read_uncommitted",
            leader_epoch=named,
        )
        if outcome.type == "ok" and timestamp == EARLIEST:
            self.log_start = max(self.log_start, int(outcome.fields["offset"]))
        return self._heard(outcome)

    async def epoch_end(self, epoch: int, *, current: int | None = None) -> Outcome | None:
        """Ask the leader where an epoch ends."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        named = self.leader.epoch if current is None else current
        outcome = await self._asked(
            BY,
            self.leader.leader,
            "offset_for_leader_epoch",
            lambda client: operations.offset_for_leader_epoch(
                client, self.tp, epoch=epoch, current=named
            ),
            epoch=epoch,
            leader_epoch=named,
        )
        return self._heard(outcome)

    async def delete_before(self, offset: int) -> Outcome | None:
        """Delete what is below an offset; -1 is the high watermark."""
        if self.leader is None and await self.locate() is None:
            return None
        assert self.leader is not None
        outcome = await self._asked(
            BY,
            self.leader.leader,
            "delete_records",
            lambda client: operations.delete_records(client, self.tp, offset=offset),
            offset=offset,
        )
        if outcome.type == "ok":
            self.log_start = max(self.log_start, int(outcome.fields["log_start_offset"]))
        return self._heard(outcome)

    async def _asked(
        self,
        by: str,
        at: int,
        f: str,
        work: Callable[[RawClient], Awaitable[Outcome]],
        **arguments: Any,
    ) -> Outcome:
        """As any client asks; what is not answered in peace is asked again."""
        ask = partial(PartitionClients._asked, self, by, at, f, work, **arguments)
        outcome = await ask()
        if self.asking is None:
            return outcome
        return await self.asking.until_answered(f, outcome, ask)

    def _heard(self, outcome: Outcome) -> Outcome:
        """What a leader says that leads no more, or nothing, is a reason to ask who does."""
        if outcome.type != "ok" and outcome.fields.get("error") in _ELSEWHERE:
            self.leader = None
        return outcome

    def _fresh(self) -> str:
        """Values tell of which partition they are: a mix-up shows."""
        self.sends += 1
        return f"{self.topic}{self.partition}-{self.sends}"

"""One copy of a partition's log, as a broker keeps it.

Offsets are places in a list that begins at `origin`. What was appended before the history began is
there too, without a producer. The copy keeps what lies below its log start: nobody is shown it, but
the state of producers rests on it, as on Kafka's producer snapshots.
"""

from __future__ import annotations

from dataclasses import dataclass, field

READ_COMMITTED = "read_committed"
READ_UNCOMMITTED = "read_uncommitted"

EARLIEST = -2
LATEST = -1
MAX_TIMESTAMP = -3
NOTHING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record; or, with `commits`, the control record that ends a transaction."""

    value: str | None
    key: str | None
    timestamp: int
    epoch: int
    batch: int
    producer: tuple[int, int, int] | None = None
    transaction: str | None = None
    commits: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a fetch is answered: the records by offset, and where to go on behind them."""

    records: tuple[tuple[int, Entry], ...]
    next_offset: int


@dataclass(slots=True, kw_only=True)
class Replica:
    """A log, how far it is known to be everywhere, and which epoch its broker believes in."""

    node: int
    origin: int
    log: list[Entry]
    start: int
    high_watermark: int
    epoch: int
    leads: bool = False
    epoch_start: int = 0
    up: bool = True
    heard: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of a leader: end and log start of the others, as of their last fetch."""

    @property
    def end(self) -> int:
        """The offset the next record gets."""
        return self.origin + len(self.log)

    def at(self, offset: int) -> Entry:
        """What stands at an offset."""
        return self.log[offset - self.origin]

    def cut(self, end: int) -> None:
        """Forget what stands at `end` and behind."""
        del self.log[max(0, end - self.origin) :]
        self.high_watermark = min(self.high_watermark, self.end)

    def agrees_until(self, other: Replica) -> int:
        """Where two copies part."""
        if self.log == other.log[: len(self.log)]:
            return self.end
        pairs = enumerate(zip(self.log, other.log, strict=False))
        parted = (at for at, (mine, theirs) in pairs if mine is not theirs)
        return self.origin + next(parted, min(len(self.log), len(other.log)))

    def batch_end(self, offset: int) -> int:
        """Where the batch ends that holds an offset: batches travel whole."""
        batch = self.at(offset).batch
        while offset < self.end and self.at(offset).batch == batch:
            offset += 1
        return offset

    def outcomes(self, below: int) -> dict[str, bool]:
        """The transactions that ended below an offset, and whether they were committed."""
        return {
            entry.transaction: entry.commits
            for entry in self.log[: below - self.origin]
            if entry.transaction is not None and entry.commits is not None
        }

    @property
    def last_stable_offset(self) -> int:
        """The first offset of a transaction that is not known to be over, or the high watermark."""
        over = self.outcomes(self.high_watermark)
        for offset in range(self.start, self.high_watermark):
            transaction = self.at(offset).transaction
            if transaction is not None and transaction not in over:
                return offset
        return self.high_watermark

    def bound(self, isolation: str) -> int:
        """Below which offset a consumer is shown records."""
        return self.last_stable_offset if isolation == READ_COMMITTED else self.high_watermark

    def read(self, offset: int, isolation: str, limit: int) -> Read:
        """Whole batches from an offset on, at least one if there is one, about `limit` records.

        Control records are never shown, records of aborted transactions not to read_committed.
        """
        bound, next_offset = self.bound(isolation), offset
        while next_offset < bound and next_offset - offset < limit:
            next_offset = min(bound, self.batch_end(next_offset))
        committed = self.outcomes(self.high_watermark) if isolation == READ_COMMITTED else {}
        found = ((at, self.at(at)) for at in range(offset, next_offset))
        return Read(
            records=tuple(
                (at, entry)
                for at, entry in found
                if entry.commits is None and committed.get(entry.transaction or "", True)
            ),
            next_offset=next_offset,
        )

    def find(self, timestamp: int, isolation: str) -> tuple[int, int, int]:
        """Offset, timestamp and epoch that ListOffsets answers; all -1 if there is nothing to find.

        What it finds behind the last offset that may be read is as good as nothing.
        """
        if timestamp == EARLIEST:
            return self.start, NOTHING, self.epochs()[0][0]
        if timestamp == LATEST:
            return self.bound(isolation), NOTHING, self.epoch
        stamps = [(at, self.at(at).timestamp) for at in range(self.start, self.end)]
        if timestamp == MAX_TIMESTAMP:
            found = max(stamps, key=lambda pair: (pair[1], -pair[0]), default=None)
        else:
            found = next((pair for pair in stamps if pair[1] >= timestamp), None)
        if found is None or found[0] >= self.bound(isolation):
            return NOTHING, NOTHING, NOTHING
        return *found, self.at(found[0]).epoch

    def epochs(self) -> list[tuple[int, int]]:
        """The epochs that are still in the log, each with its first offset; a leader's own too."""
        found: list[tuple[int, int]] = []
        for at, entry in enumerate(self.log):
            if not found or found[-1][0] != entry.epoch:
                found.append((entry.epoch, self.origin + at))
        if self.leads and (not found or found[-1][0] != self.epoch):
            found.append((self.epoch, self.end))
        older = [epoch for epoch, first in found if first <= self.start]
        kept = [(epoch, first) for epoch, first in found if first > self.start]
        return [*((epoch, self.start) for epoch in older[-1:]), *kept]

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """What OffsetForLeaderEpoch answers: an epoch not above the one asked for, and its end."""
        known = self.epochs()
        if not known or epoch > known[-1][0]:
            return NOTHING, NOTHING
        later = next((first for one, first in known if one > epoch), self.end)
        return max((one for one, _ in known if one <= epoch), default=epoch), later

    def last_sequence(self, producer_id: int) -> tuple[int, int] | None:
        """Epoch and sequence of the last record of a producer."""
        for entry in reversed(self.log):
            if entry.producer is not None and entry.producer[0] == producer_id:
                return entry.producer[1], entry.producer[2]
        return None

    def offset_of(self, producer: tuple[int, int, int]) -> int | None:
        """Where a record of an idempotent producer stands."""
        for at, entry in enumerate(self.log):
            if entry.producer == producer and entry.commits is None:
                return self.origin + at
        return None

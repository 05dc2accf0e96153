"""Batches that would begin a transaction, while their coordinator is asked about it (KIP-890).

The answer counts for the transaction that was asked about, and that may have ended before it comes:
then a batch would open one that never ends. So each question has a *guard*, a number that it is
known by in this log. A marker takes the guard away, and so does the first batch that is written;
what comes with another guard is refused.

While a producer's batch waits, those behind it have to wait as well: whatever begins later than the
lowest sequence number that was asked about is out of order, or that one could never be written.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_impl.decisions import decision
from reference_impl.kafka.batches import Batch

NO_GUARD = 0


@dataclass(slots=True, kw_only=True)
class Verification:
    """What was asked on behalf of one producer."""

    guard: int
    epoch: int
    lowest_sequence: int
    bumps: bool  # every transaction of it has an epoch of its own
    since_ms: int


@decision("jumps-verification")
def jumps_verification(
    lowest_sequence: int, bumps: bool, first_sequence: int, unknown_producer: bool
) -> bool:
    """Whether a batch comes before one that is waited for; a producer with an epoch for each of its
    transactions begins at zero where nothing is known of it."""
    if bumps and unknown_producer and first_sequence != 0:
        return True
    return first_sequence > lowest_sequence


@decision("marker-leaves-guard")
def marker_leaves_guard(bumps: bool, guard_epoch: int, marker_epoch: int) -> bool:
    """The marker of the transaction before, which has the epoch that the next one has begun in."""
    return bumps and guard_epoch == marker_epoch


class Verifications:
    """Those of one log, by producer id. They are of its leader, and in no snapshot."""

    def __init__(self) -> None:
        self._waiting: dict[int, Verification] = {}
        self._last_guard = NO_GUARD

    def start(
        self, producer_id: int, epoch: int, sequence: int, *, bumps: bool, now_ms: int
    ) -> int:
        """The guard for a question about this producer."""
        found = self._waiting.get(producer_id)
        if found is None:
            self._last_guard += 1
            found = self._waiting[producer_id] = Verification(
                guard=self._last_guard,
                epoch=epoch,
                lowest_sequence=sequence,
                bumps=bumps,
                since_ms=now_ms,
            )
        if epoch > found.epoch or (epoch == found.epoch and sequence < found.lowest_sequence):
            found.epoch, found.lowest_sequence = epoch, sequence
        return found.guard

    def holds(self, producer_id: int, guard: int) -> bool:
        """Whether the question with this guard is still the one that counts."""
        found = self._waiting.get(producer_id)
        return found is not None and found.guard == guard

    def jumped_by(self, batch: Batch, *, unknown_producer: bool) -> bool:
        """Whether a batch may not be written before another that is waited for."""
        found = self._waiting.get(batch.producer_id)
        return found is not None and jumps_verification(
            found.lowest_sequence, found.bumps, batch.base_sequence, unknown_producer
        )

    def written(self, batch: Batch) -> None:
        """A batch of a transaction, or a marker, is in the log."""
        found = self._waiting.get(batch.producer_id)
        if found is None or not batch.transactional:
            return
        if batch.control and marker_leaves_guard(found.bumps, found.epoch, batch.producer_epoch):
            return
        del self._waiting[batch.producer_id]

    def expire(self, before_ms: int) -> None:
        """Forget what was asked before then."""
        old = [key for key, one in self._waiting.items() if one.since_ms < before_ms]
        for producer_id in old:
            del self._waiting[producer_id]

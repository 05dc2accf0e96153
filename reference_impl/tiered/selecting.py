"""Which batches of a remote segment a reader is given: pure choices on bytes that were fetched.

A read begins with the batch that holds its offset and goes on while batches are whole, intact, of
this replica's lineage, below the high watermark (or the last stable offset) and within the bytes
that are left (C-41, G-35, G-43). Length, magic and checksum are checked; base offset and leader
epoch stand outside the checksum, so they have to fit what is known of the log. Tiered topics are
not compacted, so a batch begins where the one before it ends.

    Selected    the bytes to send; none if the reader may not have the first batch
    More        the first batch is not whole in these bytes; how much of it there has to be
    Damaged     the first batch is not what was written
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.batches import HEADER_BYTES, MAGIC, Batch, header, intact, next_size
from reference_impl.kafka.errors import KafkaError
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.transactions import (
    AbortedTransaction,
    aborted_within,
    no_later_abort_matters,
)
from reference_impl.tiered.remote_indexes import batch_follows

NO_EPOCH = -1


class Begins(NamedTuple):
    """What is known of a batch before it is read: where it begins or where it ends, or neither."""

    base_offset: int | None = None
    last_offset: int | None = None

    def fits(self, batch: Batch) -> bool:
        """Whether this can be that batch."""
        return self.base_offset in (None, batch.base_offset) and self.last_offset in (
            None,
            batch.last_offset,
        )


class Wanted(NamedTuple):
    """What is to be read of a segment, and what is known of the log that it belongs to."""

    offset: int
    upto: int
    max_bytes: int
    at_least_one: bool
    lineage: Sequence[EpochEntry]
    segment_end: int
    begins: Begins


class Selected(NamedTuple):
    """Bytes of whole batches, from one place to another, and the headers of these batches."""

    start: int
    end: int
    batches: tuple[Batch, ...] = ()


class More(NamedTuple):
    """A batch begins at this place and has, as far as can be told, this many bytes."""

    place: int
    size: int
    begins: Begins


class Damaged(NamedTuple):
    """What begins at this place is no batch of the segment."""

    place: int


def epoch_at(lineage: Sequence[EpochEntry], offset: int) -> int:
    """The leader epoch of an offset; −1 where none is known."""
    slot = bisect_right(lineage, offset, key=lambda entry: entry.start_offset)
    return lineage[slot - 1].epoch if slot else NO_EPOCH


@decision("batch-of-lineage", rules=("TS-034",))
def batch_of_lineage(batch_epoch: int, cached_epoch: int) -> bool:
    """A batch is of the lineage if the epoch cache has its epoch at its offset (C-41)."""
    return batch_epoch == cached_epoch


@decision("remote-batch-readable", rules=("TS-001",))
def remote_batch_readable(last_offset: int, upto: int) -> bool:
    """Whole batches only, and none that reaches beyond what the reader may see."""
    return last_offset < upto


@decision("remote-batch-fits", rules=("TS-006", "TS-007"))
def remote_batch_fits(taken: int, size: int, max_bytes: int, at_least_one: bool) -> bool:
    """Within the bytes that are left; a first batch that is larger comes whole if one must."""
    return taken + size <= max_bytes or (at_least_one and taken == 0)


@decision("remote-read-backoff-ms", rules=("TS-062",))
def remote_read_backoff_ms(attempt: int, jitter: float) -> float:
    """How long a failed read waits before it is tried again; ``jitter`` is drawn anew (C-02)."""
    return min(1000.0, 50 * 2.0 ** min(attempt, 30) * (1 + jitter))


def select(data: bytes, wanted: Wanted) -> Selected | More | Damaged:
    """The batches of ``data``, which begins with one, that are to be sent."""
    taken: list[Batch] = []
    start = at = 0
    begins = wanted.begins
    while (size := _size(data, at)) != 0:
        if size is None or len(data) - at < size:
            if taken:
                break
            return More(at, size or HEADER_BYTES, begins)
        batch = header(data, at)
        if not begins.fits(batch) or not batch_follows(
            batch.base_offset, batch.last_offset, batch.base_offset, wanted.segment_end
        ):
            break
        begins = Begins(base_offset=batch.next_offset)
        if batch.last_offset < wanted.offset:
            start = at = at + size
            continue
        cached = epoch_at(wanted.lineage, max(batch.base_offset, wanted.offset))
        sound = batch_of_lineage(batch.partition_leader_epoch, cached) and intact(data, at, batch)
        if not sound or (not taken and batch.base_offset > wanted.offset):
            break
        if not remote_batch_readable(batch.last_offset, wanted.upto) or not remote_batch_fits(
            at - start, size, wanted.max_bytes, wanted.at_least_one
        ):
            return Selected(start, at, tuple(taken))
        taken.append(batch)
        at += size
    return Selected(start, at, tuple(taken)) if taken else Damaged(at)


def _size(data: bytes, at: int) -> int | None:
    """The size of the batch there; None where too little is left to say, 0 where there is none."""
    try:
        size = next_size(data, at)
    except KafkaError:
        return 0
    if size is not None and (size < HEADER_BYTES or data[at + 16] != MAGIC):
        return 0
    return size


class InTransactions(NamedTuple):
    """What batches tell of transactions: whether there are any, and who has not ended its own."""

    any: bool
    open: bool


def in_transactions(batches: Sequence[Batch]) -> InTransactions:
    """Which of the batches belong to transactions; a control batch ends that of its producer."""
    producers: dict[int, None] = {}
    found = False
    for batch in batches:
        if not batch.transactional:
            continue
        found = True
        if batch.control:
            producers.pop(batch.producer_id, None)
        else:
            producers[batch.producer_id] = None
    return InTransactions(found, bool(producers))


def aborted_of(
    entries: Sequence[AbortedTransaction], offset: int, upper: int, part_end: int
) -> tuple[tuple[AbortedTransaction, ...], bool]:
    """The aborted transactions of a segment's index among what was read, and whether that is all.

    An abort behind the end of the lineage did not happen here.
    """
    found: list[AbortedTransaction] = []
    for one in entries:
        if one.last_offset > part_end:
            break
        if aborted_within(one, offset, upper):
            found.append(one)
        if no_later_abort_matters(one, upper):
            return tuple(found), True
    return tuple(found), False

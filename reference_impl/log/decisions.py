"""Every choice a log makes, as pure functions in the registry.

The flows around them read and write files and hold the state; none of them asks a question about
Kafka's rules that is not answered here (or, for reads over regions, in ``log.regions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reference_impl.decisions import decision

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
NO_PRODUCER_EPOCH = -1
INT32_MAX = (1 << 31) - 1


class EpochEntry(NamedTuple):
    """A leader epoch and the offset of the first record of it."""

    epoch: int
    start_offset: int


class AppendedBatch(NamedTuple):
    """What is remembered of a batch that an idempotent producer appended."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """The sequence number of its first record; before 0 comes 2^31-1."""
        return (self.last_sequence - self.offset_delta) % (INT32_MAX + 1)

    @property
    def first_offset(self) -> int:
        """The offset of its first record."""
        return self.last_offset - self.offset_delta


# Admission.


@decision("admit-checksum", rules=("KFK-035", "KFK-042"))
def admit_checksum(intact: bool) -> bool:
    """A batch whose checksum is not its own goes into no log, neither a leader's nor a copy."""
    return intact


@decision("admit-offsets", rules=("KFK-031", "KFK-040", "KFK-045", "KFK-046"))
def admit_offsets(kept_compressed: bool, out_of_place: bool) -> bool:
    """What stays compressed cannot be numbered anew, so its offsets have to count from 0."""
    return not (kept_compressed and out_of_place)


@decision("stamps-append-time", rules=("KFK-036",))
def stamps_append_time(configured: bool) -> bool:
    """Records keep the time their producer gave them, unless the topic wants the broker's."""
    return configured


# Idempotent producers.


@decision("find-duplicate", rules=("KFK-038", "KFK-041"))
def find_duplicate(
    batches: Sequence[AppendedBatch],
    producer_epoch: int,
    batch_epoch: int,
    first_sequence: int,
    last_sequence: int,
) -> AppendedBatch | None:
    """A batch is a duplicate if one of the last five has the same epoch and sequence numbers."""
    if batch_epoch != producer_epoch:
        return None
    for batch in batches:
        if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
            return batch
    return None


@decision("producer-epoch-fits", rules=("KFK-041",))
def producer_epoch_fits(producer_epoch: int, batch_epoch: int) -> bool:
    """A producer whose epoch was seen to have been raised is fenced."""
    return batch_epoch >= producer_epoch


@decision("sequence-fits", rules=("KFK-038", "KFK-041"))
def sequence_fits(
    producer_epoch: int, batch_epoch: int, last_sequence: int, first_sequence: int
) -> bool:
    """A known producer goes on where it stopped, at 0 after 2^31-1 and in a new epoch.

    One of whom nothing is known, or nothing any more, may begin anywhere.
    """
    if producer_epoch == NO_PRODUCER_EPOCH:
        return True
    if batch_epoch != producer_epoch:
        return first_sequence == 0
    return first_sequence == last_sequence + 1 or (
        first_sequence == 0 and last_sequence == INT32_MAX
    )


@decision("producer-expired")
def producer_expired(last_timestamp: int, now_ms: int, expiration_ms: int) -> bool:
    """A producer is forgotten once its last record is as old as that."""
    return now_ms - last_timestamp >= expiration_ms


@decision("producers-need-replay", rules=("KFK-038",))
def producers_need_replay(segment_end_offset: int, known_up_to: int) -> bool:
    """What a segment holds of producers is read again if no snapshot reaches as far."""
    return segment_end_offset > known_up_to


@decision("batches-remembered", rules=("KFK-038",))
def batches_remembered() -> int:
    """Five batches of a producer may be in flight, so five are remembered."""
    return 5


# Leader epochs.


@decision("end-offset-for-epoch", rules=("KFK-072",))
def end_offset_for_epoch(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> tuple[int, int]:
    """The largest known epoch up to the one asked for, and where it ends.

    The latest ends at the end of the log. Of one beyond it, and of none, nothing is known. One
    older than all that are known ends where those begin.
    """
    if epoch == UNDEFINED_EPOCH or not entries or epoch > entries[-1].epoch:
        return UNDEFINED_EPOCH, UNDEFINED_OFFSET
    if epoch == entries[-1].epoch:
        return epoch, log_end_offset
    floor = epoch
    for entry in entries:
        if entry.epoch > epoch:
            return floor, entry.start_offset
        floor = entry.epoch
    raise AssertionError("the latest epoch is not beyond the one asked for")


@decision("epochs-with", rules=("KFK-070", "KFK-072"))
def epochs_with(entries: Sequence[EpochEntry], new: EpochEntry) -> tuple[EpochEntry, ...]:
    """A new epoch takes the place of all that are not older, or begin no earlier."""
    kept = list(entries)
    if kept and kept[-1].epoch == new.epoch and kept[-1].start_offset <= new.start_offset:
        return tuple(kept)
    while kept and (kept[-1].epoch >= new.epoch or kept[-1].start_offset >= new.start_offset):
        kept.pop()
    return (*kept, new)


@decision("epochs-up-to", rules=("KFK-072",))
def epochs_up_to(entries: Sequence[EpochEntry], end_offset: int) -> tuple[EpochEntry, ...]:
    """What is left of the epochs when the log is cut there."""
    return tuple(entry for entry in entries if entry.start_offset < end_offset)


@decision("epochs-from", rules=("KFK-072",))
def epochs_from(entries: Sequence[EpochEntry], start_offset: int) -> tuple[EpochEntry, ...]:
    """What is left of the epochs when the log begins there; the one it begins in begins with it."""
    before = [entry for entry in entries if entry.start_offset <= start_offset]
    after = tuple(entry for entry in entries if entry.start_offset > start_offset)
    if not before:
        return after
    return (EpochEntry(before[-1].epoch, start_offset), *after)


# Cutting.


@decision("steps-of-a-cut", rules=("KFK-031",))
def steps_of_a_cut() -> tuple[str, ...]:
    """Once the last segment is cut: epochs and producers as of its new end, then its names.

    A flow asks for the names of its steps and carries them out, so one that is left out can be
    hooked in as a mutant where no choice would show it.
    """
    return ("epochs", "producers", "names")


@decision("steps-of-a-restart", rules=("KFK-031",))
def steps_of_a_restart() -> tuple[str, ...]:
    """What is to be is written down, carried out and made durable before it is forgotten."""
    return ("write down", "remove", "epochs", "producers", "begin", "done")


# Segments.


class Roll(NamedTuple):
    """What is known when a batch comes to the active segment."""

    size: int
    batch_size: int
    segment_bytes: int
    waited_ms: int
    segment_ms: int
    index_full: bool
    relative_offset: int


@decision("segment-must-roll")
def segment_must_roll(roll: Roll) -> bool:
    """A new segment begins where this one would be too big or too old, or its indexes are full."""
    return (
        roll.size > roll.segment_bytes - roll.batch_size
        or (roll.size > 0 and roll.waited_ms > roll.segment_ms)
        or roll.index_full
        or not 0 <= roll.relative_offset <= INT32_MAX
    )


@decision("segment-expired")
def segment_expired(largest_timestamp: int, now_ms: int, retention_ms: int) -> bool:
    """A segment goes when its latest record is older than retention.ms; below 0, never."""
    return retention_ms >= 0 and now_ms - largest_timestamp > retention_ms


@decision("segment-exceeds-size")
def segment_exceeds_size(log_size: int, segment_size: int, retention_bytes: int) -> bool:
    """The oldest segment goes if what is left without it still is retention.bytes or more."""
    return retention_bytes >= 0 and log_size - segment_size >= retention_bytes


@decision("segment-below-start", rules=("KFK-065",))
def segment_below_start(next_base_offset: int | None, log_start_offset: int) -> bool:
    """A segment goes when the log begins in a later one."""
    return next_base_offset is not None and next_base_offset <= log_start_offset


@decision("segment-may-go", rules=("KFK-031",))
def segment_may_go(segment_end_offset: int, high_watermark: int) -> bool:
    """Whatever retention says, nothing goes that is not committed."""
    return segment_end_offset <= high_watermark


@decision("log-start-may-be", rules=("KFK-053", "KFK-065"))
def log_start_may_be(offset: int, high_watermark: int) -> bool:
    """A log begins at its high watermark at the latest."""
    return offset <= high_watermark


@decision("next-log-start", rules=("KFK-052", "KFK-065", "KFK-066"))
def next_log_start(current: int, asked: int) -> int:
    """A log start only rises."""
    return max(current, asked)


@decision("local-log-start")
def local_log_start(log_start_offset: int, first_base_offset: int) -> int:
    """What is below the log start is gone though its segment is there; the rest is on this disk."""
    return max(log_start_offset, first_base_offset)


@decision("local-segment-may-go")
def local_segment_may_go(next_base_offset: int | None, upto: int) -> bool:
    """A segment of which there is a copy elsewhere may go as a whole; the active one never."""
    return next_base_offset is not None and next_base_offset <= upto


# Reading.


@decision("read-begins-with", rules=("KFK-046",))
def read_begins_with(base_offset: int, last_offset: int, offset: int) -> bool:
    """A read begins with the first batch that does not end before its offset."""
    return last_offset >= offset


@decision("last-stable-offset", rules=("KFK-051", "KFK-053"))
def last_stable_offset(first_unstable: int | None, high_watermark: int, log_end_offset: int) -> int:
    """Up to the first transaction that is not decided, and never beyond what is committed."""
    return high_watermark if first_unstable is None else min(first_unstable, high_watermark)


@decision("may-be-as-late", rules=("KFK-061", "KFK-062"))
def may_be_as_late(largest_timestamp: int, timestamp: int) -> bool:
    """Whether a segment or a batch may hold a record that is not earlier than that."""
    return largest_timestamp >= timestamp


@decision("record-is-as-late", rules=("KFK-060", "KFK-063"))
def record_is_as_late(timestamp: int, wanted: int) -> bool:
    """An index leads to a batch; which of its records is meant, their own timestamps say."""
    return timestamp >= wanted


@decision("offset-readable", rules=("KFK-049",))
def offset_readable(offset: int, log_start_offset: int, log_end_offset: int) -> bool:
    """What can be read from: every offset of the log, and the one behind its end."""
    return log_start_offset <= offset <= log_end_offset


@decision("bytes-to-read", rules=("KFK-048",))
def bytes_to_read(first_batch: int, available: int, max_bytes: int, at_least_one: bool) -> int:
    """As many bytes as were asked for, whatever they cut off, or the first batch if need be.

    A first batch that is too big and must not be is not cut, it is left out.
    """
    if max_bytes < first_batch:
        return min(available, first_batch) if at_least_one else 0
    return min(available, max_bytes)


# Recovery.


@decision("segment-needs-recovery", rules=("KFK-031", "KFK-034"))
def segment_needs_recovery(clean: bool, next_base_offset: int | None, recovery_point: int) -> bool:
    """After an unclean end, every segment is read again that was not known to be flushed whole."""
    return not clean and (next_base_offset is None or next_base_offset > recovery_point)


@decision("recovery-goes-on", rules=("KFK-034", "KFK-046"))
def recovery_goes_on(bytes_cut: int, next_offset: int, next_base_offset: int) -> bool:
    """A segment is left only if the one before is whole and ends where it begins."""
    return bytes_cut == 0 and next_offset == next_base_offset


@decision("recovered-log-start")
def recovered_log_start(
    written_down: int, first_base_offset: int, first_epoch_start: int | None, elsewhere: bool
) -> int:
    """A log begins where that was written down, or where what is known of it begins, if later.

    A classic log is known from its first segment on, as is one without epochs. One whose older
    segments are kept elsewhere is known from its first epoch on, which is cut, and synced, before
    another log start is written down.
    """
    known_from = first_base_offset
    if elsewhere and first_epoch_start is not None:
        known_from = first_epoch_start
    return max(written_down, known_from)


@decision("recovered-epochs-end")
def recovered_epochs_end(log_end_offset: int, empty: bool, elsewhere: bool) -> int:
    """Epochs that begin at the end of a log have no records and are forgotten.

    Not where the log was begun in one, as all that came before is kept elsewhere.
    """
    return log_end_offset + 1 if empty and elsewhere else log_end_offset

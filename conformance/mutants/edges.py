"""Clusters that are wrong at an edge of a log: a producer that comes back, a bound, an old segment.

None of them loses a record as long as clients ask for what they are expected to ask for.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import NO_PRODUCER_EPOCH, AppendedBatch, EpochEntry
from reference_impl.replication.decisions import ReplicaView


def _oldest_batch_is_meant(
    batches: Sequence[AppendedBatch],
    producer_epoch: int,
    batch_epoch: int,
    first_sequence: int,
    last_sequence: int,
) -> AppendedBatch | None:
    known = batch_epoch == producer_epoch and any(
        batch.last_sequence >= last_sequence for batch in batches
    )
    return batches[0] if known else None


def _sequences_never_wrap(
    producer_epoch: int, batch_epoch: int, last_sequence: int, first_sequence: int
) -> bool:
    if producer_epoch == NO_PRODUCER_EPOCH:
        return True
    return first_sequence == (last_sequence + 1 if batch_epoch == producer_epoch else 0)


def _new_epochs_begin_anywhere(
    producer_epoch: int, batch_epoch: int, last_sequence: int, first_sequence: int
) -> bool:
    asked = (producer_epoch, batch_epoch, last_sequence, first_sequence)
    return batch_epoch > producer_epoch or bool(original("sequence-fits")(*asked))


def _later_epochs_end_with_the_log(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> object:
    if entries and epoch > entries[-1].epoch:
        return entries[-1].epoch, log_end_offset
    return original("end-offset-for-epoch")(entries, epoch, log_end_offset)


def _half_the_time_is_enough(largest_timestamp: int, now_ms: int, retention_ms: int) -> bool:
    return 0 <= retention_ms // 2 < now_ms - largest_timestamp


def _any_replica_is_near(rack: str, replicas: Sequence[ReplicaView]) -> int:
    return max(replicas, key=lambda one: (not one.leads, one.log_end_offset)).broker_id


def _readers_stay_with_the_leader(rack: str, replicas: Sequence[ReplicaView]) -> int:
    return next(one.broker_id for one in replicas if one.leads)


def _snapshots_are_enough(segment_end_offset: int, known_up_to: int) -> bool:
    return known_up_to == 0 and segment_end_offset > known_up_to


def _begins_with_its_first_segment(
    written_down: int, first_base_offset: int, first_epoch_start: int | None, elsewhere: bool
) -> object:
    return original("recovered-log-start")(0, first_base_offset, first_epoch_start, elsewhere)


MUTANTS = (
    Mutant(
        name="begins-with-its-first-segment",
        decision="recovered-log-start",
        replace=_begins_with_its_first_segment,
        rules=("KFK-172",),
        why="where a log begins is not read again when its broker starts",
    ),
    Mutant(
        name="oldest-batch-is-meant",
        decision="find-duplicate",
        replace=_oldest_batch_is_meant,
        rules=("KFK-150", "KFK-151"),
        why="a batch that comes again is recognised, and answered with the oldest that is known",
    ),
    Mutant(
        name="producers-outlive-a-cut",
        decision="steps-of-a-cut",
        replace=lambda: ("epochs", "names"),
        rules=("KFK-031",),
        why="a batch that was cut off is taken for one that is in the log, and never appended",
    ),
    Mutant(
        name="sequences-never-wrap",
        decision="sequence-fits",
        replace=_sequences_never_wrap,
        rules=("KFK-152",),
        why="after 2^31-1 comes 2^31, which no producer sends",
    ),
    Mutant(
        name="new-epochs-begin-anywhere",
        decision="sequence-fits",
        replace=_new_epochs_begin_anywhere,
        rules=("KFK-153",),
        why="a producer with a new epoch is new, and of a new one any sequence number is taken",
    ),
    Mutant(
        name="old-epochs-are-welcome",
        decision="producer-epoch-fits",
        replace=lambda producer_epoch, batch_epoch: True,
        rules=("KFK-154",),
        why="whether an epoch is older is left to who compares sequence numbers, and begins at 0",
    ),
    Mutant(
        name="producers-stay",
        decision="producer-expired",
        replace=lambda last_timestamp, now_ms, expiration_ms: False,
        rules=("KFK-155",),
        why="producers are never forgotten, and memory grows with all that there ever were",
    ),
    Mutant(
        name="as-many-bytes-as-there-are",
        decision="bytes-to-read",
        replace=lambda first_batch, available, max_bytes, at_least_one: available,
        rules=("KFK-156",),
        why="the limit of a partition is not looked at",
    ),
    Mutant(
        name="epochs-are-not-compared",
        decision="check-leader-epoch",
        replace=lambda asked, current: ErrorCode.none,
        rules=("KFK-157",),
        why="the leader answers, whatever epoch a client believes in",
    ),
    Mutant(
        name="later-epochs-end-with-the-log",
        decision="end-offset-for-epoch",
        replace=_later_epochs_end_with_the_log,
        rules=("KFK-158",),
        why="of an epoch beyond the latest it says where the latest ends",
    ),
    Mutant(
        name="one-record-is-kept",
        decision="log-start-may-be",
        replace=lambda offset, high_watermark: offset < high_watermark,
        rules=("KFK-160",),
        why="below instead of up to: a log can not be emptied",
    ),
    Mutant(
        name="every-offset-is-in-range",
        decision="offset-readable",
        replace=lambda offset, log_start_offset, log_end_offset: offset >= log_start_offset,
        rules=("KFK-161",),
        why="a reader beyond the end waits for what comes, and never hears that it is lost",
    ),
    Mutant(
        name="half-the-time-is-enough",
        decision="segment-expired",
        replace=_half_the_time_is_enough,
        rules=("KFK-163",),
        why="segments go when half of retention.ms is over",
    ),
    Mutant(
        name="segments-stay",
        decision="segment-expired",
        replace=lambda largest_timestamp, now_ms, retention_ms: False,
        rules=("KFK-164",),
        why="nothing is ever too old",
    ),
    Mutant(
        name="too-few-for-anybody",
        decision="enough-replicas-to-append",
        replace=lambda acks, in_sync, min_in_sync: in_sync >= min_in_sync,
        rules=("KFK-166",),
        why="min.insync.replicas is held against appends that do not ask for all of them",
    ),
    Mutant(
        name="any-replica-is-near",
        decision="nearest-replica",
        replace=_any_replica_is_near,
        rules=("KFK-190",),
        why="whoever names a rack is sent to a follower, whichever rack that is in",
    ),
    Mutant(
        name="readers-stay-with-the-leader",
        decision="nearest-replica",
        replace=_readers_stay_with_the_leader,
        rules=("KFK-191",),
        why="racks are compared, and the leader is taken all the same",
    ),
    Mutant(
        name="snapshots-are-enough",
        decision="producers-need-replay",
        replace=_snapshots_are_enough,
        rules=("KFK-151",),
        why="what producers appended behind the newest snapshot is forgotten by a crash",
    ),
)

"""Logs as a hurried engineer might have written them: producers and epochs, each with one mistake.

A single broker that never restarts hides all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.decisions import Mutant
from reference_impl.log.decisions import AppendedBatch, EpochEntry
from reference_impl.replication.decisions import EpochEnd


def _no_duplicates_known(
    batches: Sequence[AppendedBatch],
    producer_epoch: int,
    batch_epoch: int,
    first_sequence: int,
    last_sequence: int,
) -> AppendedBatch | None:
    return None


def _any_sequence_fits(
    producer_epoch: int, batch_epoch: int, last_sequence: int, first_sequence: int
) -> bool:
    return True


def _producers_are_forgotten(segment_end_offset: int, known_up_to: int) -> bool:
    return False


def _epochs_stay(entries: Sequence[EpochEntry], end_offset: int) -> tuple[EpochEntry, ...]:
    return tuple(entries)


def _every_epoch_ends_with_the_log(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> tuple[int, int]:
    known = [entry.epoch for entry in entries if entry.epoch <= epoch]
    return (known[-1], log_end_offset) if known else (-1, -1)


def _only_lengths_diverge(fetched: EpochEnd, leaders: EpochEnd) -> bool:
    return leaders.end_offset < fetched.end_offset


MUTANTS = (
    Mutant(
        name="only-lengths-diverge",
        decision="logs-diverge",
        replace=_only_lengths_diverge,
        rules=("KFK-171",),
        why="a leader whose older epoch is the longer one does not see that a follower has another",
    ),
    Mutant(
        name="no-duplicates-known",
        decision="find-duplicate",
        replace=_no_duplicates_known,
        rules=("KFK-094",),
        why="a batch that is tried again is refused or appended again",
    ),
    Mutant(
        name="producers-are-forgotten",
        decision="producers-need-replay",
        replace=_producers_are_forgotten,
        rules=("KFK-037", "KFK-038"),
        why="what the log knows of producers is lost in a restart",
    ),
    Mutant(
        name="epochs-stay",
        decision="epochs-up-to",
        replace=_epochs_stay,
        rules=("KFK-091",),
        why="a log that is cut keeps the epochs of what is gone",
    ),
    Mutant(
        name="every-epoch-ends-with-the-log",
        decision="end-offset-for-epoch",
        replace=_every_epoch_ends_with_the_log,
        rules=("KFK-072",),
        why="an epoch is taken for the last one",
    ),
    Mutant(
        name="any-sequence-fits",
        decision="sequence-fits",
        replace=_any_sequence_fits,
        rules=("KFK-041",),
        why="a later batch gets in before an earlier one that is tried again",
    ),
)

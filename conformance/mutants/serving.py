"""Brokers that serve, list or delete wrongly: each with one comparison or one bound mistaken.

Whoever reads a log from its start to its end, batch after batch, notices hardly any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.decisions import Mutant


def _reads_begin_with_the_next(base_offset: int, last_offset: int, offset: int) -> bool:
    return base_offset >= offset


def _first_batch_must_fit(
    first_batch: int, available: int, max_bytes: int, at_least_one: bool
) -> int:
    return 0 if max_bytes < first_batch else min(available, max_bytes)


def _deleted_with_its_offset(offset: int, log_start_offset: int, log_end_offset: int) -> bool:
    return (log_start_offset < offset or not log_start_offset) and offset <= log_end_offset


def _stable_without_transactions(
    first_unstable: int | None, high_watermark: int, log_end_offset: int
) -> int:
    return log_end_offset if first_unstable is None else first_unstable


def _whatever_was_copied(current: int, leaders: int, log_end_offset: int) -> int:
    return log_end_offset


def _strictly_later(largest_timestamp: int, timestamp: int) -> bool:
    return largest_timestamp > timestamp


def _first_of_the_batch(timestamp: int, wanted: int) -> bool:
    return True


def _as_asked(current: int, asked: int) -> int:
    return asked


def _the_leaders_alone(log_start_offset: int, followers: Sequence[int]) -> int:
    return log_start_offset


def _as_before_it_was_flexible(api: str, flexible: bool) -> bool:
    return flexible and api != "ListOffsets"


def _done_when_asked(low_watermark: int, wanted: int) -> bool:
    return True


MUTANTS = (
    Mutant(
        name="reads-begin-with-the-next-batch",
        decision="read-begins-with",
        replace=_reads_begin_with_the_next,
        rules=("KFK-031", "KFK-046"),
        why="an offset inside of a batch is looked for among first offsets",
    ),
    Mutant(
        name="first-batch-must-fit",
        decision="bytes-to-read",
        replace=_first_batch_must_fit,
        rules=("KFK-048",),
        why="a limit is a limit, as before KIP-74",
    ),
    Mutant(
        name="deleted-with-its-offset",
        decision="offset-readable",
        replace=_deleted_with_its_offset,
        rules=("KFK-049",),
        why="DeleteRecords is taken to delete the record at its offset as well",
    ),
    Mutant(
        name="stable-without-transactions",
        decision="last-stable-offset",
        replace=_stable_without_transactions,
        rules=("KFK-053",),
        why="where no transaction is open, everything counts as stable",
    ),
    Mutant(
        name="what-was-copied-is-committed",
        decision="follower-high-watermark",
        replace=_whatever_was_copied,
        rules=("KFK-050", "KFK-051"),
        why="a follower shows what it has, not what its leader says is committed",
    ),
    Mutant(
        name="only-later-timestamps",
        decision="may-be-as-late",
        replace=_strictly_later,
        rules=("KFK-061", "KFK-062"),
        why="later, instead of not earlier",
    ),
    Mutant(
        name="first-record-of-the-batch",
        decision="record-is-as-late",
        replace=_first_of_the_batch,
        rules=("KFK-060", "KFK-063"),
        why="the index names the batch, and nobody looks for the record in it",
    ),
    Mutant(
        name="log-start-as-asked",
        decision="next-log-start",
        replace=_as_asked,
        rules=("KFK-052", "KFK-065", "KFK-066"),
        why="a second DeleteRecords with a lower offset brings records back",
    ),
    Mutant(
        name="answers-as-before-flexible-versions",
        decision="response-has-tags",
        replace=_as_before_it_was_flexible,
        rules=("KFK-096",),
        why="ListOffsets is missing from the table of answers that have tags in their header",
    ),
    Mutant(
        name="leaders-log-start-is-enough",
        decision="low-watermark",
        replace=_the_leaders_alone,
        rules=("KFK-065", "KFK-066"),
        why="records are reported as deleted while followers still serve them",
    ),
    Mutant(
        name="deleted-when-asked",
        decision="deletion-is-done",
        replace=_done_when_asked,
        rules=("KFK-067",),
        why="DeleteRecords is answered without waiting for followers",
    ),
)

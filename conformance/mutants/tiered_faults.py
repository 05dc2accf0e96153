"""Tiered storage with one mistake each, which shows when stores and brokers fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import EpochEntry
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.tiered.aux_decisions import ProducerSource
from reference_impl.tiered.segments import RemoteLogSegmentMetadata

STAGE = "tier-faults"
SHOWN = MappingProxyType(  # under which fault of the stage
    {
        "rebuilt-without-producers": "reimage",
        "rebuilt-without-epochs": "reimage",
        "one-epoch-a-segment": "kill",
    }
)
OTHERWISE = "store-broken"


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _nobody_known(
    chosen: RemoteLogSegmentMetadata,
    segments: Sequence[RemoteLogSegmentMetadata],
    epochs: Sequence[EpochEntry],
    log_start_offset: int,
    elo: int,
) -> ProducerSource:
    return ProducerSource(None, elo)


def _last_epoch_alone(
    entries: Sequence[EpochEntry], log_start_offset: int, elo: int, elo_epoch: int
) -> tuple[EpochEntry, ...]:
    return (EpochEntry(elo_epoch, elo),)


def _failure_is_absence(outcome: ReadOutcome, again: bool) -> Any:
    answer = sound("after-tiered-read")(outcome, again)
    if answer is ErrorCode.kafka_storage_error:
        return ErrorCode.offset_out_of_range
    return answer


def _first_epoch_alone(lineage: Sequence[EpochEntry], start: int, end: int) -> Any:
    return tuple(sound("segment-leader-epochs")(lineage, start, end)[:1])


MUTANTS = (
    Mutant(
        name="rebuilt-without-producers",
        decision="producers-before-elo",
        replace=_nobody_known,
        rules=("TS-046",),
        why="a log that begins anew knows no producers; Apache Kafka 4.3.1 does the same",
    ),
    Mutant(
        name="rebuilt-without-epochs",
        decision="epochs-before-elo",
        replace=_last_epoch_alone,
        rules=("TS-044",),
        why="a follower needs the epoch it fetches in",
    ),
    Mutant(
        name="failure-is-absence",
        decision="after-tiered-read",
        replace=_failure_is_absence,
        rules=("TS-005", "TS-062"),
        why="what cannot be read is not there",
    ),
    Mutant(
        name="gives-up-for-an-hour",
        decision="task-backoff-ms",
        replace=lambda attempt, initial_ms, most_ms, jitter: 3_600_000.0,
        rules=("TS-057",),
        why="a store that failed is left alone",
    ),
    Mutant(
        name="one-epoch-a-segment",
        decision="segment-leader-epochs",
        replace=_first_epoch_alone,
        rules=("TS-088",),
        why="a segment is of the leader that began it",
    ),
    Mutant(
        name="readers-are-never-admitted",
        decision="admit-remote-read",
        replace=lambda idle, waiting, max_pending: False,
        rules=("TS-062",),
        why="a queue without room in it refuses who could be served at once",
    ),
)

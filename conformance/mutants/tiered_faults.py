"""Tiered storage with one mistake each, which shows when stores and brokers fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import EpochEntry
from reference_impl.partitions.routing import ReadOutcome, Refuse, Route, Serve
from reference_impl.partitions.views import Bounds, FetchReader, Region, RegionKind
from reference_impl.replication.decisions import Reader
from reference_impl.tiered.aux_decisions import ProducerSource
from reference_impl.tiered.segments import RemoteLogSegmentMetadata

STAGE = "tier-faults"
SHOWN = MappingProxyType(  # under which fault of the stage
    {
        "rebuilt-without-producers": "reimage",
        "rebuilt-without-epochs": "reimage",
        "one-epoch-a-segment": "kill",
        "begins-where-its-disk-does": "restart",
        "epochs-end-where-logs-do": "kill",
        "epochs-to-come-end-here": "kill",
        "followers-read-the-tier": "reimage",
        "logs-agree-by-their-ends": "cut-off",
        "the-copy-is-preferred": "store-refused",
        "first-epoch-left-out": "kill",
        "damage-is-absence": "corrupt",
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


def _damage_is_absence(outcome: ReadOutcome, again: bool) -> Any:
    answer = sound("after-tiered-read")(outcome, again)
    if answer is ErrorCode.corrupt_message:
        return ErrorCode.offset_out_of_range
    return answer


def _first_epoch_alone(lineage: Sequence[EpochEntry], start: int, end: int) -> Any:
    return tuple(sound("segment-leader-epochs")(lineage, start, end)[:1])


def _all_but_the_first(lineage: Sequence[EpochEntry], start: int, end: int) -> Any:
    found = sound("segment-leader-epochs")(lineage, start, end)
    return found[1:] or found


def _end_of_the_log(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> tuple[int, int]:
    known = bool(entries) and entries[0].epoch <= epoch <= entries[-1].epoch
    return (epoch, log_end_offset) if known else (-1, -1)


def _also_to_come(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> tuple[int, int]:
    if entries and epoch > entries[-1].epoch:
        return epoch, log_end_offset
    found: tuple[int, int] = sound("end-offset-for-epoch")(entries, epoch, log_end_offset)
    return found


def _for_every_reader(
    offset: int, region: Region | None, reader: FetchReader, bounds: Bounds
) -> Route:
    if (
        region is not None
        and region.kind is RegionKind.TIERED
        and region.end is not None
        and reader.kind is Reader.FOLLOWER
    ):
        return Serve(region, region.end)
    found: Route = sound("route-within")(offset, region, reader, bounds)
    return found


def _ends_with_the_tier(
    offset: int, region: Region | None, reader: FetchReader, bounds: Bounds
) -> Route:
    consumes = reader.kind is not Reader.FOLLOWER
    if consumes and bounds.log_start_offset < bounds.local_log_start_offset <= offset:
        return Refuse(ErrorCode.offset_out_of_range)
    found: Route = sound("route-within")(offset, region, reader, bounds)
    return found


def _the_copy_first(offset: int, regions: Sequence[Region]) -> Region | None:
    found: Region | None = sound("region-at")(offset, tuple(reversed(regions)))
    return found


MUTANTS = (
    Mutant(
        name="logs-agree-by-their-ends",
        decision="logs-diverge",
        replace=lambda fetched, leaders: False,
        rules=("TS-003", "TS-033"),
        why="a follower that asks for what comes next has what came before",
    ),
    Mutant(
        name="epochs-end-where-logs-do",
        decision="end-offset-for-epoch",
        replace=_end_of_the_log,
        rules=("TS-032",),
        why="an epoch is asked about while it lasts",
    ),
    Mutant(
        name="epochs-to-come-end-here",
        decision="end-offset-for-epoch",
        replace=_also_to_come,
        rules=("TS-035",),
        why="whoever asks about a later epoch is thought to lead in it",
    ),
    Mutant(
        name="followers-read-the-tier",
        decision="route-within",
        replace=_for_every_reader,
        rules=("TS-045",),
        why="a leader that can read its remote segments can send them to its followers",
    ),
    Mutant(
        name="the-copy-is-preferred",
        decision="region-at",
        replace=_the_copy_first,
        rules=("TS-061",),
        why="what was copied is read where it was copied to",
    ),
    Mutant(
        name="the-tier-is-the-log",
        decision="route-within",
        replace=_ends_with_the_tier,
        rules=("TS-061",),
        why="where the local part begins is taken for the end of what consumers may read",
    ),
    Mutant(
        name="begins-where-its-disk-does",
        decision="recovered-log-start",
        replace=lambda written_down, first_base_offset, first_epoch_start, elsewhere: max(
            written_down, first_base_offset
        ),
        rules=("TS-053",),
        why="a replica that restarts takes its first local offset for the log start (KAFKA-15351)",
    ),
    Mutant(
        name="copies-are-named-by-offset",
        decision="id-of-copy",
        replace=lambda fresh, base_offset: UUID(int=base_offset, version=4),
        rules=("TS-084", "TS-085"),
        why="a copy that is made again takes the place of the one before",
    ),
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
        name="damage-is-absence",
        decision="after-tiered-read",
        replace=_damage_is_absence,
        rules=("TS-065",),
        why="a batch that cannot be read is as good as gone",
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
        name="first-epoch-left-out",
        decision="segment-leader-epochs",
        replace=_all_but_the_first,
        rules=("TS-088",),
        why="an epoch is of the segment in which it begins",
    ),
    Mutant(
        name="readers-are-never-admitted",
        decision="admit-remote-read",
        replace=lambda idle, waiting, max_pending: False,
        rules=("TS-062",),
        why="a queue without room in it refuses who could be served at once",
    ),
)

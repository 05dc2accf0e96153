"""Tiered storage with one mistake each against a single promise, which clients and looks notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.partitions.routing import Refuse, Route, Serve
from reference_impl.partitions.searching import SearchEnd
from reference_impl.partitions.views import Bounds, FetchReader, Region, RegionKind
from reference_impl.replication.decisions import Reader
from reference_impl.tiered.decisions import LocalSegment
from reference_impl.tiered.remover import Removal, TopicPresence
from reference_impl.tiered.segments import PartitionDeleteState
from reference_impl.tiered.storage import IndexKind

STAGE = "tiers"
SHOWN = MappingProxyType(  # by which situation of the stage
    {
        "tiering-is-turned-off": "configurations",
        "compacted-and-tiered": "configurations",
        "disks-keep-more": "configurations",
        "disks-keep-less": "configurations",
        "prefixes-are-ignored": "configurations",
        "deletes-what-is-local": "deletions",
        "what-is-gone-has-moved": "deletions",
        "sequences-are-not-looked-at": "producers",
        "one-batch-a-producer": "producers",
        "everything-is-copied": "reads",
        "parts-are-left-behind": "retention",
        "starts-no-removal": "removal",
        "removals-have-keys": "removal",
    }
)
OTHERWISE = "reads"


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _special(asked: int, answer: Callable[[Bounds, int | None, int], int]) -> Callable[..., int]:
    def found(timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int) -> int:
        if timestamp == asked:
            return answer(bounds, last_tiered, upto)
        return int(sound("special-offset")(timestamp, bounds, last_tiered, upto))

    return found


def _consumers_too(offset: int, region: Region | None, reader: FetchReader, bounds: Bounds) -> Any:
    found = sound("route-within")(offset, region, reader, bounds)
    if isinstance(found, Serve) and region is not None and region.kind is RegionKind.TIERED:
        return Refuse(ErrorCode.offset_moved_to_tiered_storage, told=True)
    return found


def _moved_at_the_start(
    offset: int, region: Region | None, reader: FetchReader, bounds: Bounds
) -> Any:
    tiered = bounds.local_log_start_offset > bounds.log_start_offset
    if reader.kind is Reader.FOLLOWER and tiered and offset == bounds.local_log_start_offset:
        return Refuse(ErrorCode.offset_moved_to_tiered_storage, told=True)
    return sound("route-within")(offset, region, reader, bounds)


def _moved_below_the_start(
    offset: int, regions: Sequence[Region], reader: FetchReader, standing: Any
) -> Route:
    found: Route = sound("route-read")(offset, regions, reader, standing)
    follows = reader.kind is Reader.FOLLOWER
    if isinstance(found, Refuse) and found.error is ErrorCode.offset_out_of_range and follows:
        return Refuse(ErrorCode.offset_moved_to_tiered_storage, told=True)
    return found


def _everything_is_there(
    offset: int, regions: Sequence[Region], reader: FetchReader, standing: Any
) -> Route:
    found: Route = sound("route-read")(offset, regions, reader, standing)
    consumes = reader.kind is not Reader.FOLLOWER
    if isinstance(found, Refuse) and found.error is ErrorCode.offset_out_of_range and consumes:
        return Refuse(ErrorCode.none, told=False)
    return found


def _last_found(ended: Sequence[SearchEnd]) -> SearchEnd:
    known = [one for one in ended if one.found is not None]
    return known[-1] if known else SearchEnd()


def _nothing_in_the_tier(ended: Sequence[SearchEnd]) -> SearchEnd:
    return ended[-1] if len(ended) == 1 else SearchEnd()


def _without_empty_ones(given: Mapping[IndexKind, bytes]) -> Mapping[IndexKind, bytes]:
    return {kind: data for kind, data in given.items() if kind is not IndexKind.TIMESTAMP}


def _not_started(presence: TopicPresence, state: PartitionDeleteState | None, segments: int) -> Any:
    found = sound("next-removal")(presence, state, segments)
    return (
        (Removal.DELETE_SEGMENT if segments else Removal.FINISH)
        if found is Removal.START
        else found
    )


def _key_for(kind: int) -> Callable[[bytes], bytes | None]:
    def key(value: bytes) -> bytes | None:
        return value[2:24] if value[0] == kind else None

    return key


def _first_timestamp(segment: LocalSegment) -> int:
    return segment.largest_timestamp - 1


MUTANTS = (
    Mutant(
        name="next-batch-is-near-enough",
        decision="read-begins-with",
        replace=lambda base_offset, last_offset, offset: base_offset >= offset,
        rules=("TS-001", "TS-002"),
        why="a read begins with the first batch that begins behind its offset",
    ),
    Mutant(
        name="timestamps-of-the-broker",
        decision="stamps-append-time",
        replace=lambda configured: True,
        rules=("TS-004", "TS-029"),
        why="what is tiered expires by the time it came",
    ),
    Mutant(
        name="nearly-as-late",
        decision="record-is-as-late",
        replace=lambda timestamp, wanted: timestamp >= wanted - 30,
        rules=("TS-028",),
        why="an entry of the time index is taken for its record",
    ),
    Mutant(
        name="stale-epochs-are-served",
        decision="check-leader-epoch",
        replace=lambda asked, current: ErrorCode.none,
        rules=("TS-038",),
        why="who reads from the tier reads what does not change",
    ),
    Mutant(
        name="local-start-is-zero",
        decision="special-offset",
        replace=_special(-4, lambda bounds, last, upto: upto + 1),
        rules=("TS-022",),
        why="a disk that has nothing to name names what comes next",
    ),
    Mutant(
        name="untiered-logs-have-a-tier",
        decision="special-offset",
        replace=_special(-5, lambda bounds, last, upto: upto - 1 if last is None else last),
        rules=("TS-031",),
        why="what is safe is tiered, wherever it is",
    ),
    Mutant(
        name="versions-come-later",
        decision="timestamp-known",
        replace=lambda timestamp, version: sound("timestamp-known")(timestamp, version - 1),
        rules=("TS-024",),
        why="the version that adds a timestamp is taken for the last without it",
    ),
    Mutant(
        name="timestamps-in-any-version",
        decision="timestamp-known",
        replace=lambda timestamp, version: True,
        rules=("TS-025",),
        why="a timestamp that is known is answered",
    ),
    Mutant(
        name="the-last-tier-that-finds",
        decision="merge-search",
        replace=_last_found,
        rules=("TS-026",),
        why="what is found on the disk takes the place of what was found before",
    ),
    Mutant(
        name="one-tier-at-a-time",
        decision="merge-search",
        replace=_nothing_in_the_tier,
        rules=("TS-027",),
        why="a search that went to several tiers has several answers, and none",
    ),
    Mutant(
        name="consumers-are-told-109",
        decision="route-within",
        replace=_consumers_too,
        rules=("TS-036",),
        why="what is not on the disk has moved, for every reader",
    ),
    Mutant(
        name="the-local-start-has-moved",
        decision="route-within",
        replace=_moved_at_the_start,
        rules=("TS-042",),
        why="a bound that belongs to the disk is taken for one of the tier",
    ),
    Mutant(
        name="what-is-gone-has-moved",
        decision="route-read",
        replace=_moved_below_the_start,
        rules=("TS-043",),
        why="whatever is below the disk is thought to be in the tier",
    ),
    Mutant(
        name="out-of-range-is-empty",
        decision="route-read",
        replace=_everything_is_there,
        rules=("TS-009",),
        why="an offset that no tier has is answered with nothing",
    ),
    Mutant(
        name="tiering-is-turned-off",
        decision="tiering-may-become",
        replace=lambda before, after: True,
        rules=("TS-070",),
        why="a configuration can be changed back",
    ),
    Mutant(
        name="compacted-and-tiered",
        decision="policy-of-tiered",
        replace=lambda policy: True,
        rules=("TS-071",),
        why="compaction leaves remote segments alone",
    ),
    Mutant(
        name="disks-keep-more",
        decision="local-retention-fits",
        replace=lambda local, whole: True,
        rules=("TS-072",),
        why="retention takes what is too old from disks too",
    ),
    Mutant(
        name="disks-keep-less",
        decision="local-retention-fits",
        replace=lambda local, whole: whole == -1 or local == -2 or -1 < local < whole,
        rules=("TS-073",),
        why="local retention has to be below the whole",
    ),
    Mutant(
        name="prefixes-are-ignored",
        decision="plug-in-settings",
        replace=lambda given, family, prefix: {
            name: value for name, value in given.items() if name.startswith(family)
        },
        rules=("TS-101",),
        why="the prefix belongs to the name",
    ),
    Mutant(
        name="deletes-what-is-local",
        decision="deletion-target",
        replace=lambda asked, high_watermark: (
            ErrorCode.offset_out_of_range
            if 0 <= asked < high_watermark
            else sound("deletion-target")(asked, high_watermark)
        ),
        rules=("TS-050",),
        why="records in the remote tier cannot be deleted",
    ),
    Mutant(
        name="sequences-are-not-looked-at",
        decision="sequence-fits",
        replace=lambda producer_epoch, batch_epoch, last_sequence, first_sequence: True,
        rules=("TS-048",),
        why="a producer whose batches are elsewhere is believed",
    ),
    Mutant(
        name="one-batch-a-producer",
        decision="sequence-fits",
        replace=lambda producer_epoch, batch_epoch, last_sequence, first_sequence: (
            first_sequence == 0
        ),
        rules=("TS-047",),
        why="a producer of whom nothing is on the disk begins anew",
    ),
    Mutant(
        name="everything-is-copied",
        decision="copies-topic",
        replace=lambda enabled: True,
        rules=("TS-099",),
        why="the system is on, so topics are tiered",
    ),
    Mutant(
        name="segments-have-keys",
        decision="key-of-event",
        replace=_key_for(0),
        rules=("TS-080",),
        why="records with keys could be compacted one day",
    ),
    Mutant(
        name="updates-have-keys",
        decision="key-of-event",
        replace=_key_for(1),
        rules=("TS-081",),
        why="an update belongs to its segment",
    ),
    Mutant(
        name="removals-have-keys",
        decision="key-of-event",
        replace=_key_for(2),
        rules=("TS-082",),
        why="a removal belongs to its partition",
    ),
    Mutant(
        name="starts-no-removal",
        decision="next-removal",
        replace=_not_started,
        rules=("TS-086",),
        why="the mark is start enough",
    ),
    Mutant(
        name="not-quite-the-latest",
        decision="latest-timestamp",
        replace=_first_timestamp,
        rules=("TS-089",),
        why="the timestamp of the last record but one",
    ),
    Mutant(
        name="indexes-count",
        decision="size-of-copy",
        replace=lambda segment: segment.size + 24,
        rules=("TS-090",),
        why="the size of a copy is that of all its parts",
    ),
    Mutant(
        name="time-indexes-are-rebuilt",
        decision="indexes-to-put",
        replace=_without_empty_ones,
        rules=("TS-092",),
        why="what can be rebuilt need not be kept",
    ),
    Mutant(
        name="parts-are-left-behind",
        decision="parts-of-a-copy",
        replace=lambda: tuple(one for one in sound("parts-of-a-copy")() if "snapshot" not in one),
        rules=("TS-093", "TS-094"),
        why="a part was added to copies and not to deletions",
    ),
)

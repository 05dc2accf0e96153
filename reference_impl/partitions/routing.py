"""Where a read goes: one choice for all kinds of partitions, and one for what a read ended in.

    Serve     read that region, up to that offset
    Empty     answer without records: the logs diverge, another replica is nearer, or what comes
              next is not for this reader
    Wait      there may be something later; says what has to happen first
    Refresh   ask the authority over the region's bounds, and route again with what it said
    Refuse    answer an error

Classic, tiered and diskless partitions differ by their regions, not by their code.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import offset_readable
from reference_impl.partitions.views import (
    NO_EPOCH,
    REPLICATED,
    Bounds,
    FetchReader,
    Refreshed,
    Region,
    RegionKind,
    Role,
    Standing,
)
from reference_impl.replication.decisions import (
    EpochEnd,
    Reader,
    check_leader_epoch,
    logs_diverge,
    readable_upto,
)

FIRST_WITH_MOVED_OFFSETS = 14
"""The first version of Fetch whose followers know OFFSET_MOVED_TO_TIERED_STORAGE."""


class On(StrEnum):
    """What a read waits for."""

    APPEND = "append"  # for followers
    WATERMARK = "watermark"  # for consumers
    METADATA = "metadata"  # no region is known yet that holds the offset


class Serve(NamedTuple):
    """Read ``region`` from the offset that was asked for, below ``upto``."""

    region: Region
    upto: int


class Empty(NamedTuple):
    """No error and no records."""

    diverging: EpochEnd | None = None
    preferred: int | None = None


class Wait(NamedTuple):
    """Nothing to answer yet."""

    on: On


class Refresh(NamedTuple):
    """Ask the authority over the regions of a kind."""

    what: RegionKind


class Refuse(NamedTuple):
    """An error instead of records; ``told`` if the reader learns the bounds of the log with it."""

    error: ErrorCode
    told: bool = False


Route = Serve | Empty | Wait | Refresh | Refuse


@decision("admit-reader", rules=("KFK-113",))
def admit_reader(reader: FetchReader, standing: Standing) -> ErrorCode:
    """Whoever names another leader epoch, must ask the leader, or is no replica, is refused."""
    error = check_leader_epoch(reader.current_epoch, standing.leader_epoch)
    if error is not ErrorCode.none:
        return error
    if reader.only_leader and standing.role is not Role.LEADER:
        return ErrorCode.not_leader_or_follower
    if not standing.knows_reader:
        if reader.current_epoch == NO_EPOCH:
            return ErrorCode.not_leader_or_follower
        return ErrorCode.unknown_leader_epoch
    return ErrorCode.none


@decision("region-at", rules=("KFK-046",))
def region_at(offset: int, regions: Sequence[Region]) -> Region | None:
    """The region that holds an offset; regions overlap, and the first of them is preferred."""
    for region in regions:
        if region.kind is RegionKind.ASSEMBLING or offset < region.start:
            continue
        if region.end is None or offset < region.end:
            return region
    return None


@decision("after-refresh")
def after_refresh(refreshed: Refreshed, role: Role) -> ErrorCode | None:
    """What is answered for a region whose bounds are not known; None: ask for them first.

    A broker that asked and still does not know them sends the client elsewhere.
    """
    match refreshed:
        case Refreshed.NOT_ASKED:
            return None
        case Refreshed.TRANSIENT:
            return ErrorCode.request_timed_out
        case Refreshed.HARD:
            return ErrorCode.kafka_storage_error
        case Refreshed.DONE:
            return ErrorCode.not_leader_or_follower


@decision("route-read", rules=("KFK-046", "KFK-049"))
def route_read(
    offset: int, regions: Sequence[Region], reader: FetchReader, standing: Standing
) -> Route:
    """Where a read goes, or what is answered in its place."""
    if not regions:
        return Refuse(ErrorCode.not_leader_or_follower)
    error = admit_reader(reader, standing)
    if error is not ErrorCode.none:
        return Refuse(error)
    if standing.preferred is not None:
        return Empty(preferred=standing.preferred)
    bounds = standing.bounds
    if standing.epoch_end is not None:
        parted = route_diverging(
            EpochEnd(epoch=reader.last_fetched_epoch, end_offset=offset),
            standing.epoch_end,
            bounds.log_start_offset,
        )
        if parted is not None:
            return parted
    region = region_at(offset, regions)
    if region is not None and not region.known:
        error_then = after_refresh(standing.refreshed, standing.role)
        return Refresh(region.kind) if error_then is None else Refuse(error_then)
    if bounds.log_end_offset < 0:  # a region without bounds is not this broker's to serve
        return Refuse(ErrorCode.not_leader_or_follower)
    if not offset_readable(offset, bounds.log_start_offset, bounds.log_end_offset):
        return Refuse(ErrorCode.offset_out_of_range, told=bounds.kept_from is not None)
    return route_within(offset, region, reader, bounds)


@decision("route-diverging", rules=("KFK-070",))
def route_diverging(fetched: EpochEnd, ours: EpochEnd, log_start_offset: int) -> Route | None:
    """Where a reader's log parts from ours before its fetch offset; None where it does not."""
    if ours.epoch < 0 or ours.end_offset < 0 or fetched.end_offset < log_start_offset:
        return Refuse(ErrorCode.offset_out_of_range)
    return Empty(diverging=ours) if logs_diverge(fetched, ours) else None


@decision("route-within", rules=("KFK-046",))
def route_within(offset: int, region: Region | None, reader: FetchReader, bounds: Bounds) -> Route:
    """Where a read of an offset goes that the log has, or will have next."""
    upto = readable_upto(
        reader.kind, bounds.log_end_offset, bounds.high_watermark, bounds.last_stable_offset
    )
    follows = reader.kind is Reader.FOLLOWER
    if follows and region is not None and region.kind not in REPLICATED:
        return follower_elsewhere(region.kind, reader.version)
    if offset >= upto:
        return Wait(On.APPEND if follows else On.WATERMARK)
    if region is None:
        return Wait(On.METADATA)
    if reader.max_bytes < 0:
        return Refuse(ErrorCode.unknown_server_error)
    return Serve(region, upto if region.end is None else min(upto, region.end))


@decision("follower-elsewhere", rules=("TS-040", "TS-041"))
def follower_elsewhere(kind: RegionKind, version: int) -> Route:
    """A follower does not fetch what its leader does not keep on its disk.

    Segments of the remote tier it finds there. Of the WAL it is told nothing: the leader's answer
    ends at the boundary, so nobody falls out of sync.
    """
    if kind is not RegionKind.TIERED:
        return Empty()
    known = version >= FIRST_WITH_MOVED_OFFSETS
    error = ErrorCode.offset_moved_to_tiered_storage if known else ErrorCode.kafka_storage_error
    return Refuse(error, told=True)


@decision("after-wait")
def after_wait(on: On, role: Role) -> ErrorCode:
    """What is answered when time is up: nothing new is no error.

    An offset that the log has and nobody can find is one, or the reader would ask for ever.
    """
    if on is not On.METADATA:
        return ErrorCode.none
    is_leader = role is Role.LEADER
    return ErrorCode.kafka_storage_error if is_leader else ErrorCode.not_leader_or_follower


class ReadOutcome(StrEnum):
    """What reading a store ended in."""

    RECORDS = "records"
    GONE = "gone"  # what was planned is no longer there
    CORRUPT = "corrupt"  # what is there is not what was written
    AMBIGUOUS = "ambiguous"  # nobody can tell which of several is meant
    LATE = "late"  # the store did not answer by the deadline, or has no room for the read


class After(StrEnum):
    """What is done about a read that has ended."""

    ANSWER = "answer"
    ROUTE_AGAIN = "route again"


@decision("after-read")
def after_read(outcome: ReadOutcome, role: Role, again: bool) -> After | ErrorCode:
    """Records are answered; what is gone is looked for once more; the rest is an error.

    A broker that does not lead sends the client to one that may do better; bytes are never guessed.
    """
    if outcome is ReadOutcome.RECORDS:
        return After.ANSWER
    if outcome is ReadOutcome.GONE and not again:
        return After.ROUTE_AGAIN
    if outcome is ReadOutcome.AMBIGUOUS or role is not Role.LEADER:
        return ErrorCode.not_leader_or_follower
    return ErrorCode.kafka_storage_error


@decision("after-tiered-read", rules=("TS-005", "TS-062"))
def after_tiered_read(outcome: ReadOutcome, again: bool) -> After | ErrorCode:
    """The same for remote segments, which every replica reads for itself (C-24).

    That the remote store does not answer, or has not what it should have, is said as
    KAFKA_STORAGE_ERROR (C-02); that a batch is damaged as CORRUPT_MESSAGE (G-35).
    """
    if outcome is ReadOutcome.RECORDS:
        return After.ANSWER
    if outcome is ReadOutcome.GONE and not again:
        return After.ROUTE_AGAIN
    if outcome is ReadOutcome.CORRUPT:
        return ErrorCode.corrupt_message
    return ErrorCode.kafka_storage_error

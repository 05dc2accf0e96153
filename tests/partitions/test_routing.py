"""Where a read goes, for every kind of reader, region and standing."""

from __future__ import annotations

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.partitions.bounding import without_what_is_elsewhere
from reference_impl.partitions.routing import (
    After,
    Empty,
    On,
    ReadOutcome,
    Refresh,
    Refuse,
    Route,
    Serve,
    Wait,
    admit_reader,
    after_read,
    after_refresh,
    after_tiered_read,
    after_wait,
    follower_elsewhere,
    region_at,
    route_read,
)
from reference_impl.partitions.views import (
    Bounds,
    FetchReader,
    Refreshed,
    Region,
    RegionKind,
    Role,
    Standing,
)
from reference_impl.replication.decisions import EpochEnd, Reader

LOCAL = Region(RegionKind.LOCAL, 10)
ENDED = Region(RegionKind.LOCAL, 10, 30)
TIERED = Region(RegionKind.TIERED, 0, 20)
MATERIALISED = Region(RegionKind.MATERIALISED, 30, 35)
ASSEMBLING = Region(RegionKind.ASSEMBLING, 30, 40)
WAL = Region(RegionKind.WAL, 30)
UNKNOWN = Region(RegionKind.WAL, 30, known=False)

CLASSIC = (Region(RegionKind.LOCAL, 0),)
WITH_TIER = (LOCAL, TIERED)
WITH_WAL = (ENDED, WAL)

BOUNDS = Bounds(
    log_start_offset=0,
    local_log_start_offset=10,
    high_watermark=40,
    last_stable_offset=38,
    log_end_offset=50,
)
CONSUMER = FetchReader(Reader.CONSUMER, only_leader=False)
COMMITTED = FetchReader(Reader.COMMITTED, only_leader=False)
FOLLOWER = FetchReader(Reader.FOLLOWER, replica_id=2, version=17, current_epoch=5)
OLD_FOLLOWER = FOLLOWER._replace(version=13)
LEADER = Standing(Role.LEADER, 5, BOUNDS)


@pytest.mark.parametrize(
    ("regions", "offset", "found"),
    [
        (CLASSIC, 0, CLASSIC[0]),
        (CLASSIC, 1 << 60, CLASSIC[0]),
        (WITH_TIER, 0, TIERED),
        (WITH_TIER, 9, TIERED),
        (WITH_TIER, 10, LOCAL),  # both hold it: the first in the list is preferred
        (WITH_TIER, 19, LOCAL),
        (WITH_WAL, 29, ENDED),
        (WITH_WAL, 30, WAL),
        ((ASSEMBLING, WAL), 30, WAL),  # one that is being assembled is never read
        ((ASSEMBLING,), 30, None),
        ((MATERIALISED, WAL), 34, MATERIALISED),
        ((MATERIALISED, WAL), 35, WAL),
        ((ENDED,), 9, None),
        ((ENDED,), 30, None),
        ((), 0, None),
    ],
)
def test_an_offset_is_read_in_the_first_region_that_holds_it(
    regions: tuple[Region, ...], offset: int, found: Region | None
) -> None:
    assert region_at(offset, regions) == found


@pytest.mark.parametrize(
    ("reader", "standing", "error"),
    [
        (CONSUMER, LEADER, ErrorCode.none),
        (CONSUMER, LEADER._replace(role=Role.FOLLOWER), ErrorCode.none),
        (CONSUMER, LEADER._replace(role=Role.NON_REPLICA), ErrorCode.none),
        (
            CONSUMER._replace(only_leader=True),
            LEADER._replace(role=Role.FOLLOWER),
            ErrorCode.not_leader_or_follower,
        ),
        (CONSUMER._replace(only_leader=True), LEADER, ErrorCode.none),
        (CONSUMER._replace(current_epoch=5), LEADER, ErrorCode.none),
        (CONSUMER._replace(current_epoch=4), LEADER, ErrorCode.fenced_leader_epoch),
        (CONSUMER._replace(current_epoch=6), LEADER, ErrorCode.unknown_leader_epoch),
        (FOLLOWER, LEADER, ErrorCode.none),
        (FOLLOWER, LEADER._replace(knows_reader=False), ErrorCode.unknown_leader_epoch),
        (
            FOLLOWER._replace(current_epoch=-1),
            LEADER._replace(knows_reader=False),
            ErrorCode.not_leader_or_follower,
        ),
        (  # a wrong epoch is told before a wrong role
            FOLLOWER._replace(current_epoch=4),
            LEADER._replace(role=Role.FOLLOWER),
            ErrorCode.fenced_leader_epoch,
        ),
    ],
)
def test_readers_are_refused_by_epoch_role_and_membership(
    reader: FetchReader, standing: Standing, error: ErrorCode
) -> None:
    assert admit_reader(reader, standing) is error


@pytest.mark.parametrize(
    ("offset", "regions", "reader", "route"),
    [
        (0, (), CONSUMER, Refuse(ErrorCode.not_leader_or_follower)),
        (0, CLASSIC, CONSUMER._replace(current_epoch=4), Refuse(ErrorCode.fenced_leader_epoch)),
        (0, CLASSIC, CONSUMER._replace(max_bytes=-1), Refuse(ErrorCode.unknown_server_error)),
        (-1, CLASSIC, CONSUMER, Refuse(ErrorCode.offset_out_of_range)),
        (0, CLASSIC, CONSUMER, Serve(CLASSIC[0], 40)),
        (37, CLASSIC, COMMITTED, Serve(CLASSIC[0], 38)),
        (38, CLASSIC, COMMITTED, Wait(On.WATERMARK)),
        (39, CLASSIC, CONSUMER, Serve(CLASSIC[0], 40)),
        (40, CLASSIC, CONSUMER, Wait(On.WATERMARK)),
        (50, CLASSIC, CONSUMER, Wait(On.WATERMARK)),
        (51, CLASSIC, CONSUMER, Refuse(ErrorCode.offset_out_of_range)),
        (49, CLASSIC, FOLLOWER, Serve(CLASSIC[0], 50)),
        (50, CLASSIC, FOLLOWER, Wait(On.APPEND)),
        # a tier below the local log
        (9, WITH_TIER, CONSUMER, Serve(TIERED, 20)),
        (10, WITH_TIER, CONSUMER, Serve(LOCAL, 40)),
        (9, WITH_TIER, FOLLOWER, Refuse(ErrorCode.offset_moved_to_tiered_storage, told=True)),
        (9, WITH_TIER, OLD_FOLLOWER, Refuse(ErrorCode.kafka_storage_error, told=True)),
        (10, WITH_TIER, FOLLOWER, Serve(LOCAL, 50)),
        (5, (LOCAL,), CONSUMER, Wait(On.METADATA)),  # it is somewhere, and nobody has said where
        (5, (LOCAL,), FOLLOWER, Wait(On.METADATA)),
        # a WAL above a boundary: a read ends there
        (29, WITH_WAL, CONSUMER, Serve(ENDED, 30)),
        (30, WITH_WAL, CONSUMER, Serve(WAL, 40)),
        (30, WITH_WAL, FOLLOWER, Empty()),
        (29, WITH_WAL, FOLLOWER, Serve(ENDED, 30)),
        (30, (ENDED, MATERIALISED, WAL), FOLLOWER, Serve(MATERIALISED, 35)),
        (30, (ENDED, UNKNOWN), CONSUMER, Refresh(RegionKind.WAL)),
        (60, (ENDED, UNKNOWN), CONSUMER, Refresh(RegionKind.WAL)),  # where it ends is not known
        (29, (ENDED, UNKNOWN), CONSUMER, Serve(ENDED, 30)),
    ],
)
def test_a_read_goes_where_its_offset_and_its_reader_belong(
    offset: int, regions: tuple[Region, ...], reader: FetchReader, route: Route
) -> None:
    assert route_read(offset, regions, reader, LEADER) == route


def test_a_reader_that_has_a_nearer_replica_is_sent_there_whatever_it_asks_for() -> None:
    standing = LEADER._replace(preferred=3)
    assert route_read(99, CLASSIC, CONSUMER, standing) == Empty(preferred=3)


@pytest.mark.parametrize(
    ("last_fetched", "offset", "ours", "route"),
    [
        (5, 20, EpochEnd(epoch=5, end_offset=50), Serve(CLASSIC[0], 50)),
        (4, 20, EpochEnd(epoch=4, end_offset=20), Serve(CLASSIC[0], 50)),
        (
            4,
            21,
            EpochEnd(epoch=4, end_offset=20),
            Empty(diverging=EpochEnd(epoch=4, end_offset=20)),
        ),
        (
            4,
            20,
            EpochEnd(epoch=3, end_offset=20),
            Empty(diverging=EpochEnd(epoch=3, end_offset=20)),
        ),
        (6, 20, EpochEnd(epoch=-1, end_offset=-1), Refuse(ErrorCode.offset_out_of_range)),
        (4, 20, EpochEnd(epoch=4, end_offset=-1), Refuse(ErrorCode.offset_out_of_range)),
        (4, -1, EpochEnd(epoch=4, end_offset=20), Refuse(ErrorCode.offset_out_of_range)),
    ],
)
def test_a_follower_whose_log_parts_from_the_leaders_is_told_where(
    last_fetched: int, offset: int, ours: EpochEnd, route: Route
) -> None:
    reader = FOLLOWER._replace(last_fetched_epoch=last_fetched)
    assert route_read(offset, CLASSIC, reader, LEADER._replace(epoch_end=ours)) == route


@pytest.mark.parametrize(
    ("refreshed", "error"),
    [
        (Refreshed.NOT_ASKED, None),
        (Refreshed.DONE, ErrorCode.not_leader_or_follower),
        (Refreshed.TRANSIENT, ErrorCode.request_timed_out),
        (Refreshed.HARD, ErrorCode.kafka_storage_error),
    ],
)
@pytest.mark.parametrize("role", list(Role))
def test_what_cannot_be_learned_is_an_error_by_how_it_failed(
    refreshed: Refreshed, error: ErrorCode | None, role: Role
) -> None:
    assert after_refresh(refreshed, role) is error


def test_an_authority_that_failed_is_an_input_of_the_second_routing() -> None:
    standing = LEADER._replace(refreshed=Refreshed.TRANSIENT)
    route = route_read(30, (ENDED, UNKNOWN), CONSUMER, standing)
    assert route == Refuse(ErrorCode.request_timed_out)


@pytest.mark.parametrize(
    ("kind", "version", "route"),
    [
        (RegionKind.TIERED, 14, Refuse(ErrorCode.offset_moved_to_tiered_storage, told=True)),
        (RegionKind.TIERED, 13, Refuse(ErrorCode.kafka_storage_error, told=True)),
        (RegionKind.WAL, 17, Empty()),
    ],
)
def test_a_follower_finds_elsewhere_what_its_leader_has_not_on_disk(
    kind: RegionKind, version: int, route: Route
) -> None:
    assert follower_elsewhere(kind, version) == route


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("on", list(On))
def test_an_offset_that_nobody_can_find_is_an_error_when_time_is_up(on: On, role: Role) -> None:
    lost = STORAGE if role is Role.LEADER else ELSEWHERE
    assert after_wait(on, role) is (lost if on is On.METADATA else ErrorCode.none)


def test_a_region_without_bounds_is_not_served() -> None:
    standing = LEADER._replace(role=Role.NON_REPLICA, bounds=Bounds(-1, -1, -1, -1, -1))
    assert route_read(0, (TIERED,), CONSUMER, standing) == Refuse(ELSEWHERE)


STORAGE, ELSEWHERE = ErrorCode.kafka_storage_error, ErrorCode.not_leader_or_follower
AFTER = [
    # outcome, first time at the leader, first time elsewhere, again at the leader, again elsewhere
    (ReadOutcome.RECORDS, After.ANSWER, After.ANSWER, After.ANSWER, After.ANSWER),
    (ReadOutcome.GONE, After.ROUTE_AGAIN, After.ROUTE_AGAIN, STORAGE, ELSEWHERE),
    (ReadOutcome.CORRUPT, STORAGE, ELSEWHERE, STORAGE, ELSEWHERE),
    (ReadOutcome.AMBIGUOUS, ELSEWHERE, ELSEWHERE, ELSEWHERE, ELSEWHERE),
    (ReadOutcome.LATE, STORAGE, ELSEWHERE, STORAGE, ELSEWHERE),
]


@pytest.mark.parametrize("row", AFTER, ids=lambda row: str(row[0]))
def test_what_a_read_ended_in_is_answered_routed_again_or_refused(
    row: tuple[ReadOutcome, After, After, After | ErrorCode, After | ErrorCode],
) -> None:
    outcome, *expected = row
    asked = [
        after_read(outcome, role, again)
        for again in (False, True)
        for role in (Role.LEADER, Role.FOLLOWER)
    ]
    assert asked == expected


AFTER_TIERED = [
    # outcome, first time, again; at every replica
    (ReadOutcome.RECORDS, After.ANSWER, After.ANSWER),
    (ReadOutcome.GONE, After.ROUTE_AGAIN, STORAGE),
    (ReadOutcome.CORRUPT, ErrorCode.corrupt_message, ErrorCode.corrupt_message),
    (ReadOutcome.AMBIGUOUS, STORAGE, STORAGE),
    (ReadOutcome.LATE, STORAGE, STORAGE),
]


@pytest.mark.parametrize("row", AFTER_TIERED, ids=lambda row: str(row[0]))
def test_a_remote_read_ends_alike_at_every_replica(
    row: tuple[ReadOutcome, After | ErrorCode, After | ErrorCode],
) -> None:
    outcome, *expected = row
    assert [after_tiered_read(outcome, again) for again in (False, True)] == expected


@pytest.mark.parametrize("table", [AFTER, AFTER_TIERED])
def test_the_table_has_every_outcome(table: list[tuple[ReadOutcome, ...]]) -> None:
    assert [row[0] for row in table] == list(ReadOutcome)


# Without tiered storage.


@pytest.mark.parametrize("reader", [Reader.CONSUMER, Reader.COMMITTED, Reader.FOLLOWER])
def test_without_tiered_storage_a_log_begins_on_the_disk(reader: Reader) -> None:
    found = without_what_is_elsewhere(BOUNDS, reader)

    assert (found.log_start_offset, found.local_log_start_offset) == (10, 10)
    assert found.kept_from == (0 if reader is Reader.FOLLOWER else None)


@pytest.mark.parametrize(("reader", "told"), [(CONSUMER, False), (FOLLOWER, True)])
def test_a_follower_hears_where_a_log_begins_that_is_out_of_reach(
    reader: FetchReader, told: bool
) -> None:
    standing = LEADER._replace(bounds=without_what_is_elsewhere(BOUNDS, reader.kind))

    refused = Refuse(ErrorCode.offset_out_of_range, told=told)
    assert route_read(9, (LOCAL,), reader, standing) == refused

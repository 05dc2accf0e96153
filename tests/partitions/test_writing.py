"""Who takes batches, what may be deleted, which events are still news."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.transactions import EndMarker
from reference_impl.partitions.bounding import deletion_target
from reference_impl.partitions.extensions import Extension
from reference_impl.partitions.logical import NOBODY, LogicalPartition
from reference_impl.partitions.participants import (
    BoundaryMoved,
    Configured,
    Deleted,
    Event,
    RoleChanged,
    Started,
    Stopped,
    event_superseded,
)
from reference_impl.partitions.routing import Refuse
from reference_impl.partitions.views import Role
from reference_impl.partitions.writing import (
    Boundary,
    Ended,
    Origin,
    Pending,
    WriterKind,
    choose_writer,
)

ELSEWHERE, AGAIN = Refuse(ErrorCode.not_leader_or_follower), Refuse(ErrorCode.request_timed_out)
LOCAL, WAL = WriterKind.LOCAL, WriterKind.WAL
WRITERS = {
    # boundary: by the leader for a client and for a marker, by any other broker
    Boundary.NONE: (LOCAL, LOCAL, ELSEWHERE),
    Boundary.MOVING: (AGAIN, LOCAL, ELSEWHERE),
    Boundary.UNKNOWN: (ELSEWHERE, ELSEWHERE, ELSEWHERE),
    Boundary.SET: (WAL, WAL, WAL),
}


@pytest.mark.parametrize("boundary", list(Boundary))
def test_the_leaders_log_is_written_until_the_boundary_is_set(boundary: Boundary) -> None:
    client, marker, elsewhere = WRITERS[boundary]
    assert choose_writer(boundary, Role.LEADER, Origin.CLIENT) == client
    assert choose_writer(boundary, Role.LEADER, Origin.MARKER) == marker
    for role in (Role.FOLLOWER, Role.NON_REPLICA):
        for origin in Origin:
            assert choose_writer(boundary, role, origin) == elsewhere


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (-1, 40),
        (0, 0),
        (40, 40),
        (41, ErrorCode.offset_out_of_range),
        (-2, ErrorCode.offset_out_of_range),
    ],
)
def test_records_are_deleted_up_to_what_is_committed(asked: int, meant: int | ErrorCode) -> None:
    assert deletion_target(asked, 40) == meant


LEADS = RoleChanged(role=Role.LEADER, leader_epoch=5)
FOLLOWS = RoleChanged(role=Role.FOLLOWER, leader_epoch=6)
SETTINGS = Configured(values=())
MOVED = BoundaryMoved(offset=7, leader_epoch=5)
SUPERSEDES: dict[Event, list[Event]] = {
    Started(): [],
    LEADS: [LEADS, FOLLOWS],
    SETTINGS: [SETTINGS],
    MOVED: [],
    Stopped(): [LEADS, FOLLOWS],
    Deleted(): [LEADS, FOLLOWS, SETTINGS, MOVED, Stopped(), Deleted()],
}


@pytest.mark.parametrize("newer", list(SUPERSEDES), ids=lambda one: type(one).__name__)
def test_an_event_takes_the_place_of_those_it_makes_old(newer: Event) -> None:
    waiting: list[Event] = [Started(), LEADS, FOLLOWS, SETTINGS, MOVED, Stopped(), Deleted()]
    assert [one for one in waiting if event_superseded(one, newer)] == SUPERSEDES[newer]


class Beyond(Extension):
    """An extension whose writer notes what it is given."""

    def __init__(self) -> None:
        self.given: list[object] = []

    def writer(self) -> Beyond:
        return self

    async def append(
        self, records: Bytes, *, acks: int, guard: int, sequenced: bool, leader_epoch: int | None
    ) -> Pending:
        self.given += [records, acks, guard, sequenced, leader_epoch]
        return Done()

    async def append_marker(
        self, producer_id: int, producer_epoch: int, marker: EndMarker, *, bumps: bool
    ) -> Pending:
        self.given += [producer_id, producer_epoch, marker, bumps]
        return Done()


class Done:
    watched = ()

    def decided(self) -> Ended:
        return Ended(ErrorCode.none)

    out_of_time = decided


@pytest.fixture
def beyond() -> Beyond:
    return Beyond()


@pytest.fixture
def moved(beyond: Beyond) -> LogicalPartition:
    """A partition of a broker without a replica, in leader epoch 5, beyond its boundary."""
    one = LogicalPartition(topic="a", topic_id=UUID(int=1), index=0, broker_id=3)
    one.become(replace(NOBODY, leader_epoch=5), None)
    one.extensions = (beyond,)
    one.boundary_is(7)
    return one


def test_the_writer_beyond_a_boundary_is_told_the_guard_and_the_epoch_of_an_append(
    moved: LogicalPartition, beyond: Beyond
) -> None:
    asyncio.run(moved.append(b"x", acks=-1, guard=9, sequenced=False, leader_epoch=5))
    assert beyond.given == [b"x", -1, 9, False, 5]


def test_an_append_for_another_epoch_does_not_reach_the_writer_beyond_a_boundary(
    moved: LogicalPartition, beyond: Beyond
) -> None:
    with pytest.raises(KafkaError, match="not in leader epoch 4"):
        asyncio.run(moved.append(b"x", acks=-1, leader_epoch=4))
    assert beyond.given == []


def test_a_marker_beyond_a_boundary_goes_to_the_writer_there(
    moved: LogicalPartition, beyond: Beyond
) -> None:
    marker = EndMarker(committed=True, coordinator_epoch=2)
    asyncio.run(moved.append_marker(7, 1, marker, bumps=True))
    assert beyond.given == [7, 1, marker, True]


def test_a_boundary_is_told_once_for_each_offset_and_leader_epoch() -> None:
    told: list[int] = []
    one = LogicalPartition(
        topic="a",
        topic_id=UUID(int=1),
        index=0,
        broker_id=3,
        moved=lambda _, offset: told.append(offset),
    )
    for offset, epoch in ((7, 1), (7, 1), (7, 2), (8, 2)):
        one.become(replace(NOBODY, leader_epoch=epoch), None)
        one.boundary_is(offset)
    assert told == [7, 7, 8]

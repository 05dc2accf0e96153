"""Who takes batches, what may be deleted, which events are still news."""

from __future__ import annotations

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.partitions.bounding import deletion_target
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
from reference_impl.partitions.writing import Boundary, Origin, WriterKind, choose_writer

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

"""The seam holds a region above a boundary: what clients see of a toy of diskless storage."""

from __future__ import annotations

import pytest

from tests.partitions.stories import Seen
from tests.partitions.wal_story import wal_story

pytestmark = pytest.mark.sim
OUT_OF_RANGE, NOT_LEADER, TIMED_OUT, STORAGE = 1, 6, 7, 56


@pytest.fixture(scope="module")
def seen() -> dict[str, Seen]:
    return wal_story()


def values(seen: Seen) -> list[str]:
    """The records of an answer without error."""
    error, _, _, records = seen
    assert error == 0
    return [one.partition(":")[2] for one in records]


def test_before_it_moves_only_the_leader_serves(seen: dict[str, Seen]) -> None:
    assert seen["before: non-replica"] == (NOT_LEADER,)
    assert seen["before: send to a follower"] == (NOT_LEADER,)
    assert seen["before: send to a non-replica"] == (NOT_LEADER,)


def test_while_the_boundary_moves_producers_try_again_and_readers_read(
    seen: dict[str, Seen],
) -> None:
    assert seen["moving: send"] == (TIMED_OUT,)
    assert seen["moving: another partition"][0] == 0
    assert values(seen["moving: read"]) == ["l0", "l1", "l2", "l3"]


def test_the_boundary_is_the_end_of_the_local_log_and_offsets_go_on_there(
    seen: dict[str, Seen],
) -> None:
    assert seen["boundary"] == (4,)
    sent = ("wal 0", "wal 1, by a follower", "wal 2, by a non-replica", "wal 3")
    assert [seen[one][:2] for one in sent] == [(0, 4), (0, 5), (0, 6), (0, 7)]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("first", ["l0", "l1", "l2", "l3"]),
        ("last below", ["l3"]),
        ("at the boundary", ["w0", "w1"]),
        ("one batch", ["w0"]),
        ("at the end", []),
        ("follower below", ["l3"]),
        ("follower above", ["w0", "w1"]),
        ("non-replica above", ["w1"]),
        ("woken by a commit", ["w3"]),
    ],
)
def test_a_read_never_crosses_the_boundary(
    seen: dict[str, Seen], label: str, expected: list[str]
) -> None:
    assert values(seen[f"across: {label}"]) == expected


def test_offsets_outside_of_what_a_broker_can_serve_are_out_of_range(
    seen: dict[str, Seen],
) -> None:
    assert seen["across: beyond the end"] == seen["across: non-replica below"] == (OUT_OF_RANGE,)


def test_offsets_are_listed_across_the_boundary(seen: dict[str, Seen]) -> None:
    assert [seen[f"across: {one}"][1] for one in ("earliest", "latest", "local")] == [0, 8, 0]
    found = [seen[f"across: stamp {after}"][1] for after in (0, 3, 4, 10, 11, 14)]
    assert found == [0, 3, 4, 4, 5, -1]


@pytest.mark.parametrize(
    ("trouble", "error"), [("transient failure", TIMED_OUT), ("hard failure", STORAGE)]
)
def test_an_authority_in_trouble_hurts_only_who_has_to_ask_it(
    seen: dict[str, Seen], trouble: str, error: int
) -> None:
    assert seen[f"{trouble}: non-replica"] == (error,)
    assert values(seen[f"{trouble}: leader below"]) == ["l3"]
    assert values(seen[f"{trouble}: leader above"]) == ["w1", "w2", "w3"]
    assert seen[f"{trouble}: send"] == (STORAGE,)
    assert seen[f"{trouble}: stamp below"][:2] == (0, 3)
    assert seen[f"{trouble}: stamp above"] == (STORAGE,)


@pytest.mark.parametrize(
    ("trouble", "error"), [("transient failure", TIMED_OUT), ("hard failure", STORAGE)]
)
def test_offsets_that_depend_on_an_unknown_boundary_are_refused_while_it_is_not_to_be_had(
    seen: dict[str, Seen], trouble: str, error: int
) -> None:
    for name in ("earliest", "latest", "stamp above"):
        assert seen[f"unknown, {trouble}: {name}"] == (error,)
    found = {"largest stamp": 3, "local": 0, "stamp below": 3}
    assert {one: seen[f"unknown, {trouble}: {one}"][1] for one in found} == found


def test_offsets_that_depend_on_an_unknown_boundary_are_found_once_the_authority_was_asked(
    seen: dict[str, Seen],
) -> None:
    names = ("earliest", "latest", "stamp below", "stamp above")
    assert [seen[f"unknown, None: {one}"][1] for one in names] == [0, 9, 3, 4]
    assert seen["unknown, None: asked"] == (4,)
    assert seen["unknown, late: latest"] == (TIMED_OUT,)
    assert seen["unknown, at last: latest"][1] == 9


def test_what_the_authority_said_once_is_not_asked_again(seen: dict[str, Seen]) -> None:
    assert values(seen["mended: non-replica"]) == values(seen["mended: known by now"])
    assert seen["the authority was asked"] == (1,)


def test_a_slow_store_holds_up_nobody_else(seen: dict[str, Seen]) -> None:
    assert seen["slow: above"] == (STORAGE,)
    assert values(seen["slow: below"]) == ["l3"]
    assert seen["slow: another partition"][0] == 0
    assert seen["slow: send"] == (TIMED_OUT,)


def test_a_late_authority_holds_a_request_up_to_its_deadline_and_hurts_only_who_asks_it(
    seen: dict[str, Seen],
) -> None:
    assert seen["late authority: in time"] == (True,)
    assert seen["late authority: wal-moved"][0] == TIMED_OUT
    assert values(seen["late authority: plain"]) == ["p0", "p1", "p2"]


def test_records_are_deleted_below_and_above_the_boundary(seen: dict[str, Seen]) -> None:
    assert seen["delete: beyond the end"] == (OUT_OF_RANGE,)
    assert seen["delete: elsewhere"] == (NOT_LEADER,)
    assert [seen[f"delete: {one}"][1] for one in ("earliest", "earliest above")] == [2, 5]
    assert seen["delete: gone"] == seen["delete: gone above"] == (OUT_OF_RANGE,)
    assert values(seen["delete: there"]) == ["w1", "w2", "w3", "late"]
    assert [seen[f"delete: {one}"][:2] for one in ("everything", "to the end", "nothing")] == [
        (0, 10),
        (0, 10),
        (0, 10),
    ]
    assert seen["delete: below zero"] == (OUT_OF_RANGE,)


def test_markers_go_where_batches_go_and_none_is_left_behind_a_boundary_that_is_being_set(
    seen: dict[str, Seen],
) -> None:
    assert seen["mark: before"] == (0,)
    assert seen["mark: before, by a non-replica"] == (NOT_LEADER,)
    assert seen["mark: while the boundary is set"] == (TIMED_OUT,)
    assert seen["mark: boundary"] == (2,)
    assert seen["mark: beyond"] == (0,)
    assert seen["mark: beyond the marker"][:2] == (0, 3)
    assert seen["mark: latest"][1] == 4
    assert values(seen["mark: across"]) == ["m1"]


def test_a_follower_that_stops_at_the_boundary_stays_in_sync(seen: dict[str, Seen]) -> None:
    assert seen["in sync at the boundary"] == (1, (1, 2))


def test_a_new_leader_takes_no_append_before_it_knows_the_boundary(seen: dict[str, Seen]) -> None:
    assert seen["unknown: send"] == (NOT_LEADER,)
    assert values(seen["unknown: below"]) == ["l3"]


def test_a_new_leader_serves_what_the_old_one_served(seen: dict[str, Seen]) -> None:
    assert seen["after: leader"] == (2, (2,))
    assert values(seen["after: above"]) == ["w1", "w2", "w3", "late"]
    assert seen["after: send"][:2] == (0, 9)
    assert values(seen["after: non-replica"]) == ["late", "w4"]


def test_a_copy_that_is_being_assembled_is_not_read(seen: dict[str, Seen]) -> None:
    assert values(seen["after: while a copy is assembled"]) == ["late", "w4"]
    assert seen["after: stamp while a copy is assembled"][:2] == (0, 7)


def test_a_leader_that_refuses_is_none_and_another_is_elected(seen: dict[str, Seen]) -> None:
    assert seen["gap: leader"] == (2, (2, 3))
    assert seen["gap: send to who refused"] == (NOT_LEADER,)

"""The table of a follower's states, cell by cell, and the diagram in the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.replication.following import (
    TRANSITIONS,
    FollowEvent,
    Following,
    FollowState,
    boundary_reached,
    fetch_answer_means,
    next_follow_state,
)

# A row is a state, a column an event; a dash: it means nothing there.
EVENTS = ["records", "diverging epoch", "offset out of range", "offset moved to tiered storage"]
EVENTS += ["local start known", "boundary reached", "wal ready", "work done", "work failed"]
EVENTS += ["new leader epoch", "stopped following"]
FETCH, STOP, NOT = "Fetching", "StoppedAtBoundary", "NotFollowing"
FIND = "FindingLocalStart"
TABLE = {
    FETCH: [FETCH, "Truncating", "FindingRange", FIND, "-", STOP, "-", "-", FETCH],
    "Truncating": ["-", "-", "-", "-", "-", "-", "-", FETCH, FETCH],
    "FindingRange": ["-", "-", "-", "-", "-", "-", "-", FETCH, FETCH],
    FIND: ["-", "-", "-", "-", "BuildingRemoteLogAux", "-", "-", "-", FETCH],
    "BuildingRemoteLogAux": ["-", "-", "-", "-", "-", "-", "-", FETCH, FETCH],
    STOP: ["-", "-", "-", "-", "-", "-", "FromWal", "-", "-"],
    "FromWal": ["-", "-", "-", "-", "-", "-", "-", "-", STOP],
    NOT: ["-", "-", "-", "-", "-", "-", "-", "-", "-"],
}
CELLS = [
    (state, event, after)
    for state, row in TABLE.items()
    for event, after in zip(EVENTS, [*row, FETCH, "-" if state == NOT else NOT], strict=True)
]


@pytest.mark.parametrize(("state", "event", "after"), CELLS)
def test_every_cell_of_the_table(state: str, event: str, after: str) -> None:
    found = next_follow_state(FollowState(state), FollowEvent(event))

    assert (found or "-") == after


def test_the_table_has_a_cell_for_every_state_and_event() -> None:
    assert len(CELLS) == len(FollowState) * len(FollowEvent)


def test_an_event_of_another_leader_epoch_means_nothing() -> None:
    following = Following()
    following.happened(FollowEvent.NEW_LEADER_EPOCH, 4)

    for epoch in (3, 5):
        assert not following.happened(FollowEvent.DIVERGING_EPOCH, epoch)
    assert following.happened(FollowEvent.DIVERGING_EPOCH, 4)
    assert following.state is FollowState.TRUNCATING


@pytest.mark.parametrize(
    ("error", "diverges", "builds_aux", "event"),
    [
        ("none", False, False, FollowEvent.RECORDS),
        ("none", True, False, FollowEvent.DIVERGING_EPOCH),
        ("offset_out_of_range", False, False, FollowEvent.OUT_OF_RANGE),
        ("offset_out_of_range", False, True, FollowEvent.OUT_OF_RANGE),
        ("offset_out_of_range", True, False, FollowEvent.OUT_OF_RANGE),
        ("offset_moved_to_tiered_storage", False, False, FollowEvent.WORK_FAILED),
        ("offset_moved_to_tiered_storage", False, True, FollowEvent.MOVED_TO_TIERED_STORAGE),
        ("not_leader_or_follower", False, False, FollowEvent.WORK_FAILED),
        ("kafka_storage_error", True, True, FollowEvent.WORK_FAILED),
    ],
)
def test_what_an_answer_to_a_fetch_means(
    error: str, diverges: bool, builds_aux: bool, event: FollowEvent
) -> None:
    assert fetch_answer_means(ErrorCode[error], diverges, builds_aux) is event


@pytest.mark.parametrize(
    ("asked", "committed", "boundary", "reached"),
    [
        (9, 9, None, False),
        (4, 5, 5, False),
        (5, 4, 5, False),
        (5, 5, 5, True),
        (6, 6, 5, True),
    ],
)
def test_a_boundary_is_reached_when_all_below_it_was_asked_for_and_is_committed(
    asked: int, committed: int, boundary: int | None, reached: bool
) -> None:
    assert boundary_reached(asked, committed, boundary) is reached


def diagram() -> str:
    """The table as a state diagram, without the two events that every state has."""
    always = (FollowEvent.NEW_LEADER_EPOCH, FollowEvent.STOPPED_FOLLOWING)
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> FETCHING : new leader epoch"]
    lines += [
        f"    {state.name} --> {after.name} : {event}"
        for (state, event), after in TRANSITIONS.items()
        if event not in always
    ]
    return "\n".join([*lines, "```"])


def test_the_diagram_in_the_docs_is_drawn_from_the_table() -> None:
    docs = Path(__file__).parents[2] / "reference_impl" / "CLUSTER.md"

    assert diagram() in docs.read_text()

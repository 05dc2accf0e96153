"""Life cycles of remote segments: every cell of the tables, and who may move them."""

from __future__ import annotations

import pytest
from remote_events import (
    COPIED,
    COPYING,
    DELETED,
    DELETING,
    MARKED,
    REMOVED,
    REMOVING,
    deletion,
    segment,
    update,
)

from reference_impl.tiered.life_cycles import (
    KnownSegment,
    Outcome,
    check_added,
    check_updated,
    fenced,
    judge_segment_event,
    marked_blocks,
    partition_delete_transition,
    segment_transition,
    tell_publisher,
)
from reference_impl.tiered.metadata import EventDropped
from reference_impl.tiered.segments import PartitionDeleteState, SegmentState
from reference_impl.tiered.storage import RemoteResourceNotFoundException

CELLS = {
    "+": Outcome.APPLIED,
    "=": Outcome.NO_OP,
    ".": Outcome.ILLEGAL,
    "?": Outcome.UNKNOWN_SEGMENT,
}

# To:        COPYING COPIED DELETING DELETED
SEGMENTS = {
    None: "+ ? ? ?",
    COPYING: "= + + .",
    COPIED: ". = + .",
    DELETING: ". . = +",
    DELETED: ". . . =",
}
# To:        MARKED STARTED FINISHED
DELETIONS = {None: "+ . .", MARKED: "= + .", REMOVING: ". = +", REMOVED: ". . ="}


@pytest.mark.parametrize("before", SEGMENTS)
@pytest.mark.parametrize("after", SegmentState)
def test_every_pair_of_segment_states_is_decided(
    before: SegmentState | None, after: SegmentState
) -> None:
    assert segment_transition(before, after) is CELLS[SEGMENTS[before].split()[after]]


@pytest.mark.parametrize("before", DELETIONS)
@pytest.mark.parametrize("after", PartitionDeleteState)
def test_every_pair_of_deletion_states_is_decided(
    before: PartitionDeleteState | None, after: PartitionDeleteState
) -> None:
    expected = CELLS[DELETIONS[before].split()[after]]

    assert partition_delete_transition(before, after) is expected


@pytest.mark.parametrize("state", [MARKED, REMOVING, REMOVED])
def test_a_partition_that_is_marked_takes_deletions_and_no_copies(
    state: PartitionDeleteState,
) -> None:
    assert [one for one in SegmentState if marked_blocks(state, one)] == [COPYING, COPIED]
    assert not any(marked_blocks(None, one) for one in SegmentState)


# The leader of epoch 3 sends an event; epoch 5 has been heard of. Whether it is too late:
FENCING = [
    # segment is   set in  started in   event      fenced
    (None, 0, 0, COPYING, True),
    (COPYING, 3, 3, COPIED, False),
    (COPYING, 4, 4, COPIED, False),
    (COPYING, 3, 3, DELETING, False),
    (COPYING, 4, 4, DELETING, True),
    (COPYING, 2, 2, DELETING, True),
    (COPIED, 3, 3, DELETING, True),
    (DELETING, 3, 3, DELETED, False),
    (DELETING, 3, 2, DELETED, True),
    (DELETING, 4, 3, DELETED, True),
    (DELETING, 4, 4, DELETED, True),
]


@pytest.mark.parametrize(("state", "set_in", "started_in", "after", "late"), FENCING)
def test_a_replaced_leader_may_finish_or_take_back_its_own_copy_only(
    state: SegmentState | None, set_in: int, started_in: int, after: SegmentState, late: bool
) -> None:
    known = None if state is None else KnownSegment(state, set_in, started_in)

    assert fenced(5, 3, after, known) is late
    assert not fenced(3, 3, after, known)
    assert not fenced(-1, 3, after, known)


def test_what_repeats_the_known_state_succeeds_also_from_a_replaced_leader() -> None:
    known = KnownSegment(DELETING, 5, 2)

    assert judge_segment_event(None, 5, known, DELETING, 3) is Outcome.NO_OP
    assert judge_segment_event(None, 5, known, DELETED, 3) is Outcome.FENCED


def test_an_illegal_event_of_a_replaced_leader_is_illegal_first() -> None:
    assert judge_segment_event(None, 5, KnownSegment(COPIED, 5, 5), DELETED, 3) is Outcome.ILLEGAL


def test_a_copy_that_repeats_itself_after_the_mark_is_dropped_too() -> None:
    known = KnownSegment(COPIED, 5, 5)

    assert judge_segment_event(MARKED, 5, known, COPIED, 5) is Outcome.MARKED
    assert judge_segment_event(MARKED, 5, known, DELETING, 5) is Outcome.APPLIED


@pytest.mark.parametrize("state", [COPIED, DELETING, DELETED])
def test_a_segment_is_added_in_its_first_state_alone(state: SegmentState) -> None:
    check_added(segment(1))
    check_updated(update(1, state))
    with pytest.raises(ValueError, match=state.name):
        check_added(segment(1, state=state))
    with pytest.raises(ValueError, match="COPY_SEGMENT_STARTED"):
        check_updated(update(1, COPYING))


def test_a_publisher_is_told_what_became_of_its_event() -> None:
    for outcome in (Outcome.APPLIED, Outcome.NO_OP):
        tell_publisher(segment(1), outcome)
    for outcome in (Outcome.ILLEGAL, Outcome.FENCED, Outcome.MARKED):
        with pytest.raises(EventDropped, match="orders-0 in leader epoch 0"):
            tell_publisher(segment(1), outcome)
    with pytest.raises(RemoteResourceNotFoundException):
        tell_publisher(update(1, COPIED), Outcome.UNKNOWN_SEGMENT)
    with pytest.raises(EventDropped, match="DELETE_PARTITION_MARKED of orders-0 in epoch 7"):
        tell_publisher(deletion(MARKED, epoch=7), Outcome.ILLEGAL)

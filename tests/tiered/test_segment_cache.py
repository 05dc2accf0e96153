"""What events of a partition add up to: look-ups, listings, and what is kept of what is gone."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_events import (
    COPIED,
    COPYING,
    DELETED,
    DELETING,
    MARKED,
    ORDERS,
    REMOVING,
    deletion,
    segment,
    update,
)

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.life_cycles import Outcome
from reference_impl.tiered.segment_cache import EpochRange, SegmentCache, epoch_ranges
from reference_impl.tiered.segments import MetadataEvent, RemoteLogSegmentMetadata

Epochs = tuple[tuple[int, int], ...]


def cache_of(*events: MetadataEvent) -> SegmentCache:
    """All of these, applied."""
    cache = SegmentCache(ORDERS)
    for event in events:
        assert cache.apply(event) is Outcome.APPLIED, event
    return cache


def finished(*segments: RemoteLogSegmentMetadata) -> SegmentCache:
    """Segments whose copies are finished."""
    cache = SegmentCache(ORDERS)
    for one in segments:
        cache.apply(one)
        number, at = one.segment_id.id.int, one.event_timestamp_ms
        assert cache.apply(update(number, COPIED, epoch=one.leader_epoch, at=at)).succeeded
    return cache


def numbers(segments: tuple[RemoteLogSegmentMetadata, ...]) -> list[int]:
    return [one.segment_id.id.int for one in segments]


def found(cache: SegmentCache, epoch: int, offset: int) -> int | None:
    segment = cache.segment_for(epoch, offset)
    return None if segment is None else segment.segment_id.id.int


@pytest.mark.parametrize(
    ("first", "last", "epochs", "ranges"),
    [
        (6, 8, ((2, 5), (3, 7)), ((2, 6, 6), (3, 7, 8))),
        (6, 8, ((2, 6), (3, 7)), ((2, 6, 6), (3, 7, 8))),
        (4, 6, ((1, 3),), ((1, 4, 6),)),
        (4, 5, ((0, 0),), ((0, 4, 5),)),
        (0, 1, ((0, 0), (1, 1)), ((0, 0, 0), (1, 1, 1))),
        (6, 8, ((2, 5), (3, 7), (4, 7)), ((2, 6, 6), (4, 7, 8))),  # epoch 3 has no record
        (6, 8, ((1, 3), (2, 6)), ((2, 6, 8),)),  # epoch 1 ended before the segment
        (6, 8, ((2, 5), (3, 9)), ((2, 6, 8),)),  # epoch 3 begins behind it
    ],
)
def test_the_ranges_of_epochs_are_cut_to_the_segment(
    first: int, last: int, epochs: Epochs, ranges: tuple[tuple[int, int, int], ...]
) -> None:
    entries = tuple(EpochEntry(*one) for one in epochs)

    assert epoch_ranges(first, last, entries) == tuple(EpochRange(*one) for one in ranges)


def test_an_offset_is_found_in_its_epoch_and_in_no_other() -> None:
    cache = finished(segment(1, 6, 8, epoch=3, epochs=((2, 5), (3, 7))))

    assert [found(cache, 2, offset) for offset in (5, 6, 7)] == [None, 1, None]
    assert [found(cache, 3, offset) for offset in (6, 7, 8, 9)] == [None, 1, 1, None]
    assert found(cache, 4, 8) is None


def test_of_several_segments_the_one_that_reaches_furthest_in_the_epoch_is_read() -> None:
    cache = finished(
        segment(1, 0, 9, epochs=((0, 0), (1, 3)), epoch=1),  # ends higher, but in another epoch
        segment(2, 0, 4, epochs=((0, 0),), epoch=1),
    )

    assert [found(cache, 0, offset) for offset in (0, 2, 3, 4, 5)] == [2, 2, 2, 2, None]


def test_a_shorter_segment_that_begins_at_the_same_offset_hides_nothing() -> None:
    cache = finished(segment(2, 0, 4), segment(1, 0, 1))

    assert found(cache, 0, 3) == found(cache, 0, 0) == 2
    assert numbers(cache.segments()) == [1, 2]


def test_among_equals_the_later_event_wins_then_the_greater_id() -> None:
    by_time = finished(segment(9, 0, 4, at=10), segment(3, 0, 4, at=11))
    by_id = finished(segment(9, 0, 4, at=10), segment(3, 0, 4, at=10))

    assert found(by_time, 0, 0) == 3
    assert found(by_id, 0, 0) == 9


def test_only_a_finished_copy_is_read_and_every_copy_is_listed() -> None:
    cache = cache_of(segment(1), segment(2), update(2, COPIED))
    states = {1: COPYING, 2: COPIED}

    assert found(cache, 0, 5) == 2
    cache.apply(update(2, DELETING))
    states[2] = DELETING
    assert found(cache, 0, 5) is None
    assert cache.highest_offset_for_epoch(0) is None
    assert {one.segment_id.id.int: one.state for one in cache.segments()} == states


def test_listings_ascend_by_start_offset_and_id() -> None:
    cache = cache_of(segment(7, 5, 9), segment(2, 5, 6), segment(9, 0, 4))

    assert numbers(cache.segments()) == [9, 2, 7]


def test_a_listing_of_an_epoch_has_the_segments_with_records_of_it() -> None:
    cache = cache_of(
        segment(1, 0, 4, epochs=((0, 0), (1, 3))),
        segment(2, 5, 9, epochs=((1, 3), (2, 5))),  # no record of epoch 1: it ends at 4
        segment(3, 5, 9, epochs=((2, 5),)),
    )

    assert [numbers(cache.segments(epoch)) for epoch in (0, 1, 2, 3)] == [[1], [1], [2, 3], []]


def test_the_highest_offset_of_an_epoch_is_that_of_a_finished_segment() -> None:
    cache = finished(
        segment(1, 0, 9, epochs=((0, 0), (1, 3)), epoch=1),
        segment(2, 0, 4, epochs=((0, 0),), epoch=1),
    )
    cache.apply(segment(3, 10, 19, epoch=1))

    assert [cache.highest_offset_for_epoch(epoch) for epoch in (0, 1, 2)] == [4, 9, None]


def test_a_deleted_segment_is_gone_and_does_not_come_back() -> None:
    cache = cache_of(segment(1), update(1, DELETING), update(1, DELETED))

    assert cache.segments() == ()
    assert cache.apply(segment(1)) is Outcome.ILLEGAL
    assert cache.apply(update(1, COPIED)) is Outcome.ILLEGAL
    assert cache.apply(update(1, DELETED)) is Outcome.NO_OP
    assert cache.segments() == ()


def test_a_repeated_start_changes_nothing_while_it_is_the_state() -> None:
    cache = cache_of(segment(1, 0, 9, at=10))

    assert cache.apply(segment(1, 0, 99, at=11)) is Outcome.NO_OP
    assert cache.segments() == (segment(1, 0, 9, at=10),)
    cache.apply(update(1, COPIED))
    assert cache.apply(segment(1)) is Outcome.ILLEGAL


def test_an_event_that_was_dropped_or_repeated_fences_no_leader() -> None:
    cache = cache_of(segment(1, epoch=1))

    assert cache.apply(update(2, COPIED, epoch=9)) is Outcome.UNKNOWN_SEGMENT
    assert cache.apply(segment(1, epoch=9)) is Outcome.NO_OP
    assert cache.apply(update(1, DELETED, epoch=9)) is Outcome.ILLEGAL
    assert cache.highest_epoch == 1


def test_the_epoch_of_a_partition_deletion_fences_no_leader() -> None:
    cache = cache_of(segment(1, epoch=1), deletion(MARKED, epoch=50))

    assert cache.apply(update(1, DELETING, epoch=1)) is Outcome.APPLIED


def test_a_late_finish_of_an_old_leader_does_not_lower_the_highest_epoch() -> None:
    cache = cache_of(segment(1, epoch=1), segment(2, epoch=4), update(1, COPIED, epoch=1))

    assert cache.highest_epoch == 4
    assert cache.apply(segment(3, epoch=3)) is Outcome.FENCED
    assert cache.apply(update(1, DELETING, epoch=3)) is Outcome.FENCED


def test_a_replaced_leader_deletes_the_copy_it_began_and_no_other() -> None:
    cache = cache_of(segment(1, epoch=1), segment(2, epoch=2), segment(3, epoch=4))
    cache.apply(update(2, DELETING, epoch=4))

    assert cache.apply(update(1, DELETING, epoch=1)) is Outcome.APPLIED
    assert cache.apply(update(1, DELETED, epoch=1)) is Outcome.APPLIED
    assert cache.apply(update(2, DELETED, epoch=2)) is Outcome.FENCED
    assert cache.apply(update(2, DELETED, epoch=4)) is Outcome.APPLIED


def test_the_deletion_of_a_partition_goes_its_way_once() -> None:
    cache = cache_of(deletion(MARKED, epoch=7))

    assert cache.apply(deletion(MARKED, epoch=8)) is Outcome.NO_OP
    assert cache.deletion == deletion(MARKED, epoch=7)
    assert cache.apply(segment(1)) is Outcome.MARKED
    assert cache.apply(deletion(REMOVING)) is Outcome.APPLIED
    assert cache.apply(deletion(MARKED)) is Outcome.ILLEGAL


RANGES = st.tuples(st.integers(0, 12), st.integers(0, 8), st.integers(0, 2), st.integers(0, 3))


@given(st.lists(RANGES, max_size=12), st.integers(0, 22), st.integers(0, 2))
def test_a_look_up_is_what_the_sentence_of_the_reading_says(
    drawn: list[tuple[int, int, int, int]], offset: int, epoch: int
) -> None:
    cache = finished(
        *(
            segment(number, first, first + length, epoch=2, epochs=((one, first),), at=at)
            for number, (first, length, one, at) in enumerate(drawn)
        )
    )
    holding = [
        (first + length, at, UUID(int=number))
        for number, (first, length, one, at) in enumerate(drawn)
        if one == epoch and first <= offset <= first + length
    ]

    assert found(cache, epoch, offset) == (max(holding)[2].int if holding else None)


def test_an_event_of_the_wrong_kind_for_its_state_is_dropped() -> None:
    cache = cache_of(segment(1))

    assert cache.apply(segment(1, state=COPIED)) is Outcome.ILLEGAL
    assert cache.apply(update(2, COPYING)) is Outcome.ILLEGAL
    assert cache.apply(update(1, COPYING)) is Outcome.ILLEGAL
    assert cache.segments() == (segment(1),)


def test_a_segment_without_epochs_is_listed_and_found_nowhere() -> None:
    cache = SegmentCache(ORDERS)
    cache.apply(replace(segment(1), segment_leader_epochs=()))
    cache.apply(update(1, COPIED))

    assert numbers(cache.segments()) == [1]
    assert found(cache, 0, 0) is None

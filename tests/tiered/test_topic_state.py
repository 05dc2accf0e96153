"""How far a broker has read the metadata topic, and what follows from a record."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from remote_events import COPIED, DELETING, ORDERS, PAYMENTS, segment, update

from reference_impl.tiered.flat_file import Kept
from reference_impl.tiered.life_cycles import Outcome
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import MetadataEvent, TopicIdPartition
from reference_impl.tiered.topic_state import TopicState, start_position

THIRD = PAYMENTS._replace(topic="third")


@dataclass
class Reader:
    """A state that reads one metadata partition with these records."""

    topic: list[MetadataEvent]
    state: TopicState = field(default_factory=lambda: TopicState(lambda partition: 0))
    read: list[int] = field(default_factory=list)

    def follow(self, partition: TopicIdPartition, kept: Kept | None = None, at: int = 0) -> None:
        self.state.follow(partition, kept, at)
        self.learn_end()

    def learn_end(self) -> None:
        for number, known in self.state.numbers_without_end().items():
            self.state.end_known(number, len(self.topic), known_up_to=known)

    def run(self, most: int = 100) -> list[Outcome | None]:
        """Read on; what became of the records."""
        outcomes = []
        for _ in range(most):
            offset = self.state.partitions[0].position
            if offset >= len(self.topic):
                break
            self.read.append(offset)
            outcomes.append(self.state.take(0, offset, self.topic[offset]))
        return outcomes

    def listed(self, partition: TopicIdPartition) -> list[int]:
        user = self.state.user(partition)
        return [] if user is None else [one.segment_id.id.int for one in user.cache.segments()]


def kept_of(*events: MetadataEvent, upto: int) -> Kept:
    cache = SegmentCache(ORDERS)
    for event in events:
        cache.apply(event)
    return Kept(cache, upto)


@pytest.mark.parametrize(
    ("committed", "kept", "start"),
    [(None, None, 0), (7, None, 0), (None, 7, 0), (5, 7, 5), (7, 5, 5), (0, 9, 0)],
)
def test_reading_begins_at_the_smaller_offset_or_at_the_beginning(
    committed: int | None, kept: int | None, start: int
) -> None:
    assert start_position(committed, kept) == start


def test_a_partition_is_initialised_when_all_is_read_that_was_there_at_the_start() -> None:
    reader = Reader([segment(1), segment(2)])
    reader.state.follow(ORDERS, None, None)
    assert not reader.state.is_initialised(ORDERS)
    reader.learn_end()
    reader.topic.append(segment(3))

    states = []
    while reader.run(most=1):
        states.append(reader.state.is_initialised(ORDERS))

    assert states == [False, True, True]


def test_an_empty_topic_is_read_as_soon_as_its_end_is_known() -> None:
    reader = Reader([])
    reader.state.follow(ORDERS, None, None)
    assert not reader.state.is_initialised(ORDERS)
    reader.learn_end()
    assert reader.state.is_initialised(ORDERS)
    assert not reader.state.is_initialised(PAYMENTS)


def test_what_a_file_contains_is_not_applied_again() -> None:
    # Applied again, the first event would be dropped: its segment is in a later state.
    reader = Reader([segment(1), update(1, COPIED), update(1, DELETING)])
    reader.follow(ORDERS, kept_of(segment(1), update(1, COPIED), upto=2), at=0)

    assert reader.run() == [None, None, Outcome.APPLIED]


def test_one_that_comes_later_is_read_from_the_beginning_and_the_others_are_not() -> None:
    reader = Reader([segment(1), segment(2, partition=PAYMENTS), update(1, COPIED)])
    reader.follow(ORDERS)
    reader.run()
    reader.follow(PAYMENTS)
    reader.topic.append(update(1, DELETING))
    assert reader.state.is_initialised(ORDERS)
    assert not reader.state.is_initialised(PAYMENTS)

    assert reader.run() == [None, Outcome.APPLIED, None, Outcome.APPLIED]
    assert reader.listed(PAYMENTS) == [2]
    assert reader.state.is_initialised(PAYMENTS)


def test_one_that_comes_later_with_a_file_is_read_from_there() -> None:
    reader = Reader([segment(2, partition=PAYMENTS), segment(1), update(1, COPIED)])
    reader.follow(PAYMENTS)
    reader.run()
    reader.read.clear()
    reader.follow(ORDERS, kept_of(segment(1), upto=2), at=2)

    assert reader.run() == [Outcome.APPLIED]
    assert reader.read == [2]


def test_two_that_come_later_wait_for_each_other_at_their_own_floors() -> None:
    third = segment(3, partition=THIRD)
    reader = Reader([segment(1), segment(2, partition=PAYMENTS), third, update(1, COPIED)])
    reader.follow(ORDERS)
    reader.run()
    reader.follow(PAYMENTS)
    reader.run(most=2)
    reader.follow(THIRD)

    assert reader.run() == [None, None, Outcome.APPLIED, None]
    assert [reader.listed(one) for one in (ORDERS, PAYMENTS, THIRD)] == [[1], [2], [3]]


def test_one_that_is_not_followed_any_more_begins_anew_later() -> None:
    reader = Reader([segment(1), segment(2)])
    reader.follow(ORDERS)
    reader.run()
    reader.state.unfollow(ORDERS)
    assert reader.state.partitions == {}
    reader.follow(ORDERS)

    assert not reader.state.is_initialised(ORDERS)
    assert reader.run() == [Outcome.APPLIED, Outcome.APPLIED]


def test_a_leader_of_the_metadata_partition_reads_all_of_it_once() -> None:
    reader = Reader([segment(1), segment(2, partition=PAYMENTS), update(1, COPIED)])
    reader.follow(ORDERS)
    reader.run()
    reader.state.follow_everything(0)
    reader.state.follow_everything(0)
    assert not reader.state.is_initialised(PAYMENTS)
    reader.learn_end()

    assert reader.run() == [None, Outcome.APPLIED, None]
    assert reader.state.is_initialised(PAYMENTS)
    assert reader.state.is_initialised(THIRD)  # which has no events: that is known now
    reader.state.unfollow_everything(0)
    assert not reader.state.is_initialised(PAYMENTS)
    assert reader.state.is_initialised(ORDERS)


def test_one_that_is_told_of_while_everything_is_read_needs_nothing_again() -> None:
    reader = Reader([segment(1), segment(2, partition=PAYMENTS)])
    reader.state.follow_everything(0)
    reader.learn_end()
    reader.run()
    reader.follow(PAYMENTS, None)
    reader.follow(THIRD, None)

    assert reader.run() == []
    assert reader.state.is_initialised(PAYMENTS)
    assert reader.listed(PAYMENTS) == [2]
    reader.state.unfollow_everything(0)
    assert reader.listed(PAYMENTS) == [2]
    assert reader.listed(ORDERS) == []


def test_a_file_that_is_ahead_of_the_topic_is_not_believed() -> None:
    reader = Reader([segment(1)])
    reader.follow(ORDERS, kept_of(segment(7), segment(8), upto=9), at=9)

    assert not reader.state.is_initialised(ORDERS)
    assert reader.run() == [Outcome.APPLIED]
    assert reader.listed(ORDERS) == [1]
    assert reader.state.is_initialised(ORDERS)


def test_what_arrives_while_the_end_is_asked_for_is_no_reason_to_begin_anew() -> None:
    reader = Reader([segment(1)])
    reader.state.follow(ORDERS, None, None)
    (known,) = reader.state.numbers_without_end().values()
    reader.topic.append(segment(2))
    reader.run()
    reader.state.end_known(0, 1, known_up_to=known)

    assert reader.state.partitions[0].position == 2
    assert reader.listed(ORDERS) == [1, 2]


def test_what_became_of_a_record_is_noted_while_it_is_expected() -> None:
    reader = Reader([segment(1), segment(1), update(9, COPIED), segment(2, partition=PAYMENTS)])
    reader.follow(ORDERS)
    with reader.state.expecting(0) as seen:
        reader.run()
        outcomes = [seen[offset].outcome for offset in range(4)]
        reader.follow(PAYMENTS)
        reader.run()  # again, for the other one alone
        again = [seen[offset].outcome for offset in range(4)]

    assert outcomes == [Outcome.APPLIED, Outcome.NO_OP, Outcome.UNKNOWN_SEGMENT, None]
    assert again == outcomes
    assert seen == {}

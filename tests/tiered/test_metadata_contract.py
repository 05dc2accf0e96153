"""The contract of metadata managers, held by each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from metadata_benches import MemoryBench, MetadataBench
from remote_events import (
    COPIED,
    COPYING,
    DELETED,
    DELETING,
    MARKED,
    ORDERS,
    PAYMENTS,
    REMOVED,
    REMOVING,
    deletion,
    segment,
    update,
)
from topic_bench import TopicBench

from reference_impl.tiered.metadata import EventDropped, NotInitialised, RemoteLogMetadataManager
from reference_impl.tiered.segments import (
    MetadataEvent,
    RemoteLogSegmentMetadata,
    RemotePartitionDeleteMetadata,
    TopicIdPartition,
)
from reference_impl.tiered.storage import RemoteResourceNotFoundException

BENCHES = {"memory": MemoryBench, "topic": TopicBench}


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest) -> Iterator[MetadataBench]:
    made: MetadataBench = BENCHES[request.param]()
    yield made
    made.close()


async def published(manager: RemoteLogMetadataManager, event: MetadataEvent) -> None:
    """Publish an event by the call that is made for it."""
    if isinstance(event, RemoteLogSegmentMetadata):
        await manager.add_remote_log_segment_metadata(event)
    elif isinstance(event, RemotePartitionDeleteMetadata):
        await manager.put_remote_partition_delete_metadata(event)
    else:
        await manager.update_remote_log_segment_metadata(event)


def publish(bench: MetadataBench, broker: int, *events: MetadataEvent) -> None:
    """One after the other, each acknowledged."""
    for event in events:
        bench.call(broker, lambda manager, event=event: published(manager, event))


def follow(
    bench: MetadataBench, *brokers: int, partitions: tuple[TopicIdPartition, ...] = (ORDERS,)
) -> None:
    """Brokers learn about partitions, and know them when this returns."""

    async def told(manager: RemoteLogMetadataManager) -> None:
        manager.on_partition_leadership_changes(partitions, ())
        for one in partitions:
            await manager.caught_up(one)

    for broker in brokers:
        bench.call(broker, told)


def ask(bench: MetadataBench, broker: int, what: Callable[[RemoteLogMetadataManager], Any]) -> Any:
    """What a broker answers once it knows everything."""

    async def asked(manager: RemoteLogMetadataManager) -> Any:
        await manager.caught_up(ORDERS)
        return what(manager)

    return bench.call(broker, asked)


def listed(bench: MetadataBench, broker: int, partition: TopicIdPartition = ORDERS) -> list[Any]:
    segments = ask(bench, broker, lambda one: one.list_remote_log_segments(partition))
    return [(one.segment_id.id.int, one.state) for one in segments]


def test_what_one_broker_publishes_the_other_knows(bench: MetadataBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1, 0, 4), update(1, COPIED), segment(2, 5, 9))

    assert listed(bench, 1) == listed(bench, 2) == [(1, COPIED), (2, COPYING)]
    found = ask(bench, 2, lambda one: one.remote_log_segment_metadata(ORDERS, 0, 4))
    assert found == segment(1, 0, 4).updated(update(1, COPIED))
    assert ask(bench, 2, lambda one: one.highest_offset_for_epoch(ORDERS, 0)) == 4
    assert ask(bench, 2, lambda one: one.highest_leader_epoch(ORDERS)) == 0


def test_an_event_is_known_to_its_publisher_when_the_call_returns(bench: MetadataBench) -> None:
    follow(bench, 1)

    async def published_and_read(manager: RemoteLogMetadataManager) -> int:
        await manager.add_remote_log_segment_metadata(segment(1))
        return len(manager.list_remote_log_segments(ORDERS))

    assert bench.call(1, published_and_read) == 1


def test_a_dropped_event_fails_for_its_publisher_and_changes_nothing(bench: MetadataBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1), update(1, COPIED))

    with pytest.raises(EventDropped, match="no such transition"):
        publish(bench, 2, update(1, DELETED))
    with pytest.raises(RemoteResourceNotFoundException):
        publish(bench, 2, update(9, COPIED))
    publish(bench, 2, update(1, COPIED))  # as it is already
    assert listed(bench, 1) == listed(bench, 2) == [(1, COPIED)]


def test_a_replaced_leader_is_fenced_whichever_broker_it_is_on(bench: MetadataBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1, epoch=1), segment(2, epoch=1), update(2, COPIED, epoch=1))
    publish(bench, 2, segment(3, epoch=2))

    for event in (segment(4, epoch=1), update(2, DELETING, epoch=1)):
        with pytest.raises(EventDropped, match="replaced"):
            publish(bench, 1, event)
    publish(bench, 1, update(1, COPIED, epoch=1))
    assert listed(bench, 2) == [(1, COPIED), (2, COPIED), (3, COPYING)]


def test_a_marked_partition_takes_no_copies_and_is_deleted_to_the_end(
    bench: MetadataBench,
) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1), deletion(MARKED, epoch=7), deletion(MARKED, epoch=8))

    for event in (segment(2), update(1, COPIED)):
        with pytest.raises(EventDropped, match="marked"):
            publish(bench, 1, event)
    publish(bench, 2, deletion(REMOVING), update(1, DELETING), update(1, DELETED))
    publish(bench, 2, deletion(REMOVED))
    with pytest.raises(EventDropped):
        publish(bench, 1, deletion(MARKED))
    assert listed(bench, 1) == []
    assert ask(bench, 1, lambda one: one.deletion_of(ORDERS)) == deletion(REMOVED)


def test_a_wrong_call_is_refused_before_anything_is_published(bench: MetadataBench) -> None:
    follow(bench, 1)
    with pytest.raises(ValueError, match="COPY_SEGMENT_FINISHED"):
        publish(bench, 1, segment(1, state=COPIED))
    with pytest.raises(ValueError, match="COPY_SEGMENT_STARTED"):
        publish(bench, 1, update(1, COPYING))

    assert listed(bench, 1) == []


def test_a_partition_that_is_not_followed_is_not_guessed_about(bench: MetadataBench) -> None:
    follow(bench, 1)
    publish(bench, 1, segment(1))
    looks: list[Callable[[RemoteLogMetadataManager], Any]] = [
        lambda one: one.list_remote_log_segments(ORDERS),
        lambda one: one.remote_log_segment_metadata(ORDERS, 0, 0),
        lambda one: one.highest_offset_for_epoch(ORDERS, 0),
        lambda one: one.deletion_of(ORDERS),
        lambda one: one.highest_leader_epoch(ORDERS),
    ]

    async def looked(manager: RemoteLogMetadataManager) -> None:
        for look in looks:
            with pytest.raises(NotInitialised):
                look(manager)

    bench.call(2, looked)
    with pytest.raises(NotInitialised):
        publish(bench, 2, segment(2))
    with pytest.raises(NotInitialised):
        bench.call(2, lambda manager: manager.caught_up(ORDERS))
    assert listed(bench, 1) == [(1, COPYING)]


def test_a_broker_that_has_no_replica_any_more_does_not_answer(bench: MetadataBench) -> None:
    follow(bench, 1)

    async def stopped(manager: RemoteLogMetadataManager) -> bool:
        manager.on_stop_partitions([ORDERS])
        return manager.is_initialised(ORDERS)

    assert not bench.call(1, stopped)
    follow(bench, 1)
    assert listed(bench, 1) == []


def test_a_broker_that_comes_later_learns_everything(bench: MetadataBench) -> None:
    follow(bench, 1)
    publish(bench, 1, segment(1), update(1, COPIED), segment(2, epoch=3))
    follow(bench, 2)

    assert listed(bench, 2) == [(1, COPIED), (2, COPYING)]
    with pytest.raises(EventDropped):
        publish(bench, 2, segment(3, epoch=2))


def test_partitions_do_not_mix_and_a_name_may_be_used_again(bench: MetadataBench) -> None:
    again = ORDERS._replace(topic_id=PAYMENTS.topic_id)
    follow(bench, 1, partitions=(ORDERS, PAYMENTS, again))
    publish(bench, 1, segment(1), deletion(MARKED), segment(2, partition=PAYMENTS))
    publish(bench, 1, segment(3, partition=again))

    assert listed(bench, 1) == [(1, COPYING)]
    assert listed(bench, 1, PAYMENTS) == [(2, COPYING)]
    assert listed(bench, 1, again) == [(3, COPYING)]
    known = ask(bench, 1, lambda one: one.known_partitions())
    assert known == tuple(sorted((ORDERS, PAYMENTS, again)))


def test_what_is_known_survives_a_restart(bench: MetadataBench) -> None:
    follow(bench, 1, 2)
    publish(bench, 1, segment(1, epoch=4), segment(2, epoch=4), update(2, DELETING, epoch=4))
    publish(bench, 1, update(2, DELETED, epoch=4), update(1, COPIED, epoch=4))
    bench.restart(1)
    follow(bench, 1)

    assert listed(bench, 1) == [(1, COPIED)]
    for event in (segment(2, epoch=4), segment(3, epoch=3)):
        with pytest.raises(EventDropped):
            publish(bench, 1, event)


def test_watchers_hear_of_events_that_changed_something(bench: MetadataBench) -> None:
    follow(bench, 1, 2)
    heard: list[TopicIdPartition] = []

    async def watched(manager: RemoteLogMetadataManager) -> None:
        manager.watch(heard.append)

    bench.call(2, watched)
    publish(bench, 1, segment(1))
    publish(bench, 1, segment(1))
    with pytest.raises(EventDropped):
        publish(bench, 1, update(1, DELETED))
    publish(bench, 1, update(1, COPIED))

    assert listed(bench, 2) == [(1, COPIED)]
    assert heard == [ORDERS, ORDERS]


def test_the_leader_of_a_metadata_partition_knows_all_partitions_in_it(
    bench: MetadataBench,
) -> None:
    follow(bench, 1)
    publish(bench, 1, segment(1))
    bench.lead(2)

    assert listed(bench, 2) == [(1, COPYING)]
    assert ask(bench, 2, lambda one: one.known_partitions()) == (ORDERS,)
    led = [ask(bench, one, lambda m: m.metadata_leader_epoch(ORDERS)) for one in (1, 2)]
    assert [one is None for one in led] == [True, False]
    publish(bench, 2, deletion(MARKED))
    assert ask(bench, 1, lambda one: one.deletion_of(ORDERS)) == deletion(MARKED)


def test_closing_twice_is_harmless_and_a_closed_manager_answers_nothing(
    bench: MetadataBench,
) -> None:
    follow(bench, 1)

    async def closed(manager: RemoteLogMetadataManager) -> bool:
        await manager.close()
        await manager.close()
        return manager.is_initialised(ORDERS)

    assert not bench.call(1, closed)
    with pytest.raises(NotInitialised):
        publish(bench, 1, segment(1))

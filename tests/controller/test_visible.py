"""What clients see, cell by cell."""

from __future__ import annotations

from uuid import UUID

import pytest

from reference_impl.broker.leaders import Leaders
from reference_impl.kafka.apis import PRODUCE
from reference_impl.metadata.image import Broker, Image, PartitionState, Topic
from reference_impl.metadata.records import NO_LEADER
from reference_impl.metadata.visible import (
    ANYWHERE,
    Viewer,
    VisiblePartition,
    visible_brokers,
    visible_partition,
)


def broker(id_: int, *, fenced: bool = False, leaving: bool = False) -> Broker:
    return Broker(
        broker_id=id_,
        broker_epoch=1,
        incarnation_id=UUID(int=id_),
        host=f"host-{id_}",
        port=9092,
        rack="a",
        fenced=fenced,
        in_controlled_shutdown=leaving,
    )


UP, FENCED, LEAVING = broker(1), broker(2, fenced=True), broker(3, leaving=True)
BROKERS = {one.broker_id: one for one in (UP, FENCED, LEAVING)}
GONE = 4


def led_by(leader: int, replicas: tuple[int, ...] = (1, 2, 3, GONE)) -> PartitionState:
    return PartitionState(
        replicas=replicas, isr=replicas[:2], leader=leader, leader_epoch=7, partition_epoch=9
    )


def test_clients_are_sent_to_brokers_that_are_not_fenced() -> None:
    assert visible_brokers(BROKERS.values()) == (UP, LEAVING)


@pytest.mark.parametrize(
    ("leader", "seen"),
    [(1, 1), (2, 2), (3, 3), (GONE, NO_LEADER), (NO_LEADER, NO_LEADER)],
    ids=["up", "fenced", "leaving", "not registered", "nobody"],
)
def test_a_leader_is_shown_as_long_as_it_is_registered(leader: int, seen: int) -> None:
    shown = visible_partition(led_by(leader), BROKERS, ANYWHERE)

    assert (shown.leader, shown.has_leader) == (seen, seen != NO_LEADER)


def test_replicas_that_are_fenced_or_not_registered_are_offline() -> None:
    assert visible_partition(led_by(1), BROKERS, ANYWHERE).offline == (2, GONE)


def test_replicas_in_sync_replicas_and_epoch_are_the_controllers() -> None:
    assert visible_partition(led_by(3, (3, 1)), BROKERS, ANYWHERE) == VisiblePartition(
        leader=3, leader_epoch=7, replicas=(3, 1), isr=(3, 1), offline=()
    )


@pytest.mark.parametrize("viewer", [Viewer(zone="a"), Viewer(zone="b"), Viewer(ready=False)])
def test_a_classic_partition_is_seen_alike_by_everybody(viewer: Viewer) -> None:
    state = led_by(1)
    assert visible_partition(state, BROKERS, viewer) == visible_partition(state, BROKERS, ANYWHERE)


@pytest.mark.parametrize(
    ("leader", "hint", "endpoints"),
    [(1, 1, [1]), (2, 2, []), (3, 3, [3]), (GONE, NO_LEADER, []), (NO_LEADER, NO_LEADER, [])],
    ids=["up", "fenced", "leaving", "not registered", "nobody"],
)
def test_a_hint_names_the_leader_and_where_it_is_if_it_can_be_reached(
    leader: int, hint: int, endpoints: list[int]
) -> None:
    image = Image()
    image.brokers.update(BROKERS)
    topic = Topic(name="t", topic_id=UUID(int=5), partitions={0: led_by(leader)})
    leaders = Leaders(image, PRODUCE.response)
    answer = PRODUCE.response.PartitionProduceResponse(index=0)

    leaders.name(answer, topic, 0)

    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (hint, 7)
    assert [one.node_id for one in leaders.endpoints] == endpoints

"""Records of the metadata log and the image they add up to."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.metadata.image import Image, ImageError
from reference_impl.metadata.records import (
    RECORDS,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ConfigSet,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    ProducerIdsAllocated,
    RecordError,
    ResourceType,
    TopicCreated,
    TopicDeleted,
    from_bytes,
    to_bytes,
)

TOPIC_ID = UUID(int=77)


@given(st.sampled_from(RECORDS).flatmap(st.from_type))
def test_every_record_is_what_its_bytes_say(record: MetadataRecord) -> None:
    assert from_bytes(to_bytes(record)) == record


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a metadata record"),
        (b"\xff\xfe", "not a metadata record"),
        (b"[1]", "not a metadata record"),
        (b"{}", "not a metadata record"),
        (b'{"type":"Voted","by":1}', "unknown kind 'Voted'"),
        (b'{"type":"TopicCreated","name":"t"}', "TopicCreated that cannot be read"),
        (b'{"type":"TopicCreated","name":"t","topic_id":"x"}', "cannot be read"),
        (b'{"type":"ProducerIdsAllocated","next_producer_id":1,"more":2}', "cannot be read"),
    ],
)
def test_bytes_that_are_no_record_are_refused_with_a_reason(data: bytes, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        from_bytes(data)


def registered(broker_id: int = 1, epoch: int = 4) -> BrokerRegistered:
    return BrokerRegistered(
        broker_id=broker_id,
        broker_epoch=epoch,
        incarnation_id=UUID(int=1),
        host="h",
        port=1,
        rack="a",
        fenced=True,
    )


def partition(index: int = 0) -> PartitionCreated:
    return PartitionCreated(
        topic_id=TOPIC_ID,
        partition=index,
        replicas=(1, 2),
        isr=(1, 2),
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


CREATED = TopicCreated(name="t", topic_id=TOPIC_ID)


def image_of(*records: MetadataRecord) -> Image:
    image = Image()
    for record in records:
        image.apply(record)
    return image


def test_the_offset_is_that_of_the_last_record() -> None:
    assert Image().offset == -1
    assert image_of(CREATED, partition()).offset == 1


def test_a_change_of_a_partition_leaves_the_rest_and_raises_its_epoch() -> None:
    change = PartitionChanged(topic_id=TOPIC_ID, partition=0, isr=(2,), leader=2, leader_epoch=1)
    state = image_of(CREATED, partition(), change).partition("t", 0)

    assert state is not None
    assert (state.leader, state.leader_epoch, state.isr) == (2, 1, (2,))
    assert (state.replicas, state.partition_epoch) == ((1, 2), 1)


def test_a_deleted_topic_takes_its_partitions_and_configurations_along() -> None:
    config = ConfigSet(resource_type=ResourceType.TOPIC, resource_name="t", key="k", value="v")
    image = image_of(CREATED, config, partition(), TopicDeleted(name="t", topic_id=TOPIC_ID))

    assert (image.topics, image.topic_ids) == ({}, {})
    assert image.config(ResourceType.TOPIC, "t") == {}


def test_what_a_broker_change_does_not_name_stays() -> None:
    change = BrokerChanged(broker_id=1, broker_epoch=4, fenced=False)
    leaving = BrokerChanged(broker_id=1, broker_epoch=4, in_controlled_shutdown=True)
    broker = image_of(registered(), change, leaving).brokers[1]

    assert (broker.fenced, broker.in_controlled_shutdown, broker.active) == (False, True, False)


def test_a_new_life_of_a_broker_begins_without_the_old_ones_leaving() -> None:
    leaving = BrokerChanged(broker_id=1, broker_epoch=4, in_controlled_shutdown=True)
    broker = image_of(registered(), leaving, registered(epoch=9)).brokers[1]

    assert (broker.broker_epoch, broker.in_controlled_shutdown) == (9, False)


def test_a_configuration_that_is_removed_is_gone() -> None:
    set_ = ConfigSet(resource_type=4, resource_name="", key="k", value="v")
    removed = ConfigSet(resource_type=4, resource_name="", key="k", value=None)

    assert image_of(set_).config(ResourceType.BROKER, "") == {"k": "v"}
    assert image_of(set_, removed).config(ResourceType.BROKER, "") == {}


def test_producer_ids_go_on_where_they_ended() -> None:
    assert image_of(ProducerIdsAllocated(next_producer_id=2000)).next_producer_id == 2000


@pytest.mark.parametrize(
    "record",
    [
        BrokerChanged(broker_id=1, broker_epoch=3, fenced=True),
        BrokerUnregistered(broker_id=2, broker_epoch=4),
        CREATED,
        partition(),
        TopicDeleted(name="u", topic_id=UUID(int=5)),
        PartitionChanged(topic_id=TOPIC_ID, partition=3, isr=(1,)),
    ],
)
def test_a_record_that_does_not_fit_the_image_is_refused(record: MetadataRecord) -> None:
    image = image_of(registered(), CREATED, partition())
    with pytest.raises(ImageError):
        image.apply(record)
    assert image.offset == 2

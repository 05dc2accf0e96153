"""Clients that people really use, against the reference: none of them notices anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)
from kafka import KafkaConsumer, KafkaProducer  # type: ignore[import-untyped]
from kafka import TopicPartition as PythonPartition
from kafka.codec import has_lz4

from harness.deployments.process_cluster import ProcessCluster

pytestmark = pytest.mark.process

PATIENCE_S = 20
VALUES = [f"value-{number}".encode() for number in range(500)]


@pytest.fixture(scope="module")
def admin(cluster: ProcessCluster) -> Iterator[AdminClient]:
    return AdminClient({"bootstrap.servers": cluster.bootstrap})


@pytest.fixture
def topic(admin: AdminClient, request: pytest.FixtureRequest) -> str:
    """A topic of three partitions, all of them on all brokers."""
    name = request.node.name.replace("[", ".").replace("]", "")[:200]
    admin.create_topics([NewTopic(name, 3, 3)])[name].result(PATIENCE_S)
    return name


def wait_until(shown: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not shown():
        assert time.monotonic() < deadline, "it was never shown"
        time.sleep(0.02)


def produce_confluent(bootstrap: str, topic: str, **settings: Any) -> None:
    failed: list[Any] = []
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", **settings})
    for number, value in enumerate(VALUES):
        producer.produce(
            topic,
            value,
            partition=number % 3,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []


def produce_aiokafka(bootstrap: str, topic: str, **settings: Any) -> None:
    async def sending() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", **settings)
        await producer.start()
        try:
            sent = [
                await producer.send(topic, value, partition=number % 3)
                for number, value in enumerate(VALUES)
            ]
            for one in sent:
                await asyncio.wait_for(one, PATIENCE_S)
        finally:
            await producer.stop()

    asyncio.run(sending())


def produce_kafka_python(bootstrap: str, topic: str, **settings: Any) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", **settings)
    try:
        sent = [
            producer.send(topic, value, partition=number % 3) for number, value in enumerate(VALUES)
        ]
        for one in sent:
            one.get(PATIENCE_S)
    finally:
        producer.close()


def consume_confluent(bootstrap: str, topic: str) -> list[bytes]:
    settings = {"bootstrap.servers": bootstrap, "group.id": "nobody", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, number, 0) for number in range(3)])
    found: list[bytes] = []
    try:
        while len(found) < len(VALUES):
            messages = consumer.consume(100, PATIENCE_S)
            assert messages, f"only {len(found)} came"
            assert not any(one.error() for one in messages)
            found += [one.value() for one in messages]
    finally:
        consumer.close()
    return found


def consume_aiokafka(bootstrap: str, topic: str) -> list[bytes]:
    async def reading() -> list[bytes]:
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=None)
        await consumer.start()
        found: list[bytes] = []
        try:
            consumer.assign([AioPartition(topic, number) for number in range(3)])
            await consumer.seek_to_beginning()
            while len(found) < len(VALUES):
                batches = await consumer.getmany(timeout_ms=PATIENCE_S * 1000)
                assert batches, f"only {len(found)} came"
                found += [one.value for batch in batches.values() for one in batch]
        finally:
            await consumer.stop()
        return found

    return asyncio.run(reading())


def consume_kafka_python(bootstrap: str, topic: str) -> list[bytes]:
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, group_id=None, consumer_timeout_ms=PATIENCE_S * 1000
    )
    try:
        partitions = [PythonPartition(topic, number) for number in range(3)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        return [next(consumer).value for _ in VALUES]
    finally:
        consumer.close()


PRODUCERS: dict[str, Callable[[str, str], None]] = {
    "confluent": produce_confluent,
    "confluent-idempotent": lambda b, t: produce_confluent(b, t, **{"enable.idempotence": True}),
    "confluent-lz4": lambda b, t: produce_confluent(b, t, **{"compression.type": "lz4"}),
    "confluent-zstd": lambda b, t: produce_confluent(b, t, **{"compression.type": "zstd"}),
    "aiokafka": produce_aiokafka,
    "aiokafka-idempotent": lambda b, t: produce_aiokafka(b, t, enable_idempotence=True),
    "aiokafka-gzip": lambda b, t: produce_aiokafka(b, t, compression_type="gzip"),
    "kafka-python": produce_kafka_python,
    "kafka-python-idempotent": lambda b, t: produce_kafka_python(b, t, enable_idempotence=True),
}
CONSUMERS = {
    "confluent": consume_confluent,
    "aiokafka": consume_aiokafka,
    "kafka-python": consume_kafka_python,
}


@pytest.mark.parametrize("producer", PRODUCERS)
def test_what_one_client_sends_every_client_reads(
    producer: str, cluster: ProcessCluster, topic: str
) -> None:
    PRODUCERS[producer](cluster.bootstrap, topic)
    for name, consume in CONSUMERS.items():
        if producer == "confluent-lz4" and name == "kafka-python" and not has_lz4():
            continue  # it needs a library for that, which comes with neither of us
        assert sorted(consume(cluster.bootstrap, topic)) == sorted(VALUES), name


def test_an_admin_sees_its_cluster(admin: AdminClient) -> None:
    described = admin.describe_cluster(request_timeout=PATIENCE_S).result(PATIENCE_S)
    assert sorted((node.id, node.rack) for node in described.nodes) == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


def test_an_admin_changes_a_topic(admin: AdminClient, topic: str) -> None:
    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(PATIENCE_S)
    entry = ConfigEntry("retention.ms", "3600000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)

    def retention() -> str:
        described = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)])
        (configs,) = (one.result(PATIENCE_S) for one in described.values())
        return str(configs["retention.ms"].value)

    def partitions() -> list[int]:
        return sorted(admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions)

    # The controller has answered; each broker shows it as soon as it has heard of it.
    wait_until(lambda: retention() == "3600000")
    wait_until(lambda: partitions() == [0, 1, 2, 3, 4])


def test_an_admin_lists_and_deletes_records(
    cluster: ProcessCluster, admin: AdminClient, topic: str
) -> None:
    produce_confluent(cluster.bootstrap, topic)
    where = TopicPartition(topic, 0)
    latest = admin.list_offsets({where: OffsetSpec.latest()})[where].result(PATIENCE_S).offset
    assert latest == len(VALUES[0::3])
    deleted = admin.delete_records([TopicPartition(topic, 0, 40)])
    (result,) = (one.result(PATIENCE_S) for one in deleted.values())
    assert result.low_watermark == 40
    earliest = admin.list_offsets({where: OffsetSpec.earliest()})[where].result(PATIENCE_S)
    assert earliest.offset == 40


def test_an_admin_deletes_a_topic(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(PATIENCE_S)
    with pytest.raises(KafkaException):
        admin.delete_topics([topic])[topic].result(PATIENCE_S)


def test_a_refusal_of_the_controller_reaches_the_client(admin: AdminClient) -> None:
    with pytest.raises(KafkaException) as caught:
        admin.create_topics([NewTopic("too-many-copies", 1, 7)])["too-many-copies"].result(
            PATIENCE_S
        )
    assert caught.value.args[0].name() == "INVALID_REPLICATION_FACTOR"

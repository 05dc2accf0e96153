"""Consume, transform, produce with a real client and assigned partitions: exactly once."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from harness.deployments.plan import broker_name
from harness.deployments.process_cluster import ProcessCluster
from reference_impl.coordinators.placement import coordinated_by

pytestmark = pytest.mark.process

PATIENCE_S = 30
INPUTS = [f"value-{number}".encode() for number in range(40)]
BATCH = 5
COORDINATORS_CHANGE = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
)


def consumer(bootstrap: str, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )


def committed(reader: Consumer, topic: str) -> int:
    """The offset to go on from; while coordinators change, the client hands the error on."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            found = reader.committed([TopicPartition(topic, 0)], timeout=PATIENCE_S)[0].offset
            return 0 if found == OFFSET_INVALID else int(found)
        except KafkaException as error:
            code = error.args[0].code()
            if code not in COORDINATORS_CHANGE or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def values_of(reader: Consumer, topic: str, count: int, *, start: int = 0) -> list[bytes]:
    """So many values from there on; fewer if no more came in time."""
    reader.assign([TopicPartition(topic, 0, start)])
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        message = reader.poll(0.2)
        if message is not None and message.error() is None:
            found.append(message.value())
    return found


def started(bootstrap: str) -> Producer:
    made = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": "pipeline", "log_level": 0}
    )
    made.init_transactions(PATIENCE_S)
    return made


def offsets_coordinator(cluster: ProcessCluster, group: str) -> int:
    """The broker that keeps a group's offsets, as another client is told."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    placed = admin.list_topics("__consumer_offsets", timeout=PATIENCE_S)
    partitions = placed.topics["__consumer_offsets"].partitions
    return int(partitions[coordinated_by(group, len(partitions))].leader)


def test_a_pipeline_with_aborts_and_a_killed_coordinator_is_exactly_once(
    cluster: ProcessCluster,
) -> None:
    source, sink, group = "pipeline-source", "pipeline-sink", "pipeline-group"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for future in admin.create_topics([NewTopic(source, 1, 3), NewTopic(sink, 1, 3)]).values():
        future.result(PATIENCE_S)
    plain = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "log_level": 0})
    for value in INPUTS:
        plain.produce(source, value, partition=0)
    assert plain.flush(PATIENCE_S) == 0

    reader, producer = consumer(cluster.bootstrap, group), started(cluster.bootstrap)
    attempts, killed = 0, None
    while (at := committed(reader, source)) < len(INPUTS):
        attempts += 1
        producer.begin_transaction()
        taken = values_of(reader, source, BATCH, start=at)
        assert taken == INPUTS[at : at + BATCH]
        for value in taken:
            producer.produce(sink, value.upper(), partition=0)
        behind = [TopicPartition(source, 0, at + len(taken))]
        producer.send_offsets_to_transaction(behind, reader.consumer_group_metadata(), PATIENCE_S)
        if killed is None and at >= 2 * BATCH:
            killed = offsets_coordinator(cluster, group)
            cluster.kill(broker_name(killed))
        if attempts % 3 == 2:
            producer.abort_transaction(PATIENCE_S)
        elif attempts % 5 == 4:
            producer = started(cluster.bootstrap)  # what is left open is aborted by a successor
        else:
            producer.commit_transaction(PATIENCE_S)
    assert killed is not None
    cluster.start(broker_name(killed))
    assert attempts > len(INPUTS) // BATCH
    assert values_of(reader, sink, len(INPUTS)) == [value.upper() for value in INPUTS]
    reader.close()

"""What fuzzing and its like have found once, each in the smallest form."""

from __future__ import annotations

import struct

import pytest
from attacked_cluster import PATIENCE_S, attacked_cluster
from hostile_messages import NO_TEXT, PREY

from reference_impl.kafka.apis import (
    CREATE_TOPICS,
    DELETE_RECORDS,
    FETCH,
    METADATA,
    PRODUCE,
    Api,
)
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.frames import request_frame
from reference_impl.kafka.message import Message
from reference_impl.kafka.readers import MOST_IN_REQUESTS
from reference_impl.kafka.records import build_batch
from reference_impl.ports import Connection

pytestmark = pytest.mark.sim

# Thirty thousand bytes that are no text: ninety thousand once they are read and written again.
GROWING = NO_TEXT * 15_000
ECHOED: dict[str, tuple[Api, int, Message]] = {
    "Metadata": (
        METADATA,
        4,
        METADATA.request(topics=[METADATA.request.MetadataRequestTopic(name=GROWING)]),
    ),
    "Metadata, compact": (
        METADATA,
        12,
        METADATA.request(topics=[METADATA.request.MetadataRequestTopic(name=GROWING)]),
    ),
    "DeleteRecords": (
        DELETE_RECORDS,
        1,
        DELETE_RECORDS.request(
            topics=[
                DELETE_RECORDS.request.DeleteRecordsTopic(
                    name=GROWING,
                    partitions=[DELETE_RECORDS.request.DeleteRecordsPartition(partition_index=0)],
                )
            ]
        ),
    ),
    "CreateTopics, handed on": (
        CREATE_TOPICS,
        4,
        CREATE_TOPICS.request(
            topics=[CREATE_TOPICS.request.CreatableTopic(name=GROWING)], timeout_ms=1000
        ),
    ),
}


@pytest.mark.parametrize(("api", "version", "request_"), ECHOED.values(), ids=ECHOED)
def test_a_name_that_is_too_long_to_be_said_again_costs_its_connection(
    api: Api, version: int, request_: Message
) -> None:
    with attacked_cluster() as attacked:
        attacked.attack([request_frame(api, version, 1, "hostile", request_)])

        assert (attacked.answered, attacked.closed) == (0, 1)
        attacked.write("after")
        attacked.check_everything_is_there()


def test_a_client_that_reads_nothing_is_hung_up_on_when_it_could_have_been_idle() -> None:
    fetches, batch = 8, build_batch([(0, None, bytes(900_000))])
    with attacked_cluster() as attacked:

        async def never_reading() -> int:
            peer = Peer(attacked.sim.lab, attacked.cluster.address(1), "good")
            await peer.ask(PRODUCE, 9, produce_request(batch), timeout_s=PATIENCE_S)
            peer.abort()
            deaf = await attacked.sim.lab.connect(attacked.cluster.address(1))
            for number in range(fetches):
                await deaf.send(request_frame(FETCH, 12, number, "deaf", fetch_request()))
            await attacked.sim.nodes["broker-1"].clock.sleep(1000)
            answers = 0
            while await read_whole(deaf):
                answers += 1
            deaf.abort()
            return answers

        assert attacked.sim.run(never_reading()) < fetches
        attacked.write("after")


def test_a_request_that_would_keep_the_broker_busy_for_long_is_not_read() -> None:
    topic = METADATA.request.MetadataRequestTopic(name="t")
    most = METADATA.encode_request(METADATA.request(topics=[topic] * MOST_IN_REQUESTS), 1)
    more = METADATA.encode_request(METADATA.request(topics=[topic] * (MOST_IN_REQUESTS + 1)), 1)

    assert len(METADATA.decode_request(most, 1).topics) == MOST_IN_REQUESTS
    with pytest.raises(WireError, match="too many"):
        METADATA.decode_request(more, 1)


async def read_whole(connection: Connection) -> bool:
    """Read one answer; whether there was one before the end."""
    try:
        (size,) = struct.unpack(">i", await connection.read_exactly(4))
        await connection.read_exactly(size)
    except ConnectionError:
        return False
    return True


def produce_request(batch: bytes) -> Message:
    request = PRODUCE.request
    data = request.PartitionProduceData(index=0, records=batch)
    topic = request.TopicProduceData(name=PREY, partition_data=[data])
    made: Message = request(acks=-1, timeout_ms=1000, topic_data=[topic])
    return made


def fetch_request() -> Message:
    request = FETCH.request
    one = request.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000_000)
    topic = request.FetchTopic(topic=PREY, partitions=[one])
    made: Message = request(replica_id=-1, max_bytes=1_000_000, session_epoch=-1, topics=[topic])
    return made

"""A few kilobytes that unpack to megabytes: other clients are served all the same."""

from __future__ import annotations

import asyncio
import struct

import pytest
from attacked_cluster import GROUND, PATIENCE_S, attacked_cluster, decoded, read_partition
from hostile_messages import PREY

from reference_impl.kafka.apis import API_VERSIONS, PRODUCE
from reference_impl.kafka.batches import Compression
from reference_impl.kafka.client import Peer
from reference_impl.kafka.compression import MAX_UNPACKED
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.frames import read_header, request_frame
from reference_impl.kafka.message import Message
from reference_impl.kafka.records import SHORT_UNPACKED, build_batch

pytestmark = pytest.mark.sim

BOMBS = 60
NOW_MS = 1_700_000_000_000


# Size and value size in four bytes each; attributes, timestamp, offset, no key, no headers.
AROUND_A_VALUE = 4 + 4 + 5


def bomb(size: int = 4 * SHORT_UNPACKED) -> bytes:
    return build_batch([(NOW_MS, None, bytes(size))], compression=Compression.zstd)


def produce_request(topic: str, batch: bytes, partition: int = 0) -> Message:
    request = PRODUCE.request
    data = request.PartitionProduceData(index=partition, records=batch)
    row = request.TopicProduceData(name=topic, partition_data=[data])
    made: Message = request(acks=-1, timeout_ms=1000, topic_data=[row])
    return made


def told(answer: Message) -> tuple[int, int]:
    """The error and the offset of the only partition in an answer."""
    (one,) = answer.responses[0].partition_responses
    return one.error_code, one.base_offset


def test_others_are_served_while_batches_are_unpacked_and_those_keep_their_order() -> None:
    with attacked_cluster() as attacked:
        frames = [
            request_frame(PRODUCE, 9, number, "hostile", produce_request(PREY, bomb()))
            for number in range(BOMBS)
        ]
        offsets: list[tuple[int, int]] = []
        begun = asyncio.Event()

        async def attack() -> None:
            connection = await attacked.sim.lab.connect(attacked.cluster.address(1))
            await connection.send(b"".join(frames))
            for frame in frames:
                (size,) = struct.unpack(">i", await connection.read_exactly(4))
                answer = decoded(read_header(frame[4:]), await connection.read_exactly(size))
                offsets.append(told(answer))
                begun.set()
            connection.abort()

        async def ask_meanwhile() -> int:
            peer = Peer(attacked.sim.lab, attacked.cluster.address(1), "good")
            await begun.wait()
            await peer.ask(API_VERSIONS, 0, API_VERSIONS.request(), timeout_s=PATIENCE_S)
            batch = build_batch([(NOW_MS, None, b"meanwhile")])
            answer = await peer.ask(
                PRODUCE, 9, produce_request(GROUND, batch), timeout_s=PATIENCE_S
            )
            peer.abort()
            assert told(answer) == (ErrorCode.none, 1)
            return len(offsets)

        attacking = attacked.sim.spawn(attack())
        unpacked_by_then = attacked.sim.run(ask_meanwhile())

        async def all_answered() -> None:
            await attacking

        attacked.sim.run(all_answered())
        assert unpacked_by_then < BOMBS
        assert offsets == [(ErrorCode.none, 1 + number) for number in range(BOMBS)]


def test_more_than_the_bound_is_too_large_and_nothing_of_it_is_kept() -> None:
    with attacked_cluster() as attacked:

        async def send(batch: bytes) -> tuple[int, int]:
            peer = Peer(attacked.sim.lab, attacked.cluster.address(1), "hostile")
            answer = await peer.ask(PRODUCE, 9, produce_request(PREY, batch), timeout_s=PATIENCE_S)
            peer.abort()
            return told(answer)

        most, more = bomb(MAX_UNPACKED - AROUND_A_VALUE), bomb(MAX_UNPACKED - AROUND_A_VALUE + 1)
        assert attacked.sim.run(send(more)) == (ErrorCode.message_too_large, -1)
        assert attacked.sim.run(send(most)) == (ErrorCode.none, 1)

        async def kept() -> int:
            peer = Peer(attacked.sim.lab, attacked.cluster.address(1), "good")
            _, found = await read_partition(peer, PREY, 0)
            peer.abort()
            return len(found)

        assert attacked.sim.run(kept()) == 2

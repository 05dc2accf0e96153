"""A broker in a process of its own, with peers that send nonsense, too much, too little or never
read: it hangs up on them, or lets them wait, and stays as small as it was; others get on with it.

Memory is what the kernel says the process has resident, compared with what it had before. The
bounds are far above what was measured and far below what the peers ask for.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from reference_impl.kafka.apis import API_VERSIONS, FETCH, METADATA, PRODUCE, Api
from reference_impl.kafka.batches import Compression
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.frames import request_frame
from reference_impl.kafka.message import Message
from reference_impl.kafka.records import build_batch

pytestmark = pytest.mark.process

PATIENCE_S = 30
TOPIC = "ground"
BROKER = "broker-1"
MB = 1 << 20
# One fetch brings about this much.
BATCH_BYTES = 900_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    with ProcessCluster(tmp_path_factory.mktemp("hostile"), DeploymentPlan(brokers=1)) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 4, 1)])[TOPIC].result(PATIENCE_S)
        yield running


def resident_mb(cluster: ProcessCluster) -> float:
    status = Path(f"/proc/{cluster.pid(BROKER)}/status").read_text()
    (line,) = (one for one in status.splitlines() if one.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def connect(cluster: ProcessCluster) -> socket.socket:
    host, port = cluster.address(BROKER).split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)


def read_answer(peer: socket.socket) -> bytes:
    """One answer without its size; nothing where the broker hung up."""
    with contextlib.suppress(ConnectionError), peer.makefile("rb") as stream:
        size = stream.read(4)
        return stream.read(struct.unpack(">i", size)[0]) if len(size) == 4 else b""
    return b""


def ask(peer: socket.socket, api: Api, version: int, request: Message) -> Message:
    peer.sendall(request_frame(api, version, 7, "good", request))
    answer = read_answer(peer)
    assert struct.unpack_from(">i", answer) == (7,)
    at = 5 if api.responses.header_version(version) else 4
    return api.responses.decode(answer, version, at)


def answers(cluster: ProcessCluster) -> bool:
    """Whether somebody new is served."""
    with connect(cluster) as peer:
        return ask(peer, METADATA, 1, METADATA.request(topics=[])).brokers != []


def sized(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 1, -1)


METADATA_1 = request_frame(METADATA, 1, 7, "torn", METADATA.request(topics=[]))
GARBAGE = {
    "a size below zero": struct.pack(">i", -1),
    "the smallest size": struct.pack(">i", -(2**31)),
    "a size of two gigabytes": struct.pack(">i", 2**31 - 1) + bytes(1000),
    "a size one above the limit": struct.pack(">i", 104857601) + bytes(1000),
    "an empty frame": sized(b""),
    "half a header": sized(b"\0\x03\0"),
    "a request to a web server": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "the beginning of TLS": bytes.fromhex("16030100f5010000f10303") + bytes(240),
    "an API that is not there": sized(header(999, 0)),
    "an API below zero": sized(header(-1, 0)),
    "a version too new": sized(header(FETCH.key, 99)),
    "a version too old": sized(header(PRODUCE.key, 0)),
    "a version below zero": sized(header(METADATA.key, -1)),
    "an array of 2^31-1 topics": sized(header(METADATA.key, 1) + struct.pack(">i", 2**31 - 1)),
    "an array of 2^32-2 topics": sized(header(METADATA.key, 9) + b"\0\xff\xff\xff\xff\x0f"),
    "a name longer than its frame": sized(header(METADATA.key, 1) + struct.pack(">ih", 1, 32767)),
    "garbage of the right size": sized(header(FETCH.key, 12) + bytes(range(256)) * 4),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_request_costs_its_connection(cluster: ProcessCluster, data: bytes) -> None:
    with connect(cluster) as peer:
        peer.sendall(data)

        assert read_answer(peer) == b""
    assert answers(cluster)


@pytest.mark.parametrize("kept", [1, 4, 10, len(METADATA_1) - 1])
def test_a_torn_frame_ends_when_its_sender_does(cluster: ProcessCluster, kept: int) -> None:
    with connect(cluster) as peer:
        peer.sendall(METADATA_1[:kept])
        peer.shutdown(socket.SHUT_WR)

        assert read_answer(peer) == b""
    assert answers(cluster)


def test_a_version_of_the_future_is_told_which_ones_there_are(cluster: ProcessCluster) -> None:
    with connect(cluster) as peer:
        peer.sendall(sized(header(API_VERSIONS.key, 99) + b"\0"))
        answer = API_VERSIONS.decode_response(read_answer(peer)[4:], 0)

        assert answer.error_code == ErrorCode.unsupported_version
        assert ask(peer, METADATA, 1, METADATA.request(topics=[])).brokers != []


def test_a_request_that_comes_byte_by_byte_is_answered_and_keeps_nobody_waiting(
    cluster: ProcessCluster,
) -> None:
    with connect(cluster) as slow, connect(cluster) as other:
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(len(METADATA_1)):
            slow.sendall(METADATA_1[at : at + 1])
            assert ask(other, METADATA, 1, METADATA.request(topics=[])).brokers != []

        assert read_answer(slow)[:4] == struct.pack(">i", 7)


def test_two_thousand_idle_connections_harm_no_client(cluster: ProcessCluster) -> None:
    before = resident_mb(cluster)
    with contextlib.ExitStack() as idle:
        for number in range(2000):
            peer = idle.enter_context(connect(cluster))
            peer.sendall(METADATA_1[: number % 4])  # some have begun to say how much will come
        assert send_and_receive(cluster, partition=0) == VALUES
        grown = resident_mb(cluster) - before

    # 64 kB each: what asyncio needs for a connection, a few times over.
    assert grown < 2000 * 64 / 1024
    assert answers(cluster)


VALUES = [f"value-{number}".encode() for number in range(300)]


def send_and_receive(cluster: ProcessCluster, partition: int) -> list[bytes]:
    """What a consumer reads of what a producer sends, both of them librdkafka."""
    failed: list[object] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
    for value in VALUES:
        producer.produce(
            TOPIC,
            value,
            partition=partition,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
    assert producer.flush(PATIENCE_S) == 0
    assert failed == []
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "nobody"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, partition, 0)])
    found: list[bytes] = []
    try:
        while len(found) < len(VALUES):
            messages = consumer.consume(100, PATIENCE_S)
            assert messages, f"only {len(found)} came"
            found += [one.value() for one in messages]
    finally:
        consumer.close()
    return found


def test_memory_is_for_what_arrives_not_for_what_is_announced(cluster: ProcessCluster) -> None:
    announced, connections, sent = 100_000_000, 200, 8192
    before = resident_mb(cluster)
    with contextlib.ExitStack() as open_ones:
        for _ in range(connections):
            peer = open_ones.enter_context(connect(cluster))
            peer.sendall(struct.pack(">i", announced) + bytes(sent))
        assert answers(cluster)
        grown = resident_mb(cluster) - before

    # Twenty gigabytes are announced; 1.6 MB arrive. A reader of asyncio buffers up to 128 KiB.
    assert grown < connections * 128 / 1024
    assert answers(cluster)


def test_memory_is_bounded_for_what_arrives_too(cluster: ProcessCluster) -> None:
    connections, most = 500, 4 * MB
    begin = struct.pack(">i", 104857600)
    before = resident_mb(cluster)
    with contextlib.ExitStack() as open_ones:
        peers = []
        for _ in range(connections):
            peer = open_ones.enter_context(connect(cluster))
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
            peer.sendall(begin)
            peer.setblocking(False)
            peers.append(peer)
        sent = dict.fromkeys(peers, 0)
        for _ in range(40):  # each as much as the broker and its kernel take; some are closed
            for peer in [one for one in peers if sent[one] < most]:
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    sent[peer] += peer.send(bytes(1 << 18))
            assert answers(cluster)
        assert send_and_receive(cluster, partition=0) == VALUES
        grown = resident_mb(cluster) - before

    assert sum(sent.values()) > 0.1 * connections * MB
    # Two gigabytes are offered. What is kept of them is 256 MiB at most, and some of each socket.
    assert grown < 256 + 64
    assert answers(cluster)


def test_a_client_that_never_reads_gets_one_answer_ahead_and_no_more(
    cluster: ProcessCluster,
) -> None:
    batch = build_batch([(1_700_000_000_000, None, bytes(BATCH_BYTES))])
    with connect(cluster) as good:
        ask(good, PRODUCE, 9, produce_request(batch))
        ask(good, FETCH, 12, fetch_request())
        before = resident_mb(cluster)
        with connect(cluster) as deaf:
            # Two gigabytes of answers, to nobody; whatever the broker does not read, we keep.
            deaf.setblocking(False)
            asked = memoryview(request_frame(FETCH, 12, 7, "deaf", fetch_request()) * 2000)
            with contextlib.suppress(BlockingIOError):
                while asked:
                    asked = asked[deaf.send(asked) :]
            # The broker turns to each connection that has something for it, so that in the time
            # of these the other could have had as many.
            for _ in range(50):
                fetched = ask(good, FETCH, 12, fetch_request())
                assert len(fetched.responses[0].partitions[0].records) == len(batch)
            grown = resident_mb(cluster) - before

    # One answer as it is sent and one as it is read from the log, for each of the two clients.
    assert grown < 4 * BATCH_BYTES / MB + 16
    assert answers(cluster)


def test_others_are_answered_while_bombs_are_unpacked(cluster: ProcessCluster) -> None:
    bombs = 8
    bomb = build_batch([(1_700_000_000_000, None, bytes(64 * MB))], compression=Compression.zstd)
    frame = request_frame(PRODUCE, 9, 7, "hostile", produce_request(bomb, partition=2))
    before = resident_mb(cluster)
    with connect(cluster) as hostile, connect(cluster) as good:
        hostile.sendall(frame * bombs)
        answer = read_answer(hostile)
        plain = build_batch([(1_700_000_000_000, None, b"plain")])
        ask(good, PRODUCE, 9, produce_request(plain, partition=3))
        waiting = fcntl.ioctl(hostile, termios.FIONREAD, bytes(4))
        answered = 1 + struct.unpack("=i", waiting)[0] // (4 + len(answer))
        assert answered < bombs
        for _ in range(bombs - 1):
            assert len(read_answer(hostile)) == len(answer)

    # The memory that they were unpacked into is not kept.
    assert resident_mb(cluster) - before < 64


def produce_request(batch: bytes, partition: int = 1) -> Message:
    request = PRODUCE.request
    data = request.PartitionProduceData(index=partition, records=batch)
    topic = request.TopicProduceData(name=TOPIC, partition_data=[data])
    made: Message = request(acks=-1, timeout_ms=PATIENCE_S * 1000, topic_data=[topic])
    return made


def fetch_request() -> Message:
    request = FETCH.request
    one = request.FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=2 * BATCH_BYTES)
    topic = request.FetchTopic(topic=TOPIC, partitions=[one])
    made: Message = request(
        replica_id=-1, max_bytes=2 * BATCH_BYTES, min_bytes=1, session_epoch=-1, topics=[topic]
    )
    return made

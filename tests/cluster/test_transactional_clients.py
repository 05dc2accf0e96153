"""Transactional producers of real clients, while coordinators and leaders are killed.

Readers of committed data see nothing that was aborted or is undecided, and every input is in the
output once. A kill each by default; many of them, under a longer load, in the slow tests.

A commit is acknowledged when it is decided. aiokafka and kafka-python ask for offsets that need not
be stable, so they ask only after InitProducerId, which waits for what was decided.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka import TopicPartition as AioPartition
from aiokafka.errors import KafkaError as AioError  # type: ignore[import-untyped]
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from kafka import KafkaConsumer, KafkaProducer  # type: ignore[import-untyped]
from kafka import TopicPartition as PythonPartition
from kafka.errors import KafkaError as PythonError  # type: ignore[import-untyped]
from kafka.structs import OffsetAndMetadata  # type: ignore[import-untyped]

from harness.deployments.apache_kafka import KafkaUnavailable
from harness.deployments.apache_kafka.jvm import java_command
from harness.deployments.process_cluster import ProcessCluster
from tests.cluster.pipelines import BATCH, PARTITION, PATIENCE_S, Killing, Pipeline, Watching

pytestmark = pytest.mark.process

PAUSE_S = 0.1
CLIENT_S = 10.0


def by_confluent(pipeline: Pipeline, _: Path) -> None:
    def started() -> Producer:
        made = Producer(
            {
                "bootstrap.servers": pipeline.bootstrap,
                "transactional.id": pipeline.name,
                "socket.timeout.ms": 5000,
                "log_level": 0,
            }
        )
        retried(lambda: made.init_transactions(PATIENCE_S), KafkaException)
        return made

    reader = Consumer(
        {
            "bootstrap.servers": pipeline.bootstrap,
            "group.id": pipeline.name,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "socket.timeout.ms": 5000,
            "log_level": 0,
        }
    )
    source = TopicPartition(pipeline.source, PARTITION)

    def committed() -> int:
        found = retried(lambda: reader.committed([source], timeout=5), KafkaException)
        return max(0, int(found[0].offset))

    def transact(producer: Producer, at: int, attempt: int) -> None:
        producer.begin_transaction()
        reader.assign([TopicPartition(pipeline.source, PARTITION, at)])
        behind = min(at + BATCH, pipeline.inputs)
        taken: list[bytes] = []
        while len(taken) < behind - at:
            message = reader.poll(0.2)
            if message is not None and message.error() is None:
                taken.append(message.value())
        for value in taken:
            producer.produce(pipeline.sink, pipeline.value(value, attempt), partition=PARTITION)
        offset = TopicPartition(pipeline.source, PARTITION, behind)
        send_offset(producer, offset, reader)
        if pipeline.wants_to_abort(attempt):
            producer.abort_transaction(PATIENCE_S)
        else:
            pipeline.asks(attempt)
            producer.commit_transaction(PATIENCE_S)

    producer = started()
    while (at := committed()) < pipeline.inputs:
        try:
            transact(producer, at, pipeline.begin())
        except KafkaException:
            producer = started()  # which aborts what is open
    reader.close()


def send_offset(producer: Producer, offset: TopicPartition, reader: Consumer) -> None:
    """librdkafka 2.16 may wait here for ever, whatever the time-out, if the coordinator that it
    knew has left the cluster (its issues 5456 and 5511). Such a producer is given up, as it would
    be if its process were started again; the next one of its id fences it."""
    failed: list[Exception] = []

    def send() -> None:
        try:
            group = reader.consumer_group_metadata()
            producer.send_offsets_to_transaction([offset], group, CLIENT_S)
        except KafkaException as error:
            failed.append(error)

    sending = threading.Thread(target=send, daemon=True)
    sending.start()
    sending.join(2 * CLIENT_S)
    if sending.is_alive():
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
    if failed:
        raise failed[0]


async def aiokafka_producer(pipeline: Pipeline) -> AIOKafkaProducer:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        made = AIOKafkaProducer(
            bootstrap_servers=pipeline.bootstrap,
            transactional_id=pipeline.name,
            request_timeout_ms=5000,
        )
        try:
            await made.start()
        except AioError:
            await made.stop()
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(PAUSE_S)
        else:
            return made


def by_aiokafka(pipeline: Pipeline, _: Path) -> None:
    source = AioPartition(pipeline.source, PARTITION)

    async def committed(reader: AIOKafkaConsumer) -> int:
        return int(await reader.committed(source) or 0)

    async def transact(
        producer: AIOKafkaProducer, reader: AIOKafkaConsumer, at: int, attempt: int
    ) -> int:
        await producer.begin_transaction()
        reader.seek(source, at)
        behind = min(at + BATCH, pipeline.inputs)
        taken: list[bytes] = []
        while len(taken) < behind - at:
            found = await reader.getmany(timeout_ms=200, max_records=behind - at - len(taken))
            taken += [one.value for one in found.get(source, ())]
        for value in taken:
            value = pipeline.value(value, attempt)
            await producer.send_and_wait(pipeline.sink, value, partition=PARTITION)
        await producer.send_offsets_to_transaction({source: behind}, pipeline.name)
        if pipeline.wants_to_abort(attempt):
            await producer.abort_transaction()
            return at
        pipeline.asks(attempt)
        await producer.commit_transaction()
        return behind

    async def run() -> None:
        producer = await aiokafka_producer(pipeline)
        reader = AIOKafkaConsumer(
            bootstrap_servers=pipeline.bootstrap,
            group_id=pipeline.name,
            enable_auto_commit=False,
            isolation_level="read_committed",
            request_timeout_ms=5000,
        )
        await reader.start()
        reader.assign([source])
        at = await committed(reader)
        while at < pipeline.inputs:
            try:
                at = await transact(producer, reader, at, pipeline.begin())
            except AioError:
                await producer.stop()
                producer = await aiokafka_producer(pipeline)
                at = await committed(reader)
        await reader.stop()
        await producer.stop()

    asyncio.run(run())


def by_kafka_python(pipeline: Pipeline, _: Path) -> None:
    source = PythonPartition(pipeline.source, PARTITION)

    def started() -> KafkaProducer:
        made = KafkaProducer(
            bootstrap_servers=pipeline.bootstrap.split(","),
            transactional_id=pipeline.name,
            request_timeout_ms=5000,
            delivery_timeout_ms=30_000,
        )
        retried(made.init_transactions, PythonError)
        return made

    def committed() -> int:
        return int(retried(lambda: reader.committed(source), PythonError) or 0)

    def transact(producer: KafkaProducer, at: int, attempt: int) -> int:
        producer.begin_transaction()
        reader.seek(source, at)
        behind = min(at + BATCH, pipeline.inputs)
        taken: list[bytes] = []
        while len(taken) < behind - at:
            found = reader.poll(timeout_ms=200, max_records=behind - at - len(taken))
            taken += [one.value for one in found.get(source, ())]
        for value in taken:
            producer.send(pipeline.sink, pipeline.value(value, attempt), partition=PARTITION)
        offsets = {source: OffsetAndMetadata(behind, "", -1)}
        producer.send_offsets_to_transaction(offsets, reader.group_metadata())
        if pipeline.wants_to_abort(attempt):
            producer.abort_transaction()
            return at
        pipeline.asks(attempt)
        producer.commit_transaction()
        return behind

    reader = KafkaConsumer(
        bootstrap_servers=pipeline.bootstrap.split(","),
        group_id=pipeline.name,
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    reader.assign([source])
    producer = started()
    at = committed()
    while at < pipeline.inputs:
        try:
            at = transact(producer, at, pipeline.begin())
        except PythonError:
            producer.close(timeout=0)
            producer = started()
            at = committed()
    reader.close()
    producer.close(timeout=0)


def by_java(pipeline: Pipeline, folder: Path) -> None:
    try:
        java = java_command(folder)
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    program = str(Path(__file__).with_name("Pipeline.java"))
    log = f"-Dtidemark.log={folder / 'pipeline.log'}"
    given = [program, pipeline.bootstrap, pipeline.name, str(pipeline.inputs)]
    with subprocess.Popen([*java, log, *given], stdout=subprocess.PIPE, text=True) as process:
        too_long = threading.Timer(5 * PATIENCE_S, process.kill)
        too_long.start()
        done = False
        for line in process.stdout or ():
            word, _, number = line.strip().partition(" ")
            if word == "begin":
                pipeline.begin()
            elif word == "aborts":
                pipeline.aborted += 1
            elif word == "asks":
                pipeline.asks(int(number))
            done = done or word == "done"
        too_long.cancel()
    assert done, f"it ended with {process.returncode}"


def retried(work: Callable[[], object], error: type[Exception]) -> object:
    """What it gives, once it does; coordinators change, and some clients hand that on."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return work()
        except error:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_S)


CLIENTS: dict[str, Callable[[Pipeline, Path], None]] = {
    "confluent": by_confluent,
    "aiokafka": by_aiokafka,
    "kafka-python": by_kafka_python,
    "java": by_java,
}


def exactly_once(
    client: str, cluster: ProcessCluster, folder: Path, *, inputs: int, kills: int
) -> None:
    name = f"{client}-{inputs}"
    pipeline = Pipeline(bootstrap=cluster.bootstrap, name=name, inputs=inputs)
    pipeline.made()
    with Watching(pipeline) as reader:
        with Killing(cluster, pipeline, rounds=kills) as killing:
            CLIENTS[client](pipeline, folder)
        reader.wait()
        time.sleep(PAUSE_S)  # for one too many
    assert len(killing.killed) == kills
    assert pipeline.aborted
    if client != "java":  # whose word may come later than what it did
        assert reader.early == []
    assert [value for value, _ in reader.seen] == [f"v{number}" for number in range(inputs)]
    assert {attempt for _, attempt in reader.seen} <= pipeline.asked


# kafka-python 3.0.12 waits in send_offsets_to_transaction for ever if its coordinator is killed.
SURVIVE_KILLS = [one for one in CLIENTS if one != "kafka-python"]


def test_a_pipeline_of_kafka_python_is_exactly_once_though_it_aborts(
    cluster: ProcessCluster, tmp_path: Path
) -> None:
    exactly_once("kafka-python", cluster, tmp_path, inputs=40, kills=0)


@pytest.mark.parametrize("client", SURVIVE_KILLS)
def test_a_pipeline_is_exactly_once_though_its_coordinator_is_killed(
    client: str, cluster: ProcessCluster, tmp_path: Path
) -> None:
    exactly_once(client, cluster, tmp_path, inputs=40, kills=1)


@pytest.mark.slow
@pytest.mark.parametrize("client", SURVIVE_KILLS)
def test_a_long_pipeline_is_exactly_once_though_brokers_are_killed_again_and_again(
    client: str, cluster: ProcessCluster, tmp_path: Path
) -> None:
    exactly_once(client, cluster, tmp_path, inputs=1500, kills=12)

"""A client that subscribes is told at once that groups have no members here.

Until they have; a client that assigns itself partitions needs none. aiokafka tells it in its log
and asks again, whatever it is told; all others hand the error on.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer  # type: ignore[import-untyped]
from confluent_kafka import Consumer, Producer
from kafka import KafkaConsumer  # type: ignore[import-untyped]
from kafka.errors import IncompatibleBrokerVersion  # type: ignore[import-untyped]

from harness.deployments.apache_kafka import KafkaUnavailable
from harness.deployments.apache_kafka.jvm import java_command
from harness.deployments.process_cluster import ProcessCluster

pytestmark = pytest.mark.process

PATIENCE_S = 30
TOPIC = "subscribed"


@pytest.fixture(scope="module")
def bootstrap(cluster: ProcessCluster) -> str:
    """Of brokers that have a record for those who subscribe."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    producer.produce(TOPIC, b"v")
    assert producer.flush(PATIENCE_S) == 0
    return cluster.bootstrap


def test_librdkafka_is_told_which_request_is_not_offered(bootstrap: str) -> None:
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": "confluent", "log_level": 0})
    reader.subscribe([TOPIC])

    message = reader.poll(PATIENCE_S)

    error = None if message is None else message.error()
    assert error is not None
    assert (error.name(), "JoinGroup" in error.str()) == ("_UNSUPPORTED_FEATURE", True)
    reader.close()


def test_kafka_python_is_told_which_request_is_not_offered(bootstrap: str) -> None:
    reader = KafkaConsumer(TOPIC, bootstrap_servers=bootstrap.split(","), group_id="python")

    with pytest.raises(IncompatibleBrokerVersion, match="JoinGroup"):
        reader.poll(timeout_ms=1000 * PATIENCE_S)

    reader.close(autocommit=False)


def test_java_is_told_which_request_is_not_offered(bootstrap: str, tmp_path: Path) -> None:
    try:
        java = java_command(tmp_path)
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    program = str(Path(__file__).with_name("Subscribing.java"))
    log = f"-Dtidemark.log={tmp_path / 'subscribing.log'}"

    told = subprocess.run(
        [*java, log, program, bootstrap, TOPIC],
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_S,
        check=True,
    ).stdout.splitlines()

    assert told[0] == "classic: The node does not support JOIN_GROUP"
    assert told[1].startswith("consumer: The cluster does not support the new CONSUMER group")


def test_aiokafka_logs_which_request_is_not_offered(bootstrap: str) -> None:
    assert "JoinGroupRequest cannot be used" in asyncio.run(_told_by_aiokafka(bootstrap))


async def _told_by_aiokafka(bootstrap: str) -> str:
    """What its consumer logs about joining a group."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "JoinGroup" in record.getMessage() and not told.done():
                told.set_result(record.getMessage())

    handler = Telling()
    logging.getLogger("aiokafka").addHandler(handler)
    reader = AIOKafkaConsumer(TOPIC, bootstrap_servers=bootstrap, group_id="aiokafka")
    starting = asyncio.ensure_future(reader.start())
    try:
        return await asyncio.wait_for(told, PATIENCE_S)
    finally:
        logging.getLogger("aiokafka").removeHandler(handler)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await reader.stop()

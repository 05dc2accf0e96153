"""`./tidemark serve`: a cluster for any client, from the command line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

pytestmark = pytest.mark.process

COMMAND = [sys.executable, "-m", "harness.cli", "serve", "--port", "0"]


IGNORING_SIGINT = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "background"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_cleanly_when_told(
    number: signal.Signals, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with subprocess.Popen(
        [*IGNORING_SIGINT, *COMMAND, "--brokers", "2", "--racks", "a,b", "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        assert line.startswith("bootstrap=127.0.0.1:")
        bootstrap = line.strip().removeprefix("bootstrap=")
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        assert sorted(admin.list_topics(timeout=20).brokers) == [1, 2]
        serving.send_signal(number)
        assert serving.wait(60) == 0
    assert sorted(os.listdir(data)) == ["broker-1", "broker-2", "controller", "objects"]
    assert (data / "broker-1" / ".kafka_cleanshutdown").exists()


def test_a_node_that_died_is_named_and_started_again_when_asked() -> None:
    with subprocess.Popen(
        [*COMMAND, "--brokers", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        assert serving.stderr is not None
        serving.stdout.readline()
        said = iter(serving.stderr.readline, "")
        named = next(line for line in said if line.startswith("broker-1: pid "))
        assert next(line for line in said if line.startswith("lacks: "))
        os.kill(int(named.split()[2].rstrip(",")), signal.SIGKILL)
        ended = next(line for line in said if line.startswith("broker-1 ended"))
        assert ended == f"broker-1 ended: SIGKILL; `kill -USR1 {serving.pid}` starts it again\n"
        serving.send_signal(signal.SIGUSR1)
        assert next(said).startswith("broker-1 is back: pid ")
        serving.terminate()
        serving.communicate(timeout=60)
        assert serving.returncode == 0


def test_a_port_that_is_taken_is_told_with_the_option_that_chooses_another() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND[:-1], str(port)], capture_output=True, text=True, check=False
        )

    assert done.returncode == 64
    assert f"port {port} cannot be listened on" in done.stderr
    assert "--port" in done.stderr


TIERED_TOPIC = {
    "remote.storage.enable": "true",
    "local.retention.bytes": "1",
    "index.interval.bytes": "1",
    "segment.index.bytes": "120",
}
TIERED = (
    "remote.log.storage.system.enable=true",
    "remote.log.manager.task.interval.ms=200",
    "log.retention.check.interval.ms=200",
    "rlmm.config.remote.log.metadata.topic.num.partitions=1",
)


def _read_all(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "all", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    until = time.monotonic() + 60
    while len(found) < count and time.monotonic() < until:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            found.append(message.value())
    consumer.close()
    return found


def test_with_tiered_storage_a_client_reads_what_has_left_the_disks(tmp_path: Path) -> None:
    settings = [word for one in TIERED for word in ("--property", one)]
    values = [f"v{number}".encode() for number in range(100)]
    with subprocess.Popen(
        [*COMMAND, "--brokers", "3", "--data", str(tmp_path), *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        bootstrap = serving.stdout.readline().strip().removeprefix("bootstrap=")
        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        made = admin.create_topics([NewTopic("orders", 1, 3, config=TIERED_TOPIC)])
        made["orders"].result(30)
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
        for value in values:
            producer.produce("orders", value)
            producer.flush(30)
        folders = [tmp_path / f"broker-{one}" / "orders-0" for one in (1, 2, 3)]
        until = time.monotonic() + 60
        while time.monotonic() < until and any(
            (folder / f"{0:020}.log").exists() for folder in folders
        ):
            time.sleep(0.2)
        assert not any((folder / f"{0:020}.log").exists() for folder in folders)
        assert _read_all(bootstrap, "orders", len(values)) == values
        serving.terminate()
        assert serving.wait(60) == 0


def test_one_broker_is_enough_for_transactions_and_for_offsets_of_groups() -> None:
    with subprocess.Popen(
        [*COMMAND, "--brokers", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        assert serving.stdout is not None
        bootstrap = serving.stdout.readline().strip().removeprefix("bootstrap=")
        common = {"bootstrap.servers": bootstrap, "log_level": 0}
        producer = Producer({**common, "transactional.id": "t"})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("orders", b"v")
        producer.commit_transaction(30)
        assert _read_all(bootstrap, "orders", 1) == [b"v"]
        reader = Consumer({**common, "group.id": "g"})
        reader.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
        assert reader.committed([TopicPartition("orders", 0)], 30)[0].offset == 1
        reader.close()
        serving.terminate()
        assert serving.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--brokers", "0"], "greater than or equal to 1"),
        (["--property", "x"], "'x' is not NAME=VALUE"),
        (["--port", "65535", "--brokers", "3"], "do not fit behind port 65535"),
        (["--mutant", "nowhere:nothing"], "nowhere"),
    ],
)
def test_a_mistake_ends_in_a_sentence(arguments: list[str], sentence: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr

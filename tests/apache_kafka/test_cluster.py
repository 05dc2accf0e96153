"""Real nodes: started, asked, hurt, and gone without a trace."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.clients.connection import Silence, ask_once
from harness.deployments.apache_kafka import ApacheKafka, KafkaUnavailable
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address

pytestmark = pytest.mark.foreign

ROOT = Path(__file__).parents[2]

LAB = """
import sys
from pathlib import Path
from harness.deployments.apache_kafka import ApacheKafka
from harness.processes.signals import wait_for_signal

with ApacheKafka(folder=Path(sys.argv[1])) as kafka:
    print(kafka.nodes[1].pid, flush=True)
    wait_for_signal()
"""


def ask(address: tuple[str, int], *request: Any, timeout_s: float = 40.0) -> Any:
    return asyncio.run(ask_once(StreamNetwork(), Address(*address), *request, timeout_s=timeout_s))


def brokers(address: tuple[str, int]) -> list[int]:
    answer = ask(address, "metadata", 12, {"topics": []})
    return sorted(one["node_id"] for one in answer["brokers"])


def topic(kafka: ApacheKafka, name: str, **more: Any) -> Any:
    said = {"name": name, "num_partitions": 1, "replication_factor": 1, **more}
    answer = ask(kafka.address(), "create_topics", 7, {"topics": [said], "timeout": 10_000})
    return answer["topics"][0]["error_code"]


def test_one_node_answers_with_tiered_storage_on(kafka: ApacheKafka) -> None:
    configs = [{"name": "remote.storage.enable", "value": "true"}]

    assert brokers(kafka.address()) == [1]
    assert topic(kafka, "tiered", configs=configs) == "NONE"


def test_its_logs_are_kept_in_the_folder(kafka: ApacheKafka) -> None:
    assert "Kafka Server started" in (kafka.folder / "n1" / "server.log").read_text()
    assert (kafka.data_folder(1) / "meta.properties").exists()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    settings = {"broker.session.timeout.ms": "3000"}
    cluster = ApacheKafka(nodes=3, folder=tmp_path_factory.mktemp("three"), settings=settings)
    try:
        cluster.__enter__()
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    yield cluster
    cluster.close()


def test_three_nodes_know_each_other(three: ApacheKafka) -> None:
    assert [brokers(three.address(node)) for node in (1, 2, 3)] == [[1, 2, 3]] * 3


def test_a_killed_node_comes_back_with_its_data(three: ApacheKafka) -> None:
    assert topic(three, "kept", replication_factor=3) == "NONE"
    meta = (three.data_folder(2) / "meta.properties").read_text()

    three.kill(2)
    assert three.nodes[2].pid is None
    three.restart(2)

    assert brokers(three.address(2)) == [1, 2, 3]
    assert (three.data_folder(2) / "meta.properties").read_text() == meta


def test_a_paused_node_is_silent_until_it_is_resumed(three: ApacheKafka) -> None:
    three.pause(3)
    try:
        with pytest.raises(Silence):
            ask(three.address(3), "metadata", 12, {"topics": []}, timeout_s=0.5)
    finally:
        three.resume(3)

    three.wait_until_ready()
    assert brokers(three.address(3)) == [1, 2, 3]


def test_leaving_ends_every_process(tmp_path: Path) -> None:
    try:
        with ApacheKafka(folder=tmp_path) as cluster:
            handle = os.pidfd_open(cluster.nodes[1].pid or 0)
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))

    assert select.select([handle], [], [], 0)[0]
    os.close(handle)


def test_a_killed_lab_takes_its_node_along(kafka: ApacheKafka, tmp_path: Path) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with lab:
        assert lab.stdout is not None
        handle = os.pidfd_open(int(lab.stdout.readline()))
        lab.send_signal(signal.SIGKILL)
        lab.wait(20)

    assert select.select([handle], [], [], 20)[0]
    os.close(handle)

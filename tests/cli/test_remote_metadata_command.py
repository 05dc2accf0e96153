"""`remote-metadata`: what is in the metadata topic, a line an event, over the Kafka protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.cli.app import main
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.workloads.tier_looks import METADATA_TOPIC

LINES = Path(__file__).with_name("remote-metadata.txt")
PATIENCE_S = 30
ORDERS = "0000066f7264657273000102030405060708090a0b0c0d0e0f00000000"
SEGMENT = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
OF_THE_COPY = (
    "000000000000000600000000000000080000000300000174876e800000000174876e83e8"
    "000000020000000200000000000000050000000300000000000000070010000000"
)
# The vectors of the document's readings: a copy begins, is finished, the partition is marked.
VECTORS = (
    f"00{ORDERS}{SEGMENT}{OF_THE_COPY}",
    f"01{ORDERS}{SEGMENT}0000000300000174876e87d001",
    f"02{ORDERS}0000000700000174876e8bb800",
)
ALL = ("partition", "message.offset", "version", "all.event.value.fields")


def ran(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["tidemark", "remote-metadata", *words])
    capfd.readouterr()
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0), *capfd.readouterr()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    with ProcessCluster(tmp_path_factory.mktemp("told"), DeploymentPlan(brokers=1)) as running:
        yield running


@pytest.mark.process
def test_the_lines_are_those_of_the_document_and_what_is_no_record_is_named(
    cluster: ProcessCluster, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["--bootstrap", cluster.bootstrap]
    code, out, err = ran(asked, monkeypatch, capfd)
    assert (code, out) == (64, "")
    assert f"there is no topic {METADATA_TOPIC}" in " ".join(err.split())

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(METADATA_TOPIC, 2, 1)])[METADATA_TOPIC].result(PATIENCE_S)
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for value in (*map(bytes.fromhex, VECTORS), b"\x01\x01\x00"):
        producer.produce(METADATA_TOPIC, value, partition=1)
    assert producer.flush(PATIENCE_S) == 0

    code, out, err = ran(asked, monkeypatch, capfd)
    assert (code, out) == (0, LINES.read_text("utf-8"))
    assert f"{METADATA_TOPIC}-1, offset 3 is skipped" in err
    every = [f"--property=print.{name}=true" for name in ALL]
    code, out, _ = ran([*asked, "--partition", "1", *every], monkeypatch, capfd)
    assert out.splitlines()[0].startswith("partition:1,message-offset:0,type:RemoteLogSegmentMet")
    assert "segment-leader-epochs:[{leader-epoch:2,offset:5},{leader-epoch:3,offset:7}]" in out
    assert ran([*asked, "--partition", "0"], monkeypatch, capfd) == (0, "", "")
    code, _, err = ran([*asked, "--partition", "2"], monkeypatch, capfd)
    assert code == 64
    assert "has the partitions 0 to 1" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bootstrap", "nowhere"], "'nowhere' is not HOST:PORT"),
        (["--bootstrap", "127.0.0.1:1"], "127.0.0.1:1"),
        (["--bootstrap", "127.0.0.1:1", "--property", "colour=true"], "no property of the"),
    ],
)
def test_a_mistake_is_a_sentence(
    words: Sequence[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, err = ran(words, monkeypatch, capfd)
    assert (code, out) == (64, "")
    assert said in err

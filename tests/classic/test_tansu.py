"""Tansu 0.6, a diskless Kafka that nobody here wrote, by its address; and what was found in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.classic.smoke import REQUESTS, smoke
from harness.clients.admin import brokers_known, create_topic
from harness.clients.messages import build, request_schema
from harness.clients.operations import TopicPartition, fetch, list_offsets, produce
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.deployments.external import external_deployment
from harness.history import Run
from harness.history.outcome import Outcome
from harness.sut import read_sut
from reference_impl.ports.network import EndOfStream

TANSU = os.environ.get("TIDEMARK_TANSU") or shutil.which("tansu")
pytestmark = [
    pytest.mark.foreign,
    pytest.mark.skipif(
        TANSU is None,
        reason="the program tansu is not at hand: docs/your-own-system.md says how to get it",
    ),
]
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "tansu"
USUAL = "127.0.0.1:19092"
LATEST, SUBTRACT = -1, 3


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A broker that its own hook program has started on a free port; the SUT file for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    for one in EXAMPLE.iterdir():
        made = tmp_path / one.name
        made.write_text(one.read_text().replace(USUAL, address))
        made.chmod(one.stat().st_mode)
    monkeypatch.setenv("PATH", f"{Path(str(TANSU)).parent}:{os.environ['PATH']}")
    orders = [str(tmp_path / "nodes.sh")]
    subprocess.run([*orders, "start", "111"], check=True, timeout=10)
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port))):
            break
        time.sleep(0.05)
    try:
        yield tmp_path / "sut.toml"
    finally:
        subprocess.run([*orders, "kill", "111"], check=True, timeout=10)


def the_broker(system: Deployment) -> RawClient:
    return RawClient(system.network, system.address(system.brokers[0]))


@pytest.fixture
def system(file: Path, tmp_path: Path) -> Iterator[Deployment]:
    run = Run.create(tmp_path / "run", run="run", sut="tansu", world="external")
    with external_deployment(run, read_sut(file)) as deployed:
        yield deployed


def test_what_it_does_not_offer_is_known_and_keeps_nothing_from_being_judged(
    system: Deployment,
) -> None:
    assert system.run(smoke(system, "tansu", "smoke")) == REQUESTS
    assert system.lacks["offset_for_leader_epoch"] == "it does not offer offset_for_leader_epoch"
    assert "fetch" not in system.lacks


def test_found_what_is_read_from_the_middle_of_a_batch_is_lost_and_its_end_is_wrong(
    system: Deployment,
) -> None:
    async def asked() -> tuple[Outcome, Outcome, Outcome]:
        tp = TopicPartition("t", 0)
        await create_topic(the_broker(system), "t", partitions=1, replication_factor=1)
        await produce(the_broker(system), tp, records=[("a", 1), ("b", 2)], acks=-1)
        return (
            await fetch(the_broker(system), tp, offset=0),
            await fetch(the_broker(system), tp, offset=1),
            await list_offsets(the_broker(system), tp, timestamp=LATEST),
        )

    whole, middle, latest = system.run(asked())

    assert [one[1] for one in whole.fields["records"]] == ["a", "b"]
    assert whole.fields["high_watermark"] == 2
    assert middle.fields["records"] == []  # Kafka gives the batch
    assert latest.fields["offset"] == 1  # Kafka says 2


def test_found_one_request_makes_it_refuse_everybody(system: Deployment) -> None:
    async def asked() -> None:
        await create_topic(the_broker(system), "t", partitions=1, replication_factor=1)
        config = {"name": "cleanup.policy", "config_operation": SUBTRACT, "value": "compact"}
        resource = {"resource_type": 2, "resource_name": "t", "configs": [config]}
        fields = {"resources": [resource], "validate_only": False}
        request = build(request_schema("incremental_alter_configs", 1), fields)
        with pytest.raises(EndOfStream):
            await the_broker(system).ask(request, timeout_s=5)
        with pytest.raises(EndOfStream):
            await brokers_known(the_broker(system), timeout_s=5)

    system.run(asked())

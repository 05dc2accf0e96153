"""A broker from an image of one's own, started by testcontainers and reached by its address."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from conformance.lab import smoke
from conformance.profiles.profile import Plan
from harness.deployments.apache_kafka.containers import as_environment
from harness.deployments.apache_kafka.local_image import local_image
from harness.deployments.apache_kafka.starting import (
    START_S,
    brokers_known,
    free_ports,
    new_cluster_id,
)
from harness.deployments.docker.engine import connect
from harness.history import Run
from harness.sut import read_sut

pytestmark = pytest.mark.docker

FILE = """
[sut]
name = "own-image"
version = "1"
bootstrap = "127.0.0.1:{port}"
profiles = ["classic"]
"""
ALONE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "listeners": "PLAINTEXT://0.0.0.0:9092,CONTROLLER://localhost:9093",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/var/lib/kafka/data",
    "offsets.topic.replication.factor": "1",
}


def test_a_broker_of_an_image_of_ones_own_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)  # that is an image, too
    engine = connect()
    image = local_image(engine)
    engine.close()
    (port,) = free_ports(1)
    told = {**ALONE, "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}"}
    own = DockerContainer(image).with_bind_ports(9092, port)
    own.with_envs(CLUSTER_ID=new_cluster_id(), **as_environment(told))
    path = tmp_path / "own.toml"
    path.write_text(FILE.format(port=port), encoding="utf-8")
    with own:
        deadline = time.monotonic() + START_S
        while brokers_known(port) != {1}:
            assert time.monotonic() < deadline, "the broker was not ready"
            time.sleep(0.1)
        run = Run.create(tmp_path / "run", run="1", sut="own-image", world="external", seed=1)
        plan = Plan(world="external", seed=1, profiles=("classic",))
        assert smoke(run, read_sut(path), plan) > 0

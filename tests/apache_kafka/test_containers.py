"""Kafka from an image: four containers, what can be done to them, and that nothing is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import docker  # type: ignore[import-untyped]
import pytest
from docker.errors import DockerException  # type: ignore[import-untyped]

from conformance.classic.lab import plan_of
from harness.deployments.apache_kafka.containers import (
    IMAGE_SETTING,
    LABELS,
    ContainerKafka,
    as_environment,
)
from harness.deployments.apache_kafka.jars import KafkaUnavailable
from harness.deployments.apache_kafka.starting import brokers_known
from harness.deployments.plan import CONTROLLER
from tests.apache_kafka.local_image import build

TAG = "tidemark/apache-kafka:local"


def test_a_setting_is_named_as_the_image_wants_it() -> None:
    named = as_environment({"log.dirs": "/d", "a_b": "1", "c-d.e": "2"})

    assert named == {"KAFKA_LOG_DIRS": "/d", "KAFKA_A__B": "1", "KAFKA_C___D_E": "2"}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        client = docker.from_env()
    except DockerException:
        pytest.skip("no Docker engine runs here")
    build(tmp_path_factory.mktemp("image"), TAG)
    yield TAG
    client.images.remove(TAG, force=True)
    client.close()


@pytest.mark.docker
def test_containers_are_killed_paused_wiped_and_come_back(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IMAGE_SETTING, image)
    monkeypatch.setattr("testcontainers.core.config.testcontainers_config.ryuk_disabled", True)
    with ContainerKafka(plan_of(), logs=tmp_path) as kafka:
        port = int(kafka.address("broker-1").rpartition(":")[2])
        for act in (
            lambda: kafka.kill("broker-2"),
            lambda: (kafka.kill("broker-3"), kafka.wipe("broker-3")),
            lambda: kafka.kill(CONTROLLER),
        ):
            act()
        for name in (CONTROLLER, "broker-2", "broker-3"):
            kafka.start(name)
            kafka.wait(name)
        kafka.pause("broker-2")
        kafka.resume("broker-2")
        kafka.wait("broker-1")
        assert {1, 2, 3} == brokers_known(port)
    left = docker.from_env().containers.list(all=True, filters={"label": [*LABELS]})
    assert left == []
    assert "started" in (tmp_path / "broker-1" / "console.log").read_text(encoding="utf-8")


def test_an_image_that_cannot_be_had_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(KafkaUnavailable) as raised, ContainerKafka(plan_of(), logs=tmp_path):
        pass
    assert str(raised.value).endswith("Nothing else needs it.")
    assert "\n" not in str(raised.value)

"""Kafka from an image: four containers, what can be done to them, and that nothing is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.classic.campaign import plan_of
from harness.deployments.apache_kafka.containers import ContainerKafka, as_environment
from harness.deployments.apache_kafka.starting import brokers_known
from harness.deployments.docker.engine import RUN, EngineUnavailable, connect
from harness.deployments.plan import CONTROLLER


def test_a_setting_is_named_as_the_image_wants_it() -> None:
    named = as_environment({"log.dirs": "/d", "a_b": "1", "c-d.e": "2"})

    assert named == {"KAFKA_LOG_DIRS": "/d", "KAFKA_A__B": "1", "KAFKA_C___D_E": "2"}


@pytest.mark.docker
def test_containers_are_killed_paused_wiped_and_come_back(tmp_path: Path) -> None:
    run = str(tmp_path)
    with ContainerKafka(plan_of(), logs=tmp_path, run=run) as kafka:
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
    engine = connect()
    assert engine.containers.list(all=True, filters={"label": f"{RUN}={run}"}) == []
    engine.close()
    assert "started" in (tmp_path / "broker-1" / "console.log").read_text(encoding="utf-8")


def test_an_engine_that_does_not_answer_is_one_sentence_that_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(EngineUnavailable) as raised, ContainerKafka(plan_of(), logs=tmp_path):
        pass
    assert "cannot connect to the Docker daemon at tcp://127.0.0.1:1. Start it" in str(raised.value)
    assert "\n" not in str(raised.value)

"""Three brokers and a controller: hurt one by one, and whole again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.clients.connection import ask_once
from harness.deployments.apache_kafka import KafkaUnavailable
from harness.deployments.apache_kafka.isolated import IsolatedKafka
from harness.deployments.apache_kafka.properties import broker_properties, controller_properties
from harness.deployments.live import LiveDeployment
from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.history import Run
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IsolatedKafka]:
    folder = tmp_path_factory.mktemp("isolated")
    plan = DeploymentPlan(brokers=3, racks=("a", "b", "c"))
    try:
        cluster = IsolatedKafka(plan, logs=folder / "logs", data=folder / "data")
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    with cluster:
        yield cluster


def brokers_seen(kafka: IsolatedKafka, name: str) -> dict[int, str]:
    host, _, port = kafka.address(name).rpartition(":")
    asked = ask_once(StreamNetwork(), Address(host, int(port)), "metadata", 12, {"topics": []})
    answer = asyncio.run(asked)
    return {one["node_id"]: f"{one['host']}:{one['port']}" for one in answer["brokers"]}


@pytest.mark.foreign
def test_clients_are_sent_to_doors_of_their_own_and_not_to_those_of_nodes(
    kafka: IsolatedKafka,
) -> None:
    found = brokers_seen(kafka, "broker-1")

    assert found == {one: kafka.address(f"broker-{one}") for one in (1, 2, 3)}
    assert not set(found.values()) & set(kafka.links.ways.values())


@pytest.mark.foreign
def test_a_wiped_broker_comes_back_with_its_id_and_an_unknown_disk(kafka: IsolatedKafka) -> None:
    meta = kafka.data / "broker-3" / "meta.properties"
    before = dict(line.split("=", 1) for line in meta.read_text().splitlines() if "=" in line)

    kafka.kill("broker-3")
    kafka.wipe("broker-3")
    kafka.start("broker-3")
    kafka.wait("broker-3")

    after = dict(line.split("=", 1) for line in meta.read_text().splitlines() if "=" in line)
    assert {name for name in before if before[name] != after[name]} == {"directory.id"}
    assert 3 in brokers_seen(kafka, "broker-3")


@pytest.mark.foreign
def test_nodes_are_hurt_and_looked_at_as_a_deployment(kafka: IsolatedKafka, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="apache-kafka", world="process")
    brokers = kafka.plan.broker_ids
    with LiveDeployment(run, kafka, world="process", brokers=brokers, links=kafka.links) as system:
        paused = system.run(system.levers.pause("broker-2"))
        killed = system.run(system.levers.kill(CONTROLLER))
        system.run(paused.release())
        system.run(killed.release())
        seen, files, said = (
            system.run(system.probe(what)) for what in ("nodes", "files", "log_lines")
        )

    assert paused.counts["threads_stopped"] > 1
    assert killed.counts == {"processes_ended": 1}
    assert {(one["node"], one["state"], one["on_purpose"]) for one in seen} == {
        (name, "running", False) for name in (CONTROLLER, *kafka.plan.names)
    }
    assert "meta.properties" in {one["path"] for one in files}
    assert any("started" in str(one["line"]) for one in said if one["node"] == "broker-1")
    assert set(brokers_seen(kafka, "broker-1")) == {1, 2, 3}


def test_nodes_meet_at_the_links_and_clients_elsewhere() -> None:
    told = broker_properties(
        2, client_port=100, port=200, advertised="broker-2:300", voters="v", data=Path("/d")
    )

    assert told["listeners"] == "CLIENT://127.0.0.1:100,REPLICATION://127.0.0.1:200"
    assert told["advertised.listeners"] == "CLIENT://127.0.0.1:100,REPLICATION://broker-2:300"
    assert told["inter.broker.listener.name"] == "REPLICATION"


def test_a_controller_is_found_at_its_link() -> None:
    told = controller_properties(3000, 100, "controller:300", "3000@controller:300", Path("/d"))

    assert told["process.roles"] == "controller"
    assert told["advertised.listeners"] == "CONTROLLER://controller:300"
    assert told["controller.quorum.voters"] == "3000@controller:300"

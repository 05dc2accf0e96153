"""What the nodes of a cluster say about it, read by the probe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition, batch_of, fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment, open_sim
from harness.history import Run

pytestmark = pytest.mark.sim

QUICK = {
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "1500",
    "min.insync.replicas": "2",
}
T = TopicPartition("t", 0)
RECORDS = [("a", 1000), ("b", 1001)]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[SimDeployment]:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim", seed=1)
    with open_sim(run, DeploymentPlan(properties=QUICK), seed=7) as made:
        yield made


def client_of(system: SimDeployment, broker: int) -> RawClient:
    return RawClient(system.network, system.address(broker))


def with_topic(system: SimDeployment) -> None:
    """Two partitions of three replicas, led by brokers 1 and 2."""
    system.run(create_topic(client_of(system, 1), "t", assignments=[[1, 2, 3], [2, 3, 1]]))
    system.sim.advance(2)


def samples(system: SimDeployment) -> dict[str, Any]:
    """Each value by node, the last part of its name, and its labels."""
    return {
        " ".join([row["node"], _short(row["name"]), *row["labels"].values()]): row["value"]
        for row in system.run(system.probe("metrics"))
    }


def _short(name: str) -> str:
    return name.removesuffix("_total").rpartition("_")[2]


def by_broker(found: dict[str, Any], name: str) -> list[Any]:
    return [found.get(f"broker-{one} {name}") for one in (1, 2, 3)]


def test_every_broker_counts_its_replicas_and_those_it_leads(system: SimDeployment) -> None:
    with_topic(system)
    found = samples(system)

    assert by_broker(found, "partitioncount") == [2, 2, 2]
    assert by_broker(found, "leadercount") == [1, 1, 0]
    assert by_broker(found, "underreplicatedpartitions") == [0, 0, 0]


def test_the_controller_counts_brokers_and_partitions_without_a_leader(
    system: SimDeployment,
) -> None:
    with_topic(system)
    found = samples(system)

    assert found["controller activecontrollercount"] == 1
    assert found["controller activebrokercount"] == 3
    assert found["controller fencedbrokercount"] == 0
    assert found["controller offlinepartitionscount"] == 0


def test_a_broker_that_is_gone_is_fenced_and_missed_by_the_leaders(system: SimDeployment) -> None:
    with_topic(system)
    system.sim.kill("broker-3")
    system.sim.advance(5)
    found = samples(system)

    assert found["controller activebrokercount"] == 2
    assert found["controller fencedbrokercount"] == 1
    assert by_broker(found, "underreplicatedpartitions") == [1, 1, None]
    assert by_broker(found, "underminisrpartitioncount") == [0, 0, None]


def test_partitions_whose_leaders_are_all_gone_are_offline(system: SimDeployment) -> None:
    with_topic(system)
    for one in (1, 2, 3):
        system.sim.kill(f"broker-{one}")
    system.sim.advance(5)

    assert samples(system)["controller offlinepartitionscount"] == 2


def test_a_leader_counts_the_followers_it_drops_and_takes_back(system: SimDeployment) -> None:
    with_topic(system)
    cut = system.run(system.levers.cut(["broker-3"], ["broker-1"], both=True))
    client = client_of(system, 1)
    system.run(produce(client, T, records=RECORDS, acks=1))
    client.abort()
    system.sim.advance(5)
    dropped = samples(system)
    system.run(cut.release())
    system.sim.advance(5)
    back = samples(system)

    assert by_broker(dropped, "isrshrinks") == [1, 0, 0]
    assert by_broker(dropped, "isrexpands") == [0, 0, 0]
    assert by_broker(back, "isrshrinks") == [1, 0, 0]
    assert by_broker(back, "isrexpands") == [1, 0, 0]


def test_a_topic_counts_what_is_written_and_what_is_read(system: SimDeployment) -> None:
    with_topic(system)
    client = client_of(system, 1)
    size = len(batch_of(RECORDS))
    for _ in range(3):
        system.run(produce(client, T, records=RECORDS, acks=-1))
    system.run(fetch(client, T, offset=0))
    found = samples(system)
    client.abort()

    assert found["broker-1 messagesin t"] == 6
    assert found["broker-1 bytesin t"] == 3 * size
    assert found["broker-1 bytesout t"] == 3 * size
    assert "broker-2 messagesin t" not in found


def test_requests_are_counted_by_version_and_answers_by_error(system: SimDeployment) -> None:
    with_topic(system)
    client = client_of(system, 1)
    system.run(produce(client, T, records=RECORDS, acks=-1))
    system.run(produce(client, TopicPartition("t", 1), records=RECORDS, acks=-1))
    system.run(produce(client, T, records=RECORDS, acks=0))
    found = samples(system)
    client.abort()

    assert found["broker-1 requests Produce 11"] == 3
    assert found["broker-1 errors Produce NONE"] == 1
    assert found["broker-1 errors Produce NOT_LEADER_OR_FOLLOWER"] == 1

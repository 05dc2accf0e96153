"""Three brokers of the reference as processes, and Kafka's own tools to use them with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from harness.deployments.apache_kafka import JavaTools, KafkaUnavailable
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    plan = DeploymentPlan(brokers=3, racks=("a", "b", "c"))
    with ProcessCluster(tmp_path_factory.mktemp("reference"), plan) as running:
        yield running


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], JavaTools]:
    """Asked for before a cluster is started in vain."""
    folder = tmp_path_factory.mktemp("tools")
    try:
        JavaTools(folder=folder, bootstrap="")
    except KafkaUnavailable as reason:
        pytest.skip(str(reason))
    return lambda bootstrap: JavaTools(folder=folder, bootstrap=bootstrap)


@pytest.fixture(scope="session")
def tools(java: Callable[[str], JavaTools], cluster: ProcessCluster) -> JavaTools:
    return java(cluster.bootstrap)


@pytest.fixture
def topic(tools: JavaTools) -> str:
    """A topic of two partitions with three replicas, made by Kafka's tool."""
    name = f"t{next(NUMBERS)}"
    tools.run(
        "org.apache.kafka.tools.TopicCommand",
        *("--create", "--topic", name, "--partitions", "2", "--replication-factor", "3"),
    )
    return name

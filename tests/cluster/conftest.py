"""A cluster of three brokers in processes of their own, for tests that use real clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.deployments.plan import DeploymentPlan
from harness.deployments.process_cluster import ProcessCluster
from harness.proxies.links import LinkProxy

# Failing over in a second or two, so that tests need not wait for Kafka's usual nine.
QUICK = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "2000",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessCluster]:
    plan = DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=QUICK)
    with ProcessCluster(tmp_path_factory.mktemp("cluster"), plan) as running:
        yield running


@pytest.fixture(scope="module")
def links() -> Iterator[LinkProxy]:
    proxy = LinkProxy(DeploymentPlan(brokers=3).node_names)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, links: LinkProxy) -> Iterator[ProcessCluster]:
    """A cluster whose links can be cut."""
    plan = DeploymentPlan(brokers=3, properties=QUICK)
    with ProcessCluster(tmp_path_factory.mktemp("linked"), plan, links=links) as running:
        yield running

"""The cluster of the profile `classic`, where the lab starts it."""

from __future__ import annotations

from harness.deployments.plan import DeploymentPlan

PROPERTIES = {
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "1200",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1500",
}


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """Three brokers in three racks that notice soon when one of them is gone."""
    return DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=PROPERTIES, mutants=mutants)

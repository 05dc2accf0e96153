"""What a broker does for its logs by itself: checkpoints, flushes, producers forgotten."""

from __future__ import annotations

import asyncio

from harness.clients.admin import create_topic, leadership
from harness.clients.operations import TopicPartition, fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.replication import checkpoints

TP = TopicPartition("t", 0)


async def filled(sim: Simulation, cluster: SimulatedCluster) -> None:
    client = RawClient(sim.lab, cluster.address(1))
    await create_topic(client, TP.topic, assignments=[[1, 2]])
    while (await leadership(client, TP, timeout_s=2.0)).leader < 0:
        await asyncio.sleep(0.05)
    for number in range(5):
        outcome = await produce(client, TP, records=[(f"v{number}", number)], acks=-1)
        assert outcome.type == "ok"
    client.abort()


async def values_at(sim: Simulation, cluster: SimulatedCluster, broker: int) -> list[str]:
    client = RawClient(sim.lab, cluster.address(broker))
    outcome = await fetch(client, TP, offset=0)
    client.abort()
    return [row[1] for row in outcome.fields["records"]]


async def lie(sim: Simulation, broker: str) -> None:
    """Checkpoints that speak of a log far beyond the one that is there."""
    disk = sim.nodes[broker].disk
    for name in await disk.names("t-0"):
        await disk.remove(f"t-0/{name}")
    for name in (checkpoints.LOG_STARTS, checkpoints.RECOVERY_POINTS, checkpoints.HIGH_WATERMARKS):
        await checkpoints.write_offsets(disk, name, {("t", 0): 3})


def test_a_checkpoint_of_a_log_that_is_gone_is_not_believed() -> None:
    with Simulation(seed=3) as sim:
        cluster = SimulatedCluster(sim, DeploymentPlan(brokers=2))
        cluster.settle()
        sim.run(filled(sim, cluster))
        sim.kill("broker-2")
        sim.run(lie(sim, "broker-2"))
        sim.advance(12)
        sim.start("broker-2")
        sim.advance(30)
        assert sim.run(values_at(sim, cluster, 2)) == ["v0", "v1", "v2", "v3", "v4"]


def test_a_producer_that_has_been_silent_for_long_is_forgotten() -> None:
    """Its next batch is then taken whatever its sequence, which it would not be otherwise."""
    answers = {}
    for expiration_ms in (10_000, 60_000):
        plan = DeploymentPlan(
            brokers=1,
            properties={
                "producer.id.expiration.ms": str(expiration_ms),
                "producer.id.expiration.check.interval.ms": "1000",
            },
        )
        with Simulation(seed=4) as sim:
            cluster = SimulatedCluster(sim, plan)
            cluster.settle()
            client = RawClient(sim.lab, cluster.address(1))
            sim.run(create_topic(client, TP.topic, assignments=[[1]]))
            said = []
            for sequence, silence_s in ((0, 20), (5, 0)):
                sent = produce(
                    client,
                    TP,
                    records=[("v", sim.now_ms)],
                    acks=-1,
                    producer=(9, 0, sequence),
                )
                said.append(sim.run(sent).fields["error"])
                sim.advance(silence_s)
            answers[expiration_ms] = said
    assert answers == {10_000: [0, 0], 60_000: [0, 45]}


def test_what_was_flushed_in_time_survives_a_loss_of_power() -> None:
    kept = {}
    for interval_ms in (1_000, 3_600_000):
        properties = {"log.flush.scheduler.interval.ms": str(interval_ms)}
        with Simulation(seed=5) as sim:
            cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1, properties=properties))
            cluster.settle()
            client = RawClient(sim.lab, cluster.address(1))
            sim.run(create_topic(client, TP.topic, assignments=[[1]]))
            sim.run(produce(client, TP, records=[("v", sim.now_ms)], acks=-1))
            sim.advance(5)
            sim.lose_power("broker-1", lose="all")
            sim.start("broker-1")
            sim.advance(20)
            kept[interval_ms] = sim.run(values_at(sim, cluster, 1))
    assert kept == {1_000: ["v"], 3_600_000: []}

"""What a broker finds when it starts is true: its checkpoints, and the mark of a clean end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping

import pytest

from harness.clients.admin import create_topic, leadership
from harness.clients.operations import TopicPartition, fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.deployments.simulated_cluster import CONTROLLER_PORT, SimulatedCluster
from harness.simulation.disk import SimDisk
from harness.simulation.simulation import Simulation
from reference_impl.broker.broker import run_broker
from reference_impl.broker.settings import BrokerSettings
from reference_impl.log.checkpoints import replace_file
from reference_impl.log.log import Log
from reference_impl.ports import Address, Ports
from reference_impl.replication.checkpoints import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    LOG_STARTS,
    Checkpoints,
    read_offsets,
    write_offsets,
)

TP = TopicPartition("t", 0)
WHERE = ("t", 0)


def no_logs() -> Mapping[tuple[str, int], Log]:
    return {}


async def found_by_the_next_broker(disk: SimDisk) -> dict[tuple[str, int], int]:
    disk.lose_power(lose="all")
    return await read_offsets(disk, LOG_STARTS)


def test_a_log_that_is_not_open_yet_keeps_its_checkpoints() -> None:
    async def write_before_it_is_open() -> None:
        disk = SimDisk(random.Random(0))
        await write_offsets(disk, LOG_STARTS, {WHERE: 3, ("u", 1): 4})
        checkpoints = Checkpoints(disk, no_logs)
        await checkpoints.load()
        checkpoints.opened(("u", 1))
        await checkpoints.write()
        assert await found_by_the_next_broker(disk) == {WHERE: 3}

    asyncio.run(write_before_it_is_open())


def test_nothing_is_said_of_a_log_whose_name_another_takes() -> None:
    async def forget() -> None:
        disk = SimDisk(random.Random(0))
        await write_offsets(disk, LOG_STARTS, {WHERE: 3})
        checkpoints = Checkpoints(disk, no_logs)
        await checkpoints.load()
        assert checkpoints.found(WHERE)[LOG_STARTS] == 3
        await checkpoints.forget(WHERE)
        assert checkpoints.found(WHERE)[LOG_STARTS] == 0
        assert await found_by_the_next_broker(disk) == {}

    asyncio.run(forget())


def test_a_log_that_no_checkpoint_names_costs_no_write() -> None:
    async def forget() -> None:
        disk = SimDisk(random.Random(0))
        await Checkpoints(disk, no_logs).forget(WHERE)
        assert disk.contents() == {}

    asyncio.run(forget())


async def send(sim: Simulation, at: Address, *values: str) -> list[int]:
    client = RawClient(sim.lab, at)
    while (await leadership(client, TP, timeout_s=2.0)).leader < 0:
        await asyncio.sleep(0.05)
    sent = [await produce(client, TP, records=[(one, 0)], acks=-1) for one in values]
    client.abort()
    return [one.fields["error"] for one in sent]


async def values(sim: Simulation, at: Address) -> list[str]:
    client = RawClient(sim.lab, at)
    outcome = await fetch(client, TP, offset=0)
    client.abort()
    return [row[1] for row in outcome.fields["records"]]


async def another_topic_of_that_name(disk: SimDisk) -> None:
    await replace_file(disk, "t-0/partition.metadata", b"version: 0\ntopic_id: another\n")
    for name in (LOG_STARTS, HIGH_WATERMARKS):
        await write_offsets(disk, name, {WHERE: 100})


def test_the_checkpoints_of_a_topic_that_was_deleted_are_not_those_of_the_next() -> None:
    rarely = {"replica.high.watermark.checkpoint.interval.ms": "3600000"}
    with Simulation(seed=6) as sim:
        cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1, properties=rarely))
        cluster.settle()
        at = cluster.address(1)
        sim.run(create_topic(RawClient(sim.lab, at), "t", assignments=[[1]]))
        sim.kill("broker-1")
        sim.run(another_topic_of_that_name(sim.nodes["broker-1"].disk))
        sim.start("broker-1")
        assert sim.run(send(sim, at, "a", "b")) == [0, 0]
        sim.kill("broker-1")
        sim.start("broker-1")
        sim.advance(20)
        assert sim.run(values(sim, at)) == ["a", "b"]


async def removed_and_not_synced(disk: SimDisk) -> None:
    await replace_file(disk, CLEAN_SHUTDOWN, b"{}")
    await disk.remove(CLEAN_SHUTDOWN)


def test_the_mark_of_a_clean_end_does_not_come_back() -> None:
    """A broker is killed when it has removed the mark, and power goes in its next life."""
    with Simulation(seed=7) as sim:
        cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1))
        cluster.settle()
        sim.kill("broker-1")
        disk = sim.nodes["broker-1"].disk
        sim.run(removed_and_not_synced(disk))
        sim.start("broker-1")
        sim.advance(1)
        sim.lose_power("broker-1", lose="all")
        assert CLEAN_SHUTDOWN not in disk.contents()


class StoppedBroker:
    """A cluster with one more broker, which has a log and can be stopped."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1))
        self.at = Address("broker-2", 9092)
        self.stop = asyncio.Event()
        self.disk = sim.add("broker-2", self.program).disk
        self.cluster.settle()
        sim.advance(5)
        client = RawClient(sim.lab, self.cluster.address(1))
        sim.run(create_topic(client, "t", assignments=[[2]]))
        assert self.send("a") == [0]

    async def program(self, ports: Ports) -> None:
        settings = BrokerSettings(
            node_id=2,
            cluster_id=self.cluster.plan.cluster_id,
            listen=self.at,
            controller=Address(CONTROLLER, CONTROLLER_PORT),
            stop=self.stop,
        )
        await run_broker(ports, settings)

    def send(self, value: str) -> list[int]:
        return self.sim.run(send(self.sim, self.at, value))

    def ends_cleanly(self) -> bool:
        async def end() -> None:
            self.stop.set()

        self.sim.run(end())
        if not self.sim.nodes["broker-2"].up:
            self.sim.start("broker-2")
        self.sim.advance(60)
        assert not self.sim.nodes["broker-2"].up
        return CLEAN_SHUTDOWN in self.disk.contents()


@pytest.mark.parametrize("fails", [False, True])
def test_a_broker_whose_log_failed_does_not_end_cleanly(fails: bool) -> None:
    with Simulation(seed=8) as sim:
        broker = StoppedBroker(sim)
        broker.disk.capacity = broker.disk.used if fails else None
        assert broker.send("b") == ([56] if fails else [0])
        broker.disk.capacity = None
        assert broker.ends_cleanly() is not fails


def test_a_broker_that_was_killed_and_then_opened_no_log_does_not_end_cleanly() -> None:
    with Simulation(seed=9) as sim:
        broker = StoppedBroker(sim)
        sim.kill("broker-2")
        assert not broker.ends_cleanly()


def test_a_broker_that_ended_cleanly_and_then_opened_no_log_ends_cleanly_again() -> None:
    with Simulation(seed=9) as sim:
        broker = StoppedBroker(sim)
        assert broker.ends_cleanly()
        assert broker.ends_cleanly()

"""A deleted tiered topic on a simulated cluster: its remote data goes, and nothing else (C-30)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from harness.clients.admin import delete_topic
from harness.deployments.plan import broker_name
from harness.simulation.simulation import Simulation
from reference_impl.tiered.segments import PartitionDeleteState, TopicIdPartition
from tests.tiered.tiered_cluster import TOPIC, TieredCluster

pytestmark = pytest.mark.sim

pytestmark = pytest.mark.sim
INTERVAL_S = 5.0
SETTINGS = {"remote.partition.remover.task.interval.ms": str(int(INTERVAL_S * 1000))}
FINISHED = PartitionDeleteState.DELETE_PARTITION_FINISHED


class Deleting(TieredCluster):
    """A topic with remote segments, and what is left of it."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim, SETTINGS)
        self.create()
        self.send(7)
        self.wait(lambda: sum(one.finished for one in self.segments()) == 3)
        self.old = self.id()

    def delete(self) -> float:
        """Delete the topic; how long the answer took."""
        began = self.sim.now_ns
        with self.client(self.leader()) as client:
            self.sim.run(delete_topic(client, TOPIC))
        return (self.sim.now_ns - began) / 1e9

    def objects_of(self, topic_id: UUID) -> list[str]:
        return [one for one in self.sim.store.contents() if str(topic_id) in one]

    def deletion(self) -> PartitionDeleteState | None:
        """As the leader of the metadata partition has it."""
        for manager in self.managers.values():
            metadata = manager._tier.metadata
            if metadata.metadata_leader_epoch(self.old) is not None:
                found = metadata.deletion_of(self.old)
                return None if found is None else found.state
        return None

    def again(self) -> TopicIdPartition:
        """Make a topic of the same name, with segments of its own."""
        self.sent = 0
        self.create()
        self.send(7)
        self.wait(lambda: sum(one.finished for one in self.segments()) == 3)
        return self.id()


@pytest.fixture
def cluster() -> Iterator[Deleting]:
    with Simulation(3) as sim:
        yield Deleting(sim)


def test_all_objects_go_within_the_interval(cluster: Deleting) -> None:
    assert len(cluster.objects_of(cluster.old.topic_id)) == 15
    cluster.delete()
    cluster.sim.advance(2 * INTERVAL_S)

    assert cluster.objects_of(cluster.old.topic_id) == []
    assert cluster.deletion() is FINISHED


def test_neither_the_answer_nor_the_name_waits_for_the_store(cluster: Deleting) -> None:
    outage = cluster.levers.refuse("object_store")
    assert cluster.delete() < 2.0
    cluster.sent = 0
    cluster.create()
    cluster.send(1)
    cluster.sim.advance(3 * INTERVAL_S)
    assert len(cluster.objects_of(cluster.old.topic_id)) == 15
    assert cluster.deletion() is PartitionDeleteState.DELETE_PARTITION_STARTED
    outage.release()
    cluster.sim.advance(2 * INTERVAL_S)
    assert cluster.objects_of(cluster.old.topic_id) == []
    assert cluster.deletion() is FINISHED


def test_a_topic_of_the_same_name_keeps_what_is_its_own(cluster: Deleting) -> None:
    cluster.delete()
    new = cluster.again()
    assert new.topic_id != cluster.old.topic_id
    cluster.sim.advance(3 * INTERVAL_S)

    assert cluster.objects_of(cluster.old.topic_id) == []
    assert len(cluster.objects_of(new.topic_id)) == 15
    assert cluster.scan(at=cluster.leader()) == [f"m{number}" for number in range(7)]
    cluster.at_rest()


@pytest.mark.parametrize("seed", range(2))
def test_brokers_that_die_during_the_removal_leave_nothing(seed: int) -> None:
    with Simulation(seed) as sim:
        cluster = Deleting(sim)
        chance = sim.chance("when to kill")
        cluster.delete()
        for broker in (1, 2, 3):
            sim.advance(chance.random() * INTERVAL_S)
            sim.kill(broker_name(broker))
            sim.advance(2)
            sim.start(broker_name(broker))
        sim.advance(30 + 2 * INTERVAL_S)

        assert cluster.objects_of(cluster.old.topic_id) == []
        assert cluster.deletion() is FINISHED

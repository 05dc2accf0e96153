"""Brokers started without tiered storage while topics are tiered, and with it again (C-39)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.clients.admin import leadership
from harness.deployments.plan import broker_name
from harness.simulation.simulation import Simulation
from reference_impl.kafka.apis import FETCH, LIST_OFFSETS
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import UNDEFINED_EPOCH
from tests.tiered.staged_cluster import PRODUCER, A, B, StagedCluster
from tests.tiered.tiered_cluster import TOPIC, TP

SYSTEM = "remote.log.storage.system.enable"


class Downgraded(StagedCluster):
    """0@0 … 5@0 are in the remote tier alone, 6@0 is on both disks; tiering can be switched."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self.idempotent = True
        self.write("0@0", "1@0", "2@0")
        self.roll(A, B)
        self.write("3@0", "4@0", "5@0")
        self.roll(A, B)
        self.write("6@0")
        self.copied((0, 2), (3, 5))
        self.drop_local(6, A, B)

    def switch(self, on: bool) -> None:
        """Stop both brokers, and start them with tiered storage or without."""
        for broker in (B, A):
            self.stop(broker)
        plan = self.cluster.plan
        properties = {**plan.properties, SYSTEM: "true" if on else "false"}
        self.cluster.plan = replace(plan, properties=properties)
        self.cluster._storages = [self._made] if on else []
        for broker in (A, B):
            self.managers.pop(broker, None)
            self.sim.start(broker_name(broker))
        self.until(lambda: self.told_in_sync() == [A, B])

    def told_in_sync(self) -> list[int]:
        with self.client(3) as client:
            return sorted(self.sim.run(leadership(client, TP, timeout_s=5.0)).isr)

    def special(self, timestamp: int) -> tuple[int, int]:
        """ListOffsets at the leader: offset and epoch."""
        of = LIST_OFFSETS.request
        one = of.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = of(replica_id=-1, topics=[of.ListOffsetsTopic(name=TOPIC, partitions=[one])])
        peer = Peer(self.sim.lab, self.cluster.address(self.leader()), "lab")
        answer = self.sim.run(peer.ask(LIST_OFFSETS, 11, request, timeout_s=30))
        peer.abort()
        (found,) = answer.topics[0].partitions
        assert found.error_code == 0
        return found.offset, found.leader_epoch

    def followed(self, offset: int, replica: int) -> tuple[ErrorCode, int]:
        """Fetch as a follower: the error, and the log start that it is told."""
        of = FETCH.request
        one = of.FetchPartition(
            partition=0, fetch_offset=offset, last_fetched_epoch=-1, partition_max_bytes=1
        )
        request = of(
            replica_id=replica,
            session_epoch=-1,
            topics=[of.FetchTopic(topic=TOPIC, partitions=[one])],
        )
        peer = Peer(self.sim.lab, self.cluster.address(self.leader()), "lab")
        answer = self.sim.run(peer.ask(FETCH, 12, request, timeout_s=30))
        peer.abort()
        (found,) = answer.responses[0].partitions
        return ErrorCode(found.error_code), found.log_start_offset


@pytest.fixture
def cluster() -> Iterator[Downgraded]:
    with Simulation(5) as sim:
        yield Downgraded(sim)


def test_what_is_on_the_disk_is_served_and_nothing_is_given_up(cluster: Downgraded) -> None:
    objects = cluster.objects()
    cluster.switch(on=False)

    assert (cluster.special(-2)[0], cluster.special(-4)[0]) == (6, 6)
    assert (cluster.special(-5), cluster.special(-6)) == ((-1, -1), (-1, -1))
    assert cluster.consume(6, at=cluster.leader()).values == ["6@0"]
    assert cluster.consume(2, at=cluster.leader()).error == ErrorCode.offset_out_of_range
    follower = B if cluster.leader() == A else A
    assert cluster.followed(2, follower) == (ErrorCode.offset_out_of_range, 0)
    cluster.sim.advance(60)
    for broker in (A, B):
        node = cluster.sim.nodes[broker_name(broker)]
        assert sum(SYSTEM in line and TOPIC in line for line in node.log_lines) == 1
        assert b"orders 0 0\n" in node.disk.contents()["log-start-offset-checkpoint"]
    assert cluster.objects() == objects
    cluster.switch(on=True)
    assert cluster.all_of(at=cluster.leader()) == [f"{offset}@0" for offset in range(7)]
    assert cluster.objects() == objects


def test_a_replica_that_began_anew_meanwhile_learns_what_came_before(cluster: Downgraded) -> None:
    cluster.switch(on=False)
    leader = cluster.leader()
    other = B if leader == A else A
    cluster.levers.wipe(broker_name(other)).release()
    cluster.until(lambda: cluster.told_in_sync() == [leader])
    cluster.until(lambda: cluster.told_in_sync() == [A, B])
    kept = cluster.sim.nodes[broker_name(other)].disk.contents()
    assert kept["orders-0/leader-epoch-checkpoint"].startswith(b"0\n2\n-1 0\n")
    cluster.switch(on=True)

    cluster.until(lambda: cluster.log(other).epochs.entries[0].epoch != UNDEFINED_EPOCH)
    mine = cluster.log(other)
    assert cluster.epochs_of(other) == cluster.epochs_of(leader) == ((0, 0),)
    assert (mine.log_start_offset, mine.local_log_start_offset) == (0, 6)
    assert mine.producers.producers[PRODUCER].last_sequence == 6
    if cluster.leader() != other:
        cluster.hand_over(to=other)
    assert cluster.all_of(at=other) == [f"{offset}@0" for offset in range(7)]
    cluster.write("7@1")
    cluster.roll(other)
    cluster.write("8@1")
    cluster.copied((0, 2), (3, 5), (6, 7))


def test_retention_raises_the_log_start_without_tiered_storage(cluster: Downgraded) -> None:
    cluster.switch(on=False)
    cluster.configure(retention_ms="1000")
    cluster.until(lambda: cluster.special(-2)[0] == 7)

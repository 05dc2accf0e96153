"""The copy task against a store and a metadata manager that misbehave, in a simulated cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.clients.admin import delete_topic
from harness.clients.topic_admin import elect_leader, reassign
from harness.simulation.simulation import Simulation
from reference_impl.log.producers import read_snapshot
from reference_impl.log.segment import SNAPSHOT, path_of
from reference_impl.tiered.memory_metadata import MemoryMetadataRegistry, Outage
from reference_impl.tiered.segments import (
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    SegmentState,
)
from tests.tiered.tiered_cluster import TOPIC, TP, TieredCluster

pytestmark = pytest.mark.sim
STARTED, FINISHED, DELETING, DELETED = SegmentState
ALL_PARTS = ["leader-epoch.checkpoint", "offset.index", "producer.snapshot", "segment.log"]


@pytest.fixture
def cluster() -> Iterator[TieredCluster]:
    with Simulation(seed=4) as sim:
        made = TieredCluster(sim, in_memory=True)
        made.create()
        yield made


def registry(cluster: TieredCluster) -> MemoryMetadataRegistry:
    assert cluster.registry is not None
    return cluster.registry


def events(
    cluster: TieredCluster,
) -> list[RemoteLogSegmentMetadata | RemoteLogSegmentMetadataUpdate]:
    """Everything that was published of segments."""
    return [
        one
        for one in registry(cluster).events
        if isinstance(one, RemoteLogSegmentMetadata | RemoteLogSegmentMetadataUpdate)
    ]


def finished(cluster: TieredCluster) -> list[tuple[int, int]]:
    return [(one.start_offset, one.end_offset) for one in cluster.segments() if one.finished]


def states(cluster: TieredCluster) -> list[list[SegmentState]]:
    """What was published of each copy, in the order in which they were begun."""
    found: dict[object, list[SegmentState]] = {}
    for event in events(cluster):
        found.setdefault(event.segment_id, []).append(event.state)
    return list(found.values())


def test_finished_segments_are_copied_whole_and_in_order(cluster: TieredCluster) -> None:
    cluster.send(5)
    cluster.sim.advance(3)

    assert finished(cluster) == [(0, 1), (2, 3)]
    assert states(cluster) == [[STARTED, FINISHED]] * 2
    assert [sorted(parts) for parts in cluster.objects().values()] == [
        [*ALL_PARTS, "time.index"]
    ] * 2
    cluster.at_rest()


def test_a_copy_whose_answer_is_lost_is_deleted_and_made_again_under_another_id(
    cluster: TieredCluster,
) -> None:
    lost = cluster.levers.lose_replies("object_store", times=1)
    cluster.send(3)
    cluster.sim.advance(4)
    lost.release()

    assert states(cluster) == [[STARTED, DELETING, DELETED], [STARTED, FINISHED]]
    assert finished(cluster) == [(0, 1)]
    cluster.at_rest()


def test_in_an_outage_one_copy_fails_however_long_it_lasts(cluster: TieredCluster) -> None:
    away = cluster.levers.refuse("object_store")
    cluster.send(5)
    cluster.sim.advance(60)
    begun = len(states(cluster))
    away.release()
    cluster.sim.advance(35)

    assert begun == 1
    assert finished(cluster) == [(0, 1), (2, 3)]
    cluster.at_rest()


@pytest.mark.parametrize("outage", [Outage.ANSWER_LOST, Outage.NOT_PUBLISHED])
def test_whether_a_copy_is_finished_is_never_guessed(
    cluster: TieredCluster, outage: Outage
) -> None:
    slow = cluster.levers.slow("object_store", 0.3)
    cluster.send(3)
    cluster.wait(lambda: bool(cluster.objects()))
    registry(cluster).outage = outage
    cluster.sim.advance(15)
    slow.release()
    kept = cluster.log(1).segments[0].base_offset
    registry(cluster).outage = Outage.NONE
    cluster.sim.advance(35)

    assert kept == (2 if outage is Outage.ANSWER_LOST else 0)
    assert finished(cluster) == [(0, 1)]
    assert len(states(cluster)) == 1
    assert set(states(cluster)[0][1:]) == {FINISHED}
    cluster.at_rest()


def test_a_leader_that_was_replaced_finishes_the_copy_in_hand_and_begins_no_other(
    cluster: TieredCluster,
) -> None:
    slow = cluster.levers.slow("object_store", 1.0, "broker-1")
    cluster.send(5)
    cluster.wait(lambda: bool(cluster.objects()))
    with cluster.client(1) as client:
        cluster.sim.run(reassign(client, TP, [2, 1, 3]))
    with cluster.client(1) as client:
        cluster.sim.run(elect_leader(client, TP, "preferred"))
    cluster.wait(lambda: cluster.leader() == 2)
    before = len(events(cluster))
    cluster.sim.advance(15)
    slow.release()

    by_old = [one for one in events(cluster)[before:] if one.leader_epoch == 0]
    assert [one.state for one in by_old] == [FINISHED]
    assert finished(cluster)[-1] == (2, 3)
    assert {one.leader_epoch for one in cluster.segments()} > {0}
    cluster.at_rest()


def test_a_copy_of_a_topic_that_is_deleted_is_cancelled_and_taken_away(
    cluster: TieredCluster,
) -> None:
    slow = cluster.levers.slow("object_store", 0.5)
    cluster.send(3)
    cluster.wait(lambda: bool(cluster.objects()))
    with cluster.client(1) as client:
        cluster.sim.run(delete_topic(client, TOPIC))
    cluster.sim.advance(10)
    slow.release()

    assert cluster.objects() == {}


def test_a_snapshot_that_was_lost_is_made_again_before_the_copy(cluster: TieredCluster) -> None:
    away = cluster.levers.refuse("object_store")
    cluster.send(3)
    log = cluster.log(1)
    disk = cluster.sim.nodes["broker-1"].disk
    cluster.sim.run(disk.remove(path_of(log.directory, 2, SNAPSHOT)))
    away.release()
    cluster.sim.advance(35)

    assert finished(cluster) == [(0, 1)]
    [key] = [
        one.key
        for one in cluster.sim.run(cluster.sim.store.list())
        if one.key.endswith("producer.snapshot")
    ]
    assert read_snapshot(cluster.sim.run(cluster.sim.store.get(key))) == []


def test_a_segment_whose_producers_are_not_known_is_not_copied_nor_any_behind_it(
    cluster: TieredCluster,
) -> None:
    cluster.send(3)
    cluster.sim.advance(4)
    away = cluster.levers.refuse("object_store")
    cluster.send(4)
    log = cluster.log(1)
    disk = cluster.sim.nodes["broker-1"].disk
    assert log.local_log_start_offset == 2
    for offset in (2, 4, 6):
        cluster.sim.run(disk.remove(path_of(log.directory, offset, SNAPSHOT)))
    away.release()
    cluster.sim.advance(35)

    assert finished(cluster) == [(0, 1)]
    said = "".join(cluster.sim.nodes["broker-1"].log_lines)
    assert "cannot copy the segment at 2" in said
    assert cluster.log(1).local_log_start_offset == 2

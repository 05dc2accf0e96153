"""The five scenarios of the document and the leader transition, on a simulated cluster (l. 284)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.deployments.plan import broker_name
from harness.simulation.simulation import Simulation
from tests.tiered.staged_cluster import A, B, StagedCluster

pytestmark = pytest.mark.sim

SEED = 11


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation(SEED) as sim:
        yield sim


def rebuilt(cluster: StagedCluster, follower: int, elo: int) -> tuple[tuple[int, int], ...]:
    """The follower's epochs at the moment when its log begins anew at ELO."""

    def there() -> bool:
        try:
            log = cluster.log(follower)
        except (IndexError, AssertionError, KeyError):
            return False
        return log.log_end_offset == log.local_log_start_offset == elo

    cluster.sim.run_until(there, within_s=60)
    entries = cluster.log(follower).epochs.entries
    return tuple((cluster.labels[one.epoch], one.start_offset) for one in entries)


def start_empty(cluster: StagedCluster, broker: int) -> None:
    """The broker comes back without anything on its disk."""
    name = broker_name(broker)
    cluster.sim.nodes[name].disk.wipe()
    cluster.managers.pop(broker)
    cluster.sim.start(name)


def four_epochs(sim: Simulation) -> StagedCluster:
    """0@0 1@0 2@0 | 3@1 4@1 5@2 | 6@2 7@3, led by B, A, B and at last A; copied up to 5."""
    cluster = StagedCluster(sim, leader=B)
    cluster.write("0@0", "1@0", "2@0")
    cluster.roll(A, B)
    cluster.hand_over(to=A)
    cluster.write("3@1", "4@1")
    cluster.hand_over(to=B)
    cluster.write("5@2")
    cluster.roll(A, B)
    cluster.write("6@2")
    cluster.hand_over(to=A)
    cluster.write("7@3")
    cluster.copied((0, 2), (3, 5))
    return cluster


def test_scenario_1_a_new_empty_follower(sim: Simulation) -> None:
    cluster = four_epochs(sim)
    assert cluster.remote() == [(0, 2, ((0, 0),)), (3, 5, ((1, 3), (2, 5)))]
    sim.kill(broker_name(B))
    cluster.drop_local(3, A)
    start_empty(cluster, B)

    assert rebuilt(cluster, B, 3) == ((0, 0), (1, 3))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    assert cluster.epochs_of(B) == ((0, 0), (1, 3), (2, 5), (3, 7))
    assert (cluster.log(B).log_start_offset, cluster.elo(B)) == (0, 3)
    lines = [one for one in sim.nodes[broker_name(B)].log_lines if "orders-0 follower state" in one]
    assert [one.partition("from=")[2].partition(" (")[0] for one in lines] == [
        "Fetching to=FindingLocalStart",
        "FindingLocalStart to=BuildingRemoteLogAux",
        "BuildingRemoteLogAux to=Fetching",
    ]


def test_a_follower_below_the_log_start_begins_there_and_then_builds(sim: Simulation) -> None:
    cluster = four_epochs(sim)
    sim.kill(broker_name(B))
    cluster.until(lambda: cluster.in_sync() == [A])
    cluster.drop_local(6, A)
    assert cluster.delete_records(4) == 0
    start_empty(cluster, B)

    assert rebuilt(cluster, B, 6) == ((1, 4), (2, 5))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    assert (cluster.log(B).log_start_offset, cluster.elo(B)) == (4, 6)
    assert cluster.epochs_of(B) == ((1, 4), (2, 5), (3, 7))


def long_ago(sim: Simulation) -> StagedCluster:
    """A leads up to 11@3, copied up to 8; B has stopped with 0@0 1@0 2@0 3@1."""
    cluster = StagedCluster(sim, leader=B)
    cluster.write("0@0", "1@0", "2@0")
    cluster.roll(A, B)
    cluster.hand_over(to=A)
    cluster.write("3@1")
    cluster.stop(B)
    cluster.write("4@1")
    cluster.lead_again(A)
    cluster.write("5@2")
    cluster.roll(A)
    cluster.write("6@2")
    cluster.lead_again(A)
    cluster.write("7@3", "8@3")
    cluster.roll(A)
    cluster.write("9@3", "10@3", "11@3")
    cluster.copied((0, 2), (3, 5), (6, 8))
    return cluster


def test_scenario_2_1_a_follower_within_the_leaders_disk_fetches_as_ever(sim: Simulation) -> None:
    cluster = long_ago(sim)
    cluster.drop_local(3, A)
    sim.start(broker_name(B))

    cluster.until(lambda: cluster.in_sync() == [A, B])
    assert cluster.epochs_of(B) == ((0, 0), (1, 3), (2, 5), (3, 7))
    assert cluster.log(B).segments[0].base_offset in (0, 3)  # its own retention decides
    assert cluster.log(B).log_end_offset == 12


def test_scenario_2_2_an_out_of_sync_follower_begins_anew(sim: Simulation) -> None:
    cluster = long_ago(sim)
    assert cluster.end_of_epoch(1, at=A) == (1, 5)
    assert [one[2] for one in cluster.remote()] == [
        ((0, 0),),
        ((1, 3), (2, 5)),
        ((2, 5), (3, 7)),
    ]
    cluster.drop_local(9, A)
    sim.start(broker_name(B))

    assert rebuilt(cluster, B, 9) == ((0, 0), (1, 3), (2, 5), (3, 7))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    assert cluster.epochs_of(B) == ((0, 0), (1, 3), (2, 5), (3, 7))
    assert cluster.elo(B) == 9


def test_scenario_3_multiple_hard_failures(sim: Simulation) -> None:
    cluster = StagedCluster(sim)
    cluster.write("0@0")
    sim.run(cluster.log(B).flush())
    cluster.write("1@0")
    cluster.roll(A)
    cluster.write("2@0")
    cluster.copied((0, 1))
    sim.lose_power(broker_name(B), lose="all")
    sim.kill(broker_name(A))
    sim.advance(5)
    sim.start(broker_name(B))
    cluster.until(lambda: cluster.led_by(B))
    assert cluster.log(B).log_end_offset == 1
    cluster.roll(B)
    cluster.write("1@1")
    sim.start(broker_name(A))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    assert cluster.epochs_of(A) == ((0, 0), (1, 1))
    cluster.roll(A, B)
    cluster.write("2@1")
    cluster.copied((0, 1), (1, 1))
    assert cluster.remote() == [(0, 1, ((0, 0),)), (1, 1, ((1, 1),))]
    cluster.drop_local(2, A, B)

    assert cluster.listed(-4) == 2  # offset 2 has no copy (C-19)
    for broker in (A, B):
        assert cluster.consume(0, at=broker, epoch=0).values[0] == "0@0"
        assert cluster.consume(1, at=broker).values[0] == "1@1"
        assert cluster.consume(1, at=broker, epoch=1).values[0] == "1@1"
        fenced = cluster.consume(2, at=broker, epoch=0)
        assert (fenced.values, fenced.diverging) == ([], (cluster.epoch(0), 1))
    assert cluster.all_of(at=B) == ["0@0", "1@1", "2@1"]


def test_scenario_4_unclean_leader_election_including_truncation(sim: Simulation) -> None:
    cluster = StagedCluster(sim)
    cluster.write("0@0")
    cut = cluster.apart()
    cluster.write("1@0", acks=1)
    cluster.until(lambda: cluster.in_sync() == [A])
    cluster.write("2@0")
    cluster.roll(A)
    cluster.write("3@0")
    cluster.copied((0, 2))
    sim.kill(broker_name(A))
    cluster.until(lambda: cluster.led_by(B))
    cut.release()
    cluster.write("1@1")
    cluster.roll(B)
    cluster.write("2@1")
    cluster.copied((0, 2), (0, 1))
    assert sorted(cluster.remote()) == [(0, 1, ((0, 0), (1, 1))), (0, 2, ((0, 0),))]
    cluster.drop_local(2, B)

    assert cluster.consume(0, at=B, epoch=0).values[0] == "0@0"
    assert cluster.consume(1, at=B).values[0] == "1@1"
    assert cluster.consume(1, at=B, epoch=1).values[0] == "1@1"
    fenced = cluster.consume(2, at=B, epoch=0)
    assert (fenced.values, fenced.diverging) == ([], (cluster.epoch(0), 1))
    assert cluster.all_of(at=B) == ["0@0", "1@1", "2@1"]


def test_scenario_5_log_divergence_in_remote_storage(sim: Simulation) -> None:
    cluster = StagedCluster(sim)
    cluster.write("0@0", "1@0")
    cut = cluster.apart()
    cluster.write("2@0", acks=1)
    cluster.until(lambda: cluster.in_sync() == [A])
    cluster.write("3@0")
    cluster.roll(A)
    cluster.write("4@0")
    cluster.copied((0, 3))
    sim.kill(broker_name(A))
    cluster.until(lambda: cluster.led_by(B))
    cut.release()
    cluster.write("2@1", "3@1")
    cluster.roll(B)
    cluster.write("4@1")
    cluster.copied((0, 3), (0, 3))
    sim.kill(broker_name(B))
    sim.advance(5)
    sim.start(broker_name(A))
    cluster.until(lambda: cluster.led_by(A))
    cluster.write("5@2")
    cluster.roll(A)
    cluster.write("6@2")
    cluster.copied((0, 3), (0, 3), (4, 5))
    assert sorted(cluster.remote()) == [
        (0, 3, ((0, 0),)),
        (0, 3, ((0, 0), (1, 2))),
        (4, 5, ((0, 0), (2, 5))),
    ]
    cluster.drop_local(6, A)
    start_empty(cluster, B)

    assert rebuilt(cluster, B, 6) == ((0, 0), (2, 5))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    fenced = cluster.consume(3, at=B, epoch=1)
    assert (fenced.values, fenced.diverging) == ([], (cluster.epoch(0), 5))
    assert cluster.consume(2, at=B).values[0] == "2@0"
    for broker in (A, B):
        assert cluster.all_of(at=broker) == ["0@0", "1@0", "2@0", "3@0", "4@0", "5@2", "6@2"]


def test_a_follower_that_becomes_leader_copies_from_where_its_lineage_ends(sim: Simulation) -> None:
    cluster = StagedCluster(sim)
    cluster.write("0@0", "1@0", "2@0")
    cluster.roll(A)
    cluster.stop(B)
    cluster.lead_again(A)
    sim.start(broker_name(B))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    cluster.write("3@1")
    cluster.roll(B)
    cluster.write("4@1")
    cluster.roll(A)
    cluster.write("5@1")
    cluster.stop(B)
    cluster.lead_again(A)
    sim.start(broker_name(B))
    cluster.until(lambda: cluster.in_sync() == [A, B])
    cluster.write("6@2")
    cluster.roll(B)
    cluster.copied((0, 2), (3, 4))
    cut = cluster.apart()
    cluster.write("7@2", "8@2", acks=1)
    sim.kill(broker_name(A))
    cluster.until(lambda: cluster.led_by(B))
    cut.release()
    cluster.sent = 7
    cluster.write("7@3")

    cluster.copied((0, 2), (3, 4), (4, 6))
    assert cluster.remote() == [
        (0, 2, ((0, 0),)),
        (3, 4, ((1, 3),)),
        (4, 6, ((1, 3), (2, 6))),
    ]
    cluster.drop_local(7, B)
    assert cluster.all_of(at=B) == ["0@0", "1@0", "2@0", "3@1", "4@1", "5@1", "6@2", "7@3"]

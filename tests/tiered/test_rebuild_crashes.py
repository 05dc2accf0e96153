"""A follower that dies anywhere while it builds its auxiliary state builds it again, or has it."""

from __future__ import annotations

import pytest

from harness.deployments.plan import broker_name
from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from tests.tiered.staged_cluster import PRODUCER, A, B, StagedCluster

POINTS = 10
EPOCHS = ((0, 0), (1, 3))


def tiered(sim: Simulation) -> StagedCluster:
    """A leads and has 6@1 on its disk; 0@0 … 5@1 are in the remote tier."""
    cluster = StagedCluster(sim, leader=B)
    cluster.idempotent = True
    cluster.write("0@0", "1@0", "2@0")
    cluster.hand_over(to=A)
    cluster.write("3@1", "4@1", "5@1")
    cluster.roll(A, B)
    cluster.write("6@1")
    cluster.copied((0, 5))
    cluster.drop_local(6, A)
    return cluster


def emptied(cluster: StagedCluster) -> int:
    """B is down, its disk is empty, and it is in no ISR; how many effects it has had so far."""
    sim, name = cluster.sim, broker_name(B)
    sim.kill(name)
    sim.nodes[name].disk.wipe()
    cluster.until(lambda: cluster.in_sync() == [A])
    return sim.effects.counts[name]


def is_built(cluster: StagedCluster) -> None:
    log = cluster.log(B)
    assert cluster.epochs_of(B) == EPOCHS
    assert (log.log_start_offset, log.local_log_start_offset, log.log_end_offset) == (0, 6, 7)
    assert log.producers.producers[PRODUCER].last_sequence == 6


@pytest.mark.sim
def test_whatever_effect_is_the_last_before_a_crash() -> None:
    with Simulation(2) as sim:
        cluster, name = tiered(sim), broker_name(B)
        before = emptied(cluster)
        sim.start(name)
        cluster.until(lambda: cluster.in_sync() == [A, B])
        is_built(cluster)
        needed = sim.effects.counts[name] - before
        for number in range(POINTS):
            at = emptied(cluster) + 1 + number * needed // POINTS
            sim.effects.order(name, at, Act.KILL_AFTER if number % 2 else Act.KILL)
            sim.start(name)
            cluster.until(lambda: not sim.nodes[name].up)
            sim.start(name)
            cluster.until(lambda: cluster.in_sync() == [A, B])
            is_built(cluster)

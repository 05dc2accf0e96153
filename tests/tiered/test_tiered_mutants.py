"""Wrong choices about remote segments are seen in a short story of a tiered cluster."""

from __future__ import annotations

from functools import cache

import pytest

from conformance.derived import find_mutant
from harness.simulation.simulation import Simulation
from reference_impl.decisions import Mutant, mutated
from reference_impl.partitions.views import FetchReader
from reference_impl.replication.decisions import Reader
from tests.tiered.tiered_cluster import TieredCluster

pytestmark = pytest.mark.sim
SEEN = [
    "fetch-answer-means/never-fb04",  # a follower does not build what it cannot fetch
    "follower-elsewhere/shifted-f86b",  # a version too early
]


def story() -> list[object]:
    """What followers are told, and how one whose disk was lost comes back."""
    with Simulation(seed=5) as sim:
        cluster = TieredCluster(sim, in_memory=True)
        cluster.create()
        cluster.send(5)
        sim.advance(4)
        lost = cluster.levers.wipe("broker-2")
        sim.advance(4)
        lost.release()
        sim.advance(10)
        notes: list[object] = [cluster.leader(), cluster.in_sync()]
        partition = cluster.extension(1).partition
        for version in (13, 14):
            for offset in (3, 4):
                reader = FetchReader(Reader.FOLLOWER, 2, version, max_bytes=1)
                notes.append(partition.plan_read(offset, reader).route)
        return [*notes, cluster.scan(at=1), cluster.log(2).epochs.entries]


@cache
def sound() -> list[object]:
    return story()


def test_the_sound_story_ends_with_all_in_sync() -> None:
    assert sound()[:2] == [1, (1, 2, 3)]


def told_with(mutant: Mutant) -> list[object] | None:
    """The story with a wrong choice; None if it does not come to its end."""
    try:
        with mutated(mutant):
            return story()
    except Exception:
        return None


@pytest.mark.parametrize("name", SEEN)
def test_a_wrong_choice_is_seen(name: str) -> None:
    mutant = find_mutant(name)
    assert isinstance(mutant, Mutant)
    assert told_with(mutant) != sound()

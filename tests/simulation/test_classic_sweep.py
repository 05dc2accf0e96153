"""A leader may die after any effect and no acknowledged record is lost; and all of it repeats."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from conformance.mutants import replication
from conformance.programs import PROPERTIES
from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition, fetch, produce
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.history.outcome import definitely_not, unknown
from harness.levers import has_acted
from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from harness.simulation.twice import twice
from reference_impl.decisions import mutated

pytestmark = pytest.mark.sim

ROOT = Path(__file__).parents[2]
TP = TopicPartition("t", 0)
LEADER = broker_name(1)
VALUES = ("a", "b")
TWO = {"min.insync.replicas": "2"}
BY_NAME = {mutant.name: mutant for mutant in replication.MUTANTS}


class Appending(Simulation):
    """Three brokers, of which the first leads; two appends; then all of them are up again."""

    effects_of_the_leader = 0
    acknowledged: tuple[str, ...] = ()
    read: tuple[str, ...] | None = None

    def play(self, die_after: int | None = None) -> None:
        cluster = self.cluster = SimulatedCluster(
            self, DeploymentPlan(brokers=3, properties=PROPERTIES)
        )
        cluster.settle()
        self._asked(1, lambda one: create_topic(one, "t", assignments=[[1, 2, 3]], configs=TWO))
        before = self.effects.counts[LEADER]
        death = None
        if die_after is not None:
            death = self.levers.at_effect(LEADER, before + die_after, Act.KILL_AFTER)
        for value in VALUES:
            self._append(value)
        self.effects_of_the_leader = self.effects.counts[LEADER] - before
        self.advance(2.0)
        if death is not None:
            assert has_acted(death.counts)
            death.release()
        for name, node in self.nodes.items():
            if not node.up:
                self.start(name)
        self.advance(3.0)
        self.read = self._read()

    def _append(self, value: str) -> None:
        """At the broker that takes it; once it may have been taken it is not sent again."""
        for broker in (1, 2, 3) * 4:
            one = self._asked(
                broker, lambda c: produce(c, TP, records=[(value, self.now_ms)], acks=-1)
            )
            if one.type == "ok":
                self.acknowledged += (value,)
            if one.type != "fail":
                return
            self.advance(0.5)

    def _read(self) -> tuple[str, ...] | None:
        for broker in (1, 2, 3) * 4:
            seen = self._asked(broker, lambda c: fetch(c, TP, offset=0))
            if seen.type == "ok":
                return tuple(row[1] for row in seen.fields["records"])
            self.advance(0.5)
        return None

    def _asked(self, broker: int, work: Callable[[RawClient], Coroutine[Any, Any, Any]]) -> Any:
        if not self.nodes[broker_name(broker)].up:
            return definitely_not()
        client = RawClient(self.lab, self.cluster.address(broker))
        try:
            return self.run(work(client))
        except (OSError, TimeoutError):
            return unknown()
        finally:
            client.abort()


def lost_by_a_death_at_each_effect() -> dict[int, str]:
    """For each effect of the leader between the topic and the last answer: what is wrong then."""
    with Appending(0) as quiet:
        quiet.play()
        assert quiet.acknowledged == quiet.read == VALUES
    wrong = {}
    for effect in range(1, quiet.effects_of_the_leader + 1):
        with Appending(0) as sim:
            sim.play(die_after=effect)
            kept = [value for value in sim.read or () if value in sim.acknowledged]
            if sim.read is None or tuple(kept) != sim.acknowledged:
                wrong[effect] = f"{sim.read} is read, {sim.acknowledged} was acknowledged"
    return wrong


def test_a_leader_may_die_after_any_effect() -> None:
    assert lost_by_a_death_at_each_effect() == {}


def test_the_sweep_shows_a_leader_that_commits_alone() -> None:
    with mutated(BY_NAME["leader-alone-commits"]):
        assert lost_by_a_death_at_each_effect() != {}


def test_the_cluster_does_the_same_twice() -> None:
    assert twice(lambda sim: sim.play(die_after=3), seed=3, make=Appending) > 400


def test_another_process_with_another_order_of_hashes_goes_the_same_way() -> None:
    program = f"import {Path(__file__).stem} as here; print(here.course())"
    folders = [str(ROOT), str(Path(__file__).parent)]
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == [course()]


def course() -> str:
    """A digest of everything that ran, in its order."""
    digest = hashlib.sha256()
    with Appending(7) as sim:
        sim.loop.watch = lambda event: digest.update(event.encode())
        sim.play(die_after=3)
    return digest.hexdigest()

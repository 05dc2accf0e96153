"""A leader that dies anywhere in a copy or an expiry leaves what its successor can end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import NamedTuple

import pytest

from harness.clients.topic_admin import alter_configs
from harness.deployments.plan import broker_name
from harness.simulation.gate import Act
from harness.simulation.node import Node
from harness.simulation.simulation import Simulation
from reference_impl.tiered.copying import copy_lag
from reference_impl.tiered.decisions import plan_expiry
from reference_impl.tiered.expiry import ExpiryTask
from reference_impl.tiered.tasks import TaskKind
from tests.tiered.staged_cluster import A, B, StagedCluster
from tests.tiered.tiered_cluster import TP

POINTS = 8  # of one task, in the short version
PAIRS = 2  # of each kill
PARTS = 5  # a segment without transactions, and its indexes


class Tasks(StagedCluster):
    """Logs of which only the active segment stays on a disk, and what was acknowledged of them."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self.configure(local_retention_bytes="1")
        self.values: list[str] = []

    def name(self) -> str:
        return broker_name(self.leader())

    def finish_segment(self) -> None:
        """Two batches of the present epoch end a segment, which is to be copied now."""
        epoch = self.replica(self.leader()).state.leader_epoch
        for _ in range(2):
            self.values.append(f"{len(self.values)}@{epoch}")
            self.write(self.values[-1])
        self.roll(self.leader())

    def run_soon(self, kind: TaskKind) -> None:
        leader = self.leader()
        self.managers[leader]._loops[self.extension(leader).id][kind].run_soon()

    def is_led(self) -> bool:
        """Whether the leader that all know of is there, and knows of it."""
        leader = self.leader()
        here = self.managers[leader]._here.values() if leader > 0 else ()
        return any(one.id.topic == TP.topic and one.partition.leads for one in here)

    def has_copied(self) -> bool:
        return self.is_led() and copy_lag(self.extension(self.leader())) == []

    def retain(self, size: int) -> None:
        """Set the retention, by a broker that has no replica."""
        with self.client(3) as client:
            self.sim.run(alter_configs(client, TP.topic, {"retention.bytes": str(size)}))

    def fill(self) -> None:
        """Segments in the remote tier, and no limit."""
        self.retain(-1)
        for _ in range(2):
            self.finish_segment()
            self.until(self.has_copied)

    def copy(self) -> None:
        """The task whose every effect may be the last."""
        self.run_soon(TaskKind.COPY)

    def expire(self) -> None:
        """The same: all but the latest segment is too much, so the log start rises."""
        self.retain(self.segments()[-1].segment_size_bytes)

    def rests(self) -> bool:
        """All that is finished is copied, nothing expires, nothing is begun and not ended."""
        if not self.has_copied() or self.in_sync() != [A, B] or self.expires():
            return False
        known = {str(one.segment_id.id) for one in self.segments() if one.finished}
        return len(known) == len(self.segments()) and set(self.objects()) == known

    def expires(self) -> bool:
        extension = self.extension(self.leader())
        task = ExpiryTask(self.managers[self.leader()]._tier, extension)
        log, epoch = self.log(self.leader()), extension.partition.state.leader_epoch
        plan = plan_expiry(self.sim.run(task._view(log, epoch)))
        return bool(plan.victims) or plan.log_start_offset > log.log_start_offset

    def is_whole(self) -> None:
        """The tier has what its metadata says, and either broker serves all that is left."""
        self.until(self.rests)
        assert {len(parts) for parts in self.objects().values()} == {PARTS}
        for broker in (A, B):
            start = self.log(broker).log_start_offset
            assert self.scan(at=broker, start=start) == self.values[start:]

    def survive(self, begin: Callable[[], None], *kills: tuple[int, Act]) -> None:
        """Leaders die at their nth effect from now on, each at the death of the one before it."""
        down: list[int] = []
        for number, act in kills:
            leader = next(one for one in (self.leader(), A, B) if one > 0 and one not in down)
            node = self.sim.nodes[broker_name(leader)]
            counts = self.sim.effects.counts
            self.sim.effects.order(node.name, counts[node.name] + number, act)
            if not down:
                begin()
            self.sim.run_until(partial(_is_down, node), within_s=60)
            down.append(leader)
        self.sim.advance(0.1)  # until what they listened on is free again
        for broker in down:
            self.sim.start(broker_name(broker))
        self.is_whole()


def _is_down(node: Node) -> bool:
    return not node.up


class Task(NamedTuple):
    """What is there before, and what begins it."""

    prepare: Callable[[Tasks], None]
    begin: Callable[[Tasks], None]


COPY, EXPIRY = Task(Tasks.finish_segment, Tasks.copy), Task(Tasks.fill, Tasks.expire)
TASKS = pytest.mark.parametrize("task", [COPY, EXPIRY], ids=["copy", "expiry"])
Kill = tuple[int, Act]


def effects_of(cluster: Tasks, task: Task) -> int:
    """How many effects the leader has until nothing is left to be done."""
    task.prepare(cluster)
    name = cluster.name()
    before = cluster.sim.effects.counts[name]
    task.begin(cluster)
    cluster.until(cluster.rests)
    needed = cluster.sim.effects.counts[name] - before
    cluster.is_whole()
    return needed


def kills(needed: int, points: int) -> list[Kill]:
    """So many effects, evenly, by turns before and after they are carried out."""
    acts = (Act.KILL, Act.KILL_AFTER)
    return [(1 + at * needed // points, acts[at % 2]) for at in range(points)]


def sweep(task: Task, chosen: Callable[[int], Iterable[tuple[Kill, ...]]]) -> None:
    with Simulation(3) as sim:
        cluster = Tasks(sim)
        for each in chosen(effects_of(cluster, task)):
            task.prepare(cluster)
            cluster.survive(partial(task.begin, cluster), *each)


@pytest.mark.sim
@TASKS
def test_whatever_effect_of_a_task_is_the_last_before_a_crash(task: Task) -> None:
    sweep(task, lambda needed: ((one,) for one in kills(needed, POINTS)))


@pytest.mark.sim
@TASKS
def test_whatever_its_successor_does_when_it_dies_too(task: Task) -> None:
    sweep(task, lambda needed: product(kills(needed, PAIRS), repeat=2))


@pytest.mark.sim
@pytest.mark.slow
@TASKS
def test_every_effect_of_a_task_may_be_the_last(task: Task) -> None:
    sweep(task, lambda needed: ((one,) for one in product(range(1, needed + 1), list(Act)[2:])))


@pytest.mark.sim
@pytest.mark.slow
@TASKS
def test_many_pairs_of_effects_may_be_the_last_two(task: Task) -> None:
    sweep(task, lambda needed: product(kills(needed, 10), repeat=2))

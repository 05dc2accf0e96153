"""The stage `life-cycle`: its steps are drawn, its history exercises its rules, none is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka.replicas import REPLICAS
from conformance.classic.life_cycle import (
    OF_METRICS,
    OF_TOPICS,
    RULES,
    SITUATIONS,
    life_cycle_steps,
    topics_of,
)
from conformance.classic.life_cycle_lab import record_life_cycle
from conformance.classic.stages import StageRun
from harness.clients.topic_admin import ToldPartition, ToldTopic
from harness.history import Run
from harness.steps.step import NEMESIS
from harness.sut import reference_sut
from harness.workloads.settled import KnownTopic, Look, is_settled
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run

OF_THE_STAGE = sorted({*OF_TOPICS, *(rule for some in RULES.values() for rule in some)})


def test_the_seed_decides_who_plays_which_part_and_in_which_order() -> None:
    assert life_cycle_steps(1, (1, 2, 3)) == life_cycle_steps(1, (1, 2, 3))
    assert life_cycle_steps(1, (1, 2, 3)) != life_cycle_steps(2, (1, 2, 3))


def test_without_levers_there_are_topics_and_no_faults() -> None:
    steps = life_cycle_steps(1, (4, 7, 9), situations=())

    assert [one.verb for one in steps if one.actor == NEMESIS] == ["heal-all"]
    assert {"life-cycle", "x", "x1", "X", "moved"} <= set(topics_of(steps))


def test_every_rule_of_replicas_has_a_part_of_the_plan() -> None:
    of_replicas = [rule.id for rule in CATALOGUE if rule.section == REPLICAS]

    assert of_replicas == OF_THE_STAGE


@pytest.mark.sim
def test_a_sound_cluster_exercises_all_of_them_and_breaks_none(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="sim", seed=1)
    done = record_life_cycle(StageRun(run=run, world="sim", seed=1, sut=reference_sut()))
    run.seal()
    engine = InlineEngine()
    rules = [CATALOGUE[rule] for rule in (*OF_THE_STAGE, *OF_METRICS)]
    judged = judge_run(run.folder, rules, engine, reference=True).judged
    engine.close()

    assert done.skipped == {}
    assert [one.rule.id for one in judged if one.result.violations or one.result.broken] == []
    assert [one.rule.id for one in judged if not one.result.exercised] == []
    assert set(SITUATIONS) >= set(RULES)


def told(
    leader: int,
    isr: tuple[int, ...],
    *,
    elr: tuple[int, ...] = (),
    offline: tuple[int, ...] = (2,),
) -> Look:
    partition = ToldPartition(
        leader=leader,
        leader_epoch=0,
        replicas=(1, 2),
        isr=isr,
        elr=elr,
        last_known_elr=(),
        offline=offline,
    )
    topic = ToldTopic(error=0, topic_id="", partitions={0: partition})
    fenced = {1: False, 2: True}
    return Look(topics={1: {"t": topic}}, fenced={1: fenced})


@pytest.mark.parametrize(
    ("look", "settled"),
    [
        (told(1, (1,)), True),
        (told(1, (1,), offline=()), False),
        (told(1, (1, 2)), False),
        (told(2, (2,)), False),
        (told(-1, (), elr=(2,)), True),
        (told(-1, (), elr=(1, 2)), False),
    ],
    ids=[
        "led by who is up",
        "one that is down not offline",
        "one that is down in sync",
        "led by who is down",
        "none",
        "electable",
    ],
)
def test_a_cluster_is_settled_when_what_it_says_fits_who_is_up(look: Look, settled: bool) -> None:
    topic = KnownTopic(called="t", name="t", partitions=1)

    assert is_settled(look, [topic], down=(2,)) is settled

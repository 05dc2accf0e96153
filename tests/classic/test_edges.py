"""The stage `edges`: what it exercises, what a sound cluster makes of it, what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka import edges
from conformance.classic.edges import FAULTS, edge_steps, planned_parts
from conformance.classic.edges_lab import record_edges
from conformance.classic.stages import StageRun
from conformance.driver import VOCABULARIES
from harness.history import Run
from harness.rules import Verdict
from harness.steps.step import step_line
from harness.steps.text import parse
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run


@pytest.mark.sim
def test_a_sound_cluster_keeps_every_rule_of_the_edges(tmp_path: Path) -> None:
    run = Run.create(
        tmp_path / "run", run="1", sut="reference", world="sim", profiles=["classic"], seed=1
    )
    given = StageRun(run=run, world="sim", seed=1, sut=reference_sut())
    record_edges(given, faults=("lag", "alone"))
    run.seal()

    rules = CATALOGUE.of_profiles(("classic",)).played()
    judged = judge_run(run.folder, rules, InlineEngine(), reference=True).judged

    unseen = {one.rule.id for one in judged if not one.result.exercised}
    assert unseen & {rule.id for rule in edges.RULES} == set()
    assert [one.rule.id for one in judged if one.verdict is Verdict.FAIL] == []


def test_the_stage_is_a_program_like_any_other() -> None:
    steps = edge_steps(7, bound_ms=1000)

    assert parse("\n".join(map(step_line, steps)), *VOCABULARIES) == steps


def test_a_seed_changes_what_is_sent_and_the_order_of_the_faults() -> None:
    assert edge_steps(1, bound_ms=1000) == edge_steps(1, bound_ms=1000)
    assert edge_steps(1, bound_ms=1000) != edge_steps(2, bound_ms=1000)


def test_without_the_settings_of_the_stage_nothing_waits_for_retention() -> None:
    verbs = {step.verb for step in edge_steps(1, (), settled=False, bound_ms=1000)}

    assert verbs & {"retain", "forget"} == set()


def test_no_fault_of_the_stage_is_needed_for_a_certificate() -> None:
    parts = {part.name: part for part in planned_parts()}

    assert {f"edges/{fault}" for fault in FAULTS} < parts.keys()
    assert not any(part.promised or (part.faults and part.required) for part in parts.values())

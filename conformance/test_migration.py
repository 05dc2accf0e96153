"""The reference keeps the rules of the migration's boundary."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.catalogue import CATALOGUE
from conformance.lab import record
from conformance.plugin import Lab
from conformance.profiles.profile import Plan
from conformance.scenario import Scenario
from conformance.scenarios import SCENARIOS
from harness.history import Run
from harness.rules import Verdict
from harness.sut import reference_sut
from spark_checkers.engine import InlineEngine
from spark_checkers.judge import judge

_PLAIN = [scenario for scenario in SCENARIOS if not scenario.older_schema]


@pytest.mark.parametrize("scenario", _PLAIN, ids=lambda scenario: scenario.slug)
def test_the_reference_in_memory_keeps_the_rules(scenario: Scenario, lab: Lab) -> None:
    lab.play(scenario)


def test_the_reference_on_postgresql_keeps_every_rule(lab: Lab) -> None:
    lab.reference(control_plane="postgres")
    for scenario in _PLAIN:
        lab.play(scenario)


@pytest.mark.world("process")
def test_the_reference_in_real_processes_keeps_every_rule(lab: Lab) -> None:
    for scenario in _PLAIN:
        lab.play(scenario)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10_000))
def test_no_seeded_concurrent_work_breaks_a_rule(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", run="seeded", sut="reference", world="sim")
        sut = reference_sut(control_plane="memory")
        plan = Plan(world="sim", seed=seed, profiles=("migration",), scenarios=(), rounds=2)
        record(run, sut, plan)
        engine = InlineEngine()
        judged = judge(run.folder, CATALOGUE, engine).judgement.judged
        engine.close()

    wrong = [j for j in judged if j.verdict in (Verdict.FAIL, Verdict.BROKEN)]
    assert not wrong

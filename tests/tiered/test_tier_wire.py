"""The stage `tier-wire`: what Kafka said of tiered topics, asked of one broker that tiers."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.classic.stages import StageRun
from conformance.mutants.tiered_wire import MUTANTS
from conformance.profiles import PROFILES
from conformance.tiered.lab import record_wire
from conformance.tiered.wire import ONLY_STARTED, RULE, STAGE
from conformance.trials.judging import engine
from harness.differential.answers import ANSWERS, read_recordings
from harness.history import Run
from harness.rules import Judged, Verdict
from harness.sut import reference_sut
from spark_checkers.judge_history import judge_run


def judged(folder: Path) -> Judged:
    found = judge_run(folder, [CATALOGUE[RULE]], engine(), reference=True)
    assert found.problems == ()
    return found.judged[0]


def recorded(folder: Path, world: str, mutants: tuple[str, ...] = ()) -> Judged:
    run = Run.create(folder / "run", run="1", sut="reference", world=world, seed=3)
    record_wire(StageRun(run=run, world=world, seed=3, sut=reference_sut(mutants=mutants)))
    run.seal()
    return judged(run.folder)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param("sim", marks=pytest.mark.sim),
        pytest.param("process", marks=pytest.mark.process),
    ],
)
def test_a_tiered_broker_answers_as_kafka_did(world: str, tmp_path: Path) -> None:
    sequences = [one.sequence for one in read_recordings(ANSWERS / "tiered")]

    found = recorded(tmp_path, world)

    assert found.verdict is Verdict.PASS, found.result.findings[:1]
    assert found.result.exercised == sum(step.compared for one in sequences for step in one.steps)


@pytest.mark.sim
def test_a_mutant_that_no_client_notices_is_seen(tmp_path: Path) -> None:
    (mutant,) = MUTANTS

    (folder,) = (
        PROFILES["tiered"].shown(f"conformance.mutants.tiered_wire:{mutant.name}", "sim", tmp_path)
        or ()
    )

    assert judged(folder).verdict is Verdict.FAIL


def test_a_cluster_that_is_found_is_told_why_it_is_not_asked(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="x", world="sim", seed=1)
    sut = reference_sut(levers="address")

    done = record_wire(StageRun(run=run, world="sim", seed=1, sut=sut))

    assert done.skipped == {STAGE: ONLY_STARTED}

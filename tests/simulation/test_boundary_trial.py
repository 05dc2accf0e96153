"""The boundary register under several clients: sound under faults, mutants found."""

from __future__ import annotations

from pathlib import Path

import pytest
from boundary_trial import BoundaryTrial

from conformance.mutants import boundary
from conformance.trials.judging import explore_together
from harness.rules import Judgement, Verdict
from harness.steps.program import program_of
from harness.steps.replay import replay
from harness.steps.trial import Violated

pytestmark = pytest.mark.sim

BY_NAME = {mutant.name: mutant for mutant in boundary.MUTANTS}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.trial.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def slow(*case: object) -> object:
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize("seed", [1, slow(2)])
def test_the_boundary_is_sound_under_the_nemesis_and_exercises_its_rules(
    seed: int, runs: Path
) -> None:
    exercised: set[str] = set()

    def watch(judgement: Judgement) -> None:
        passed = (one for one in judgement.judged if one.verdict is Verdict.PASS)
        exercised.update(one.rule.id for one in passed)

    explore_together(BoundaryTrial.with_seed(seed), examples=25, steps=20, watch=watch)
    assert not runs.exists()
    if seed != 1:
        return  # programs of another seed need not come to every rule
    assert exercised >= {"MIG-001", "MIG-007", "MIG-021"}
    assert len(exercised) >= 12


@pytest.mark.parametrize(
    ("name", "rule", "steps"),
    [
        ("higher-epoch-moves-the-boundary", "MIG-003", 2),
        slow("nobody-is-fenced", "MIG-021", 3),
        slow("refusal-echoes-the-caller", "MIG-021", 2),
        slow("reset-passes-the-fence", "MIG-021", 3),
        slow("fence-turned-around", "MIG-021", 2),
        slow("boundary-before-seeds", "MIG-007", 5),
    ],
)
def test_a_mutant_is_found_shrunk_and_played_again(
    name: str, rule: str, steps: int, runs: Path
) -> None:
    with pytest.raises(Violated) as caught:
        explore_together(BoundaryTrial.with_seed(1, BY_NAME[name]), examples=80, steps=20)

    assert str(caught.value).startswith(f"{rule}: ")
    kept = runs / "BoundaryTrial-1"
    assert 1 <= len(program_of(kept)) <= steps
    again = replay(kept)
    assert again.differs_at is None
    assert "\n".join(again.findings) == str(caught.value)

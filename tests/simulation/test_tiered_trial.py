"""A tiered log in a simulation: sound under a nemesis that has the store too; mutants are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.mutants import tiered
from conformance.trials.judging import explore_together
from conformance.trials.tiered import RULES, TieredTrial, UncleanTieredTrial
from harness.rules import Judgement, Verdict
from harness.steps.step import read_steps
from harness.steps.trial import Violated, play
from reference_impl.decisions import Mutant

pytestmark = pytest.mark.sim

MUTANTS = {one.name: one for one in tiered.MUTANTS}
TRIALS = {"clean": TieredTrial, "unclean": UncleanTieredTrial}
# Of what the trial is about: records in both tiers, lineages, store and metadata at rest.
ALWAYS = {
    *("TS-001", "TS-002", "TS-003", "TS-004", "TS-010", "TS-034", "TS-037", "TS-044", "TS-057"),
    *("TS-084", "TS-088", "TS-089", "TS-092", "TS-093", "TS-096", "TS-097"),
}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.trial.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def slow(*case: object) -> object:
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("kind", "seed", "examples"),
    [
        ("clean", 1, 2),
        ("unclean", 1, 2),
        slow("clean", 2, 80),
        slow("clean", 3, 80),
        slow("unclean", 2, 80),
    ],
)
def test_the_log_is_sound_under_the_nemesis_and_exercises_the_rules(
    kind: str, seed: int, examples: int, runs: Path
) -> None:
    exercised: set[str] = set()

    def watch(judgement: Judgement) -> None:
        passed = (one for one in judgement.judged if one.verdict is Verdict.PASS)
        exercised.update(one.rule.id for one in passed)

    explore_together(TRIALS[kind].with_seed(seed), examples=examples, steps=12, watch=watch)

    assert not runs.exists()
    assert {one.id for one in RULES} >= ALWAYS
    if kind == "clean":
        assert exercised >= ALWAYS


@pytest.mark.parametrize(
    ("name", "finding"),
    [("copies-the-latest-alone", "TS-097"), slow("copies-the-latest-first", "TS-037")],
)
def test_what_leaves_holes_in_the_remote_tier_is_found_by_the_ending_alone(
    name: str, finding: str, runs: Path
) -> None:
    with pytest.raises(Violated) as caught:
        play(TieredTrial.with_seed(1, MUTANTS[name]), [])

    assert any(line.startswith(finding) for line in str(caught.value).splitlines())
    assert (runs / "TieredTrial-1").is_dir()


LOG_START_UNTOLD = read_steps(
    """
    nemesis cut target="leader of kept-0 <-> everything else"
    tiers delete log=kept-0 at=middle
    tiers write log=kept-0 batches=0
    """
)


def test_a_new_leader_passes_what_the_old_one_deleted_without_telling_it(runs: Path) -> None:
    play(TieredTrial.with_seed(1), LOG_START_UNTOLD)
    assert not runs.exists()


def test_one_that_goes_by_its_own_log_start_keeps_readers_waiting_for_ever(runs: Path) -> None:
    as_it_was = Mutant(
        name="own-log-start",
        decision="readable-from",
        replace=lambda log_start, local_log_start, parts: log_start,
        rules=("TS-037",),
    )
    with pytest.raises(Violated, match="TS-037"):
        play(TieredTrial.with_seed(1, as_it_was), LOG_START_UNTOLD)

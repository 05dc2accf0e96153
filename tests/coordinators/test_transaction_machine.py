"""Transactions under a nemesis: all of one or nothing of it, in order, once, and none hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.steps.draw import explore
from harness.steps.step import read_steps
from harness.steps.trial import Violated, play
from reference_impl.decisions import Mutant
from tests.coordinators.transaction_trial import TransactionTrial

pytestmark = pytest.mark.sim


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.trial.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def test_transactions_are_atomic_under_the_nemesis(runs: Path) -> None:
    explore(TransactionTrial.with_seed(1), examples=4, steps=15)
    assert not runs.exists()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_transactions_are_atomic_for_long(seed: int, runs: Path) -> None:
    explore(TransactionTrial.with_seed(seed), examples=40, steps=20)
    assert not runs.exists()


MUTANTS = {
    "exposed": Mutant(
        name="open-transactions-are-stable",
        decision="first-unstable-offset",
        replace=lambda ongoing, unreplicated: None,
    ),
    "hangs": Mutant(
        name="transactions-never-time-out",
        decision="transaction-timed-out",
        replace=lambda known, now_ms: False,
    ),
    "offset": Mutant(
        name="pending-offsets-never-count",
        decision="pending-offset-counts",
        replace=lambda known, pending: False,
    ),
}
PROGRAM = read_steps(
    """
    p1 transact writes=ab offset=true end=commit ms=700
    p2 transact writes=ab offset=false end=abort ms=700
    p3 transact writes=abba offset=true end=leave ms=700
    p1 read at=1 index=0 ms=100
    """
)


def test_a_program_without_faults_is_sound() -> None:
    play(TransactionTrial.with_seed(1), PROGRAM)


@pytest.mark.parametrize("finding", MUTANTS)
def test_a_mutant_is_found(finding: str) -> None:
    with pytest.raises(Violated) as caught:
        play(TransactionTrial.with_seed(1, MUTANTS[finding]), PROGRAM)
    assert any(line.startswith(finding) for line in str(caught.value).splitlines())

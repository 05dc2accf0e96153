"""Mutants of the cluster's replication that the default run detects, each by the race that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.classic.campaign import RACES
from conformance.derived import find_mutant, reference
from conformance.derived.plays import Play
from conformance.derived.work import play_and_judge

# The race, and mutants that it makes a rule fail on.
SHOWN = {
    "cuts-where-the-leader-says": (
        "truncation-point/dropped-e2d9",
        "next-high-watermark/never-664c",
    ),
    "joins-once-confirmed": ("maximal-isr/dropped-cf88",),
    "fenced-brokers-join": ("eligible-for-isr/dropped-7f89", "accept-alter-partition/never-90cb"),
    "everybody-keeps-up": ("caught-up/negated-5eb1",),
    "what-was-copied-is-committed": ("follower-high-watermark/dropped-4266",),
    "leaders-log-start-is-enough": ("low-watermark/dropped-47e1",),
}


@pytest.mark.sim
@pytest.mark.parametrize("race", SHOWN)
def test_a_race_of_the_default_run_detects_them(race: str, tmp_path: Path) -> None:
    mutants = [reference(find_mutant(name)) for name in SHOWN[race]]
    play = Play(name=race, profile="classic", world="sim", program=True)

    told = play_and_judge(play, mutants, tmp_path / "plays")

    assert race in RACES
    assert [(one.broken, one.failed != ()) for one in told] == [("", True)] * len(mutants)

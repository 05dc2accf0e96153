"""Exploring: the same programs from the same seed, and the smallest that fails in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from harness.steps.dice import Dice
from harness.steps.explore import Unrepeatable, explore
from harness.steps.machine import SimulatedMachine, Violated, step
from harness.steps.program import program_of

NUMBERS = range(100)


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.machine.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


class Sum(SimulatedMachine):
    """Nothing but numbers; too many of them, or too large ones, are findings of two kinds."""

    settle_s = 0.0
    most: ClassVar[int] = 60
    enough: ClassVar[int] = 2
    played: ClassVar[list[list[int]]] = []

    def build(self) -> None:
        """No node."""
        self.numbers: list[int] = []

    @step(number=NUMBERS)
    def add(self, number: int) -> None:
        """One more."""
        self.numbers.append(number)

    @step()
    def idle_away(self) -> None:
        """What nobody needs."""

    def judge(self, folder: Path) -> Sequence[str]:
        """The larger kind hides the other."""
        self.played.append(self.numbers)
        if any(number > self.most for number in self.numbers):
            return [f"large: {max(self.numbers)}"]
        return ["many: more than enough"] if len(self.numbers) > self.enough else []


def programs(seed: int) -> list[list[int]]:
    class Watched(Sum):
        played: ClassVar[list[list[int]]] = []

        def judge(self, folder: Path) -> Sequence[str]:
            super().judge(folder)
            return []

    explore(Watched.with_seed(seed), examples=20, steps=10)
    return Watched.played


def test_a_seed_draws_programs_of_its_own_and_all_choices_alike() -> None:
    first = programs(1)

    assert first == programs(1)
    assert first != programs(2)
    drawn = [number for program in first for number in program]
    assert len({tuple(program) for program in first}) > 15
    assert len([number for number in drawn if number >= 50]) > len(drawn) / 3


def test_steps_are_left_out_and_arguments_moved_to_the_front(runs: Path) -> None:
    class Strict(Sum):
        most = 7
        enough = 100

    with pytest.raises(Violated, match="large: 8"):
        explore(Strict.with_seed(1), examples=20, steps=10)
    assert program_of(runs / "Strict-1") == ["state.add(number=8)"]


def test_what_is_left_fails_as_the_whole_did(runs: Path) -> None:
    class Modest(Sum):
        most = 98  # hardly ever

    with pytest.raises(Violated, match="many: more than enough"):
        explore(Modest.with_seed(3), examples=20, steps=10)
    assert program_of(runs / "Modest-3") == ["state.add(number=0)"] * 3


def test_a_failure_that_does_not_come_again_is_said_to_be_one_of_chance() -> None:
    class Forgetful(Sum):
        failed: ClassVar[list[bool]] = []

        def judge(self, folder: Path) -> Sequence[str]:
            self.failed.append(True)
            return ["once: and a second time"] if len(self.failed) <= 2 else []

    with pytest.raises(Unrepeatable, match="Forgetful, seed 1"):
        explore(Forgetful.with_seed(1), examples=5, steps=5)


def test_dice_without_the_stream_of_the_seed_are_none() -> None:
    with pytest.raises(AttributeError, match="_random"):
        Dice(SimpleNamespace())

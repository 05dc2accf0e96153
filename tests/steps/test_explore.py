"""Exploring: the same programs from the same seed, and the smallest that fails in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from harness.steps.dice import Dice
from harness.steps.draw import explore
from harness.steps.program import program_of
from harness.steps.shrink import Unrepeatable
from harness.steps.step import Step
from harness.steps.trial import Trial, Violated
from harness.steps.vocabulary import Drawn, Vocabulary, verb

NUMBERS = range(100)


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.trial.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


class Adding(Vocabulary):
    """Numbers, and what is of no use."""

    actors = ("lab",)

    def __init__(self) -> None:
        self.numbers: list[int] = []

    @verb(number=NUMBERS)
    async def add(self, step: Step, number: int) -> None:
        """One more."""
        self.numbers.append(number)

    @verb()
    async def idle_away(self, step: Step) -> None:
        """Nothing."""


class Sum(Trial):
    """Nothing but numbers; too many of them, or too large ones, are findings of two kinds."""

    most: ClassVar[int] = 60
    enough: ClassVar[int] = 2
    played: ClassVar[list[list[int]]] = []
    drawn: ClassVar[tuple[Drawn, ...]] = Adding.drawn()

    def vocabularies(self) -> Sequence[Adding]:
        """One."""
        self.adding = Adding()
        return [self.adding]

    @property
    def numbers(self) -> list[int]:
        """That were added."""
        return self.adding.numbers

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
    assert program_of(runs / "Strict-1") == ["lab add number=8"]


def test_what_is_left_fails_as_the_whole_did(runs: Path) -> None:
    class Modest(Sum):
        most = 98  # hardly ever

    with pytest.raises(Violated, match="many: more than enough"):
        explore(Modest.with_seed(3), examples=20, steps=10)
    assert program_of(runs / "Modest-3") == ["lab add number=0"] * 3


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

"""A sample of the comparison: the views and the naive checker agree on every rule.

All of it: `python -m tests.naive.compare --seeds 3`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.classic.programs import MUTANTS, recorded_programs
from spark_checkers.engine import InlineEngine
from tests.naive.compare import CLASSIC, MIGRATION, compare
from tests.naive.recorded import record_boundary, record_program

SHOWN = ("any-sequence-fits", "deleted-when-asked", "late-means-refused")
REGISTER = "conformance.mutants.boundary:nobody-is-fenced"


@pytest.fixture
def engine() -> Iterator[InlineEngine]:
    one = InlineEngine()
    yield one
    one.close()


@pytest.mark.sim
def test_they_agree_on_mutants_of_the_cluster(tmp_path: Path, engine: InlineEngine) -> None:
    programs = recorded_programs()
    paths = [
        record_program(tmp_path / name, programs[name], MUTANTS[name]) / "history.jsonl"
        for name in SHOWN
    ]

    assert not [str(one) for one in compare(paths, engine, CLASSIC) if one.grave]


@pytest.mark.sim
def test_they_agree_on_a_mutant_of_the_register(tmp_path: Path, engine: InlineEngine) -> None:
    sound = record_boundary(tmp_path / "sound", seed=1) / "history.jsonl"
    broken = record_boundary(tmp_path / "broken", REGISTER, seed=1) / "history.jsonl"

    assert not [str(one) for one in compare([sound, broken], engine, MIGRATION) if one.grave]

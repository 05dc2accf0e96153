"""A sample of the comparison: the views and the naive checker agree on every rule.

All of it: `python -m tests.naive.compare --seeds 3`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from conformance.programs import recorded_programs
from harness.history import Run
from spark_checkers.engine import InlineEngine
from tests.naive.compare import CLASSIC, MIGRATION, compare
from tests.naive.contested import HISTORIES as CONTESTED
from tests.naive.recorded import REFERENCES, record_boundary, record_program
from tests.spark_checkers import liveness_histories
from tests.spark_checkers.log_lines import events_of

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
        record_program(tmp_path / name, programs[name], REFERENCES[name]) / "history.jsonl"
        for name in SHOWN
    ]

    assert not [str(one) for one in compare(paths, engine, CLASSIC) if one.grave]


def test_they_agree_on_contested_histories(tmp_path: Path, engine: InlineEngine) -> None:
    texts = {name: text for name, (text, _) in CONTESTED.items()}

    assert not disagreements(tmp_path, texts, engine)


def test_they_agree_on_recovery_and_answers(tmp_path: Path, engine: InlineEngine) -> None:
    bad = {name: text for name, (_, text) in liveness_histories.ALSO_BAD.items()}
    pairs = {
        f"{rule}-{number}": text
        for rule, pair in liveness_histories.HISTORIES.items()
        for number, text in enumerate(pair)
    }

    assert not disagreements(tmp_path, bad | pairs | liveness_histories.LEGAL, engine)


def disagreements(folder: Path, texts: Mapping[str, str], engine: InlineEngine) -> list[str]:
    paths = [written(folder / name, text) for name, text in texts.items()]
    return [str(one) for one in compare(paths, engine, CLASSIC) if one.grave]


def written(folder: Path, text: str) -> Path:
    run = Run.create(folder, run="1", sut="x", world="process")
    with run.shard("t", "t") as shard:
        for event in events_of(text):
            shard.write(event)
    run.seal()
    return run.history


@pytest.mark.sim
def test_they_agree_on_a_mutant_of_the_register(tmp_path: Path, engine: InlineEngine) -> None:
    sound = record_boundary(tmp_path / "sound", seed=1) / "history.jsonl"
    broken = record_boundary(tmp_path / "broken", REGISTER, seed=1) / "history.jsonl"

    assert not [str(one) for one in compare([sound, broken], engine, MIGRATION) if one.grave]

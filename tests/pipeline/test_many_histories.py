"""Histories judged together get the judgements that each of them gets alone."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from any_histories import any_history
from good_histories import line, sealed
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.catalogue import CATALOGUE
from harness.history import History
from harness.history.sources import Source
from harness.rules import Cycles, Depth, Holds, Judgement, Level, Rule
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.judge_history import judge_history
from spark_checkers.many import judge_many
from spark_checkers.side_by_side import JudgingProfile

CALM = Rule(
    id="TST-001",
    document="migration",
    section="none",
    lines=(1,),
    sentence="Every read shows the boundary 100 while it is calm.",
    level=Level.MUST,
    depth=Depth.HOOKS,
    profile="test",
    assumes=("calm",),
    judge=Holds(
        table="boundary_ops",
        when="f = 'get_diskless_log_start_offset'",
        holds="stored_boundary = 100",
        show=("stored_boundary", "completion", "clock"),
    ),
)
RULES = [rule for rule in CATALOGUE.judged() if not isinstance(rule.judge, Cycles)] + [CALM]


def choose(history: History) -> JudgingProfile:
    return JudgingProfile(profiles=("test",), reference=history.header["sut"] == "reference")


def rules_of(ground: JudgingProfile) -> Sequence[Rule]:
    return RULES


def written(folder: Path, seeds: Sequence[int]) -> list[Source]:
    sources = []
    for number, seed in enumerate(seeds):
        path = folder / f"{number}.jsonl"
        path.write_bytes(any_history(seed))
        sources.append(Source(name=str(path), address=str(path)))
    return sources


def alone(source: Source, engine: Engine, folder: Path) -> Judgement:
    with source.opened(folder) as history:
        reference = choose(history).reference
        return judge_history(history, folder / "alone", RULES, engine, reference=reference)


@settings(max_examples=settings().max_examples // 100)
@given(seeds=st.lists(st.integers(0, 2**32), min_size=2, max_size=3))
def test_together_and_alone_are_the_same(seeds: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = written(folder, seeds)
        together = list(
            judge_many(sources, choose, rules_of, InlineEngine(), folder / "scratch", workers=1)
        )
        for source, outcome in zip(sources, together, strict=True):
            assert outcome.source == source
            assert outcome.judgement == alone(source, InlineEngine(), folder)


def test_the_histories_compared_violate_many_rules(tmp_path: Path) -> None:
    sources = written(tmp_path, [1, 2])
    judged = [j for source in sources for j in alone(source, InlineEngine(), tmp_path).judged]
    assert len({j.rule.id for j in judged if j.result.violations}) > 30


def test_several_processes_lay_out_what_one_would(tmp_path: Path) -> None:
    sources = written(tmp_path, [1, 2, 3])
    found = [
        [
            outcome.judgement
            for outcome in judge_many(
                sources, choose, calm_of, InlineEngine(), tmp_path / str(workers), workers=workers
            )
        ]
        for workers in (1, 2)
    ]
    assert found[0] == found[1]


def test_what_has_no_room_beside_others_is_judged_alone(tmp_path: Path) -> None:
    (source,) = written(tmp_path, [1])
    far = tmp_path / "far.jsonl"
    far.write_bytes(far_away(Path(source.address).read_bytes()))
    sources = [source, Source(name=str(far), address=str(far))]
    near, moved = judge_many(sources, choose, calm_of, InlineEngine(), tmp_path / "s", workers=1)
    assert near.judgement is not None
    assert moved.judgement is not None
    assert near.judgement.judged == moved.judgement.judged


def test_a_history_that_cannot_be_read_keeps_nobody_from_a_judgement(tmp_path: Path) -> None:
    (source,) = written(tmp_path, [1])
    gone = Source(name="gone", address=str(tmp_path / "gone"))
    sources = [gone, source]
    first, second = judge_many(sources, choose, calm_of, InlineEngine(), tmp_path / "s", workers=1)
    assert "No such file" in first.unreadable
    assert second.judgement is not None


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    sources = written(tmp_path, [1, 2])
    list(judge_many(sources, choose, calm_of, InlineEngine(), tmp_path / "s", workers=1))
    assert list((tmp_path / "s").iterdir()) == []


@pytest.mark.spark
def test_spark_judges_many_as_duckdb_does(spark: SparkEngine, tmp_path: Path) -> None:
    sources = written(tmp_path, [1, 2, 3])
    found = [
        [
            outcome.judgement
            for outcome in judge_many(
                sources, choose, few_of, engine, tmp_path / engine.name, workers=1
            )
        ]
        for engine in (InlineEngine(), spark)
    ]
    assert found[0] == found[1]


def calm_of(ground: JudgingProfile) -> Sequence[Rule]:
    return [CALM]


def few_of(ground: JudgingProfile) -> Sequence[Rule]:
    """A search, a rule with an assumption, rules over transactions and over groups of rows."""
    return [CALM, *(CATALOGUE[name] for name in ("KFK-081", "MIG-001", "MIG-021"))]


def far_away(history: bytes) -> bytes:
    """The same history by processes whose numbers are past 2^40."""
    lines = history.splitlines()
    found = [json.loads(text) for text in lines[1:-1]]
    moved = [e | {"process": e["process"] + 2**50} if e["kind"] == "op" else e for e in found]
    return sealed([lines[0] + b"\n", *map(line, moved)])

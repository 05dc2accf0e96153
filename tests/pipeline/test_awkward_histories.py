"""Histories of awkward shapes, and files that go away: the same findings, or a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from operator import truediv
from pathlib import Path
from typing import Any

import pytest
from test_many_histories import calm_of, choose, written

from conformance.catalogue import CATALOGUE
from harness.cli.benches.log_lines import log_lines
from harness.errors import LabBroken
from harness.history import HistoryUnreadable, Run, bulk, read_history, silver, write_tables
from harness.history.ranges import bucket_of_part
from harness.rules import Judgement
from spark_checkers import engine as engines
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.judge_history import judge_history, lay_out_on
from spark_checkers.kernel import WHOLE
from spark_checkers.many import judge_many
from spark_checkers.tasks import Task

RULES = [*CATALOGUE.of_profiles(["classic"]).judged()]
EVERY = 97


def in_topic(name: str, at: int, lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines as they are about other topics, by others, some time later."""
    for line in lines:
        yield line | {
            "topic": name + line["topic"],
            "process": line["process"] + at,
            "time": line["time"] + at * 10**9,
        }


def skewed() -> Iterator[dict[str, Any]]:
    """Nine tenths of it are about one partition."""
    return chain(log_lines(18_000, 1), in_topic("few", 1_000, log_lines(2_000, 9)))


SHAPES = {"skewed": skewed, "ten thousand partitions": lambda: log_lines(100_000, 10_000)}


def sealed(folder: Path, lines: Iterator[dict[str, Any]]) -> Path:
    """The lines as a history; now and then a record is read that nobody sent."""
    run = Run.create(folder, run="1", sut="x", world="process")
    fetches = 0
    with run.shard("w", "host") as shard:
        for line in lines:
            if line["f"] == "fetch" and line["type"] == "ok":
                fetches += 1
                if fetches % EVERY == 0:
                    line["records"][0][1] = "never sent"
            shard.write(line)
    return run.seal().path


def judged(path: Path, folder: Path, engine: Engine) -> Judgement:
    return judge_history(read_history(path), folder, RULES, engine, reference=False)


@pytest.fixture
def parted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is cut as if it were much."""
    monkeypatch.setattr(silver, "BULK_BYTES", 0)
    monkeypatch.setattr(bulk, "RANGE_BYTES", 1_000_000)
    monkeypatch.setattr(engines, "SMALL_ROWS", 1_000)
    monkeypatch.setattr(engines, "PARTED_BYTES", 1_000_000)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_of_a_history_changes_no_finding(
    shape: str, spark: SparkEngine, parted: None, tmp_path: Path
) -> None:
    path = sealed(tmp_path / "run", SHAPES[shape]())
    there = judged(path, tmp_path / "there", spark)

    assert there == judged(path, tmp_path / "here", InlineEngine())
    assert sum(one.result.violations for one in there.judged) > 1
    parts = {bucket_of_part(f.name) for f in (tmp_path / "there" / "ops.parquet").iterdir()}
    assert parts == {(0, 2), (1, 2), None}


@pytest.mark.spark
@pytest.mark.slow
def test_a_thousand_small_histories_are_judged_as_each_alone(
    spark: SparkEngine, tmp_path: Path
) -> None:
    sources = written(tmp_path, range(1_000))
    here, there = (
        [
            outcome.judgement
            for outcome in judge_many(sources, choose, calm_of, engine, tmp_path / engine.name)
        ]
        for engine in (InlineEngine(), spark)
    )
    assert there == here
    assert len({judgement.sha256 for judgement in there if judgement}) > 900


@pytest.mark.parametrize("harm", [Path.unlink, lambda file: os.truncate(file, 99)])
@pytest.mark.parametrize("lost", ["000000-0of1.parquet", "rest.parquet"])
def test_a_table_that_lost_a_file_is_not_judged(
    lost: str, harm: Callable[[Path], None], parted: None, tmp_path: Path
) -> None:
    path = sealed(tmp_path / "run", log_lines(2_000, 3))
    tables = write_tables(read_history(path), tmp_path / "tables")
    harm(tables["responses"] / lost)

    with pytest.raises(HistoryUnreadable, match=r"responses.parquet is not whole"):
        judge_history(read_history(path), tables, RULES, InlineEngine(), reference=False)


def test_a_task_misses_a_file_that_went_away_before_it_began(parted: None, tmp_path: Path) -> None:
    path = sealed(tmp_path / "run", log_lines(2_000, 3))
    tables = lay_out_on(InlineEngine(), read_history(path), tmp_path / "tables")
    files = sorted(tables["responses"].iterdir())
    files[0].unlink()

    with pytest.raises(Exception, match=files[0].name):
        Task({"responses": files}, WHOLE).opened()


@pytest.mark.spark
def test_what_goes_wrong_in_a_task_is_told_in_a_sentence(spark: SparkEngine) -> None:
    one_of_two = partial(truediv, 1)  # of the number 0 there is no inverse
    with pytest.raises(LabBroken, match=r"^a task of Spark failed: ZeroDivisionError: \S.*$"):
        list(spark.map(one_of_two, 2))

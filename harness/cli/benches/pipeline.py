"""From a sealed history to verdicts, everything included: reading, laying out, all rules, and
whether the shards hold the same.

Each case runs in a process of its own; its CPU and peak of memory are those of all processes that
it started, Java among them. The baseline reads the same lines with DuckDB and counts them.
`engine up` leaves out the start of the session. `command` is a history of ten thousand lines on
Spark, from nothing to verdicts, session included.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import duckdb

from conformance.catalogue import CATALOGUE
from harness.cli.benches.costs import cpu_s, peak_mb
from harness.cli.benches.log_lines import log_lines
from harness.cli.benches.measured import Measured
from harness.history import Run, read_history
from harness.history.evidence import contradictions
from harness.processes.java import find_java
from spark_checkers.engine import open_engine
from spark_checkers.judge_history import judge_history, lay_out_on

MILLION = 1_000_000
FEW = 10_000
LOGS = 32
COUNTED = "duckdb"
ENGINES = ("inline", "spark")
_COUNT = (
    "SELECT f, type, count(*) FROM read_json('{path}', format='newline_delimited') GROUP BY ALL"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What it took to judge a history: by the clock, of all cores, and at most of memory."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    start_s: float
    """How much of the time it took until the engine was there."""


def measure(folder: Path) -> Iterator[Measured]:
    """Lines a second, by the clock and by CPU, and peak memory."""
    yield from measure_case(folder, 1)
    if find_java() is None:
        return
    few = recorded(folder / "few", FEW)
    counted_few = _apart(COUNTED, few, folder)
    seen = _apart("spark", few, folder)
    yield Measured(
        row="pipeline 10k spark, command",
        unit="s",
        rate=seen.wall_s,
        baseline=COUNTED,
        baseline_rate=counted_few.wall_s,
    )


def measure_case(folder: Path, millions: int) -> Iterator[Measured]:
    """A history of so many millions of lines, on both engines."""
    lines = millions * MILLION
    history = recorded(folder / "many", lines)
    counted = _apart(COUNTED, history, folder)
    for engine in ENGINES if find_java() is not None else ENGINES[:1]:
        seen = _apart(engine, history, folder)
        shutil.rmtree(folder / f"tables-{engine}")
        yield from _rates(f"pipeline {millions}M {engine}", lines, seen, counted)


def recorded(folder: Path, lines: int) -> Path:
    """A sealed history of so many lines."""
    run_ = Run.create(folder, run="bench", sut="bench", world="process", seed=1)
    with run_.shard("w", "host") as shard:
        for line in log_lines(lines, LOGS):
            shard.write(line)
    return run_.seal().path


def _rates(name: str, lines: int, seen: Cost, counted: Cost) -> Iterator[Measured]:
    baseline = "DuckDB reading and counting the lines"
    up_s = seen.wall_s - seen.start_s
    rates = (
        ("", "lines/s", lines / seen.wall_s, lines / counted.wall_s),
        (", engine up", "lines/s", lines / up_s, lines / counted.wall_s),
        (", CPU", "lines/CPU-s", lines / seen.cpu_s, lines / counted.cpu_s),
        (", peak", "MB", seen.peak_mb, counted.peak_mb),
    )
    for what, unit, rate, baseline_rate in rates:
        yield Measured(
            row=name + what, unit=unit, rate=rate, baseline=baseline, baseline_rate=baseline_rate
        )


def _apart(engine: str, history: Path, folder: Path) -> Cost:
    java = find_java() if engine == "spark" else None
    home = str(java.home) if java is not None else None
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as apart:
        return apart.submit(judge, engine, home, history, folder / f"tables-{engine}").result()


def judge(engine_name: str, java_home: str | None, history: Path, tables: Path) -> Cost:
    """Judge one history by all rules about logs; runs in a process of its own."""
    started, before = time.perf_counter(), cpu_s()
    up = started
    if engine_name == COUNTED:
        duckdb.connect().execute(_COUNT.format(path=str(history))).fetchall()
    else:
        engine = open_engine(engine_name, java_home=java_home)
        up = time.perf_counter()
        rules = CATALOGUE.of_profiles(["classic"]).judged()
        read = read_history(history)
        laid_out = lay_out_on(engine, read, tables)
        with ThreadPoolExecutor(1) as beside:
            evidence = beside.submit(contradictions, history.parent, sound=not read.problems)
            judgement = judge_history(read, laid_out, rules, engine, reference=False)
            tampered = evidence.result()
        wrong = [one for one in judgement.judged if one.result.violations or one.result.broken]
        if wrong:
            raise AssertionError(f"a good history, and {wrong[0].rule.id} says: {wrong[0].result}")
        if tampered:
            raise AssertionError(f"nothing was changed, and {tampered[0]}")
    return Cost(
        wall_s=time.perf_counter() - started,
        cpu_s=cpu_s() - before,
        peak_mb=peak_mb(),
        start_s=up - started,
    )

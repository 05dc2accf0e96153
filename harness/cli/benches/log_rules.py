"""All rules about logs over big histories, from Parquet, on both engines.

Each case runs in a process of its own, so that its peak of memory is its own; on Spark the JVM is
counted too. Spark has judged a small history once before it is measured, as in a campaign: half of
a short run would be the compiler's. On a machine with other work, rows for each second of CPU say
more than rows a second; there Spark is held against DuckDB in the same run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from pyarrow import parquet

from conformance.catalogue import CATALOGUE
from harness.cli.benches.costs import cpu_s, peak_mb
from harness.cli.benches.measured import Measured, timed
from harness.processes.java import find_java
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.evaluate import evaluate
from spark_checkers.synthetic import write_bulk

MILLION = 1_000_000
SIZES = (1, 10)
"""In millions of rows."""
LOGS = (1, 32)
ENGINES = ("inline", "spark")
GROUPED = ("ops", "sends", "records_sent", "responses", "records_seen")
"""The tables that grow with a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How long a plain aggregation took and how long all rules, the seconds of CPU that both took,
    and the peak of memory in both."""

    grouped_s: float
    grouped_cpu_s: float
    grouped_mb: float
    judged_s: float
    judged_cpu_s: float
    judged_mb: float


def measure(folder: Path) -> Iterator[Measured]:
    """Rows a second and peak memory."""
    for millions in SIZES:
        for logs in LOGS:
            yield from measure_case(folder, millions, logs, ENGINES)


def measure_case(
    folder: Path, millions: int, logs: int, engines: tuple[str, ...]
) -> Iterator[Measured]:
    """One size of history, over so many logs, on these engines."""
    small = folder / "small"
    write_bulk(small, MILLION, logs)
    tables = folder / "tables"
    paths = write_bulk(tables, millions * MILLION, logs)
    rows = sum(int(parquet.read_metadata(path).num_rows) for path in paths.values())
    inline: Judged | None = None
    for engine in engines:
        java = find_java() if engine == "spark" else None
        if engine == "spark" and java is None:
            continue
        home = str(java.home) if java is not None else None
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as apart:
            seen = apart.submit(judge, engine, home, str(small), str(tables)).result()
        yield from _measured(f"log rules {millions}M/{logs} {engine}", rows, seen, inline)
        inline = seen if engine == "inline" else inline
    shutil.rmtree(tables)
    shutil.rmtree(small)


def _measured(name: str, rows: int, seen: Judged, inline: Judged | None) -> Iterator[Measured]:
    """Rate, rate by CPU (against `inline` if that was measured before) and memory."""
    grouped = "one GROUP BY over each table"
    yield Measured(
        row=name,
        unit="rows/s",
        rate=rows / seen.judged_s,
        baseline=grouped,
        baseline_rate=rows / seen.grouped_s,
    )
    yield Measured(
        row=f"{name}, CPU",
        unit="rows/CPU-s",
        rate=rows / seen.judged_cpu_s,
        baseline="inline" if inline else grouped,
        baseline_rate=rows / (inline.judged_cpu_s if inline else seen.grouped_cpu_s),
    )
    yield Measured(
        row=f"{name}, peak",
        unit="MB",
        rate=seen.judged_mb,
        baseline=grouped,
        baseline_rate=seen.grouped_mb,
    )


def judge(engine_name: str, java_home: str | None, small: str, tables: str) -> Judged:
    """Judge one history by all rules; runs in a process of its own."""
    engine: Engine
    if engine_name == "inline":
        engine = InlineEngine()
    else:
        engine = SparkEngine(java_home=java_home)
        _load(engine, Path(small))
        _judge(engine)
    _load(engine, Path(tables))
    before_s = cpu_s()
    grouped_s = timed(lambda: _group(engine))
    grouped_cpu_s, grouped_mb = cpu_s() - before_s, peak_mb()
    judged_s = timed(lambda: _judge(engine))
    judged = Judged(
        grouped_s=grouped_s,
        grouped_cpu_s=grouped_cpu_s,
        grouped_mb=grouped_mb,
        judged_s=judged_s,
        judged_cpu_s=cpu_s() - before_s - grouped_cpu_s,
        judged_mb=peak_mb(),
    )
    engine.close()
    return judged


def _load(engine: Engine, folder: Path) -> None:
    for path in sorted(folder.glob("*.parquet")):
        engine.load(path.stem, path)


def _group(engine: Engine) -> None:
    for table in GROUPED:
        by = "f" if table == "ops" else "topic, partition"
        engine.rows(f"SELECT {by}, count(*) AS n, max(op) AS last FROM {table} GROUP BY {by}")


def _judge(engine: Engine) -> None:
    rules = [rule for rule in CATALOGUE.judged() if rule.id.startswith("KFK-")]
    results = evaluate(engine, rules, reference=True)
    wrong = [result for result in results if result.violations or result.broken]
    if wrong:
        raise AssertionError(f"a good history, and {wrong[0].rule} says: {wrong[0]}")

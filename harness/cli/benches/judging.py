"""Judging a history by all rules, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.catalogue import CATALOGUE
from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.operations import operation_lines
from harness.history import Run, read_history, write_tables
from harness.processes.java import find_java
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.evaluate import evaluate

OPERATIONS = 200_000


def measure(folder: Path) -> Iterator[Measured]:
    """Rows a second."""
    run_ = Run.create(folder / "run", run="bench", sut="bench", world="process", seed=1)
    writer = run_.shard("w", "host")
    for line in operation_lines(OPERATIONS):
        writer.write(line)
    writer.close()
    run_.seal()
    tables = write_tables(read_history(run_.history), folder / "tables")
    rules = [rule for rule in CATALOGUE.of_profiles(["migration"]).judged() if rule.id != "MIG-021"]

    def judge(engine: Engine) -> float:
        for name, path in tables.items():
            engine.load(name, path)
        return timed(lambda: evaluate(engine, rules, reference=True))

    scan = InlineEngine()
    scan.load("boundary_ops", tables["boundary_ops"])
    plain = timed(
        lambda: scan.rows("SELECT topic, count(*), max(ended) FROM boundary_ops GROUP BY topic")
    )
    inline = OPERATIONS / judge(InlineEngine())
    yield Measured(
        row="rules judged, inline",
        unit="rows/s",
        rate=inline,
        baseline="one GROUP BY over the table",
        baseline_rate=OPERATIONS / plain,
    )
    java = find_java()
    if java is None:
        return
    spark = SparkEngine(java_home=str(java.home))
    judge(spark)
    yield Measured(
        row="rules judged, spark",
        unit="rows/s",
        rate=OPERATIONS / judge(spark),
        baseline="inline, same rules",
        baseline_rate=inline,
    )
    spark.close()

"""The body of `bench`: rates of the project's own parts, each against a baseline in the same run.

A row measures ours and the baseline one after the other on the same machine and prints both rates
and their ratio. Absolute rates are worth little elsewhere; ratios travel. Nothing here passes or
fails.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.cli.progress import Stage
from harness.sut import UsageError

LINES = 100_000
OPERATIONS = 200_000
COMMITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One row: a rate of ours, the baseline's rate, what the baseline is."""

    row: str
    unit: str
    rate: float
    baseline: str
    baseline_rate: float

    @property
    def ratio(self) -> float:
        """Ours as a multiple of the baseline."""
        return self.rate / self.baseline_rate


def run(rows: Sequence[str], *, as_json: bool) -> int:
    """Measure the named rows, or all of them."""
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        raise UsageError(f"there is no bench row {unknown[0]!r}; rows: {', '.join(ROWS)}")
    stage = Stage(sys.stderr if as_json else sys.stdout)
    measured: list[Measured] = []
    for name in rows or ROWS:
        with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as folder:
            for result in ROWS[name](Path(folder)):
                measured.append(result)
                stage.say(
                    f"{result.row:<22}{result.rate:>12,.0f} {result.unit:<12}"
                    f"{result.ratio:>7.2f} × {result.baseline} ({result.baseline_rate:,.0f})"
                )
    if as_json:
        print(json.dumps([{**asdict(m), "ratio": m.ratio} for m in measured], indent=1))
    return 0


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _operation_lines(count: int) -> Iterator[dict[str, Any]]:
    """A register under work: initialise, repeat, read, over many partitions."""
    stored = {"boundary": 100, "epoch": 5, "reset_epoch": -1}
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("create_log", {}),
        ("initialize_diskless_migration", {"boundary": 100, "leader_epoch": 5, "entries": []}),
        ("get_diskless_log_start_offset", {}),
        ("initialize_diskless_migration", {"boundary": 100, "leader_epoch": 5, "entries": []}),
    )
    unset = {"boundary": -1, "epoch": -1, "reset_epoch": -1}
    for number in range(count):
        f, arguments = calls[number % 4]
        common = {
            "kind": "op",
            "clock": "host",
            "process": 0,
            "f": f,
            "topic": f"t{number // 400}",
            "partition": number // 4 % 100,
            "node": 1,
        }
        yield {**common, "time": 20 * number, "type": "invoke", **arguments}
        state = unset if f == "create_log" else stored
        yield {**common, "time": 20 * number + 10, "type": "ok", "error": "NONE", "stored": state}


def _history(folder: Path) -> Iterator[Measured]:
    from harness.history import Run

    lines = list(_operation_lines(LINES // 2))
    plain = folder / "plain.jsonl"

    def write_plain() -> None:
        with plain.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    baseline_write = _timed(write_plain)
    run_ = Run.create(folder / "run", run="bench", sut="bench", world="sim", seed=1)
    writers = [run_.shard(f"w{number}", "host") for number in range(4)]

    def record() -> None:
        for number, line in enumerate(lines):
            writers[number % 4].write(line)
        for writer in writers:
            writer.close()

    recorded = _timed(record)
    yield Measured(
        row="history recorded",
        unit="lines/s",
        rate=len(lines) / recorded,
        baseline="json.dumps to a buffered file",
        baseline_rate=len(lines) / baseline_write,
    )

    def sort_plain() -> None:
        found = [json.loads(line) for line in plain.read_text(encoding="utf-8").splitlines()]
        found.sort(key=lambda line: line["time"])
        (folder / "sorted.jsonl").write_text("\n".join(json.dumps(x) for x in found), "utf-8")

    yield Measured(
        row="history sealed",
        unit="lines/s",
        rate=len(lines) / _timed(run_.seal),
        baseline="load, sort, dump in memory",
        baseline_rate=len(lines) / _timed(sort_plain),
    )


def _judging(folder: Path) -> Iterator[Measured]:
    from conformance.catalogue import CATALOGUE
    from harness.cli.java import find_java
    from harness.history import Run, read_history, write_tables
    from spark_checkers.engine import Engine, InlineEngine, SparkEngine
    from spark_checkers.evaluate import evaluate

    run_ = Run.create(folder / "run", run="bench", sut="bench", world="process", seed=1)
    writer = run_.shard("w", "host")
    for line in _operation_lines(OPERATIONS):
        writer.write(line)
    writer.close()
    run_.seal()
    tables = write_tables(read_history(run_.history), folder / "tables")
    rules = [rule for rule in CATALOGUE.judged() if rule.id != "MIG-021"]

    def judge(engine: Engine) -> float:
        for name, path in tables.items():
            engine.load(name, path)
        return _timed(lambda: evaluate(engine, rules, reference=True))

    scan = InlineEngine()
    scan.load("boundary_ops", tables["boundary_ops"])
    plain = _timed(
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


def _boundary(folder: Path) -> Iterator[Measured]:
    from reference_impl.control_plane.postgres import install
    from reference_impl.control_plane.server import PostgresServer

    with PostgresServer() as server:
        dsn = server.create_database()
        install(dsn)
        baseline = COMMITS / asyncio.run(_bare_updates(dsn))
        yield Measured(
            row="boundary commits",
            unit="commits/s",
            rate=COMMITS / asyncio.run(_initializations(dsn)),
            baseline="bare psycopg UPDATE loop",
            baseline_rate=baseline,
        )


async def _initializations(dsn: str) -> float:
    """Seconds for setting the boundary of many partitions, one call each."""
    from reference_impl.control_plane.port import Request
    from reference_impl.control_plane.postgres import PostgresControlPlane

    control_plane = await PostgresControlPlane.connect(dsn)
    for number in range(COMMITS):
        await control_plane.call(Request(f="create_log", topic="t", partition=number))
    started = time.perf_counter()
    for number in range(COMMITS):
        await control_plane.call(
            Request(
                f="initialize_diskless_migration",
                topic="t",
                partition=number,
                boundary=100,
                leader_epoch=5,
                entries=(),
            )
        )
    elapsed = time.perf_counter() - started
    await control_plane.close()
    return elapsed


async def _bare_updates(dsn: str) -> float:
    """Seconds for as many single-row updates, each a transaction."""
    import psycopg

    connection = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
    await connection.execute("CREATE TABLE bare (id int PRIMARY KEY, b0 bigint)")
    rows = "INSERT INTO bare SELECT n, -1 FROM generate_series(1, %s) n"
    await connection.execute(rows, (COMMITS,))
    started = time.perf_counter()
    for number in range(COMMITS):
        await connection.execute(
            "UPDATE bare SET b0 = 100 WHERE id = %s RETURNING b0", (number + 1,)
        )
    elapsed = time.perf_counter() - started
    await connection.close()
    return elapsed


ROWS: dict[str, Callable[[Path], Iterator[Measured]]] = {
    "history": _history,
    "judging": _judging,
    "boundary": _boundary,
}

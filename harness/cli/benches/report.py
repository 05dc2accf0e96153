"""The page of a large run: how fast it is drawn, how big it is, how much memory it takes.

Operations come from the generator of log histories, repeated in time until there are enough, with a
line of history for each beginning and end. Rules all over the run have findings, so that the page
has slices from everywhere. Each size is drawn in a process of its own. The baseline reads the
outcomes of all operations with pandas and counts them: what any view has to do at least. Both are
told in processor time, which other work on the machine does not change.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from conformance.catalogue import CATALOGUE
from harness.cli.benches.costs import peak_mb
from harness.cli.benches.measured import Measured, cpu_timed
from harness.cli.views import write_html
from harness.history import Run, open_run
from harness.history.frames import Frames
from harness.history.plan import RunPlan
from harness.history.run import HISTORY_FILE
from harness.rules import Conclusion, Finding, Judged, Judgement, Rule, RuleResult, Verdict
from spark_checkers.synthetic import write_bulk

MILLION = 1_000_000
SIZES = (1, 10)
"""In millions of operations."""
FINDINGS = 25
_DRAWN_ROWS = MILLION
_NOTE = '{"index": %d, "time": %d, "kind": "note"}\n'
_TIMES = ("began", "ended", "answered", "invoked_ns", "completed_ns")
_INDICES = ("op", "completion")
_GROWING = ("ops", "responses")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What drawing cost; times are those of the processors."""

    operations: int
    counted_s: float
    drawn_s: float
    before_mb: float
    peak_mb: float
    page_kb: float
    tables_kb: float


def measure(folder: Path) -> Iterator[Measured]:
    """Operations a second of processor time, the peak of memory, the size of the page."""
    once = folder / "once"
    write_bulk(once, _DRAWN_ROWS, 32)
    for millions in SIZES:
        run = folder / f"run-{millions}"
        _repeat(once, run, millions * MILLION)
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as apart:
            seen = apart.submit(draw, str(run)).result()
        yield from _measured(f"report {millions}M", seen)
        shutil.rmtree(run)


def _measured(name: str, seen: Drawn) -> Iterator[Measured]:
    yield Measured(
        row=name,
        unit="ops/CPU s",
        rate=seen.operations / seen.drawn_s,
        baseline="counted by pandas",
        baseline_rate=seen.operations / seen.counted_s,
    )
    yield Measured(
        row=f"{name} memory",
        unit="MB",
        rate=seen.peak_mb,
        baseline="before it",
        baseline_rate=seen.before_mb,
    )
    yield Measured(
        row=f"{name} page",
        unit="kB",
        rate=seen.page_kb,
        baseline="its tables",
        baseline_rate=seen.tables_kb,
    )


def draw(folder: str) -> Drawn:
    """Draw the page of a run with findings in every part of it."""
    run = Path(folder)
    tables = open_run(run).tables

    def count() -> None:
        for part in tables.parts("ops", ["clock", "type"]):
            part.groupby(["clock", "type"]).size()

    counted_s = cpu_timed(count)
    operations = tables.rows("ops")
    before = peak_mb()
    spread = _spread(tables)
    conclusion = _conclusion(spread)
    page = run / "report.html"
    drawn_s = cpu_timed(lambda: write_html(run, conclusion, page))
    return Drawn(
        operations=operations,
        counted_s=counted_s,
        drawn_s=drawn_s,
        before_mb=before,
        peak_mb=peak_mb(),
        page_kb=page.stat().st_size / 1000,
        tables_kb=sum(path.stat().st_size for path in (run / "tables").iterdir()) / 1000,
    )


def _spread(tables: Frames) -> list[int]:
    """Operations all over the run."""
    every = max(1, tables.rows("ops") // (FINDINGS + 1))
    found, passed = list[int](), 0
    for part in tables.parts("ops", ["op"]):
        place = (len(found) + 1) * every
        while place < passed + len(part) and len(found) < FINDINGS:
            found.append(int(part.op.iloc[place - passed]))
            place += every
        passed += len(part)
    return found


def _conclusion(ops: Sequence[int]) -> Conclusion:
    judged = tuple(map(_judged, islice(CATALOGUE, len(ops)), ops))
    return Conclusion(
        header={"sut": "bulk", "sut_version": "1", "world": "bench", "seed": 1},
        plan=RunPlan(rules=tuple(one.rule.id for one in judged)),
        judgement=Judgement(judged=judged, complete=True, events=0, sha256=""),
        verdict=Verdict.FAIL,
        headline="NOT CONFORMANT",
        certified=False,
        rules_sha256="",
    )


def _judged(rule: Rule, op: int) -> Judged:
    finding = Finding(rule=rule.id, op=op, topic=None, partition=None, seen="", at_s=0.0)
    result = RuleResult(rule=rule.id, exercised=1, violations=1, findings=(finding,))
    return Judged(rule=rule, verdict=Verdict.FAIL, reason="a row of the bench", result=result)


def _repeat(once: Path, run: Path, operations: int) -> None:
    """The tables once more and once more, later each time, until there are so many operations."""
    ops = parquet.read_table(once / "ops.parquet", columns=["op", "completion", "answered"])
    times = -(-operations // ops.num_rows)
    step = 1 + int(pc.max(ops["completion"]).as_py() or pc.max(ops["op"]).as_py())
    span = 1 + int(pc.max(ops["answered"]).as_py())
    Run.create(run, run="bench", sut="bulk", world="import").seal()
    _write_history(run / HISTORY_FILE, _lines(once, step), times, span)
    shutil.copytree(once, run / "tables", copy_function=shutil.copy)  # newer than the history
    for name in _GROWING:
        whole = parquet.read_table(once / f"{name}.parquet")
        with parquet.ParquetWriter(run / "tables" / f"{name}.parquet", whole.schema) as writer:
            for number in range(times):
                writer.write_table(_shifted(whole, number * step, number * span))


def _lines(once: Path, count: int) -> list[str]:
    """A line for each index of the operations, with room for index and time; other events between
    them are notes."""
    columns = ("op", "completion", "process", "node", "f", "type", "topic", "partition", "clock")
    ops = parquet.read_table(once / "ops.parquet", columns=[*columns])
    lines = [_NOTE] * count
    for row in ops.to_pylist():
        who = {name: row[name] for name in ("clock", "process", "node", "topic", "partition", "f")}
        told = json.dumps({"kind": "op", **who}, separators=(",", ":")).replace("%", "%%")[1:]
        for type_, index in (("invoke", row["op"]), (row["type"], row["completion"])):
            if index is not None:
                lines[index] = f'{{"index": %d, "time": %d, "type": "{type_}", {told}\n'
    return lines


def _write_history(path: Path, lines: Sequence[str], times: int, span: int) -> None:
    """The lines once more and once more, between the header and the end."""
    header = path.read_text(encoding="utf-8").partition("\n")[0]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{header}\n")
        for number in range(times):
            first, since = number * len(lines), number * span
            file.writelines(line % (first + n, since) for n, line in enumerate(lines))


def _shifted(table: pa.Table, indices: int, time: int) -> Any:
    for name in table.column_names:
        by = indices if name in _INDICES else time if name in _TIMES else 0
        if by:
            place = table.column_names.index(name)
            table = table.set_column(place, table.schema.field(name), pc.add(table[name], by))
    return table

"""The body of `bench`: rates of the project's own parts, each against a baseline in the same run.

A row measures ours and the baseline one after the other on the same machine and prints both rates
and their ratio. Absolute rates are worth little elsewhere; ratios travel. Nothing here passes or
fails. The rows are in `benches/`, one file an area, each with a `measure` of its own.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.cli.benches.measured import Measured
from harness.cli.progress import Stage
from harness.errors import CannotConnect
from harness.scratch import ScratchFolder
from harness.sut import UsageError

ROWS = (
    "history",
    "judging",
    "pipeline",
    "boundary",
    "simulation",
    "log-rules",
    "linearizability",
    "broker",
    "broker-3",
)
LONG_ROWS = (
    "pipeline-10m",
    "pipeline-30m",
    "log-rules-100m",
    "report",
    "linearizability-100k",
    "kafka",
    "kafka-3",
    "transactions",
    "tiered",
    "tiered-kafka",
    "tiered-rebuild",
    "faults",
)
"""Rows that take so long, or need so much, that they are measured only when they are named."""


def run(rows: Sequence[str], *, as_json: bool) -> int:
    """Measure the named rows, or all of them but the long ones."""
    known = (*ROWS, *LONG_ROWS)
    unknown = [row for row in rows if row not in known]
    if unknown:
        raise UsageError(f"there is no bench row {unknown[0]!r}; rows: {', '.join(known)}")
    stage = Stage(sys.stderr if as_json else sys.stdout)
    measured: list[Measured] = []
    for name in rows or ROWS:
        try:
            measured += _measure(name, stage)
        except CannotConnect as error:  # what it is measured against cannot be had
            if len(rows) == 1:
                raise
            stage.say(f"{name}: {error}")
    if as_json:
        print(json.dumps([{**asdict(m), "ratio": m.ratio} for m in measured], indent=1))
    return 0


def _measure(row: str, stage: Stage) -> Iterator[Measured]:
    """One row after the other, as soon as it is known."""
    module = importlib.import_module(f"harness.cli.benches.{row.replace('-', '_')}")
    with ScratchFolder("bench") as folder:
        for result in module.measure(folder):
            stage.say(
                f"{result.row:<32}{result.rate:>12,.0f} {result.unit:<12}"
                f"{result.ratio:>7.2f} × {result.baseline} ({result.baseline_rate:,.0f})"
            )
            yield result

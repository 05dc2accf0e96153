"""What rests on tables without rows costs nothing: nothing is read for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.benches.pipeline import recorded
from harness.history import read_history, write_tables
from spark_checkers.kernel import Kernel

READ = "READ_PARQUET"


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    """Requests, and no phases."""
    tables = write_tables(read_history(recorded(tmp_path / "run", 40)), tmp_path / "tables")
    kernel = Kernel()
    for name in ("responses", "phases"):
        kernel.load(name, tables[name])
    return kernel


def plan(kernel: Kernel, sql: str) -> str:
    return "".join(str(row) for row in kernel.rows(f"EXPLAIN {sql}"))


def test_what_is_joined_with_a_table_without_rows_is_not_read(kernel: Kernel) -> None:
    joined = "SELECT r.op FROM responses r JOIN {other} p ON r.clock = p.clock"

    assert READ in plan(kernel, joined.format(other="responses"))
    assert READ not in plan(kernel, joined.format(other="phases"))


def test_a_view_that_is_computed_once_passes_on_that_it_has_no_rows(kernel: Kernel) -> None:
    kernel.define("refused", "SELECT op, error FROM responses WHERE f = 'refused'", shared=True)
    kernel.define("asked", "SELECT op, error FROM responses", shared=True)
    joined = "SELECT r.topic FROM responses r JOIN {other} p ON r.op = p.op"

    assert READ in plan(kernel, joined.format(other="asked"))
    assert READ not in plan(kernel, joined.format(other="refused"))
    assert kernel.rows("SELECT op, error FROM refused") == []


def test_a_view_may_have_rows_when_it_is_defined_again(kernel: Kernel) -> None:
    for limit in (0, 3, 0):
        kernel.define("few", f"SELECT op FROM responses LIMIT {limit}", shared=True)

        assert len(kernel.rows("SELECT * FROM few")) == limit

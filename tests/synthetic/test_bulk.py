"""Big histories: as good as the small ones, and as cheap to make as they are long."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from medleys import RULES

from harness.history import TABLES, arrow_schema
from spark_checkers.engine import InlineEngine
from spark_checkers.evaluate import evaluate
from spark_checkers.synthetic import write_bulk

ROWS = 350_000


@pytest.fixture(scope="module", params=[1, 32])
def tables(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp(f"bulk-{request.param}")
    return write_bulk(folder, ROWS, request.param)


def engine(tables: dict[str, Path]) -> InlineEngine:
    loaded = InlineEngine()
    for name, path in tables.items():
        loaded.load(name, path)
    return loaded


def test_no_rule_objects_to_a_big_history(tables: dict[str, Path]) -> None:
    results = evaluate(engine(tables), RULES, reference=True)

    assert [result for result in results if result.violations or result.broken] == []


def test_it_has_about_as_many_rows_as_asked_for(tables: dict[str, Path]) -> None:
    rows = sum(pq.read_metadata(path).num_rows for path in tables.values())

    assert 0.8 * ROWS < rows < 1.2 * ROWS


def test_its_tables_are_the_tables(tables: dict[str, Path]) -> None:
    for name, path in tables.items():
        assert pq.read_schema(path).equals(arrow_schema(TABLES[name])), name
    assert set(tables) == set(TABLES)


def test_every_log_is_read_to_its_end(tables: dict[str, Path]) -> None:
    ends = "SELECT topic, partition, max({0}) AS last FROM {1} GROUP BY topic, partition"
    unread = engine(tables).rows(
        f"SELECT count(*) AS logs FROM ({ends.format('record_offset', 'records_sent')}) s"
        f" JOIN ({ends.format('record_offset', 'records_seen')}) r"
        " ON s.topic = r.topic AND s.partition = r.partition WHERE r.last < s.last"
    )

    assert unread == [{"logs": 0}]


def test_each_line_has_one_operation(tables: dict[str, Path]) -> None:
    twice = engine(tables).rows("SELECT op FROM ops GROUP BY op HAVING count(*) > 1")

    assert twice == []


def test_the_same_seed_gives_the_same_rows(tmp_path: Path) -> None:
    one = write_bulk(tmp_path / "one", 1, 4)
    other = write_bulk(tmp_path / "other", 1, 4)

    assert all(pq.read_table(one[name]).equals(pq.read_table(other[name])) for name in TABLES)

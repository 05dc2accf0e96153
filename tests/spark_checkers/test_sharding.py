"""Which logs are judged together."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import Table, parquet

from harness.errors import UsageError
from harness.history import TABLES, arrow_schema
from harness.rules import Key
from spark_checkers.kernel import WHOLE, Kernel, Shard
from spark_checkers.sessions import begin_session, spark_session, unseen_there
from spark_checkers.sharding import logs_together, shards_within

SENT = [
    ("a", 0, "x"),
    ("a", 1, "x"),
    ("a", 1, "y"),
    ("b", 0, "y"),
    ("b", 1, None),
    ("c", 0, None),
    (None, None, "x"),
    ("c", None, "y"),
]


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Path]:
    """Records of transactions over several logs, some of no known log; no fault."""
    sent = [
        {"op": op, "topic": topic, "partition": partition, "transaction": transaction}
        for op, (topic, partition, transaction) in enumerate(SENT)
    ]
    paths = {}
    for name, rows in {"records_sent": sent, "fault_windows": []}.items():
        paths[name] = tmp_path / f"{name}.parquet"
        schema = arrow_schema(TABLES[name])
        parquet.write_table(Table.from_pylist(rows, schema=schema), paths[name])
    return paths


def opened(tables: dict[str, Path], shard: Shard = WHOLE) -> Kernel:
    kernel = Kernel(shard)
    for name, path in tables.items():
        kernel.load(name, path)
    return kernel


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        (Key.PARTITION, [["a0"], ["a1"], ["b0"], ["b1"], ["c0"]]),
        (Key.TOPIC, [["a0", "a1"], ["b0", "b1"], ["c0"]]),
        (Key.TRANSACTION, [["a0", "a1", "b0"], ["b1"], ["c0"]]),
        (Key.GROUP, [["a0"], ["a1"], ["b0"], ["b1"], ["c0"]]),
    ],
)
def test_logs_stay_together_by_their_key(
    tables: dict[str, Path], key: Key, parts: list[list[str]]
) -> None:
    found = logs_together(opened(tables), [*tables], key)

    assert sorted([f"{topic}{number}" for topic, number in part] for part in found) == parts


def test_a_history_is_never_cut_for_a_judge_that_needs_all_of_it(tables: dict[str, Path]) -> None:
    assert shards_within(opened(tables), [*tables], Key.HISTORY, 4) == (WHOLE,)


def test_large_parts_are_spread_first(tables: dict[str, Path]) -> None:
    first, second = shards_within(opened(tables), [*tables], Key.TRANSACTION, 2)

    assert first.logs == (("a", 0), ("a", 1), ("b", 0))
    assert second.logs == (("b", 1), ("c", 0))
    assert (first.first, second.first) == (True, False)


def test_each_log_is_in_one_shard_and_what_is_about_none_in_all(tables: dict[str, Path]) -> None:
    shards = shards_within(opened(tables), [*tables], Key.PARTITION, 3)
    query = "SELECT op, topic IS NULL OR partition IS NULL AS nowhere FROM records_sent ORDER BY op"
    rows = [row for shard in shards for row in opened(tables, shard).rows(query)]

    assert sorted(row["op"] for row in rows if not row["nowhere"]) == [0, 1, 2, 3, 4, 5]
    assert [row["op"] for row in rows if row["nowhere"]] == [6, 7] * len(shards)


def test_what_keeps_a_session_from_starting_is_told_to_who_asks_for_it() -> None:
    begin_session("spark://127.0.0.1:1")

    with pytest.raises(UsageError, match="nobody answers at"):
        spark_session("spark://127.0.0.1:1")


@pytest.mark.parametrize(
    "sentence", ["FileNotFoundError: 'h'", "IO Error: No files found that match"]
)
def test_a_file_that_workers_do_not_see_is_said_with_what_helps(sentence: str) -> None:
    assert "under the same paths" in unseen_there("spark://h:7077", sentence)
    assert unseen_there("local[2]", sentence) == ""
    assert unseen_there("spark://h:7077", "MemoryError") == ""

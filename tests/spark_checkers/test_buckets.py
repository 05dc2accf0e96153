"""Tables laid out in buckets of logs, a kernel for each of them, show what they do whole."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

import pytest
from sharded import ShardedEngine

from conformance.catalogue import CATALOGUE
from harness.cli.benches.log_lines import log_lines
from harness.history import Run, Written, bulk, read_history, silver, write_tables
from harness.history.bulk import Threads
from harness.history.range_lines import fingerprint
from harness.history.ranges import bucket_of, bucket_of_part
from harness.rules import Key
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.judge_history import judge_history
from spark_checkers.kernel import Shard, parquet_files, row_count
from spark_checkers.sharding import shards_of_buckets

BUCKETS = 3
RULES = [*CATALOGUE.of_profiles(["classic"]).judged()]


class InBuckets(Threads):
    def buckets(self, size: int) -> int:
        return BUCKETS


class BucketEngine(ShardedEngine):
    """Judges rules about partitions by buckets, one after the other."""

    used = 0

    def shards(self, tables: Collection[str], key: Key) -> tuple[Shard, ...]:
        files = {t: {f: row_count(f) for f in parquet_files(self._paths[t])} for t in tables}
        found = shards_of_buckets(self, files, key, BUCKETS)
        self.used = max(self.used, len(found or ()))
        return found or super().shards(tables, key)


def wrong_lines() -> Iterator[dict[str, object]]:
    """A good history of logs, in which answers are wrong now and then; some lines are not plain."""
    for number, event in enumerate(log_lines(600, 7)):
        text = json.dumps(event)
        if event["f"] == "fetch" and event["type"] == "ok" and number % 5 == 0:
            text = text.replace('"c', '"x', 1)
        if number % 41 == 1:
            text = text.replace('"log_start_offset": 0', '"log_start_offset": 9')
        line = json.loads(text)
        yield line | {"detail": "é"} if number % 30 == 3 else line


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = Run.create(tmp_path / "run", run="1", sut="x", world="process")
    with made.shard("w", "host") as shard:
        for line in wrong_lines():
            shard.write(line)
    return made.seal().path


def laid_out(run: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    monkeypatch.setattr(silver, "BULK_BYTES", 0)
    monkeypatch.setattr(bulk, "RANGE_BYTES", 20_000)
    return write_tables(read_history(run), folder, runs=InBuckets())


def judged(run: Path, tables: Path | Written, engine: Engine) -> object:
    judgement = judge_history(read_history(run), tables, RULES, engine, reference=False)
    return [one.result for one in judgement.judged]


def test_buckets_of_logs_are_judged_as_the_whole(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = judged(run, tmp_path / "whole", InlineEngine())
    parted = laid_out(run, tmp_path / "parted", monkeypatch)
    engine = BucketEngine(Random(1), 2)

    assert judged(run, parted, engine) == whole
    assert engine.used == BUCKETS
    assert sum(result.violations > 0 for result in whole) >= 2  # type: ignore[attr-defined]


def test_the_rows_of_a_log_are_in_its_bucket(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import parquet

    tables = laid_out(run, tmp_path / "parted", monkeypatch)
    found = {
        (bucket_of_part(file.name), topic, partition)
        for file in tables["responses"].glob("*of*.parquet")
        for topic, partition in zip(
            *parquet.read_table(file, columns=["topic", "partition"]).to_pydict().values(),
            strict=True,
        )
    }

    assert len({(topic, partition) for _, topic, partition in found}) == 7
    assert all(bucket == (bucket_of(t, p, BUCKETS), BUCKETS) for bucket, t, p in found)


@pytest.mark.parametrize(("name", "whole"), [("of-{process}", True), ("of-all", False)])
def test_a_transaction_that_spans_buckets_is_not_cut_by_them(
    name: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Run.create(tmp_path / "run", run="1", sut="x", world="process")
    with made.shard("w", "host") as shard:
        for event in log_lines(600, 7):
            shard.write(event | {"transaction": name.format(**event)})
    tables = laid_out(made.seal().path, tmp_path / "tables", monkeypatch)
    engine = BucketEngine(Random(1), 2)
    for table in ("sends", "responses"):
        engine.load(table, tables[table])

    shards = engine.shards(["sends", "responses"], Key.TRANSACTION)
    assert [shard.buckets is not None for shard in shards] == [whole] * len(shards)


def test_a_topic_has_one_fingerprint_in_python_and_in_machine_code() -> None:
    for topic in ("t", "orders-é", ""):
        assert bucket_of(topic, 0, 2**64) == fingerprint(topic)

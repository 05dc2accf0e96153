"""Which logs are judged together: shards of about equal size that keep a key whole."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.history import TABLES
from harness.history.ranges import bucket_of, bucket_of_part
from harness.rules import Key
from spark_checkers.kernel import WHOLE, Kernel, Log, Shard, parquet_of

Item = TypeVar("Item", bound=Any)

_NAMED_BY: Final[Mapping[Key, str]] = {
    Key.TRANSACTION: "transaction",
    Key.GROUP: "group_id",
    Key.PRODUCER: "producer_id",
    Key.PROCESS: "process",
}
"""The column in which rows about logs name what keeps them together."""


def shards_within(
    kernel: Kernel, tables: Collection[str], key: Key, wanted: int
) -> tuple[Shard, ...]:
    """At most so many shards of the tables that the kernel has loaded, each of whole keys."""
    if wanted <= 1 or key is Key.HISTORY:
        return (WHOLE,)
    parts = logs_together(kernel, tables, key)
    if len(parts) <= 1:
        return (WHOLE,)
    packed = _packed(parts, min(wanted, len(parts)))
    return tuple(
        Shard(logs=tuple(sorted(held)), first=number == 0) for number, held in enumerate(packed)
    )


def shards_of_buckets(
    kernel: Kernel, files: Mapping[str, Mapping[Path, int]], key: Key, wanted: int
) -> tuple[Shard, ...] | None:
    """At most so many shards of the buckets in which logs were laid out; None if they were not, or
    if some key would not be whole.

    `files` are those of each table, with how many rows are in them. Of what was not laid out in
    buckets the logs are looked up: that is little.
    """
    rows: Counter[int] = Counter()
    count, rest = 1, {}
    for table, held in files.items():
        for file in held:
            if found := bucket_of_part(file.name):
                count = found[1]
                rows[found[0]] += held[file]
            elif table in _about_logs([table]):
                rest[table] = file
    if count == 1 or key in (Key.TOPIC, Key.HISTORY):
        return None
    logs: dict[int, list[Log]] = {}
    for topic, partition in _logs_in(kernel, rest.values()):
        logs.setdefault(bucket_of(topic, partition, count), []).append((topic, partition))
    sizes: dict[tuple[int, ...], int] = {(bucket,): rows[bucket] for bucket in range(count)}
    packed = _packed(sizes, min(wanted, count))
    shard_of = {bucket: number for number, held in enumerate(packed) for bucket in held}
    for together in [] if key is Key.PARTITION else _named_alike(kernel, files, key):
        if len({shard_of[bucket_of(*log, count)] for log in together}) > 1:
            return None
    return tuple(
        Shard(
            buckets=tuple(sorted(held)),
            logs=tuple(sorted(log for bucket in held for log in logs.get(bucket, ()))),
            first=number == 0,
        )
        for number, held in enumerate(packed)
    )


def _logs_in(kernel: Kernel, files: Iterable[Path]) -> list[Log]:
    read = " UNION ".join(
        f"SELECT topic, partition FROM {parquet_of([file])}"
        " WHERE topic IS NOT NULL AND partition IS NOT NULL"
        for file in files
    )
    return [(row["topic"], row["partition"]) for row in kernel.rows(read)] if read else []


def logs_together(kernel: Kernel, tables: Collection[str], key: Key) -> dict[tuple[Log, ...], int]:
    """The logs in the smallest sets that keep a key whole, each with how many rows it has."""
    rows = _rows_by_log(kernel, tables)
    parts = _components(rows, _kept_together(kernel, tables, rows, key))
    return {part: sum(rows[log] for log in part) for part in parts}


def _packed(parts: Mapping[tuple[Item, ...], int], wanted: int) -> list[list[Item]]:
    """The parts in so many shards: the largest first, each to the shard that has least so far."""
    sized = sorted(((size, part) for part, size in parts.items()), reverse=True)
    least: list[tuple[int, int]] = [(0, number) for number in range(wanted)]
    packed: list[list[Item]] = [[] for _ in range(wanted)]
    for size, part in sized:
        held, number = heapq.heappop(least)
        packed[number] += part
        heapq.heappush(least, (held + size, number))
    return packed


def _columns(table: str) -> set[str]:
    return {column.name for column in TABLES[table].columns}


def _about_logs(tables: Collection[str]) -> list[str]:
    return sorted(table for table in tables if {"topic", "partition"} <= _columns(table))


def _rows_by_log(kernel: Kernel, tables: Collection[str]) -> dict[Log, int]:
    counted = " UNION ALL ".join(
        f"SELECT topic, partition, count(*) AS rows FROM {table} GROUP BY topic, partition"
        for table in _about_logs(tables)
    )
    found = kernel.rows(
        f"SELECT topic, partition, sum(rows) AS rows FROM ({counted}) counted"
        " WHERE topic IS NOT NULL AND partition IS NOT NULL GROUP BY topic, partition"
        if counted
        else "SELECT 1 AS none WHERE FALSE"
    )
    return {(row["topic"], row["partition"]): int(row["rows"]) for row in found}


def _kept_together(
    kernel: Kernel, tables: Collection[str], rows: Mapping[Log, int], key: Key
) -> list[list[Log]]:
    """Sets of logs that belong together; they may overlap."""
    if key is Key.TOPIC:
        topics: dict[str, list[Log]] = {}
        for log in rows:
            topics.setdefault(log[0], []).append(log)
        return list(topics.values())
    return _named_alike(kernel, tables, key)


def _named_alike(kernel: Kernel, tables: Collection[str], key: Key) -> list[list[Log]]:
    """The logs of each name that several of them have in common."""
    column = _NAMED_BY.get(key)
    naming = [table for table in _about_logs(tables) if column in _columns(table)]
    if not naming:
        return []
    named = " UNION ".join(
        f"SELECT topic, partition, {column} AS name FROM {table}"
        f" WHERE {column} IS NOT NULL AND topic IS NOT NULL AND partition IS NOT NULL"
        for table in naming
    )
    # Most names have the same logs as others: what is fetched grows with logs, not with names.
    sets = kernel.rows(
        "SELECT DISTINCT logs FROM (SELECT list({'topic': topic, 'partition': partition}"
        f" ORDER BY topic, partition) AS logs FROM ({named}) named GROUP BY name) sets"
        " WHERE len(logs) > 1"
    )
    return [[(str(log["topic"]), int(log["partition"])) for log in row["logs"]] for row in sets]


def _components(logs: Iterable[Log], together: Iterable[list[Log]]) -> list[tuple[Log, ...]]:
    """The logs in the smallest sets that split none of those that belong together."""
    above = {log: log for log in logs}

    def root(log: Log) -> Log:
        while above[log] != log:
            above[log] = log = above[above[log]]
        return log

    for first, *others in together:
        for other in others:
            above[root(other)] = root(first)
    members: dict[Log, list[Log]] = {}
    for log in above:
        members.setdefault(root(log), []).append(log)
    return [tuple(sorted(part)) for part in members.values()]

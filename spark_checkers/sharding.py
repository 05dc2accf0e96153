"""Which logs are judged together: shards of about equal size that keep a key whole."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from harness.history import TABLES
from harness.rules import Key
from spark_checkers.kernel import WHOLE, Kernel, Log, Shard

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
    return _packed(parts, min(wanted, len(parts)))


def logs_together(kernel: Kernel, tables: Collection[str], key: Key) -> dict[tuple[Log, ...], int]:
    """The logs in the smallest sets that keep a key whole, each with how many rows it has."""
    rows = _rows_by_log(kernel, tables)
    parts = _components(rows, _kept_together(kernel, tables, rows, key))
    return {part: sum(rows[log] for log in part) for part in parts}


def _packed(parts: Mapping[tuple[Log, ...], int], wanted: int) -> tuple[Shard, ...]:
    """The parts in so many shards: the largest first, each to the shard that has least so far."""
    sized = sorted(((size, part) for part, size in parts.items()), reverse=True)
    least: list[tuple[int, int]] = [(0, number) for number in range(wanted)]
    logs: list[list[Log]] = [[] for _ in range(wanted)]
    for size, part in sized:
        held, number = heapq.heappop(least)
        logs[number] += part
        heapq.heappush(least, (held + size, number))
    return tuple(
        Shard(logs=tuple(sorted(held)), first=number == 0) for number, held in enumerate(logs)
    )


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
    return [[(log["topic"], log["partition"]) for log in row["logs"]] for row in sets]


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

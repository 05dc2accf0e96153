"""What a task does: a kernel over its shard, for the rules or the keys that it is given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spark_checkers.kernel import Kernel, KeyFunction, Row, Shard
from spark_checkers.shard_judge import Asked, Results, judge_shard


@dataclass(frozen=True, slots=True)
class Task:
    """Where a task finds its tables, and which part of them is its own."""

    files: Mapping[str, Sequence[Path]]
    shard: Shard

    def opened(self) -> Kernel:
        """A kernel on one core: other tasks have the others."""
        memory = f"{max(1, 50 // (os.cpu_count() or 1))}%"
        kernel = Kernel(self.shard, threads=1, memory=memory)
        for table, files in self.files.items():
            kernel.load_files(table, files)
        return kernel


def judge_task(tasks: Sequence[Task], asked: Sequence[Asked], number: int) -> Results:
    """What is asked about one of some shards."""
    kernel = tasks[number].opened()
    try:
        return judge_shard(kernel, asked[number])
    finally:
        kernel.close()


def per_key_task(
    task: Task,
    table: str,
    key: tuple[str, ...],
    function: KeyFunction,
    shares: Sequence[str],
    number: int,
) -> list[Row]:
    """A function of each key, for the keys of one of some shares."""
    kernel = task.opened()
    try:
        return kernel.per_key(table, key, function, shares[number])
    finally:
        kernel.close()

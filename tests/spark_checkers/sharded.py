"""An engine that cuts histories as chance will have it, and judges the shards one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

from harness.rules import Key
from spark_checkers.engine import InlineEngine, Work
from spark_checkers.kernel import WHOLE, Log, Shard, parquet_files
from spark_checkers.shard_judge import Progress, Results
from spark_checkers.sharding import logs_together
from spark_checkers.tasks import Task, judge_task


class ShardedEngine(InlineEngine):
    """Shards of whole keys, as many as are asked for; `narrowed` takes keys to be others, and
    then parts the partitions of a topic."""

    def __init__(self, random: Random, shards: int, narrowed: dict[Key, Key] | None = None) -> None:
        super().__init__()
        self._random = random
        self._shards = shards
        self._narrowed = narrowed or {}
        self._paths: dict[str, Path] = {}

    def load(self, table: str, path: Path) -> None:
        self._paths[table] = path
        super().load(table, path)

    def shards(self, tables: Collection[str], key: Key) -> tuple[Shard, ...]:
        key = self._narrowed.get(key, key)
        if key is Key.HISTORY:
            return (WHOLE,)
        held: list[list[Log]] = [[] for _ in range(self._shards)]
        for part in sorted(logs_together(self, tables, key)):
            held[self._place(part)].extend(part)
        first = self._random.randrange(self._shards)
        return tuple(
            Shard(logs=tuple(logs), first=number == first) for number, logs in enumerate(held)
        )

    def _place(self, part: tuple[Log, ...]) -> int:
        """Where a part goes: anywhere, or where no other partition of its topic may be."""
        if not self._narrowed:
            return self._random.randrange(self._shards)
        return part[0][1] % self._shards

    def judge(self, work: Work, progress: Progress) -> Iterator[Results]:
        files = {table: parquet_files(path) for table, path in self._paths.items()}
        tasks = [Task(files, shard) for shard, _ in work]
        asked = [asked for _, asked in work]
        for number in range(len(work)):
            yield judge_task(tasks, asked, number)

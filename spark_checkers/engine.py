"""The two engines. Both judge with the same kernel (`kernel.py`), over the same Parquet tables.

`--engine inline` is one kernel in this process. Spark cuts a history into shards and runs a kernel
in each task, on this machine or on a cluster; what comes back are counts and first findings. Small
questions about the tables are answered by a kernel of the driver.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from harness.errors import LabBroken, UsageError
from harness.history.ranges import bucket_of_part
from harness.rules import Key
from spark_checkers.kernel import (
    NO_ROWS,
    WHOLE,
    Kernel,
    KeyFunction,
    Row,
    Shard,
    parquet_files,
    row_count,
)
from spark_checkers.pace import Pace, Progress
from spark_checkers.sessions import (
    cores_of,
    given_by_tasks,
    in_a_sentence,
    spark_session,
    tasks_watched,
    unseen_there,
)
from spark_checkers.shard_judge import Asked, Results, define_views, judge_shard
from spark_checkers.sharding import shards_of_buckets, shards_within
from spark_checkers.tasks import Task, judge_task, per_key_task

if TYPE_CHECKING:
    from harness.history.bulk import Runs

__all__ = ["Engine", "InlineEngine", "Row", "SparkEngine", "open_engine"]

Item = TypeVar("Item")
Work = Sequence[tuple[Shard, Asked]]

SMALL_ROWS = 250_000
"""Up to so many rows one task is done before others would have begun."""
ROWS_A_SHARD = 4_000_000
"""So many rows at most, where keys allow it: what a task holds does not grow with the history."""
ROWS_A_WIDE_SHARD = 16_000_000
"""The same where keys are not those of the buckets: each shard reads the files of all of them."""
PARTED_BYTES = 32 * 1024 * 1024
"""So many bytes of lines are laid out in buckets."""
BYTES_A_BUCKET = 384 * 1024 * 1024


class Engine(Protocol):
    """What the evaluation of rules needs from an engine."""

    name: str

    def load(self, table: str, path: Path) -> None:
        """Make a Parquet file or folder queryable under a name."""

    def look_at(self, views: set[str]) -> None:
        """Make views queryable, with all that they stand on."""

    def define(self, view: str, sql: str, *, shared: bool) -> None:
        """Define a view for `rows`; a shared one is computed once."""

    def rows(self, sql: str) -> list[Row]:
        """The rows of a query whose answer is small."""

    def per_key(self, table: str, key: Sequence[str], function: KeyFunction) -> list[Row]:
        """Apply a function to the rows of each key, in order of `op`; key columns are added."""

    def shards(self, tables: Collection[str], key: Key) -> tuple[Shard, ...]:
        """How rows of these tables are cut for judges that are complete within the key."""

    def shards_of_histories(
        self, tables: Collection[str], numbers: Sequence[int]
    ) -> list[tuple[Shard, list[int]]]:
        """How histories that stand side by side are cut, and which are where."""

    def judge(self, work: Work, progress: Progress) -> Iterator[Results]:
        """The results of each shard for what is asked about it."""

    @property
    def runs(self) -> Runs | None:
        """Where ranges of a history are laid out; None for threads of this process."""

    def close(self) -> None:
        """Let go of what the engine holds."""


class _Here(Kernel):
    """A kernel in this process, over the whole history."""

    def look_at(self, views: set[str]) -> None:
        """Make views queryable; those that were judged are there already."""
        define_views(self, views)


class InlineEngine(_Here):
    """One kernel for all."""

    name = "inline"
    runs = None

    def shards(self, tables: Collection[str], key: Key) -> tuple[Shard, ...]:
        """One, whatever the key."""
        return (WHOLE,)

    def shards_of_histories(
        self, tables: Collection[str], numbers: Sequence[int]
    ) -> list[tuple[Shard, list[int]]]:
        """All in one."""
        return [(WHOLE, list(numbers))]

    def judge(self, work: Work, progress: Progress) -> Iterator[Results]:
        """The results, from this very kernel."""
        for _, asked in work:
            yield judge_shard(self, asked, progress)


class SparkEngine(_Here):
    """Spark, local by default. One session serves a whole run; starting it takes seconds."""

    name = "spark"

    def __init__(
        self, master: str = "local[*]", *, java_home: str | None = None, log: Path | None = None
    ) -> None:
        super().__init__()
        self._master = master
        # Beside this thread, which hears Ctrl-C: Spark would be torn out of what it asks Java.
        with ThreadPoolExecutor(1) as beside:
            starting = partial(spark_session, master, java_home=java_home, log=log)
            self._spark = beside.submit(starting).result()
        self.cores = cores_of(self._spark)
        self._files: dict[str, dict[Path, int]] = {}

    @property
    def runs(self) -> Runs:
        """Ranges are laid out in tasks."""
        return self

    def buckets(self, size: int) -> int:
        """As many as there will be shards: a kernel reads the files of its own."""
        return 1 if size < PARTED_BYTES else max(self.cores, size // BYTES_A_BUCKET)

    def map(
        self,
        function: Callable[[int], Item],
        count: int,
        watch: Callable[[int, int], None] = lambda done, count: None,
    ) -> Iterator[Item]:
        """What a function gives for each number, each computed in a task of its own."""
        yield from self._in_tasks(function, count, watch) if count else ()

    def load(self, table: str, path: Path) -> None:
        """Make a Parquet file or folder queryable, here and in tasks."""
        # A worker has a working folder of its own: a relative path might name somebody else's run.
        self._files[table] = {file: row_count(file) for file in parquet_files(path.resolve())}
        super().load(table, path)

    def shards(self, tables: Collection[str], key: Key) -> tuple[Shard, ...]:
        """As many as there are cores, more of them if they would be large; one for little."""
        files = {table: self._files[table] for table in tables}
        rows = sum(sum(rows.values()) for rows in files.values())
        if rows <= SMALL_ROWS:
            return (WHOLE,)
        wanted = max(self.cores, -(-rows // ROWS_A_SHARD))
        if parted := shards_of_buckets(self, files, key, wanted):
            return parted
        wide = max(self.cores, -(-rows // ROWS_A_WIDE_SHARD))
        return shards_within(self, tables, key, wide if self._in_buckets(tables) else wanted)

    def _in_buckets(self, tables: Collection[str]) -> bool:
        return any(bucket_of_part(file.name) for table in tables for file in self._files[table])

    def shards_of_histories(
        self, tables: Collection[str], numbers: Sequence[int]
    ) -> list[tuple[Shard, list[int]]]:
        """By the files in which they were laid out, each of which holds its histories whole."""
        starts = sorted(
            {
                (int(file.stem.rpartition("-")[2]), file.name)
                for files in map(self._files.__getitem__, tables)
                for file in files
                if file.name != NO_ROWS and "-" in file.stem
            }
        )
        if len(starts) <= 1:
            return [(WHOLE, list(numbers))]
        shards: list[tuple[list[str], list[int]]] = [([], []) for _ in range(self.cores)]
        first = [start for start, _ in starts]
        for at, (_, name) in enumerate(starts):
            shards[at % len(shards)][0].append(name)
        for number in numbers:
            shards[max(0, bisect_right(first, number) - 1) % len(shards)][1].append(number)
        return [
            (Shard(files=tuple(names)), members) for names, members in shards if names or members
        ]

    def judge(self, work: Work, progress: Progress) -> Iterator[Results]:
        """The results of each shard, judged in a task of its own."""
        progress(f"judging {len(work)} shards" if len(work) > 1 else "judging")
        tasks = [
            Task({table: [*self._files[table]] for table in asked.reads}, shard)
            for shard, asked in work
        ]
        asked = [asked for _, asked in work]
        judges = partial(judge_task, tasks, asked)
        yield from self._in_tasks(judges, len(work), Pace(progress, "shards judged"))

    def per_key(
        self, table: str, key: Sequence[str], function: KeyFunction, where: str = "TRUE"
    ) -> list[Row]:
        """Keys are spread over tasks by their hash."""
        files = self._files[table]
        tasks = 1 if sum(files.values()) <= SMALL_ROWS else self.cores
        task = Task({table: [*files]}, WHOLE)
        shares = [f"({where}) AND hash({', '.join(key)}) % {tasks} = {n}" for n in range(tasks)]
        search = partial(per_key_task, task, table, tuple(key), function, shares)
        found = self._in_tasks(search, tasks)
        rows = [row for part in found for row in part]
        return sorted(rows, key=lambda row: [(row[name] is None, row[name]) for name in key])

    def _in_tasks(
        self,
        function: Callable[[int], Item],
        count: int,
        watch: Callable[[int, int], None] = lambda done, count: None,
    ) -> list[Item]:
        """What a function gives for each number, each computed in a task of its own."""
        with tasks_watched(self._spark, lambda done: watch(done, count)):
            try:
                found = given_by_tasks(self._spark, function, count)
            except Exception as cause:
                sentence = in_a_sentence(cause)
                if unseen := unseen_there(self._master, sentence):
                    raise UsageError(unseen) from cause
                raise LabBroken(f"a task of Spark failed: {sentence}") from cause
        return [found[number] for number in range(count)]


def open_engine(
    name: str, *, master: str = "local[*]", java_home: str | None = None, log: Path | None = None
) -> Engine:
    """An engine by its name on the command line; Spark's own chatter goes to `log`."""
    if name == "inline":
        return InlineEngine()
    return SparkEngine(master, java_home=java_home, log=log)

"""The two engines. Both read the same Parquet tables and answer the same SQL.

Spark judges `certify`, `check` and campaigns, on this machine or on a cluster. DuckDB judges small
histories in milliseconds and is `--engine inline`. An engine knows nothing of rules: it loads
tables, defines views, returns the few rows a query asks for, and runs one Python function per key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from spark_checkers.sessions import duckdb_connection, spark_session

Row = dict[str, Any]
KeyFunction = Callable[[list[Row]], list[Row]]

SEARCH_RESULT = (
    ("op", "bigint"),
    ("verdict", "string"),
    ("operations", "bigint"),
    ("explored", "bigint"),
    ("explanation", "string"),
)


class Engine(Protocol):
    """What the evaluation of rules needs from an engine."""

    name: str

    def load(self, table: str, path: Path) -> None:
        """Make a Parquet file or folder queryable under a name."""

    def define(self, view: str, sql: str, *, shared: bool) -> None:
        """Define a view; a shared one is computed once."""

    def rows(self, sql: str) -> list[Row]:
        """The rows of a query whose answer is small."""

    def answers(self, queries: Sequence[str]) -> Iterator[list[Row] | Exception]:
        """The rows of each query, or what kept it from being answered; others do not suffer."""

    def per_key(self, table: str, key: Sequence[str], function: KeyFunction) -> list[Row]:
        """Apply a function to the rows of each key, in order of `op`; key columns are added."""

    def close(self) -> None:
        """Let go of what the engine holds."""


class InlineEngine:
    """DuckDB in this process, in memory."""

    name = "inline"

    def __init__(self) -> None:
        self._db = duckdb_connection()
        self._db.execute(f"CREATE MACRO fingerprint({_LETTERS}) AS hash({_LETTERS})")

    def load(self, table: str, path: Path) -> None:
        source = f"{path}/*.parquet" if path.is_dir() else str(path)
        quoted = source.replace("'", "''")
        self._db.execute(
            f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM read_parquet('{quoted}')"
        )

    def define(self, view: str, sql: str, *, shared: bool) -> None:
        kind = "TEMP TABLE" if shared else "TEMP VIEW"
        self._db.execute(f"CREATE OR REPLACE {kind} {view} AS {sql}")

    def rows(self, sql: str) -> list[Row]:
        return list(self._rows(sql))

    def answers(self, queries: Sequence[str]) -> Iterator[list[Row] | Exception]:
        return map(partial(_answer, self.rows), queries)

    def per_key(self, table: str, key: Sequence[str], function: KeyFunction) -> list[Row]:
        columns = ", ".join(key)
        ordered = self._rows(f"SELECT * FROM {table} ORDER BY {columns}, op")
        results: list[Row] = []
        for values, group in groupby(ordered, key=lambda row: tuple(row[c] for c in key)):
            named = dict(zip(key, values, strict=True))
            results += [{**named, **result} for result in function(list(group))]
        return results

    def close(self) -> None:
        self._db.close()

    def _rows(self, sql: str) -> Iterator[Row]:
        cursor = self._db.execute(sql)
        names = [column[0] for column in cursor.description or ()]
        while batch := cursor.fetchmany(4096):
            for values in batch:
                yield dict(zip(names, values, strict=True))


class SparkEngine:
    """Spark, local by default. One session serves a whole run; starting it takes seconds."""

    name = "spark"

    def __init__(
        self,
        master: str = "local[*]",
        *,
        java_home: str | None = None,
        log: Path | None = None,
        small: bool = False,
    ) -> None:
        self._spark = spark_session(master, java_home=java_home, log=log, small=small)
        self._spark.sql(_SPARK_FINGERPRINT)
        self._spark.conf.set("spark.sql.optimizer.excludedRules", _LEFT_OUT)
        self._rows: dict[str, int] = {}

    def load(self, table: str, path: Path) -> None:
        # A JVM has a working folder of its own: a relative path might name somebody else's run.
        path = path.resolve()
        frame = self._spark.read.parquet(str(path))
        self._rows[table] = _row_count(path)
        (frame if self._rows[table] else frame.limit(0)).createOrReplaceTempView(table)
        rows = max(self._rows.values())
        for name, value in (_SMALL if rows < SMALL_ROWS else _LARGE).items():
            self._spark.conf.set(name, value)
        parts = max(2, rows // ROWS_A_PARTITION)
        self._spark.conf.set("spark.sql.shuffle.partitions", str(parts))

    def define(self, view: str, sql: str, *, shared: bool) -> None:
        frame = self._spark.sql(sql)
        (self._computed(frame) if shared else frame).createOrReplaceTempView(view)

    def rows(self, sql: str) -> list[Row]:
        return [row.asDict() for row in self._spark.sql(sql).collect()]

    def answers(self, queries: Sequence[str]) -> Iterator[list[Row] | Exception]:
        # Planning a query takes one thread of the driver, mostly longer than running it.
        with ThreadPoolExecutor(max_workers=PLANNERS) as pool:
            yield from pool.map(partial(_answer, self.rows), queries)

    def per_key(self, table: str, key: Sequence[str], function: KeyFunction) -> list[Row]:
        frame = self._spark.table(table)
        types: Mapping[str, str] = dict(frame.dtypes)
        fields = [(name, types[name]) for name in key] + list(SEARCH_RESULT)
        schema = ", ".join(f"{name} {kind}" for name, kind in fields)
        applied = frame.groupBy(*key).applyInArrow(_arrow_function(key, function), schema)
        return [row.asDict() for row in applied.collect()]

    def close(self) -> None:
        self._rows.clear()

    def _computed(self, frame: Any) -> Any:
        # A checkpoint and not a cache: whatever stands on the view plans against a plain scan.
        # Counting its rows is what computes it.
        frame = frame.localCheckpoint(eager=False)
        # Spark's guess of its size is the size of what it was computed from. What is empty takes
        # with it whatever joins it; what is small is brought to the rows that it is joined with.
        rows = frame.count()
        if rows == 0:
            return frame.limit(0)
        return frame.hint("broadcast") if rows <= BROADCAST_ROWS else frame


# A number that is equal for equal arguments, and for others as good as never; nulls count. Rows are
# matched by it instead of by several long texts. Each engine has its own numbers.
_LETTERS = "a, b, c, d, e, f"
_SPARK_FINGERPRINT = """
    CREATE OR REPLACE TEMPORARY FUNCTION
      fingerprint(a STRING, b INT, c BIGINT, d STRING, e STRING, f BIGINT) RETURNS BIGINT
    RETURN xxhash64(a, 1, b, 2, c, 3, d, 4, e, 5, f)
"""

# It loses the columns that an EXISTS over a union refers to (seen with Spark 4.3).
_LEFT_OUT = "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion"

PLANNERS = 4
# Compiling and re-planning queries pays from some hundred thousand rows on; below, it is most of
# the time.
SMALL_ROWS = 200_000
ROWS_A_PARTITION = 250_000
BROADCAST_ROWS = 500_000
# Some five million rows; from there on it pays that Java optimizes what it runs.
SMALL_BYTES = 256 * 1024 * 1024
_SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
_LARGE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    # Java only ever interprets a method longer than this; Spark then does without the long method.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # Partitions that fit are joined by hash: sorting both sides is the larger part of a join.
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64m",
}


def _answer(rows: Callable[[str], list[Row]], sql: str) -> list[Row] | Exception:
    try:
        return rows(sql)
    except Exception as error:
        return error


def _row_count(path: Path) -> int:
    """How many rows a Parquet file or folder of this machine holds."""
    from pyarrow import parquet

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return sum(int(parquet.read_metadata(file).num_rows) for file in files)


def _arrow_function(key: Sequence[str], function: KeyFunction) -> Callable[[Any], Any]:
    """Wrap a function of rows for Spark; Arrow keeps 64-bit integers and nulls exact."""
    names = tuple(key)

    def apply(table: Any) -> Any:
        import pyarrow

        kinds = {"bigint": pyarrow.int64(), "string": pyarrow.string()}
        schema = pyarrow.schema(
            [table.schema.field(name) for name in names]
            + [pyarrow.field(name, kinds[kind]) for name, kind in SEARCH_RESULT]
        )
        rows = table.sort_by("op").to_pylist()
        named = {name: rows[0][name] for name in names}
        found = [{**named, **result} for result in function(rows)]
        return pyarrow.Table.from_pylist(found, schema=schema)

    return apply


def open_engine(
    name: str,
    *,
    master: str = "local[*]",
    java_home: str | None = None,
    log: Path | None = None,
    judged_bytes: int | None = None,
) -> Engine:
    """An engine by its name on the command line; Spark's own chatter goes to `log`.

    How Spark's Java works depends on how much there is to judge, if that is known.
    """
    if name == "inline":
        return InlineEngine()
    small = judged_bytes is not None and judged_bytes <= SMALL_BYTES
    return SparkEngine(master, java_home=java_home, log=log, small=small)

"""Plain lines become rows of the silver tables, in SQL.

Two plain lines of a process that follow each other, an invocation and its completion, are an
operation; it is laid out here if `rows` would do so without a word: same request, same log, same
clock, no time that runs backwards, no `fail` that its error does not prove, and of a send the only
attempt. Every other plain line is given back, to be laid out one by one with the rest. So what is
left after taking whole operations out is what `rows` would have seen between them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from .bulk_reader import OTHERS_HELD, BulkRead, TooMuch
from .files import open_regular
from .kafka_errors import REQUESTS, Indefinite, definiteness
from .lines import Event, decode
from .tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DUCKDB: Final = {
    "bigint": "BIGINT",
    "int": "INTEGER",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
}

_LINES = """
    CREATE OR REPLACE TEMP VIEW op_lines AS
    SELECT index, process, type, clock, {order} AS moment, TRUE AS plain,
      CASE WHEN f = 'produce' AND type = 'invoke'
        THEN coalesce(nullif(send, ''), 'op-' || index) END AS send
    FROM plain
    UNION ALL
    SELECT index, process, type, clock, moment, FALSE, send FROM others
"""
_PAIRS = """
    WITH neighbours AS (
      SELECT index, type, plain, lag(type) OVER turns AS before,
        lead(index) OVER turns AS following,
        lead(plain) OVER turns AND lead(type) OVER turns <> 'invoke' AS completes
      FROM op_lines
      WINDOW turns AS (PARTITION BY process ORDER BY index)
    )
    SELECT index AS op, following AS completion FROM neighbours
    WHERE plain AND type = 'invoke' AND completes AND coalesce(before, '') <> 'invoke'
"""
_OPERATIONS = f"""
    CREATE OR REPLACE TEMP TABLE operations AS
    WITH pairs AS ({_PAIRS}),
    sent_once AS (
      SELECT send FROM op_lines WHERE send IS NOT NULL GROUP BY send HAVING count(*) = 1
    )
    SELECT i.index AS op, c.index AS completion, i.process, coalesce(i.node, c.node) AS node,
      i.topic, i.partition, i.f, c.type, c.error, i.clock, i.{{order}} AS began,
      c.{{order}} AS answered, CASE WHEN c.type <> 'info' THEN c.{{order}} END AS ended,
      i.time AS invoked_ns, c.time AS completed_ns, i.request, i.send, i.attempt, i.acks,
      CASE WHEN i.f = 'fetch' THEN coalesce(i."offset", c."offset") END AS asked_offset,
      CASE WHEN i.f = 'list_offsets' THEN i.timestamp END AS asked_timestamp,
      coalesce(i.isolation, CASE WHEN i.f <> 'produce' THEN 'read_uncommitted' END) AS isolation,
      CASE WHEN i.f <> 'fetch' THEN c."offset" END AS answered_offset, c.found_timestamp,
      CASE WHEN c.leader_epoch >= 0 THEN c.leader_epoch END AS leader_epoch,
      CASE WHEN i.leader_epoch >= 0 THEN i.leader_epoch END AS current_leader_epoch,
      c.high_watermark, c.last_stable_offset, c.log_start_offset, c.preferred_read_replica, i.rack,
      i.max_bytes, c.bytes, c.first_batch_bytes, i.transaction, i.producer,
      i.records AS sent, c.records AS seen
    FROM pairs p
    JOIN plain i ON p.op = i.index
    JOIN plain c ON p.completion = c.index
    LEFT JOIN sent_once s ON i.send = s.send
    WHERE i.f = c.f AND i.clock = c.clock AND c.{{order}} >= i.{{order}}
      AND i.topic IS NOT NULL AND i.partition IS NOT NULL
      AND (c.topic IS NULL OR c.topic = i.topic)
      AND (c.partition IS NULL OR c.partition = i.partition)
      AND (c.type <> 'fail' OR c.error IS NULL OR EXISTS (
        SELECT 1 FROM definite d WHERE d.f = c.f AND d.error = c.error))
      AND (i.f <> 'produce' OR s.send IS NOT NULL AND coalesce(i.attempt, 1) = 1
        AND i.records IS NOT NULL)
    ORDER BY i.index
"""
_LEFT_OVER = """
    SELECT place, size FROM plain WHERE index NOT IN (
      SELECT op FROM operations UNION ALL SELECT completion FROM operations)
    ORDER BY place
"""
_STARTED = "SELECT clock, arg_min(moment, index) AS started FROM op_lines GROUP BY clock"

_SENDS = """
    SELECT *,
      CASE WHEN type = 'ok' AND answered_offset >= 0 THEN answered_offset END AS base_offset,
      CASE WHEN producer[1] >= 0 THEN producer[1] END AS producer_id,
      CASE WHEN producer[1] >= 0 AND producer[2] >= 0 THEN producer[2] END AS producer_epoch,
      CASE WHEN producer[1] >= 0 AND producer[3] >= 0 THEN producer[3] END AS base_sequence,
      CASE WHEN type <> 'info' THEN completion END AS settled_by,
      CASE WHEN attempt IS NOT NULL THEN 1 END AS attempts
    FROM operations WHERE f = 'produce'
"""
BULK_TABLES: Final = {
    "ops": "SELECT * FROM operations",
    "responses": """
        SELECT *, CASE WHEN f = 'fetch' THEN len(seen) END AS records,
          CAST(seen[1][1] AS BIGINT) AS first_offset, CAST(seen[-1][1] AS BIGINT) AS last_offset
        FROM operations
    """,
    "offsets_listed": "SELECT * FROM operations WHERE f = 'list_offsets'",
    "records_seen": """
        SELECT * EXCLUDE (leader_epoch), record[2] AS value, CAST(record[3] AS BIGINT) AS timestamp,
          CAST(record[4] AS BIGINT) AS leader_epoch, record[5] AS record_key, 0 AS mop,
          FALSE AS rebalanced, CAST(record[1] AS BIGINT) AS record_offset,
          CASE WHEN position = 0 THEN asked_offset - 1
            ELSE CAST(seen[position][1] AS BIGINT) END AS follows
        FROM (
          SELECT *, unnest(seen) AS record, generate_subscripts(seen, 1) - 1 AS position
          FROM operations WHERE f = 'fetch'
        ) unrolled
    """,
    "sends": f"""
        SELECT * EXCLUDE (completion, error), settled_by AS completion, len(sent) AS records,
          CAST(type = 'ok' AS INT) AS acknowledged, CASE WHEN type <> 'ok' THEN error END AS error
        FROM ({_SENDS}) sends
    """,
    "records_sent": f"""
        SELECT * EXCLUDE (completion), settled_by AS completion, 0 AS mop, record[1] AS value,
          CAST(record[2] AS BIGINT) AS timestamp, record[3] AS record_key,
          base_sequence + position AS sequence, base_offset + position AS record_offset
        FROM (
          SELECT *, unnest(sent) AS record, generate_subscripts(sent, 1) - 1 AS position
          FROM ({_SENDS}) sends
        ) unrolled
    """,
}
"""The tables that have rows from plain lines, as queries over `operations`."""


def lay_out_bulk(
    read: BulkRead, path: Path, db: DuckDBPyConnection, *, index_ordered: bool
) -> tuple[list[Event], dict[str, int]]:
    """Make `operations` of plain lines. The result is what has to be laid out one by one, in order,
    and when each clock started."""
    order = "index" if index_ordered else "time"
    _register_others(read, db, order)
    db.execute(_LINES.format(order=order))
    failed = db.execute("SELECT DISTINCT f, error FROM plain WHERE type = 'fail'").fetchall()
    proven = [(f, error) for f, error in failed if error is not None and _definite(f, error)]
    _register(db, "definite", {"f": [f for f, _ in proven], "error": [e for _, e in proven]})
    db.execute(_OPERATIONS.format(order=order))
    rest = [*read.others, *_left_over(path, db)]
    rest.sort(key=lambda event: int(event["index"]))
    started = {clock: int(moment) for clock, moment in db.execute(_STARTED).fetchall()}
    return rest, started


def bulk_query(table: str) -> str:
    """A table from plain lines, with its columns in their order and types."""
    columns = []
    for column in TABLES[table].columns:
        told = "NULL" if (table, column.name) in _ABSENT else f't."{column.name}"'
        columns.append(f'CAST({told} AS {_DUCKDB[column.type]}) AS "{column.name}"')
    return f"SELECT {', '.join(columns)} FROM ({BULK_TABLES[table]}) t"


_ABSENT: Final = {
    *(("ops", name) for name in ("key", "value", "result", "detail")),
    ("responses", "asked_epoch"),
}
"""What no plain line tells."""


def _definite(f: str, error: str) -> bool:
    return f not in REQUESTS or not isinstance(definiteness(f, error), Indefinite)


def _register_others(read: BulkRead, db: DuckDBPyConnection, order: str) -> None:
    ops = [event for event in read.others if event["kind"] == "op"]
    sends = [
        event.get("send") or f"op-{event['index']}"
        if event["f"] == "produce" and event["type"] == "invoke"
        else None
        for event in ops
    ]
    columns: dict[str, list[Any]] = {
        name: [event[name] for event in ops] for name in ("index", "process", "type", "clock")
    }
    columns |= {"moment": [event[order] for event in ops], "send": sends}
    _register(db, "others", columns)


def _register(db: DuckDBPyConnection, name: str, columns: dict[str, list[Any]]) -> None:
    numbers = ("index", "process", "moment")
    arrays = {
        column: pa.array(values, pa.int64() if column in numbers else pa.string())
        for column, values in columns.items()
    }
    db.register(f"{name}_given", pa.table(arrays))
    db.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM {name}_given")
    db.unregister(f"{name}_given")


def _left_over(path: Path, db: DuckDBPyConnection) -> list[Event]:
    """Plain lines that are no half of an operation laid out in bulk, decoded from the file."""
    places = db.execute(f"SELECT * FROM ({_LEFT_OVER}) p LIMIT {OTHERS_HELD + 1}").fetchall()
    if len(places) > OTHERS_HELD:
        raise TooMuch
    events = []
    with open_regular(path, buffering=0) as file:
        for place, size in places:
            file.seek(place)
            events.append(decode(file.read(size)))
    return events

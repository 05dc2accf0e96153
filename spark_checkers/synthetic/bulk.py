"""Good histories of any size, laid out as silver tables at once.

Stretch by stretch, a row group each: memory does not grow with the history. Every log is read once
from its beginning to its end, in fetches that overlap the sends behind them; now and then somebody
asks for its ends. What the log is like is in `bulk_log`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.history import TABLES, arrow_schema
from spark_checkers.synthetic.bulk_log import (
    SENDS_A_STRETCH,
    STEP_NS,
    WAIT_NS,
    Bools,
    Entries,
    Ints,
    Logs,
    Sends,
    draw,
    epoch_at,
    leader_at,
    positions,
)

Columns: TypeAlias = dict[str, Any]
Rows: TypeAlias = Iterator[tuple[str, pa.Table]]

ROWS_A_SEND = 9.2
"""Rows of all tables together, for each send."""
LISTINGS_A_STRETCH = SENDS_A_STRETCH // 50
DELETIONS_A_STRETCH = SENDS_A_STRETCH // 1_000
FIRST_STAMP_MS = 1_800_000_000_000
LATEST, EARLIEST = -1, -2
# Twelve line numbers for each send and what goes with it.
LINES_A_SEND, SECOND, END_TXN, FETCH, LISTING, DELETION = 12, 2, 4, 6, 8, 10


def _stamp(at: Ints) -> Ints:
    """The timestamp of what was sent at these times: another one for each send."""
    return FIRST_STAMP_MS + at // STEP_NS


def _text(*parts: str | Ints) -> pa.Array:
    """Texts put together from constants and numbers."""
    columns = [
        part if isinstance(part, str) else pa.array(part).cast(pa.string()) for part in parts
    ]
    return pc.binary_join_element_wise(*columns, "")


def _where(values: Any, keep: Bools) -> pa.Array:
    """The values, null where they are not to be kept."""
    if isinstance(values, pa.Array):
        return pc.if_else(pa.array(keep), values, pa.scalar(None, values.type))
    return pa.array(values, mask=~keep)


def _table(name: str, columns: Mapping[str, Any], rows: int) -> pa.Table:
    schema = arrow_schema(TABLES[name])
    arrays = []
    for column in schema:
        value = columns.get(column.name)
        if value is None:
            arrays.append(pa.nulls(rows, column.type))
        elif isinstance(value, str | int):
            arrays.append(pa.repeat(pa.scalar(value, column.type), rows))
        else:
            found = value if isinstance(value, pa.Array) else pa.array(value)
            arrays.append(found.cast(column.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _errors(outcome: npt.NDArray[np.str_], *, ok: str | None) -> pa.Array:
    names = pa.array([ok, "MESSAGE_TOO_LARGE", "REQUEST_TIMED_OUT"], pa.string())
    return names.take(pa.array(np.where(outcome == "ok", 0, np.where(outcome == "fail", 1, 2))))


def _both(shared: Columns, answer: Columns, *, ended: Any) -> Rows:
    """The rows of a request among the operations and among the answers."""
    times = {"ended": ended, "invoked_ns": shared["began"], "completed_ns": shared["answered"]}
    rows = len(shared["op"])
    yield "ops", _table("ops", {**answer, **shared, **times}, rows)
    yield "responses", _table("responses", {**shared, **answer}, rows)


def _taken(columns: Columns, of: Ints) -> Columns:
    """The columns with the rows named; constants stay what they are."""
    at = pa.array(of)
    return {
        name: value if isinstance(value, str | int) else pa.array(value).take(at)
        for name, value in columns.items()
    }


class _Stretch:
    """One stretch, laid out table by table."""

    def __init__(self, random: np.random.Generator, logs: Logs, number: int) -> None:
        self._random = random
        self._logs = logs.count
        self._first_line = number * SENDS_A_STRETCH * LINES_A_SEND
        ends = logs.ends.copy()
        self._sends: Sends = draw(random, number, logs.count)
        logs.take(self._sends)
        self._entries = Entries(self._sends, ends)

    def tables(self) -> Rows:
        """Rows of every table; of some several times."""
        yield from self._sent()
        yield from self._attempts(np.arange(len(self._sends.log)), again=False)
        yield from self._attempts(np.nonzero(self._sends.attempts == 2)[0], again=True)
        yield from self._transactions()
        yield from self._fetched()
        yield from self._listed()
        yield from self._deleted()

    def _place(self, log: Ints) -> Columns:
        names = pa.array([f"topic-{number // 8}" for number in range(self._logs)])
        return {"topic": names.take(pa.array(log)), "partition": log % 8, "clock": "host"}

    def _sent(self) -> Rows:
        sends = self._sends
        op = sends.number * LINES_A_SEND
        known = np.asarray(sends.outcome != "info")
        shared = {
            **self._place(sends.log),
            "op": op,
            "completion": _where(op + 1 + np.where(sends.attempts == 2, SECOND, 0), known),
            "acks": -1,
            "send": _text("s", sends.number),
            "process": sends.producer,
            "producer_id": _where(7000 + sends.producer, sends.idempotent),
            "producer_epoch": _where(np.zeros_like(op), sends.idempotent),
            "transaction": _where(_text("t", sends.number), sends.transaction),
            "attempts": sends.attempts,
            "type": pa.array(sends.outcome),
            "began": sends.began,
            "ended": _where(sends.ended, known),
        }
        counts = {
            "records": sends.records,
            "acknowledged": sends.ok.astype(np.int64),
            "error": _errors(sends.outcome, ok=None),
            "base_offset": _where(sends.base, sends.ok),
            "base_sequence": _where(sends.sequence, sends.idempotent),
        }
        yield "sends", _table("sends", {**shared, **counts}, len(op))
        of, position = np.repeat(np.arange(len(op)), sends.records), positions(sends.records)
        record = {
            "f": "produce",
            "mop": 0,
            "position": position,
            "value": _text("v", sends.number[of], "-", position),
            "timestamp": _stamp(sends.at[of]),
            "sequence": _where(sends.sequence[of] + position, sends.idempotent[of]),
            "record_offset": _where(sends.base[of] + position, sends.ok[of]),
        }
        yield "records_sent", _table("records_sent", {**_taken(shared, of), **record}, len(of))

    def _attempts(self, of: Ints, *, again: bool) -> Rows:
        """The first attempts of sends, or the second ones."""
        sends = self._sends
        retried = (sends.attempts[of] == 2) & (not again)
        op = sends.number[of] * LINES_A_SEND + (SECOND if again else 0)
        outcome = np.where(retried, "info", sends.outcome[of])
        ok = outcome == "ok"
        answered = np.where(retried, sends.began[of] + 1, sends.ended[of])
        shared = {
            **self._place(sends.log[of]),
            "op": op,
            "completion": op + 1,
            "process": sends.producer[of] * 2 + again,
            "node": leader_at(sends.log[of], sends.at[of]),
            "f": "produce",
            "type": pa.array(outcome),
            "error": _errors(outcome, ok="NONE"),
            "began": sends.began[of] + (2 if again else 0),
            "answered": answered,
        }
        answer = {
            "send": _text("s", sends.number[of]),
            "attempt": 2 if again else 1,
            "acks": -1,
            "answered_offset": _where(sends.base[of], ok),
            "current_leader_epoch": epoch_at(sends.at[of]),
            "log_start_offset": _where(np.zeros_like(op), ok),
        }
        yield from _both(shared, answer, ended=_where(answered, outcome != "info"))

    def _transactions(self) -> Rows:
        sends = self._sends
        of = np.nonzero(sends.transaction)[0]
        op = sends.number[of] * LINES_A_SEND + END_TXN
        shared = {
            "op": op,
            "completion": op + 1,
            "process": 1_000_000 + sends.producer[of],
            "type": "ok",
            "error": "NONE",
            "clock": "host",
            "began": sends.at[of],
            "ended": sends.ended[of],
        }
        asked = {"transaction": _text("t", sends.number[of]), "committed": ~sends.aborted[of]}
        yield "transactions", _table("transactions", {**shared, **asked}, len(of))
        yield "ops", _table("ops", {**shared, "f": "end_txn", "answered": sends.ended[of]}, len(of))

    def _fetched(self) -> Rows:
        sends, entries, random = self._sends, self._entries, self._random
        first, last, fetch = entries.fetches()
        count, log = len(first), entries.log[first]
        began = sends.at[entries.send[last]] + random.integers(1, WAIT_NS // 2, count)
        served = began + random.integers(0, WAIT_NS // 4, count)
        committed = random.random(count) < 0.2
        op = self._first_line + np.arange(count) * LINES_A_SEND + FETCH
        shared = {
            **self._place(log),
            "op": op,
            "completion": op + 1,
            "process": 2_000_000 + log,
            "node": leader_at(log, served),
            "f": "fetch",
            "type": "ok",
            "error": "NONE",
            "began": began,
            "answered": served + random.integers(1, WAIT_NS // 4, count),
            "asked_offset": entries.offset[first],
            "isolation": pa.array(np.where(committed, "read_committed", "read_uncommitted")),
        }
        shown = np.nonzero(~entries.marker & ~(committed[fetch] & entries.aborted))[0]
        high = entries.high_watermark(log, served)
        ends = {
            "current_leader_epoch": epoch_at(served),
            "high_watermark": high,
            "last_stable_offset": _where(high, committed),
            "log_start_offset": 0,
        }
        answer = {**ends, **_extent(entries.offset[shown], fetch[shown], count)}
        yield from _both(shared, answer, ended=shared["answered"])
        yield "records_seen", self._seen(shared, shown, fetch[shown])

    def _seen(self, shared: Columns, shown: Ints, fetch: Ints) -> pa.Table:
        """The records that fetches were given: which entries, and of which fetch each is."""
        sends, entries = self._sends, self._entries
        offset, send = entries.offset[shown], entries.send[shown]
        opening = np.r_[True, np.diff(fetch) != 0]
        record = {
            "mop": 0,
            "position": positions(np.unique(fetch, return_counts=True)[1]),
            "record_offset": offset,
            "value": _text("v", sends.number[send], "-", entries.position[shown]),
            "timestamp": _stamp(sends.at[send]),
            "leader_epoch": epoch_at(sends.at[send]),
            "follows": np.where(opening, shared["asked_offset"][fetch], np.r_[0, offset[:-1] + 1])
            - 1,
            "rebalanced": False,
        }
        return _table("records_seen", {**_taken(shared, fetch), **record}, len(shown))

    def _asked(self, f: str, count: int, line: int) -> tuple[Columns, Ints, Ints]:
        """Requests to leaders at any time; the logs they are about, and when they are served."""
        random = self._random
        op = self._first_line + np.arange(count) * LINES_A_SEND + line
        log = random.integers(0, self._logs, count)
        served = random.integers(self._sends.at[0], self._sends.at[-1], count)
        shared = {
            **self._place(log),
            "op": op,
            "completion": op + 1,
            "process": 3_000_000 + line,
            "node": leader_at(log, served),
            "f": f,
            "type": "ok",
            "error": "NONE",
            "began": served - random.integers(1, WAIT_NS // 4, count),
            "answered": served + random.integers(1, WAIT_NS // 4, count),
        }
        return shared, log, served

    def _listed(self) -> Rows:
        """Half of the questions are for the end, the others for the start or by timestamp."""
        count, entries = LISTINGS_A_STRETCH, self._entries
        shared, log, served = self._asked("list_offsets", count, LISTING)
        kind = self._random.random(count)
        since = self._random.integers(self._sends.at[0], served + 1)
        found = entries.first_since(log, since, served)
        searched = (kind > 0.7) & (found >= 0)
        latest = ~searched & (kind > 0.2)
        offset = np.where(latest, entries.high_watermark(log, served), 0)
        at = np.where(searched, entries.appended_at(found), 0)
        answer = {
            "asked_timestamp": np.where(
                searched, _stamp(since), np.where(latest, LATEST, EARLIEST)
            ),
            "isolation": "read_uncommitted",
            "answered_offset": np.where(searched, entries.offset[found], offset),
            "found_timestamp": np.where(searched, _stamp(at), -1),
            "leader_epoch": epoch_at(np.where(latest, served, at)),
            "current_leader_epoch": epoch_at(served),
        }
        yield from _both(shared, answer, ended=shared["answered"])
        yield "offsets_listed", _table("offsets_listed", {**shared, **answer}, count)

    def _deleted(self) -> Rows:
        """Nobody needs to lose anything to ask for the deletion of what is below offset 0."""
        shared, _, _ = self._asked("delete_records", DELETIONS_A_STRETCH, DELETION)
        answer = {"asked_offset": 0, "log_start_offset": 0}
        yield from _both(shared, answer, ended=shared["answered"])


def _extent(offset: Ints, fetch: Ints, count: int) -> Columns:
    """How many records each fetch was given, the first and the last."""
    firsts, lasts = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    firsts[fetch[::-1]] = offset[::-1]
    lasts[fetch] = offset
    return {
        "records": np.bincount(fetch, minlength=count),
        "first_offset": _where(firsts, firsts >= 0),
        "last_offset": _where(lasts, lasts >= 0),
    }


def write_bulk(folder: Path, rows: int, partitions: int, *, seed: int = 1) -> dict[str, Path]:
    """Write every silver table of a history of about so many rows; where each one is.

    A history has whole stretches, at least one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.parquet" for name in TABLES}
    writers = {
        name: pq.ParquetWriter(path, arrow_schema(TABLES[name])) for name, path in paths.items()
    }
    random, logs = np.random.default_rng(seed), Logs(partitions)
    for number in range(max(1, round(rows / ROWS_A_SEND / SENDS_A_STRETCH))):
        for name, table in _Stretch(random, logs, number).tables():
            writers[name].write_table(table)
    for writer in writers.values():
        writer.close()
    return paths

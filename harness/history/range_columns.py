"""Operations of a range as rows of the silver tables, column by column.

Each table takes its columns from the lines of its operations: `asked` those of the invocation,
`told` those of the completion. Numbers that may be absent come with where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from .compiled.scan import (
    FETCH,
    FIELD,
    INFO,
    NUMBERS,
    OK,
    PRODUCE,
    RECORD_NUMBERS,
    RECORD_TEXTS,
    REQUESTS,
    TYPES,
)
from .range_lines import RangeLines, fingerprint
from .silver import arrow_schema
from .tables import TABLES

Array = np.ndarray[Any, Any]
Given = tuple[Array, Array]
"""Numbers, and which of them are there."""

_SAME_AGAIN: Final = ("clock", "topic", "isolation", "rack", "error", "transaction")
"""Texts of which a history has few: they are written once each."""


class Operations:
    """The operations of a range, by the numbers of their two lines."""

    def __init__(self, lines: RangeLines, asked: Array, told: Array) -> None:
        """Line by line the same operation."""
        self.lines = lines
        self.asked = asked
        self.told = told
        self.request = lines.requests[asked]
        self.type = lines.types[told]
        self._texts = {name: lines.interned(name) for name in _SAME_AGAIN}

    def number(self, name: str, of: Array) -> Given:
        """A number of some lines."""
        field = FIELD[name]
        there = FIELD["producer"] if name in ("producer_id", *NUMBERS[-2:]) else field
        return self.lines.numbers[of, field], (self.lines.said[of] >> there & 1).astype(bool)

    def text(self, name: str, of: Array) -> pa.Array:
        """A text of some lines."""
        if name in self._texts:
            codes, words = self._texts[name]
            return _coded(codes[of], words)
        return self.lines.copied(self.lines.places(name)[of])

    def rows(self, table: str) -> pa.Table:
        """The rows of one table."""
        columns = _COLUMNS[table](self)
        schema = arrow_schema(TABLES[table])
        count = len(columns[schema.names[0]])
        arrays = [
            pa.nulls(count, field.type)
            if (given := columns.get(field.name)) is None
            else _array(given, field.type)
            for field in schema
        ]
        return pa.Table.from_arrays(arrays, names=schema.names)

    def chosen(self, which: Array) -> Operations:
        """Some of the operations."""
        part = object.__new__(Operations)
        part.lines, part._texts = self.lines, self._texts
        part.asked, part.told = self.asked[which], self.told[which]
        part.request, part.type = self.request[which], self.type[which]
        return part

    def index(self, of: Array) -> Array:
        """The index of some lines."""
        return np.asarray(self.lines.numbers[of, 0])

    def buckets(self, count: int) -> Array:
        """In which of so many buckets each operation is: those of one log in the same."""
        codes, words = self._texts["topic"]
        names = np.array([fingerprint(word) for word in words.to_pylist()] or [0], np.uint64)
        partitions, _ = self.number("partition", self.asked)
        return np.asarray(
            (names[codes[self.asked]] + partitions.astype(np.uint64)) % np.uint64(count)
        )


Columns = dict[str, Any]


def _coded(codes: Array, words: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)


def _named(codes: Array, words: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words))


def _array(given: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(given, pa.Array):
        return given
    values, there = given if isinstance(given, tuple) else (given, None)
    wanted = kind.to_pandas_dtype()
    return pa.array(values.astype(wanted, copy=False), mask=None if there is None else ~there)


def _where(given: Given, condition: Array) -> Given:
    return given[0], given[1] & condition


def _either(first: Given, second: Given) -> Given:
    return np.where(first[1], first[0], second[0]), first[1] | second[1]


def _not_negative(given: Given) -> Given:
    return _where(given, given[0] >= 0)


def _shared(ops: Operations) -> Columns:
    """What the tables of requests have in common."""
    asked, told = ops.asked, ops.told
    moments = ops.lines.moments
    over = ops.type != INFO
    return {
        "op": ops.index(asked),
        "completion": ops.index(told),
        "process": ops.number("process", asked),
        "node": _either(ops.number("node", asked), ops.number("node", told)),
        "topic": ops.text("topic", asked),
        "partition": ops.number("partition", asked),
        "f": _named(ops.request, REQUESTS),
        "type": _named(ops.type, TYPES),
        "error": ops.text("error", told),
        "clock": ops.text("clock", asked),
        "began": moments[asked],
        "answered": moments[told],
        "ended": (moments[told], over),
    }


def _ops(ops: Operations) -> Columns:
    time = FIELD["time"]
    numbers = ops.lines.numbers
    return _shared(ops) | {
        "invoked_ns": numbers[ops.asked, time],
        "completed_ns": numbers[ops.told, time],
    }


def _asked_offset(ops: Operations) -> Given:
    offset = _either(ops.number("offset", ops.asked), ops.number("offset", ops.told))
    return _where(offset, ops.request == FETCH)


def _isolation(ops: Operations) -> pa.Array:
    """What was asked, and what Kafka's protocol assumes of a read that does not say."""
    codes, words = ops.lines.interned("isolation")
    unsaid = (codes[ops.asked] < 0) & (ops.request != PRODUCE)
    return _coded(
        np.where(unsaid, np.int32(len(words)), codes[ops.asked]),
        pa.concat_arrays([words, pa.array(["read_uncommitted"])]),
    )


def _answers(ops: Operations) -> Columns:
    asked, told = ops.asked, ops.told
    return _shared(ops) | {
        "asked_offset": _asked_offset(ops),
        "asked_timestamp": _where(
            ops.number("timestamp", asked), ops.request == REQUESTS.index("list_offsets")
        ),
        "isolation": _isolation(ops),
        "answered_offset": _where(ops.number("offset", told), ops.request != FETCH),
        "found_timestamp": ops.number("found_timestamp", told),
        "leader_epoch": _not_negative(ops.number("leader_epoch", told)),
    }


def _responses(ops: Operations) -> Columns:
    asked, told = ops.asked, ops.told
    first, count = ops.lines.listed[told, 0], ops.lines.listed[told, 1]
    listed = (count >= 0) & (ops.request == FETCH)
    offsets = ops.lines.record_numbers[:, 0, 0]
    some = listed & (count > 0)
    columns = _answers(ops) | {
        **{name: ops.text(name, asked) for name in ("request", "send", "rack")},
        **{name: ops.number(name, asked) for name in ("attempt", "acks", "max_bytes")},
        **{
            name: ops.number(name, told)
            for name in (
                *("high_watermark", "last_stable_offset", "log_start_offset", "bytes"),
                *("preferred_read_replica", "first_batch_bytes"),
            )
        },
        "current_leader_epoch": _not_negative(ops.number("leader_epoch", asked)),
        "records": (count, listed),
    }
    for name, place in (("first_offset", first), ("last_offset", first + count - 1)):
        columns[name] = (_at(offsets, place, some), some)
    return columns


def _at(values: Array, places: Array, there: Array) -> Array:
    """Values at places, as far as they are there."""
    found = np.zeros(len(places), np.int64)
    found[there] = values[places[there]]
    return found


def _listed(ops: Operations) -> Columns:
    return _answers(ops.chosen(ops.request == REQUESTS.index("list_offsets")))


def _unrolled(ops: Operations, of: Array) -> tuple[Array, Array, Array]:
    """For each record: its operation, its place there, its number among all records."""
    first, count = ops.lines.listed[of, 0], np.maximum(ops.lines.listed[of, 1], 0)
    parent = np.repeat(np.arange(len(of)), count)
    position = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
    return parent, position, first[parent] + position


def _record(ops: Operations, record: Array) -> Columns:
    numbers = {
        name: (
            ops.lines.record_numbers[record, place, 0],
            ops.lines.record_numbers[record, place, 1].astype(bool),
        )
        for place, name in enumerate(RECORD_NUMBERS)
    }
    texts = {
        name: ops.lines.copied(ops.lines.record_texts[record, place])
        for place, name in enumerate(RECORD_TEXTS)
    }
    return numbers | texts


def _records_seen(ops: Operations) -> Columns:
    fetches = ops.chosen((ops.request == FETCH) & (ops.lines.listed[ops.told, 1] > 0))
    parent, position, record = _unrolled(fetches, fetches.told)
    each = fetches.chosen(parent)
    shared = _shared(each)
    asked = _asked_offset(each)
    first = position == 0
    seen = _record(ops, record)
    before = ops.lines.record_numbers[np.maximum(record - 1, 0), 0, 0]
    return {
        **shared,
        **seen,
        "mop": np.zeros(len(record), np.int32),
        "position": position,
        "asked_offset": asked,
        "follows": (np.where(first, asked[0] - 1, before), ~first | asked[1]),
        "isolation": _isolation(each),
        "rebalanced": np.zeros(len(record), bool),
    }


def _sent(ops: Operations) -> Columns:
    """What the tables of sends have in common; of each send the one attempt."""
    ok = ops.type == OK
    producer, known = ops.number("producer_id", ops.asked)
    idempotent = known & (producer >= 0)
    columns = _shared(ops)
    offset = _where(_not_negative(ops.number("offset", ops.told)), ok)
    ones = np.ones(len(ops.asked), np.int32)
    return columns | {
        "completion": (columns["completion"], ops.type != INFO),
        "send": ops.text("send", ops.asked),
        "acks": ops.number("acks", ops.asked),
        "transaction": ops.text("transaction", ops.asked),
        "producer_id": (producer, idempotent),
        **{
            name: _where(_not_negative(ops.number(name, ops.asked)), idempotent)
            for name in ("producer_epoch", "base_sequence")
        },
        "attempts": (ones, ops.number("attempt", ops.asked)[1]),
        "base_offset": offset,
    }


def _sends(ops: Operations) -> Columns:
    sends = ops.chosen(ops.request == PRODUCE)
    ok = sends.type == OK
    codes, words = ops.lines.interned("error")
    return _sent(sends) | {
        "records": sends.lines.listed[sends.asked, 1],
        "acknowledged": ok.astype(np.int32),
        "error": _coded(np.where(ok, np.int32(-1), codes[sends.told]), words),
    }


def _records_sent(ops: Operations) -> Columns:
    sends = ops.chosen(ops.request == PRODUCE)
    parent, position, record = _unrolled(sends, sends.asked)
    sent = _sent(sends.chosen(parent))
    offset, sequence = sent["base_offset"], sent["base_sequence"]
    told = _record(ops, record)
    return {
        **sent,
        **{name: told[name] for name in ("value", "timestamp", "record_key")},
        "mop": np.zeros(len(record), np.int32),
        "position": position,
        "sequence": (sequence[0] + position, sequence[1]),
        "record_offset": (offset[0] + position, offset[1]),
    }


_COLUMNS: Final[Mapping[str, Callable[[Operations], Columns]]] = {
    "ops": _ops,
    "responses": _responses,
    "offsets_listed": _listed,
    "records_seen": _records_seen,
    "sends": _sends,
    "records_sent": _records_sent,
}

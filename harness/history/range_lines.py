"""The lines of a range of a sealed history as columns, and which of them are operations.

What is not plain is decoded by itself. A line that is not laid out with another as an operation is
left over: with the lines that are not plain it is laid out one by one (`rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from .compiled import pairs
from .compiled.scan import (
    FAIL,
    FIELD,
    INVOKE,
    NUMBERS,
    PRODUCE,
    RECORD_NUMBERS,
    RECORD_TEXTS,
    REQUESTS,
    TEXTS,
    scan,
)
from .kafka_errors import REQUESTS as KNOWN_REQUESTS
from .kafka_errors import Indefinite, definiteness
from .lines import BadLine, Event, decode
from .schema import EVENT_KINDS, line_fault

Array = np.ndarray[Any, Any]

_ROLES: Final = {True: pairs.OTHER_INVOKE, False: pairs.OTHER_END}


class UnsoundRange(Exception):
    """A line of the range is no event with the index that is due: all of it is read by lines."""


class RangeLines:
    """Whole lines, each with its newline, as columns."""

    def __init__(self, block: bytes, *, index_ordered: bool) -> None:
        """`UnsoundRange` unless every line is an event and follows the one before."""
        self._block = block
        self._data = np.frombuffer(block, np.uint8)
        self.ends = np.flatnonzero(self._data == ord("\n"))
        count, lists = len(self.ends), block.count(b"[")
        # Read column by column.
        self.numbers = np.empty((count, len(NUMBERS)), np.int64, order="F")
        self._texts = np.empty((count, len(TEXTS), 2), np.int32)
        self.said = np.empty(count, np.int64)
        self.types = np.empty(count, np.int8)
        self.requests = np.empty(count, np.int8)
        self.listed = np.empty((count, 2), np.int32)
        self.record_numbers = np.empty((lists, len(RECORD_NUMBERS), 2), np.int64)
        self.record_texts = np.empty((lists, len(RECORD_TEXTS), 2), np.int32)
        scan(
            self._data,
            self.ends,
            (self.numbers, self._texts, self.listed),
            self.said,
            self.types,
            self.requests,
            (self.record_numbers, self.record_texts),
        )
        self.others = self._decoded()
        self.first_index = int(self.numbers[0, 0])
        if not np.array_equal(
            self.numbers[:, 0], np.arange(self.first_index, self.first_index + count)
        ):
            raise UnsoundRange
        self.moments = self.numbers[:, 0 if index_ordered else FIELD["time"]]
        self._interned: dict[str, tuple[Array, pa.Array]] = {}
        self.roles = self._roles()

    def raw(self, line: int) -> bytes:
        """A line without its newline."""
        start = self.ends[line - 1] + 1 if line else 0
        return self._block[start : self.ends[line]]

    def _decoded(self) -> Mapping[int, Event]:
        """The lines that are not plain, by their numbers."""
        found: dict[int, Event] = {}
        for line in np.flatnonzero(self.said == 0).tolist():
            try:
                event = decode(self.raw(line))
            except BadLine:
                raise UnsoundRange from None
            sound = line_fault(event) is None and event["kind"] in EVENT_KINDS
            if not sound or event.get("index") is None:
                raise UnsoundRange
            self.numbers[line, 0] = event["index"]
            self.numbers[line, FIELD["time"]] = event["time"]
            found[line] = event
        return found

    def _roles(self) -> Array:
        roles = np.where(self.types == INVOKE, pairs.PLAIN_INVOKE, pairs.PLAIN_END).astype(np.int8)
        for line, event in self.others.items():
            op = event["kind"] == "op"
            roles[line] = _ROLES[event["type"] == "invoke"] if op else pairs.NO_OP
            self.numbers[line, FIELD["process"]] = event["process"] if op else 0
        return roles

    def paired(self) -> tuple[Array, Edges]:
        """Of each line the other half of its operation, -1 if it is left over; and what a range
        before or behind has to know."""
        size = 1 << (2 * max(len(self.ends), 1)).bit_length()
        keys = np.empty(size, np.int64)
        first, last = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        partner = np.empty(len(self.ends), np.int64)
        processes = self.numbers[:, FIELD["process"]]
        pairs.pair(processes, self.roles, keys, first, last, partner)
        pairs.part_unlike(
            self._data, partner, self.moments, self.numbers, self._texts, self.said, self.requests
        )
        self._part_doubtful(partner)
        used = first >= 0
        first, last = first[used], last[used]
        order = np.argsort(first)
        return partner, Edges(self, keys[used][order], first[order], last[order])

    def _part_doubtful(self, partner: Array) -> None:
        """Take apart what failed by an error that does not prove it."""
        plain_fail = (self.said != 0) & (self.types == FAIL) & (partner >= 0)
        plain_fail &= (self.said >> FIELD["error"] & 1).astype(bool)
        if not plain_fail.any():
            return
        known: dict[tuple[int, int], bool] = {}
        codes, words = self.interned("error")
        for line in np.flatnonzero(plain_fail).tolist():
            case = int(self.requests[line]), int(codes[line])
            if case not in known:
                known[case] = _definite(REQUESTS[case[0]], words[case[1]].as_py())
            if not known[case]:
                partner[partner[line]] = partner[line] = pairs.ALONE

    def places(self, name: str) -> Array:
        """Where a text stands, by line; its size is negative where the line has none."""
        places = self._texts[:, TEXTS.index(name)].copy()
        places[(self.said >> FIELD[name] & 1) == 0, 1] = -1
        return places

    def interned(self, name: str) -> tuple[Array, pa.Array]:
        """A text of which there are few: a number for each line, and the texts."""
        if name not in self._interned:
            places = self.places(name)
            table = np.full(1 << (2 * max(len(places), 1)).bit_length(), -1, np.int32)
            codes = np.empty(len(places), np.int32)
            firsts = np.empty(len(places), np.int32)
            count = pairs.intern(self._data, places, table, codes, firsts)
            self._interned[name] = codes, self.copied(places[firsts[:count]])
        return self._interned[name]

    def copied(self, places: Array) -> pa.Array:
        """Texts at places; null where the size is negative."""
        sizes = places[:, 1]
        bounds = np.zeros(len(places) + 1, np.int64)
        np.cumsum(np.maximum(sizes, 0), out=bounds[1:])
        bounds = bounds.astype(np.int32)
        copied = np.empty(int(bounds[-1]), np.uint8)
        pairs.copy_texts(self._data, places, bounds, copied)
        missing = sizes < 0
        there = pa.array(~missing).buffers()[1] if missing.any() else None
        return pa.StringArray.from_buffers(
            len(places), pa.py_buffer(bounds), pa.py_buffer(copied), there
        )

    def sent(self) -> tuple[Array, Array]:
        """The lines that invoke a produce request, and a fingerprint of each send's name."""
        plain = (self.said != 0) & (self.types == INVOKE) & (self.requests == PRODUCE)
        named = plain & (self.places("send")[:, 1] > 0)
        lines = np.flatnonzero(named)
        found = np.empty(len(lines), np.uint64)
        pairs.fingerprints(self._data, self.places("send")[lines], found)
        without = np.flatnonzero(plain & ~named).tolist()
        unnamed: dict[int, str] = {line: f"op-{self.numbers[line, 0]}" for line in without}
        for line, event in self.others.items():
            if event["kind"] == "op" and event["f"] == "produce" and event["type"] == "invoke":
                unnamed[line] = event.get("send") or f"op-{event['index']}"
        more = np.fromiter(unnamed, np.int64, len(unnamed))
        prints = np.array([fingerprint(name) for name in unnamed.values()], np.uint64)
        return np.concatenate([lines, more]), np.concatenate([found, prints])

    def started(self) -> dict[str, int]:
        """When each clock shows its first operation."""
        found: dict[str, tuple[int, int]] = {}
        codes, words = self.interned("clock")
        seen, first = np.unique(codes, return_index=True)
        for code, line in zip(seen.tolist(), first.tolist(), strict=True):
            if code >= 0:
                found[words[code].as_py()] = line, int(self.moments[line])
        for line, event in self.others.items():
            if event["kind"] == "op" and line < found.get(event["clock"], (line + 1, 0))[0]:
                found[event["clock"]] = line, int(self.moments[line])
        return {clock: moment for clock, (_, moment) in found.items()}


class Edges:
    """Of each process in a range: how it begins there, and how it ends."""

    def __init__(self, lines: RangeLines, process: Array, first: Array, last: Array) -> None:
        """By the numbers of the first line of each process, and of the last."""
        self._lines = lines
        self._process = process
        self._first = first
        self._last = last

    def rows(self, partner: Array) -> Array:
        """Process, index of its first line and of the other half of that, whether the first line
        invokes, whether the last one does."""
        lines, first = self._lines, self._first
        invokes = np.isin(lines.roles, (pairs.PLAIN_INVOKE, pairs.OTHER_INVOKE))
        other = partner[first]
        rows = [
            self._process,
            lines.numbers[first, 0],
            np.where(other >= 0, lines.numbers[other, 0], -1),
            invokes[first],
            invokes[self._last],
        ]
        return np.stack(rows, axis=1) if len(first) else np.empty((0, 5), np.int64)


def fingerprint(text: str) -> int:
    """What `sent` has for a name."""
    data = np.frombuffer(text.encode(), np.uint8)
    found = np.empty(1, np.uint64)
    pairs.fingerprints(data, np.array([[0, len(data)]], np.int32), found)
    return int(found[0])


def _definite(f: str, error: str) -> bool:
    return f not in KNOWN_REQUESTS or not isinstance(definiteness(f, error), Indefinite)

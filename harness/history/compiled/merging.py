"""Lines of shards: where each stands in time, and what sealing makes of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..schema import EVENT_KINDS
from .machine_code import compiled, part
from .scan import same, word, words

Array = np.ndarray[Any, Any]

INDEX_DIGITS: Final = 20
"""No index has more of them."""
INDEX: Final = np.frombuffer(b'"index":', np.uint8)

_KIND: Final = np.frombuffer(b'{"kind":', np.uint8)
_TIME: Final = np.frombuffer(b',"time":', np.uint8)
_CLOCK: Final = np.frombuffer(b',"clock":', np.uint8)
_KIND_TEXT, _KIND_BOUNDS = words(tuple(EVENT_KINDS))
_MOST_DIGITS: Final = 18
_QUOTE, _COMMA, _BACKSLASH, _ZERO, _NINE = 34, 44, 92, 48, 57


@part
def _time(data: Array, at: int) -> tuple[int, int]:
    """Digits, at most 18 of them, and where they end; -1 if there are none, or more."""
    value, start = 0, at
    while _ZERO <= data[at] <= _NINE:
        if at - start == _MOST_DIGITS:
            return 0, -1
        value = value * 10 + int(np.int64(data[at]) - _ZERO)
        at += 1
    return value, at if at > start else -1


@part
def _own_clock(data: Array, at: int, clock: Array) -> int:
    """Whether the string that begins is this clock: 1 or 0; -1 if it is not plain."""
    start = at
    while data[at] != _QUOTE:
        if data[at] < 32 or data[at] > 126 or data[at] == _BACKSLASH:
            return -1
        at += 1
    return 1 if at - start == len(clock) and same(data, start, clock, 0, len(clock)) else 0


@compiled
def places(
    data: Array, starts: Array, line: int, clock: Array, place: Array, keys: Array, openings: Array
) -> int:
    """The place in the merge of each line from one on, and how long its opening is, which is its
    kind; the number of the first line that is not plain.

    Lines begin at `starts`, the last of which is the end of the data. A line of another clock than
    the shard's keeps its place behind the line before it. `place` are the time of the last line and
    the latest of all.
    """
    while line < len(starts) - 1:
        at = starts[line]
        # A plain line ends each of these comparisons at its newline, if not before.
        if not same(data, at, _KIND, 0, len(_KIND)):
            return line
        _, at = word(data, at + len(_KIND), _KIND_TEXT, _KIND_BOUNDS)
        if at < 0 or not same(data, at, _TIME, 0, len(_TIME)):
            return line
        openings[line] = at + 1 - starts[line]
        time, at = _time(data, at + len(_TIME))
        if at < 0 or not same(data, at, _CLOCK, 0, len(_CLOCK)):
            return line
        at += len(_CLOCK)
        own = _own_clock(data, at + 1, clock) if data[at] == _QUOTE else -1
        if own < 0:
            return line
        if own == 1:
            place[0] = time
        place[1] = max(place[0], place[1])
        keys[line] = place[1]
        line += 1
    return line


@part
def _digits(index: int) -> int:
    count = 1
    while index >= 10:
        index //= 10
        count += 1
    return count


@part
def _copied(data: Array, start: int, size: int, out: Array, to: int) -> int:
    for n in range(size):
        out[to + n] = data[start + n]
    return to + size


@compiled
def sealed(
    data: Array, starts: Array, sizes: Array, openings: Array, order: Array, index: int, out: Array
) -> int:
    """Write lines in an order, each with its index; how many bytes that makes."""
    to = 0
    for line in order:
        start, opening, size = starts[line], openings[line], sizes[line]
        to = _copied(data, start, opening, out, to)
        to = _copied(INDEX, 0, len(INDEX), out, to)
        rest, to = index, to + _digits(index)
        for n in range(1, _digits(index) + 1):
            out[to - n] = _ZERO + rest % 10
            rest //= 10
        out[to] = _COMMA
        to = _copied(data, start + opening, size - opening, out, to + 1)
        index += 1
    return to

"""Histories of many independent objects, told apart by their values.

Jepsen runs a test over many keys at once by pairing every value with its key: a read asks `[k nil]`
and is told `[k 4]`, a compare-and-set asks `[k [1 2]]`. Who reads one object asks nil, so a history
whose reads ask for a pair with nothing in it, and whose other operations ask for pairs too, is one
of pairs; where nobody reads, one whose compare-and-sets all have a pair in their pair. Its
operations are brought into our form, with a `key`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from .history import History, Pass
from .lines import Event

_READS: Final = frozenset({"read", "get"})
_LOOKED_AT: Final = 1_000
_PAIR: Final = 2


def by_key(history: History) -> History:
    """The history with a key in each operation, if its values are pairs; else as it is."""
    if not _is_of_pairs(history):
        return history

    def source(passed: Pass) -> Iterator[Event]:
        yield from map(_apart, history.events)
        passed.ended = history.complete
        passed.ignored, passed.footer = history.ignored, history.footer
        passed.notes += history.notes
        for problem in history.problems:
            passed.log.add(problem.line, problem.reason)

    return History(
        name=history.name,
        header=history.header,
        source=source,
        first_line=history.first_line,
    )


def _is_of_pairs(history: History) -> bool:
    """Whether all that the first operations ask for are pairs, and some of them say of what."""
    asked = [
        event
        for event in islice(history.events, _LOOKED_AT)
        if event["kind"] == "op" and event["type"] == "invoke"
    ]
    if not all(_is_pair(event.get("value")) and "key" not in event for event in asked):
        return False
    reads: list[Any] = [event["value"][1] for event in asked if event["f"] in _READS]
    swaps: list[Any] = [event["value"][1] for event in asked if event["f"] == "cas"]
    if reads:
        return all(value is None for value in reads)
    return bool(swaps) and all(map(_is_pair, swaps))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == _PAIR


def _apart(event: Event) -> Event:
    if event["kind"] != "op" or not _is_pair(event.get("value")):
        return event
    key, value = event["value"]
    return {**event, "key": key, "value": value}

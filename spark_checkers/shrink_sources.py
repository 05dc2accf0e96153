"""Which operation wrote what another one read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

Event = dict[str, Any]
Unit = tuple[Event, ...]
Written = tuple[str, str]  # an object and a value, as text


class Writers:
    """The units of a history by what they wrote and what they were told."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._told = [tuple(dict.fromkeys(_told(unit))) for unit in units]
        self._brought = [tuple(dict.fromkeys(_brought(unit))) for unit in units]
        self._read = [tuple(dict.fromkeys(_listed(unit))) for unit in units]
        self._began = [int(unit[0]["index"]) for unit in units]
        self._ended = [int(unit[-1]["index"]) for unit in units]
        self._wrote: dict[Written, list[int]] = {}
        self._failed: dict[Written, list[int]] = {}
        for place, unit in enumerate(units):
            into = self._failed if unit[-1].get("type") == "fail" else self._wrote
            for written in dict.fromkeys(_brought(unit)):
                into.setdefault(written, []).append(place)

    def read(self, places: Iterable[int]) -> list[Written]:
        """The values that some units were told one beside another, and that could be left out."""
        return list(dict.fromkeys(told for place in places for told in self._read[place]))

    def wrote(self, place: int, values: Collection[Written]) -> bool:
        """Whether a unit wrote one of these."""
        return any(one in values for one in self._brought[place])

    def only_wrote(self, place: int, values: Collection[Written]) -> bool:
        """Whether a unit wrote something, and nothing but these."""
        brought = self._brought[place]
        return bool(brought) and all(one in values for one in brought)

    def with_sources(
        self, places: set[int], without: Collection[Written] = frozenset()
    ) -> set[int]:
        """These units, and for every value told to one of them those that may have written it,
        but for values that nobody is told any more."""
        closed, waiting = set(places), sorted(places)
        while waiting:
            place = waiting.pop()
            for told in self._told[place]:
                if told in without:
                    continue
                new = [one for one in self._sources(told, place) if one not in closed]
                closed.update(new)
                waiting += new
        return closed

    def _sources(self, told: Written, reader: int) -> list[int]:
        """The last that began to write the value before the reader began, and all that did while
        it went on; if there is none, the first that ever did. Failed ones only if no other did."""
        wrote = self._wrote.get(told) or self._failed.get(told, [])
        before = [one for one in wrote if self._began[one] < self._began[reader]]
        during = [
            one for one in wrote if self._began[reader] < self._began[one] < self._ended[reader]
        ]
        return [*before[-1:], *during] or wrote[:1]


def untold(event: Event, asked: Event, values: Collection[Written]) -> Event:
    """What an operation was told, without some of the values that it read."""
    home = _home(asked)
    kept = dict(event)
    if isinstance(event.get("records"), list):
        kept["records"] = [
            record
            for record in event["records"]
            if not {*_records([record], home, place=1)} & {*values}
        ]
    if _is_poll_list(event.get("value")):
        kept["value"] = [_poll_without(part, home, values) for part in event["value"]]
    return kept


def _poll_without(part: Any, home: str, values: Collection[Written]) -> Any:
    if part[0] != "poll" or len(part) < 2 or not isinstance(part[1], dict):
        return part
    found = {
        key: [one for one in told if not {*_values({key: [one]}, home)} & {*values}]
        for key, told in part[1].items()
    }
    return [part[0], {key: told for key, told in found.items() if told}, *part[2:]]


def _is_poll_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_micro(part) for part in value)


def _listed(unit: Unit) -> Iterator[Written]:
    """What an operation was told in a list: each can be left out without touching the others."""
    if unit[0]["kind"] != "op":
        return
    home = _home(unit[0])
    for event in unit[1:]:
        yield from _records(event.get("records"), home, place=1) if _fetched(unit) else ()
        if _is_poll_list(event.get("value")):
            for part in event["value"]:
                if part[0] == "poll" and len(part) > 1:
                    yield from _values(part[1], home)


def _fetched(unit: Unit) -> bool:
    return not unit[0].get("records")


def _brought(unit: Unit) -> Iterator[Written]:
    """What an operation asked to be stored."""
    asked = unit[0]
    if asked["kind"] == "op" and asked["type"] == "invoke":
        home = _home(asked)
        yield from _values(asked.get("value"), home)
        yield from _records(asked.get("records"), home, place=0)


def _told(unit: Unit) -> Iterator[Written]:
    """What an operation was told that others had stored."""
    if unit[0]["kind"] != "op":
        return
    own = dict.fromkeys(_brought(unit))
    for event in unit[1:]:
        home = _home(unit[0])
        found = [
            *_values(event.get("value"), home),
            *_records(event.get("records"), home, place=1),
            *_expected(unit[0], event, home),
        ]
        yield from (written for written in found if written not in own)


def _expected(asked: Event, told: Event, home: str) -> Iterator[Written]:
    """What a compare-and-set that succeeded has found."""
    if asked["f"] == "cas" and told["type"] == "ok" and isinstance(asked.get("value"), list):
        yield home, json.dumps(asked["value"][0])


def _home(event: Event) -> str:
    return json.dumps([event.get("topic"), event.get("partition"), event.get("key")])


def _records(records: Any, home: str, *, place: int) -> Iterator[Written]:
    """The values of the records of a produce or a fetch."""
    for record in records or ():
        if isinstance(record, list) and len(record) > place:
            yield home, json.dumps(record[place])


def _values(value: Any, home: str) -> Iterator[Written]:
    """The values in the value of a model operation, micro-operations of a log included."""
    if isinstance(value, dict):
        for key, messages in value.items():
            for message in messages or ():
                yield json.dumps([home, key]), json.dumps(message[-1])
    elif isinstance(value, list) and _is_micro(value):
        yield from _micro(value, home)
    elif isinstance(value, list) and value and all(_is_micro(part) for part in value):
        for part in value:
            yield from _micro(part, home)
    elif isinstance(value, list) and value:
        yield home, json.dumps(value[-1])  # a compare-and-set stores its second
    elif value is not None:
        yield home, json.dumps(value)


def _is_micro(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and value[0] in ("send", "poll")


def _micro(value: Sequence[Any], home: str) -> Iterable[Written]:
    if value[0] == "poll":
        return _values(value[1] if len(value) > 1 else None, home)
    sent = value[2]
    return [
        (json.dumps([home, value[1]]), json.dumps(sent[-1] if isinstance(sent, list) else sent))
    ]

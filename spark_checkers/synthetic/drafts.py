"""A good history in the hand of somebody who breaks it.

A plant is the smallest change that breaks one promise. It knows which rules must find it and at
which operations, and which other rules see the same change with their own eyes. A history may have
no place for a plant: then there is nothing to plant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from spark_checkers.synthetic.journal import Event, Line
from spark_checkers.synthetic.simulated import Simulated

_Json = TypeVar("_Json")


def _copied(value: _Json) -> _Json:
    """What JSON can hold, copied whole; `deepcopy` would look for what JSON cannot hold."""
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [_copied(each) for each in value]  # type: ignore[return-value]
    return value


@dataclass(slots=True, eq=False)
class Operation:
    """One operation; its two lines may be changed."""

    invoke: Event
    completion: Event

    @property
    def f(self) -> str:
        """What was asked."""
        return str(self.invoke["f"])

    @property
    def ok(self) -> bool:
        """Whether it was answered with success."""
        return bool(self.completion["type"] == "ok")

    def precedes(self, other: Operation) -> bool:
        """Whether it was over before the other began, by a clock they share."""
        shared = self.completion["clock"] == other.invoke["clock"]
        return bool(shared and self.completion["time"] < other.invoke["time"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A history with an anomaly, and the lines of it at which a rule may point."""

    history: Simulated
    at: frozenset[int]


class Draft:
    """A copy of a history to be changed: its lines in order, its answered operations."""

    def __init__(self, good: Simulated) -> None:
        self._good = good
        ordered = sorted(good.lines, key=lambda line: (line.event["time"], line.writer))
        self._lines = [Line(line.writer, _copied(line.event)) for line in ordered]
        self.operations = list(self._paired())

    def _paired(self) -> Iterator[Operation]:
        begun: dict[int, Event] = {}
        for event in (line.event for line in self._lines):
            if event["kind"] == "op" and event["type"] == "invoke":
                begun[event["process"]] = event
            elif event["kind"] == "op":
                yield Operation(begun.pop(event["process"]), event)

    def of(self, f: str) -> list[Operation]:
        """The ok operations that asked for this."""
        return [operation for operation in self.operations if operation.f == f and operation.ok]

    @property
    def free_process(self) -> int:
        """A number that no process has."""
        return 1 + max(int(operation.invoke["process"]) for operation in self.operations)

    @property
    def start(self) -> int:
        """A time before everything."""
        return min(int(line.event["time"]) for line in self._lines) - 1_000

    @property
    def end(self) -> int:
        """A time after everything."""
        return max(int(line.event["time"]) for line in self._lines) + 1_000

    def add(self, operation: Operation) -> Operation:
        """Somebody else did this too."""
        at = {"kind": "op", "clock": "host"}
        operation.invoke = {**at, "type": "invoke", **operation.invoke}
        operation.completion = {**at, **operation.completion}
        for event in (operation.invoke, operation.completion):
            self._lines.append(Line(f"planted-{event['process']}", event))
        self.operations.append(operation)
        return operation

    def keep(self, operation: Operation) -> None:
        """Leave all other operations out."""
        kept = (operation.invoke, operation.completion)
        self._lines = [line for line in self._lines if any(line.event is one for one in kept)]

    def planted(self, *involved: Operation) -> Planted:
        """The changed history; the anomaly shows at the operations involved."""
        history = replace(self._good, lines=tuple(self._lines))
        ordered = sorted(self._lines, key=lambda line: (line.event["time"], line.writer))
        places = {id(line.event): at for at, line in enumerate(ordered)}
        lines = [event for one in involved for event in (one.invoke, one.completion)]
        return Planted(history=history, at=frozenset(places[id(event)] for event in lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """One anomaly: how to plant it, who must find it, who else may see it."""

    name: str
    found_by: tuple[str, ...]
    seen_by: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    """The circumstances under which it is looked for."""
    change: Callable[[Draft, Random], Planted | None]

    def into(self, good: Simulated, seed: int) -> Planted | None:
        """The history with the anomaly, or nothing if it has no place for it."""
        return self.change(Draft(good), Random(seed))

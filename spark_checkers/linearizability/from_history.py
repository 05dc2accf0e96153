"""Imported op events into operations, per key.

An event is a dict: kind `op`, `index`, `process`, `type` (invoke, ok, fail, info), `f`, `value`,
and `key` where the history has several objects. A completion belongs to the open invoke of its
process. The index is the clock: it orders a history completely.

`fail` means that the operation did not happen, so it is left out. `info`, no completion at all, or
a process that begins something else meanwhile: the outcome is unknown. What a nemesis notes down
(a process that is not a number, with functions no model knows) is not an operation of the object.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from spark_checkers.linearizability.models import Model
from spark_checkers.linearizability.operation import Operation, UnusableHistory, frozen
from spark_checkers.linearizability.search import search
from spark_checkers.linearizability.walk import Verdict

Event = Mapping[str, Any]

_READS = ("read", "get")


def operations_by_key(events: Iterable[Event], model: Model) -> dict[Hashable, list[Operation]]:
    """The operations on each object; the key is None where the history has only one."""
    found: dict[Hashable, list[Operation]] = {}
    for invoke, completion in _paired(events, model):
        outcome = "info" if completion is None else completion["type"]
        if outcome == "fail":
            continue
        answer = completion if outcome == "ok" else None
        told = None if answer is None else answer.get("value")
        argument, result = asked_and_told(invoke["f"], invoke.get("value"), told)
        operation = Operation(
            op=invoke["index"],
            process=invoke["process"],
            f=invoke["f"],
            arguments=argument,
            result=None if answer is None else result,
            began=invoke["index"],
            ended=None if answer is None else answer["index"],
        )
        found.setdefault(frozen(invoke.get("key")), []).append(operation)
    return found


def search_events(events: Iterable[Event], model: Model) -> list[str]:
    """What is wrong with a small history, object by object: the verdict, a colon, why.

    A history too large for that goes through `spark_checkers.search_history`.
    """
    outcomes = [search(found, model) for found in operations_by_key(events, model).values()]
    return [
        f"{outcome.verdict.value}: {outcome.explanation}"
        for outcome in outcomes
        if outcome.verdict is not Verdict.LINEARIZABLE
    ]


def _paired(events: Iterable[Event], model: Model) -> Iterator[tuple[Event, Event | None]]:
    """Each invoke with its completion, or with none, in the order in which that became known."""
    invoked: dict[object, Event] = {}
    for event in events:
        if event.get("kind", "op") != "op" or not _concerns(event, model):
            continue
        process = event["process"]
        before = invoked.pop(process, None)
        if event["type"] == "invoke":
            if before is not None:
                yield before, None
            invoked[process] = event
        elif before is not None:
            yield before, event
        elif event["type"] != "info":
            raise UnusableHistory(
                f"event {event['index']}: process {process} completes a {event['f']} that it never "
                "began. Is the beginning of the history missing?"
            )
    for invoke in invoked.values():
        yield invoke, None


def _concerns(event: Event, model: Model) -> bool:
    if event["f"] in model.functions:
        return True
    if isinstance(event["process"], int):
        raise UnusableHistory(
            f"event {event['index']}: process {event['process']} does {event['f']!r}, which the "
            f"model {model.name} does not know: it knows {', '.join(model.functions)}."
        )
    return False


def asked_and_told(f: str, asked: object, told: object) -> tuple[Hashable, Hashable]:
    """The argument and the result that count: a reader asks nothing, and only readers are told.

    What a writer is told to have written is what was written, as Knossos has it: who leaves the
    choice of a value to the system knows it only afterwards.
    """
    if f not in _READS:
        chosen = told is not None and (f != "cas" or _is_pair(told))
        return frozen(told if chosen else asked), None
    return None, "" if told is None and f == "get" else frozen(told)


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2

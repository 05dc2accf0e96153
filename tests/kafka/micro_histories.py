"""Histories of sends and polls as text, and what the checker says about them.

A line is `process type f micro-operations`. Without an open invocation a completion is both lines:

    0 invoke txn  send x a | poll
    0 ok     txn  send x a@0 | poll x:a@0,b@1 y:
    1 ok     poll poll x:a@0 !x             key x was rebalanced meanwhile
    1 ok     assign x y

`a@0` is the value a at offset 0, `a` one whose offset nobody told, `y:` a key without messages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conformance.catalogue.kafka.jepsen import RULES
from harness.history import History, history_of
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.kafka import check_kafka

Event = dict[str, Any]


def events(text: str) -> list[Event]:
    """The events of a text."""
    found: list[Event] = []
    open_: set[int] = set()
    for line in filter(None, (part.strip() for part in text.splitlines())):
        process, kind, f, *rest = line.split(maxsplit=3)
        value, rebalanced = micro_operations(f, rest[0] if rest else "")
        number = int(process)
        if kind != "invoke" and number not in open_:
            found.append(event(number, "invoke", f, asked(f, value)))
        open_ = open_ | {number} if kind == "invoke" else open_ - {number}
        told = event(number, kind, f, value)
        found.append(told | ({"rebalanced": rebalanced} if rebalanced else {}))
    return [one | {"index": at, "time": 10 * at} for at, one in enumerate(found)]


def event(process: int, kind: str, f: str, value: object) -> Event:
    whole = {"kind": "op", "clock": "import", "process": process, "type": kind, "f": f}
    return whole | {"value": value}


def micro_operations(f: str, text: str) -> tuple[list[Any], list[str]]:
    words = text.split()
    rebalanced = [word[1:] for word in words if word.startswith("!")]
    words = [word for word in words if not word.startswith("!")]
    if f in ("assign", "subscribe", "crash"):
        return words, rebalanced
    parts = [part.split() for part in " ".join(words).split("|") if part.strip()]
    return [micro_operation(*part) for part in parts], rebalanced


def micro_operation(kind: str, *rest: str) -> list[Any]:
    if kind == "send":
        key, text = rest
        value, _, offset = text.partition("@")
        return ["send", key, [int(offset), atom(value)] if offset else atom(value)]
    if not rest:
        return ["poll"]
    polled = {}
    for word in rest:
        key, _, messages = word.partition(":")
        pairs = (message.partition("@") for message in filter(None, messages.split(",")))
        polled[key] = [[int(offset) if offset else None, atom(v)] for v, _, offset in pairs]
    return ["poll", polled]


def asked(f: str, value: list[Any]) -> list[Any]:
    """What an invocation says of what its completion tells."""
    if f in ("assign", "subscribe", "crash"):
        return value
    return [["poll"] if m[0] == "poll" else ["send", m[1], plain(m[2])] for m in value]


def plain(value: Any) -> Any:
    return value[1] if isinstance(value, list) else value


def atom(text: str) -> object:
    return int(text) if text.lstrip("-").isdigit() else text


def history(told: str | Iterable[Event], options: dict[str, Any] | None = None) -> History:
    header = {"kind": "header", "format": 1, "run": "t", "sut": "unknown", "world": "import"}
    header |= {"source_document": {"options": options or {}}}
    return history_of(events(told) if isinstance(told, str) else told, header=header)


def checked(
    told: str | Iterable[Event],
    options: dict[str, Any] | None = None,
    engine: Engine | None = None,
    **more: Any,
) -> dict[str, Any]:
    """What the checker says about a history."""
    chosen = engine or InlineEngine()
    with tempfile.TemporaryDirectory() as folder:
        found = check_kafka(history(told, options), RULES, chosen, Path(folder), **more)
    if engine is None:
        chosen.close()
    return found


def anomalies(told: str, **options: Any) -> dict[str, list[dict[str, Any]]]:
    """The cases of each anomaly."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return {one["type"]: one["all"] for one in checked(told, named)["anomalies"]}


def verdicts(told: str, **options: Any) -> dict[str, bool]:
    """Each anomaly, and whether it is bad in this history."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return {one["type"]: one["bad"] for one in checked(told, named)["anomalies"]}

"""Attempts add up to sends.

A *send* is what an application meant to append once; an *attempt* is one produce request made for
it. The outcome of a send follows from its attempts: one ok makes it ok; failing that, one unknown
attempt makes it unknown; only when every attempt definitely did nothing did the send fail.

Only attempts with the same producer id, epoch and sequence number are recognised as one by a
broker: a send whose attempts differ in them has no producer. Negative ids and offsets are none. How
often a client tried that does not number its attempts nobody knows.

A send stays in memory until it is settled: acknowledged with no attempt still open, or declared
over by `last` on a completion. Otherwise a further attempt may follow, so it is kept to the end of
the history; what is kept is therefore the sends in flight and those nobody acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .kafka_errors import Outcome
from .lines import Event
from .pairing import Operation

Row: TypeAlias = dict[str, Any]
Emit: TypeAlias = Callable[[str, Row], None]


def whole(value: object) -> int | None:
    """An integer or nothing; anything else would be bent into shape by the column type."""
    if value is not None and type(value) is not int:
        raise TypeError(f"expected an integer, got {repr(value)[:40]}")
    return value


def named(number: int | None) -> int | None:
    """A number as Kafka writes it: -1 is none."""
    return None if number is None or number < 0 else number


LAST_OFFSET: Final = 2**61
"""No log is that long; views count on and double what lies below."""


def told_offset(value: object) -> int | None:
    """An offset that the system told, or nothing; one that no log can have is not judged."""
    offset = whole(value)
    if offset is not None and abs(offset) > LAST_OFFSET:
        raise ValueError(f"offset {offset} is beyond any log")
    return offset


@dataclass(slots=True, kw_only=True)
class _Send:
    first: Event
    began: int
    name: str
    producer: Any
    one_producer: bool = True
    open: int = 0
    attempts: int = 0
    acknowledged: int = 0
    over: bool = False
    outcome: Outcome = "fail"
    settled_by: int | None = None
    error: str | None = None
    base_offset: int | None = None
    ended: int | None = None


class SendBook:
    """Collects attempts by the name of their send and emits each send with its records."""

    def __init__(self, emit: Emit, problem: Callable[[Event, str], None]) -> None:
        """`emit` takes rows of `sends` and `records_sent`."""
        self._emit = emit
        self._problem = problem
        self._sends: dict[str, _Send] = {}

    def begin(self, invoke: Event, began: int) -> None:
        """An attempt was made."""
        name = self._name(invoke)
        send = self._sends.get(name)
        if send is None:
            if (invoke.get("attempt") or 1) > 1:
                self._problem(
                    invoke,
                    f"attempt {invoke['attempt']} of send {name} follows none that is open; "
                    "kept as a send of its own",
                )
            send = _Send(first=invoke, began=began, name=name, producer=invoke.get("producer"))
            self._sends[name] = send
        send.open += 1
        send.attempts += 1
        send.one_producer = send.one_producer and invoke.get("producer") == send.producer

    def settle(self, operation: Operation) -> None:
        """An attempt was closed, with or without an answer."""
        name = self._name(operation.invoke)
        send = self._sends[name]
        send.open -= 1
        self._combine(send, operation)
        completion = operation.completion or {}
        send.over = send.over or completion.get("last") is True
        if send.open == 0 and (send.over or send.outcome == "ok"):
            del self._sends[name]
            self._write(send)

    def finish(self) -> None:
        """Emit what is left when the history ends."""
        for send in self._sends.values():
            self._write(send)
        self._sends.clear()

    @staticmethod
    def _name(invoke: Event) -> str:
        return invoke.get("send") or f"op-{invoke['index']}"

    @staticmethod
    def _combine(send: _Send, operation: Operation) -> None:
        completion = operation.completion or {}
        if operation.type == "ok":
            send.acknowledged += 1
            if send.outcome != "ok":
                send.outcome, send.error = "ok", None
                send.base_offset = named(whole(completion.get("offset")))
                send.settled_by, send.ended = completion.get("index"), operation.answered
            return
        if send.outcome == "ok":
            return
        send.error = operation.error or send.error
        if operation.type == "info":
            send.outcome, send.ended, send.settled_by = "info", None, None
        elif send.outcome == "fail":
            send.settled_by, send.ended = completion.get("index"), operation.answered

    def _write(self, send: _Send) -> None:
        first = send.first
        try:
            told_offset(send.base_offset)
            producer_id, producer_epoch, base_sequence = _producer(send)
            records = first.get("records") or []
            shared: Row = {
                "op": first["index"],
                "completion": send.settled_by,
                "f": "produce",
                "mop": 0,
                "send": send.name,
                "process": first["process"],
                "topic": first.get("topic"),
                "partition": first.get("partition"),
                "producer_id": producer_id,
                "producer_epoch": producer_epoch,
                "transaction": first.get("transaction"),
                "acks": first.get("acks"),
                "attempts": None if first.get("attempt") is None else send.attempts,
                "type": send.outcome,
                "clock": first["clock"],
                "began": send.began,
                "ended": send.ended,
            }
            rows = [_record(send, at, record, base_sequence) for at, record in enumerate(records)]
        except (TypeError, ValueError) as cause:
            self._problem(first, f"cannot be laid out as a send: {cause}")
            return
        counts: Row = {
            "base_sequence": base_sequence,
            "records": len(records),
            "acknowledged": send.acknowledged,
            "error": send.error,
            "base_offset": send.base_offset,
        }
        self._emit("sends", shared | counts)
        for row in rows:
            self._emit("records_sent", shared | row)


def _producer(send: _Send) -> list[int | None]:
    parts = [named(whole(part)) for part in send.producer or (None, None, None)]
    return parts if send.one_producer and parts[0] is not None else [None] * len(parts)


def _record(send: _Send, at: int, record: list[Any], base_sequence: int | None) -> Row:
    if type(record) is not list or not 1 <= len(record) <= 3:
        raise ValueError(f"a record sent is [value, timestamp, key], not {repr(record)[:40]}")
    value, timestamp, key = (*record, None, None)[:3]
    return {
        "position": at,
        "value": value,
        "timestamp": whole(timestamp),
        "record_key": key,
        "sequence": None if base_sequence is None else base_sequence + at,
        "record_offset": None if send.base_offset is None else send.base_offset + at,
    }

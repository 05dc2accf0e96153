"""Operations made of micro-operations, as Jepsen's Kafka workload records them, become rows.

    send, poll, txn    value: a list of ["send", key, value] and ["poll"]; a completion tells more:
                       ["send", key, [offset, value]], ["poll", {key: [[offset, value], ...]}]
    assign, subscribe  value: the keys that the process reads from now on
    crash              the process lost its client

A key stands for one partition: it becomes the topic, as text, of partition 0. A value becomes its
JSON text, so that 1 and "1" stay two values. What counts is the completion, because only it tells
offsets; an operation without one has sent what its invocation says and polled nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .lines import canonical
from .pairing import Operation
from .sends import Emit, Row, whole

TRANSACTIONS: Final = frozenset({"send", "poll", "txn"})
ASSIGNMENTS: Final = frozenset({"assign", "subscribe"})
MICRO_OPERATIONS: Final = TRANSACTIONS | ASSIGNMENTS | {"crash"}


def key_text(key: object) -> str:
    """A key as the text of a topic: map keys are text already, so text stays as it is."""
    return key if type(key) is str else canonical(key)


def lay_out_micro_operations(operation: Operation, shared: Row, emit: Emit) -> None:
    """Rows of all tables that such an operation belongs to; all of them or, if unfit, none."""
    if shared["f"] in TRANSACTIONS:
        rows = _transaction(operation, shared)
    else:
        rows = _assignment(operation, shared)
    for table, row in rows:
        emit(table, row)


def _transaction(operation: Operation, shared: Row) -> list[tuple[str, Row]]:
    rows: list[tuple[str, Row]] = []
    completion = operation.completion or {}
    told = completion.get("value")
    rebalanced = frozenset(map(key_text, completion.get("rebalanced") or ()))
    for mop, micro in enumerate(_list(operation.invoke.get("value") if told is None else told)):
        kind, *rest = _list(micro)
        if kind == "send" and len(rest) == 2:
            rows.append(("records_sent", shared | _sent(operation, mop, *rest)))
        elif kind == "poll" and len(rest) <= 1:
            for key, pairs in ((rest[0] if rest else None) or {}).items():
                rows += _polled(shared, mop, key_text(key), _list(pairs), rebalanced)
        else:
            raise ValueError(f"{canonical(micro)[:40]} is no send and no poll")
    return rows


def _assignment(operation: Operation, shared: Row) -> list[tuple[str, Row]]:
    keys: list[Any] = []
    if shared["f"] in ASSIGNMENTS:
        keys = _list((operation.completion or operation.invoke).get("value") or [])
    places: list[Row] = [{"topic": key_text(key), "partition": 0} for key in keys]
    nowhere: Row = {"topic": None, "partition": None}
    return [("assignments", shared | place) for place in places or [nowhere]]


def _sent(operation: Operation, mop: int, key: object, value: object) -> Row:
    offset = None
    if type(value) is list:
        offset, value = value
    return {
        "mop": mop,
        "position": 0,
        "send": f"{operation.invoke['index']}-{mop}",
        "topic": key_text(key),
        "partition": 0,
        "value": canonical(value),
        "record_offset": whole(offset),
    }


def _polled(
    shared: Row, mop: int, key: str, pairs: list[Any], rebalanced: frozenset[str]
) -> Iterator[tuple[str, Row]]:
    found = [(whole(offset), canonical(value)) for offset, value in pairs]
    here = shared | {"topic": key, "partition": 0, "mop": mop, "rebalanced": key in rebalanced}
    ends = {"first_offset": found[0][0], "last_offset": found[-1][0]} if found else {}
    yield "responses", here | {"records": len(found), **ends}
    for position, (offset, value) in enumerate(found):
        yield "records_seen", here | {"position": position, "record_offset": offset, "value": value}


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise ValueError(f"a list was expected, not {repr(value)[:40]}")
    return value

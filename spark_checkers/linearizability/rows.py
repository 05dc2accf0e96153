"""Rows of a silver table into operations of a model, and a search over the rows of one key.

`search_rows` is what a rule's `Search` calls for each key, in Spark's workers and in this process
alike: plain dicts in, plain dicts out. It always returns one row, also when all is well, because
the number of operations is what says that a rule was exercised.

Rows of `boundary_ops` belong to the models `boundary` and `boundary-tolerant`. The other models
read rows of `ops`, whose `value` and `result` are JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spark_checkers.linearizability.boundary import Reply
from spark_checkers.linearizability.boundary_answers import NONE, Call, Seeds
from spark_checkers.linearizability.from_history import asked_and_told
from spark_checkers.linearizability.models import Model, model_named
from spark_checkers.linearizability.operation import Operation, UnusableHistory
from spark_checkers.linearizability.search import search
from spark_checkers.linearizability.walk import Verdict

Row = Mapping[str, Any]

KEPT_PREFIX = 60
"""Operations of the longest legal order that are kept: what a picture of the impasse shows."""

_SEED_FIELDS = 6
_NOBODY_LOOKED = ("REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR")


def search_rows(
    rows: list[dict[str, Any]],
    *,
    model: str,
    budget_states: int | None = None,
    initial: object = None,
) -> list[dict[str, Any]]:
    """Search the operations of one key; one row: verdict, op and its grounds.

    `op` is the first operation that has no place, and null unless the verdict is
    `not-linearizable`. `operations` counts those whose outcome is known. `prefix` has the end of
    the longest legal order, as numbers of operations.
    """
    specification = model_named(model, initial=initial)
    operations = operations_of_rows(rows, specification)
    known = sum(not operation.unknown for operation in operations)
    clocks = sorted({str(row["clock"]) for row in rows if row.get("clock") is not None})
    if len(clocks) > 1:
        reason = f"no verdict: the operations were timed by several clocks ({', '.join(clocks)})."
        return [_result(Verdict.UNKNOWN, None, reason, explored=0, operations=known)]
    outcome = search(operations, specification, budget_states=budget_states)
    return [
        _result(
            outcome.verdict,
            outcome.first_unplaceable,
            outcome.explanation,
            explored=outcome.explored,
            operations=known,
            prefix=outcome.longest_prefix[-KEPT_PREFIX:],
        )
    ]


def operations_of_rows(rows: Iterable[Row], model: Model) -> list[Operation]:
    """The operations that the rows of one key describe."""
    read = _boundary_operation if model.name.startswith("boundary") else _plain_operation
    operations = []
    for row in rows:
        if row["f"] not in model.functions:
            raise UnusableHistory(
                f"operation {row['op']} is a {row['f']}, which the model {model.name} does not "
                f"know: it knows {', '.join(model.functions)}."
            )
        operation = read(row)
        if operation is not None:
            operations.append(operation)
    return operations


def _result(
    verdict: Verdict,
    op: int | None,
    explanation: str,
    *,
    explored: int,
    operations: int,
    prefix: tuple[int, ...] = (),
) -> dict[str, Any]:
    return {
        "op": op,
        "verdict": verdict.value,
        "operations": operations,
        "explored": explored,
        "explanation": explanation,
        "prefix": [*prefix],
    }


def _boundary_operation(row: Row) -> Operation | None:
    """A read that the control plane could not carry out saw nothing: there is nothing to place."""
    if row["type"] == "fail" and row.get("error") in _NOBODY_LOOKED:
        return None
    entries, malformed = _entries(row.get("entries"))
    call = Call(
        boundary=_integer(row.get("boundary")),
        leader_epoch=_integer(row.get("leader_epoch")),
        entries=entries,
        record_count=_integer(row.get("record_count")),
        malformed=malformed,
    )
    reply = Reply(
        error=row.get("error") or NONE,
        boundary=_integer(row.get("stored_boundary")),
        epoch=_integer(row.get("stored_epoch")),
        reset_epoch=_integer(row.get("stored_reset_epoch")),
        seeds=_entries(row.get("stored_seeds"))[0],
        base_offset=_integer(row.get("base_offset")),
    )
    if row["type"] == "fail" and reply.error == NONE:
        raise UnusableHistory(
            f"operation {row['op']} was refused, but no row says with which error"
        )
    return _operation(row, call, reply)


def _plain_operation(row: Row) -> Operation | None:
    """A refused operation did not happen: for these models there is nothing to place."""
    if row["type"] == "fail":
        return None
    asked = _value(row.get("value"))
    told = _value(row.get("result")) if row["type"] == "ok" else None
    return _operation(row, *asked_and_told(row["f"], asked, told))


def _operation(row: Row, arguments: object, result: object) -> Operation:
    began, ended = _integer(row["began"]), _integer(row.get("ended"))
    unknown = row["type"] == "info"
    if began is None or (ended is None and not unknown):
        raise UnusableHistory(
            f"operation {row['op']} is {row['type']} but lacks the time at which it "
            f"{'began' if began is None else 'ended'}."
        )
    return Operation(
        op=int(row["op"]),
        process=row["process"],
        f=row["f"],
        arguments=arguments,
        result=None if unknown else result,
        began=began,
        ended=None if unknown else ended,
    )


def _integer(value: Any) -> int | None:
    """A number of a nullable column; pandas turns such columns into floats, and null into NaN."""
    return None if value is None or value != value else int(value)


def _value(text: Any) -> object:
    return None if text is None or text != text else json.loads(text)


def _entries(text: Any) -> tuple[Seeds | None, bool]:
    """The set of seeds in a column of JSON text, sorted; and whether the text is something else."""
    if text is None or text != text:
        return None, False
    try:
        found = json.loads(text)
    except ValueError:
        return None, True
    if not isinstance(found, list) or not all(_is_seed(entry) for entry in found):
        return None, True
    return tuple(sorted({tuple(entry) for entry in found})), False


def _is_seed(entry: object) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == _SEED_FIELDS
        and all(isinstance(number, int) for number in entry)
    )

"""The table of what a system answered to recorded sequences of requests.

A sequence is a list of raw requests whose answers Apache Kafka gave once. The line of a request
carries what Kafka answered, with symbols for what every cluster chooses itself, and the paths where
another answer is allowed; its completion what this system answered. They are compared here, so a
verdict rests on both answers and not on the word of the recorder.
"""

from __future__ import annotations

import json
from typing import Any, Final

from .differences import Difference, split_differences
from .pairing import Operation
from .sends import Emit, Row

SEQUENCE_REQUEST: Final = "sequence_request"
_SHOWN_CHARACTERS: Final = 200

SEQUENCE_TABLES: Final[dict[str, tuple[str, str]]] = {
    "sequence_answers": (
        "request of a recorded sequence",
        """
op           bigint  index of the invoke line
completion   bigint  index of the completion line; null if there is none
process      bigint  the logical process
node         bigint  the broker that was asked
topic        string  null: a request may be about several
partition    int     null
type         string  ok, or info where the sequence could not go on
error        string  NONE, or why the sequence could not go on; null where nothing was recorded
clock        string  the time domain of all times of the row
began        bigint  when it was asked, in order units
answered     bigint  when its completion was recorded; null if there is none
family       string  the first part of the name of the sequence: what it is about
sequence     string  name of the sequence
step         int     place of the request in it, from 0
api          string  name of the request
version      int     its version
differences  int     fields that differ from Kafka's answer and must not; null if not compared
field        string  path of the first of them
expected     string  what Kafka answered there, as JSON text
seen         string  what was answered there, as JSON text
detail       string  why the sequence could not go on
""",
    ),
}
_SHARED: Final = (
    "op",
    "completion",
    "process",
    "node",
    "topic",
    "partition",
    "type",
    "error",
    "clock",
    "began",
    "answered",
)


def lay_out_sequence_answer(operation: Operation, shared: Row, emit: Emit) -> None:
    """One request and its answer, compared with Kafka's."""
    invoke, completion = operation.invoke, operation.completion or {}
    row: Row = {name: shared[name] for name in _SHARED}
    row |= {
        "family": str(invoke["sequence"]).partition("/")[0],
        "detail": str(completion["detail"]) if "detail" in completion else None,
        **{name: invoke[name] for name in ("sequence", "step", "api", "version")},
        **dict.fromkeys(("differences", "field", "expected", "seen")),
    }
    if "expected" in invoke and "answer" in completion:
        allowed = [str(path) for path in invoke.get("allowed") or ()]
        found, _ = split_differences(invoke["expected"], completion["answer"], allowed)
        row |= _told([one for one in found if one.kind == "value"])
    emit("sequence_answers", row)


def _told(found: list[Difference]) -> Row:
    if not found:
        return {"differences": 0}
    first = found[0]
    return {
        "differences": len(found),
        "field": first.path,
        "expected": _short(first.expected),
        "seen": _short(first.seen),
    }


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"

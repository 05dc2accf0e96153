"""Findings in the form in which Jepsen's Kafka checker reports them, and in words.

A finding holds what its rule shows. What it does not hold (the values between two places, all
values of an offset) is looked up for the findings that are kept, so that a history which is broken
throughout costs no more than its first cases. Operations are named by the index of their
completion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.rules import Finding
from spark_checkers.engine import Engine, Row
from spark_checkers.kafka.text import in_order, key_of, value_of

LISTED = 32

Case = dict[str, Any]
Looked = dict[tuple[object, ...], list[object]]


@dataclass(frozen=True, slots=True)
class Form:
    """How the findings of one anomaly are told."""

    case: Callable[[Finding, Looked], Case]
    words: Callable[[Case], str]
    lookup: str = ""


def cases(anomaly: str, findings: Sequence[Finding], engine: Engine) -> list[Case]:
    """The findings of an anomaly, in Jepsen's form."""
    form = FORMS.get(anomaly, _CYCLE)
    looked: Looked = {}
    if form.lookup:
        ops = ", ".join(str(op) for op in sorted({finding.op for finding in findings}))
        for row in engine.rows(form.lookup.format(ops=ops, most=LISTED)):
            _note(looked, row)
    return [form.case(finding, looked) for finding in findings]


def words(anomaly: str, case: Case) -> str:
    """A case as a sentence."""
    return FORMS.get(anomaly, _CYCLE).words(case)


def _note(looked: Looked, row: Row) -> None:
    found, rank = row.pop("found"), row.pop("rank")
    entries = looked.setdefault(tuple(row.values()), [])
    if (rank, found) not in entries:
        entries.append((rank, found))


def _listed(looked: Looked, *key: object) -> list[Any]:
    """What was looked up under a key, in order of rank."""
    entries: list[Any] = looked.get(key, [])
    return [found for _, found in sorted(entries, key=lambda entry: (entry[0], str(entry[1])))]


def _values(looked: Looked, *key: object) -> list[object]:
    return [value_of(text) for text in _listed(looked, *key)]


def _said(values: Sequence[object]) -> str:
    shown = [str(value) for value in values[:LISTED]]
    return ", ".join(shown)


# Values of the order of versions between two places of a log, for the operations in question.
_SKIPPED = """
SELECT DISTINCT f.topic, f.partition, f.place_before, f.place, o.place AS rank, o.value AS found
FROM {table} f
JOIN log_order o ON o.chosen AND o.topic = f.topic AND o.partition = f.partition
  AND o.place > f.place_before AND o.place < f.place AND o.place <= f.place_before + {{most}}
WHERE f.op IN ({{ops}}) AND f.delta > 1
"""
_CLAIMS = """
SELECT f.topic, f.partition, f.record_offset, 0 AS rank, o.value AS found
FROM log_offsets f
JOIN log_order o ON o.topic = f.topic AND o.partition = f.partition
  AND o.record_offset = f.record_offset
WHERE f.op IN ({ops}) AND f.held > 1
"""
_COPIES = """
SELECT f.topic, f.partition, f.value, o.record_offset AS rank, o.record_offset AS found
FROM log_copies f
JOIN log_order o ON o.topic = f.topic AND o.partition = f.partition AND o.value = f.value
WHERE f.op IN ({ops}) AND f.copies > 1
"""
# Who read furthest: the first to see a value that last stands at the bound.
_FURTHEST = """
SELECT d.topic, d.partition, min(p.completion) AS rank, min(p.completion) AS found
FROM (SELECT DISTINCT topic, partition, bound FROM log_due WHERE op IN ({ops})) d
JOIN log_values v ON v.topic = d.topic AND v.partition = d.partition AND v.last_place = d.bound
JOIN log_polled p ON p.topic = v.topic AND p.partition = v.partition AND p.value = v.value
GROUP BY d.topic, d.partition
"""


def _where(finding: Finding) -> tuple[object, ...]:
    return finding.topic, finding.partition


def _claims(finding: Finding, looked: Looked) -> Case:
    offset = finding.shown["record_offset"]
    return {
        "key": key_of(finding.topic),
        "offset": offset,
        "index": finding.shown["place"],
        "values": in_order(_values(looked, *_where(finding), offset)),
    }


def _copies(finding: Finding, looked: Looked) -> Case:
    text = _text(finding, "value")
    offsets = _listed(looked, *_where(finding), text)
    counted = finding.shown.get("copies", finding.shown.get("copies_above_0"))
    if "copies" not in finding.shown:
        offsets = [offset for offset in offsets if offset > 0]
    return {
        "key": key_of(finding.topic),
        "value": value_of(text),
        "count": counted,
        "offsets": offsets[:LISTED],
    }


def _aborted(finding: Finding, looked: Looked) -> Case:
    return {
        "key": key_of(finding.topic),
        "value": value_of(_text(finding, "value")),
        "writer": finding.shown["writer"],
        "reader": finding.shown["completion"],
    }


def _own_read(finding: Finding, looked: Looked) -> Case:
    return {
        "op": finding.shown["completion"],
        "key": key_of(finding.topic),
        "value": value_of(_text(finding, "value")),
    }


def _lost(finding: Finding, looked: Looked) -> Case:
    furthest = _listed(looked, *_where(finding))
    return {
        "key": key_of(finding.topic),
        "value": value_of(_text(finding, "value")),
        "index": finding.shown["first_place"],
        "max-read-index": finding.shown["bound"],
        "writer": finding.shown["writer"],
        "max-read": furthest[0] if furthest else None,
    }


def _garbage(finding: Finding, looked: Looked) -> Case:
    return {
        "key": key_of(finding.topic),
        "value": value_of(_text(finding, "value")),
        "offset": finding.shown["record_offset"],
        "reader": finding.shown["completion"],
    }


def _step(finding: Finding, looked: Looked) -> Case:
    case = _pair(finding, looked)
    return {**case, "op": finding.shown["completion"]}


def _turn(finding: Finding, looked: Looked) -> Case:
    case = _pair(finding, looked)
    if "skipped" in case:
        del case["values"]
    return {**case, "ops": [finding.shown["completion_before"], finding.shown["completion"]]}


def _pair(finding: Finding, looked: Looked) -> Case:
    shown = finding.shown
    case: Case = {
        "key": key_of(finding.topic),
        "values": [value_of(_text(finding, name)) for name in ("value_before", "value")],
        "delta": shown["delta"],
    }
    if int(str(shown["delta"])) > 1:
        places = shown["place_before"], shown["place"]
        case["skipped"] = _values(looked, *_where(finding), *places)
    return case


def _cycle(finding: Finding, looked: Looked) -> Case:
    """A cycle of transactions, or what is known of one that the search did not name."""
    case = dict(finding.shown)
    steps: Any = case.get("steps")
    if steps is not None:
        case["steps"] = [_cycle_step(step) for step in steps]
    return case


def _cycle_step(step: Row) -> Case:
    told: Case = {"type": step["type"]}
    if "topic" in step:
        told["key"] = key_of(step["topic"])
        told["value"] = value_of(step["value"])
    if step.get("next_value") is not None:
        told["value'"] = value_of(step["next_value"])
    return told | {name: step[name] for name in ("process", "ended", "began") if name in step}


def _text(finding: Finding, name: str) -> str:
    text = finding.shown[name]
    assert isinstance(text, str)
    return text


def _step_words(doing: str) -> Callable[[Case], str]:
    def told(case: Case) -> str:
        before, after = case.get("ops", (None, case.get("op")))
        since = "" if before is None else f" after op {before}"
        if "skipped" in case:
            return f"op {after} {doing} {case['key']}{since} past {_said(case['skipped'])}"
        first, second = case["values"]
        return (
            f"op {after} {doing} {second} of {case['key']}{since} behind {first}: {case['delta']}"
        )

    return told


def _cycle_words(case: Case) -> str:
    if "cycle" not in case:
        return ", ".join(f"{name} {value}" for name, value in case.items()) or "nothing depends"
    return (
        " → ".join(str(vertex) for vertex in case["cycle"])
        + " by "
        + ", ".join(" ".join(str(step[name]) for name in step) for step in case["steps"])
    )


_CYCLE = Form(_cycle, _cycle_words)
_POLLED, _SENT = _step_words("polled"), _step_words("sent")

FORMS = {
    "inconsistent-offsets": Form(
        _claims,
        lambda c: f"offset {c['offset']} of {c['key']} holds {_said(c['values'])}",
        _CLAIMS,
    ),
    "duplicate": Form(
        _copies,
        lambda c: f"{c['value']} of {c['key']} stands at offsets {_said(c['offsets'])}",
        _COPIES,
    ),
    "duplicate-nonzero": Form(
        _copies,
        lambda c: f"{c['value']} of {c['key']} stands at offsets {_said(c['offsets'])}",
        _COPIES,
    ),
    "G1a": Form(
        _aborted,
        lambda c: (
            f"op {c['reader']} read {c['value']} of {c['key']}, but the send {c['writer']} failed"
        ),
    ),
    "precommitted-read": Form(
        _own_read, lambda c: f"op {c['op']} polled {c['value']} of {c['key']}, its own send"
    ),
    "lost-write": Form(
        _lost,
        lambda c: (
            f"{c['value']} of {c['key']}, place {c['index']}, sent by op {c['writer']}, was never"
            f" read, though op {c['max-read']} read up to place {c['max-read-index']}"
        ),
        _FURTHEST,
    ),
    "garbage-read": Form(
        _garbage,
        lambda c: f"op {c['reader']} read {c['value']} of {c['key']}, which nobody sent",
    ),
    "poll-skip": Form(_turn, _POLLED, _SKIPPED.format(table="log_poll_turns")),
    "nonmonotonic-poll": Form(_turn, _POLLED),
    "int-poll-skip": Form(_step, _POLLED, _SKIPPED.format(table="log_poll_steps")),
    "int-nonmonotonic-poll": Form(_step, _POLLED),
    "nonmonotonic-send": Form(_turn, _SENT),
    "int-nonmonotonic-send": Form(_step, _SENT),
    "int-send-skip": Form(_step, _SENT, _SKIPPED.format(table="log_send_steps")),
}

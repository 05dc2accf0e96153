"""Allure results of a run, beside those that pytest writes on the reference.

A rule is a test: epic is the profile, feature the section, story the rule. Its status tells product
failures, missing proof and a broken lab apart, and `categories` sorts by that:

    FAIL            failed     a promise is broken
    BROKEN          broken     the lab failed
    NO PROOF        unknown    nothing is shown either way
    WEAK, PASS      passed
    NOT OBSERVABLE  skipped    with what the system does not open
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.history.frames import open_run
from harness.history.run import HISTORY_FILE
from harness.rules import Conclusion, Judged, Level, Verdict
from reports.measures.around import Slice, slices_around
from reports.measures.lines import Event, lines_at
from reports.pictured import surroundings_of
from reports.plain import printable, scrubbed
from reports.terminal import citation, paragraph_text
from reports.view import RunView

_STATUS = {
    Verdict.FAIL: "failed",
    Verdict.BROKEN: "broken",
    Verdict.NO_PROOF: "unknown",
    Verdict.WEAK: "passed",
    Verdict.PASS: "passed",
    Verdict.NOT_OBSERVABLE: "skipped",
    Verdict.NOT_APPLICABLE: "skipped",
}
CATEGORIES = (
    {"id": "product", "name": "A promise of the product is broken", "matchedStatuses": ["failed"]},
    {"id": "no-proof", "name": "No proof: not shown either way", "matchedStatuses": ["unknown"]},
    {"id": "lab", "name": "The lab failed, not the product", "matchedStatuses": ["broken"]},
    {"id": "not-seen", "name": "Not observable from here", "matchedStatuses": ["skipped"]},
)
SHOWN_FINDINGS = 3


def results(view: RunView, round_: int | None = None) -> Iterator[tuple[str, str]]:
    """The files of a run for a folder of Allure results: name and content.

    `round_` says which round of its night it is: nights draw other seeds, and the trend of a
    campaign goes from round to round.
    """
    yield "categories.json", json.dumps(CATEGORIES, indent=1)
    near = _near_findings(view)
    parameters = list(_parameters(view.conclusion, round_))
    for judged in view.conclusion.judgement.judged:
        yield from _result(view, near, judged, parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """What is attached to findings: slices by operation, the lines of their events."""

    slices: Mapping[int, Slice]
    events: Mapping[int, Event]


def _near_findings(view: RunView) -> _Near:
    run = surroundings_of(view, open_run(view.folder).tables)
    judged = view.conclusion.judgement.judged
    ops = [finding.op for one in judged for finding in one.result.findings[:SHOWN_FINDINGS]]
    slices = slices_around(run, dict.fromkeys(ops, ()))
    every = (index for one in slices.values() for index in one.indices)
    return _Near(slices=slices, events=lines_at(view.folder / HISTORY_FILE, every))


def _result(
    view: RunView, near: _Near, judged: Judged, parameters: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    header = view.conclusion.header
    rule = judged.rule
    identity = f"{header.get('sut')} {header.get('world')} {_campaign(header)} {rule.id}"
    ident = _hash(f"{identity} {view.conclusion.judgement.sha256} {header.get('started')}")
    said = paragraph_text(judged, view.where)
    attachments = []
    for name, text in _attachments(view, near, judged):
        kind = "application/json" if name.endswith(".jsonl") else "text/plain"
        source = f"{_hash(ident + name)}-attachment.{name.rpartition('.')[2]}"
        attachments.append({"name": name, "source": source, "type": kind})
        yield source, text
    document = {
        "uuid": ident,
        "historyId": _hash(identity),
        "testCaseId": _hash(identity),
        "fullName": f"{rule.profile}.{rule.id}",
        "name": f"{rule.id} {rule.sentence}",
        "status": _STATUS[judged.verdict],
        "statusDetails": {"message": judged.reason, "trace": said},
        "stage": "finished",
        "start": _milliseconds(header.get("started")),
        "stop": _milliseconds(view.conclusion.ended or header.get("started")),
        "description": f"{rule.sentence}\n\n{citation(rule)}",
        "labels": [
            *_labels(judged),
            {"name": "host", "value": str(header.get("world"))},
            {"name": "framework", "value": "tidemark"},
            {"name": "parentSuite", "value": f"{header.get('sut')} {header.get('sut_version')}"},
        ],
        "links": [{"type": "design", "name": citation(rule), "url": _design(view, judged)}],
        "parameters": [*parameters, _came_of_it("exercised", judged.result.exercised)],
        "attachments": attachments,
    }
    yield f"{ident}-result.json", json.dumps(_plain(document), ensure_ascii=False)


def _campaign(header: Mapping[str, Any]) -> str:
    asked = header.get("options")
    return Path(str(asked.get("campaign") or "")).stem if isinstance(asked, Mapping) else ""


def _parameters(conclusion: Conclusion, round_: int | None) -> Iterator[dict[str, Any]]:
    """What was asked tells results apart; what only came of it leaves the trend whole."""
    header = conclusion.header
    seed = ("seed", header.get("seed"))
    asked = (
        ("world", header.get("world")),
        ("campaign", _campaign(header) or "none"),
        seed if round_ is None else ("round", round_),
        ("mutants", ", ".join(conclusion.plan.mutants) or "none"),
    )
    yield from ({"name": name, "value": str(value)} for name, value in asked)
    if round_ is not None:
        yield _came_of_it(*seed)
    yield _came_of_it("system", f"{header.get('sut')} {header.get('sut_version')}")


def _came_of_it(name: str, value: object) -> dict[str, Any]:
    return {"name": name, "value": str(value), "excluded": True}


def _labels(judged: Judged) -> Iterator[dict[str, str]]:
    rule = judged.rule
    severity = "critical" if rule.level is Level.MUST else "normal"
    named = (
        ("epic", rule.profile),
        ("feature", rule.section),
        ("story", f"{rule.id} {rule.sentence}"),
        ("severity", severity),
        ("suite", rule.section),
    )
    yield from ({"name": name, "value": value} for name, value in named)


def _design(view: RunView, judged: Judged) -> str:
    rule = judged.rule
    return view.background.published.get(rule.id, rule.source)


def _attachments(view: RunView, near: _Near, judged: Judged) -> Iterator[tuple[str, str]]:
    yield "repeat.txt", f"{view.repeat(judged.rule.id)}\n"
    for finding in judged.result.findings[:SHOWN_FINDINGS]:
        if (slice_ := near.slices.get(finding.op)) is None:
            continue
        events = [near.events[index] for index in slice_.indices if index in near.events]
        lines = [json.dumps(_plain(event)) for event in events]
        yield f"history around op {finding.op}.jsonl", "\n".join(lines) + "\n"
        told = [
            f"{one.fault} on {one.target}, {slice_.clock.at_s(one.since_ns):.3f} s,"
            f" {'landed' if one.landed else 'did not land'} {one.evidence}"
            for one in slice_.faults
        ]
        yield f"faults around op {finding.op}.txt", _plain("\n".join(told) or "none") + "\n"


def _plain(value: Any) -> Any:
    """A document whose texts may be shown."""
    if isinstance(value, str):
        return "\n".join(printable(line) for line in scrubbed(value).split("\n"))
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _milliseconds(moment: object) -> int:
    try:
        return int(datetime.fromisoformat(str(moment)).timestamp() * 1000)
    except ValueError:
        return int(datetime(1970, 1, 1, tzinfo=UTC).timestamp())

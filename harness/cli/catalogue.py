"""The bodies of `rules` and `explain`: views of the catalogue and of the recorded proof."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.profiles import PROFILES
from conformance.proofs import LINE_MAP, mutants_of, recorded_statuses
from conformance.scenario import Scenario
from harness.cli.hidden import hiding_secrets_of
from harness.cli.progress import print_document, printable
from harness.cli.runs import called, judged_document, runs_by_age
from harness.history.errors import HistoryError
from harness.rules import Cycles, Holds, Judge, Rule
from harness.rules.designs import designs_at
from harness.rules.linemap import compact, load_line_map
from harness.sut import UsageError
from reports.plain import scrubbed
from reports.terminal import citation, wrapped


def rules(*, as_json: bool, coverage: bool) -> int:
    """List the catalogue, or account for the lines of the designs."""
    if coverage:
        return _coverage(as_json=as_json)
    status = recorded_statuses()
    if as_json:
        print(json.dumps([_rule_document(rule) for rule in CATALOGUE], indent=1))
        return 0
    sections: dict[str, list[Rule]] = {}
    for rule in CATALOGUE:
        where = f"{rule.document}.md" if rule.lines else f"what {rule.document} promises"
        sections.setdefault(f"{where}, {rule.section}", []).append(rule)
    for title, members in sections.items():
        print(title)
        for rule in members:
            for line in wrapped(f"  {rule.id}  {status[rule.id].value:<8}  ", rule.sentence):
                print(line)
    counts: dict[str, int] = {}
    for value in status.values():
        counts[value.value] = counts.get(value.value, 0) + 1
    listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    print(f"\n{len(CATALOGUE)} rules: {listed}")
    return 0


def explain(rule_id: str, *, designs: Path | None, as_json: bool) -> int:
    """One rule: text, place, judge, scenarios, mutants, last findings."""
    rule = CATALOGUE[rule_id]
    documents = designs_at(designs, load_line_map(LINE_MAP, CATALOGUE))
    quote = documents.quote(rule)
    if as_json:
        last = [text for _, text in _last_findings(rule)]
        where = documents.link(rule) or None
        told = {**_rule_document(rule), "quote": quote or None, "published": where}
        told["last_seen"] = last
        print_document(told)
        return 0
    print(f"{rule.id} · {rule.level.value} · profile {rule.profile} · depth {rule.depth.value}")
    for line in wrapped("  ", rule.sentence):
        print(line)
    design = [("design", line) for line in quote.splitlines()]
    if rule.lines and not quote:
        design = [("design", documents.where(rule))]
    for label, text in design:
        print(*map(printable, wrapped(f"  {label:<10}", text)), sep="\n")
    if address := documents.link(rule):
        print(f"  published {address}")  # in one piece, so that it can be copied
    for label, text in _facts(rule):
        for line in wrapped(f"  {label:<10}", text):
            print(printable(line))  # findings are told in the words of a system
    return 0


def _facts(rule: Rule) -> list[tuple[str, str]]:
    under = f", allowed under {' '.join(rule.allowed_under)}" if rule.allowed_under else ""
    named = (
        ("cite", citation(rule)),
        ("status", recorded_statuses()[rule.id].value),
        ("judge", _judge_text(rule.judge)),
        ("tolerant", _judge_text(rule.tolerant)),
        ("anomaly", rule.anomaly and f"{rule.anomaly}, {rule.bad} bad{under}"),
        ("assumes", ", ".join(rule.assumes)),
        ("planned", rule.planned),
        ("no proof", rule.unprovable),
        ("unproven", rule.unproven),
        ("awaits", rule.awaits),
    )
    facts = [(word, text) for word, text in named if text]
    facts += [("scenario", scenario.name) for scenario in _scenarios(rule)]
    for mutant in mutants_of(rule.id):
        others = [r for r in mutant["killed_by"] if r != rule.id]
        also = f"; also seen by {' '.join(others)}" if others else ""
        facts.append(("mutant", f"{mutant['mutant']}: {mutant['why']}{also}"))
    if rule.hint:
        facts.append(("look at", rule.hint))
    return facts + _last_findings(rule)


def _scenarios(rule: Rule) -> list[Scenario]:
    every = (scenario for profile in PROFILES.values() for scenario in profile.scenarios)
    return [scenario for scenario in every if rule.id in scenario.rules]


def _last_findings(rule: Rule) -> list[tuple[str, str]]:
    for folder in reversed(runs_by_age()):
        with suppress(UsageError, HistoryError, KeyError, TypeError, IndexError):
            for entry in judged_document(folder)["rules"]:
                if entry["id"] == rule.id and entry["findings"]:
                    first = entry["findings"][0]
                    seen = f"run {called(folder)}, op {first['op']}: {first['seen']}"
                    with hiding_secrets_of([folder]):
                        return [("last seen", scrubbed(seen))]
    return []


def _judge_text(judge: Judge | None) -> str:
    if judge is None:
        return ""
    if isinstance(judge, Holds):
        among = f" of {judge.among}" if judge.among else ""
        return f"{judge.table}{among} where {judge.when}: {judge.holds}"
    if isinstance(judge, Cycles):
        return f"{judge.kind} among the dependencies in {judge.table}"
    return f"search over {judge.table} per {', '.join(judge.key)}, model {judge.model}"


def _rule_document(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "document": rule.document,
        "section": rule.section,
        "lines": list(rule.lines),
        "sentence": rule.sentence,
        "level": rule.level.value,
        "depth": rule.depth.value,
        "profile": rule.profile,
        "decisions": list(rule.decisions),
        "assumes": list(rule.assumes),
        "anomaly": rule.anomaly or None,
        "bad": rule.bad,
        "judge": _judge_text(rule.judge) or None,
        "mutants": [mutant["mutant"] for mutant in mutants_of(rule.id)],
        "scenarios": [scenario.name for scenario in _scenarios(rule)],
        "status": recorded_statuses()[rule.id].value,
    }


def _coverage(*, as_json: bool) -> int:
    documents = load_line_map(LINE_MAP, CATALOGUE)
    if as_json:
        table = {
            name: {
                "lines": doc.lines,
                "with_rules": len(doc.rules),
                "descriptive": len(doc.descriptive),
                "open": compact(doc.open_lines),
            }
            for name, doc in documents.items()
        }
        print(json.dumps(table, indent=1))
        return 0
    print(f"{'document':<14}{'lines':>7}{'rules':>7}{'descriptive':>13}{'open':>7}")
    for name, doc in documents.items():
        print(
            f"{name:<14}{doc.lines:>7}{len(doc.rules):>7}{len(doc.descriptive):>13}"
            f"{len(doc.open_lines):>7}"
        )
    return 0

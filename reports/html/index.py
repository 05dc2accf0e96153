"""Past runs as one sortable page, and several runs as a matrix by rule."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.rules import Verdict
from reports.html.sheet import document, folded, table
from reports.markup import Child, Markup, tag
from reports.terminal import REPORT_FILE, SYMBOL, WORD

_COLUMNS = ("run", "started", "verdict", "system", "profiles", "world", "seed", "mutants") + (
    "took",
    "events",
    "faults",
    "findings",
    "files",
)
_LINKED = (REPORT_FILE, "history.jsonl", "verdict.json", "junit.xml", "certificate.html")


def index_page(runs: Sequence[Mapping[str, Any]], *, at: Path) -> str:
    """Every run, newest first; links are relative to the folder of the page."""
    rows = [_run(told, at) for told in reversed(runs)]
    body = tag(
        "main",
        tag("p", id="said", role="status", aria_live="polite", class_="faint"),
        tag("label", "Filter runs", for_="filter"),
        tag("input", type="search", id="filter", placeholder="system, verdict, rule id"),
        table("Runs; a column's name sorts by it", _COLUMNS, rows, sortable=True),
        id="main",
        style="padding:1rem 1.25rem",
    )
    return document("Runs", tag("header", tag("h1", f"{len(runs)} runs"), class_="top"), body)


def _run(told: Mapping[str, Any], at: Path) -> Markup:
    folder = Path(str(told["folder"]))
    state = str(told["state"])
    symbol = next((SYMBOL[v] for v in Verdict if v.value == state), "·")
    mutants = [str(one).rpartition(":")[2] for one in told.get("mutants") or ()]
    findings = [str(one) for one in told.get("findings") or ()]
    seconds, events, faults = _seconds(told), told.get("events"), told.get("faults")
    cells: list[Child] = [
        str(told["run"]),
        str(told.get("started") or "").replace("T", " "),
        f"{symbol} {told.get('headline') or state}",
        f"{told.get('sut') or ''} {told.get('sut_version') or ''}",
        ", ".join(map(str, told.get("profiles") or ())),
        str(told.get("world") or ""),
        str(told.get("seed", "")),
        ", ".join(mutants),
        "" if seconds is None else f"{seconds:,.0f} s",
        f"{events:,}" if isinstance(events, int) else "",
        f"{faults:,}" if isinstance(faults, int) else "",
        [_link(folder, at, f"{REPORT_FILE}#rule-{one}", one) for one in findings],
        [_link(folder, at, name, name) for name in _LINKED if (folder / name).is_file()],
    ]
    keys = {
        "took": None if seconds is None else round(seconds * 1000),
        "events": events,
        "faults": faults,
        "findings": len(findings),
    }
    first, *others = cells
    text = " ".join(str(told.get(name) or "") for name in ("run", "headline", "sut", "world"))
    return tag(
        "tr",
        tag("th", first, scope="row"),
        [
            tag("td", cell, data_key=keys.get(name))
            for name, cell in zip(_COLUMNS[1:], others, strict=True)
        ],
        data_text=f"{text} {state} {' '.join(mutants)} {' '.join(findings)}",
    )


def _link(folder: Path, at: Path, name: str, said: str) -> tuple[Markup, str]:
    return tag("a", said, href=f"{os.path.relpath(folder, at)}/{name}"), " "


def _seconds(told: Mapping[str, Any]) -> float | None:
    """How long a run took, where both ends are known."""
    try:
        ends = [datetime.fromisoformat(str(told.get(name))) for name in ("started", "ended")]
    except ValueError:
        return None
    return (ends[1] - ends[0]).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One run of a comparison: what it is, where it is, its verdicts by rule."""

    title: str
    folder: Path
    verdicts: Mapping[str, Verdict]


def matrix_page(columns: Sequence[Column], sentences: Mapping[str, str], *, at: Path) -> str:
    """Rules down, runs across, worst first; each cell leads to its evidence."""
    asked = [rule for rule in sentences if sum(rule in one.verdicts for one in columns) > 1]
    order = list(Verdict)

    def badness(rule: str) -> tuple[bool, list[int], str]:
        found = [one.verdicts[rule] for one in columns if rule in one.verdicts]
        return len(set(found)) == 1, sorted(order.index(v) for v in found), rule

    rows = [
        tag(
            "tr",
            tag("th", rule, " ", tag("span", sentences[rule], class_="faint"), scope="row"),
            [tag("td", _cell(one, rule, at)) for one in columns],
            data_text=f"{rule} {sentences[rule]}",
        )
        for rule in sorted(asked, key=badness)
    ]
    names = ("rule", *(str(number) for number in range(1, len(columns) + 1)))
    alone = {rule for rule in sentences if rule not in asked}
    note = f"{len(alone)} rules were asked of one run only and are not compared."
    body = tag(
        "main",
        tag("ol", [tag("li", one.title) for one in columns]),
        tag("p", id="said", role="status", aria_live="polite", class_="faint"),
        tag("label", "Filter rules", for_="filter"),
        tag("input", type="search", id="filter"),
        table("Rules by run, those that differ and are worst first", names, rows, sortable=True),
        folded(note, tag("p", " ".join(sorted(alone)))) if alone else None,
        id="main",
        style="padding:1rem 1.25rem",
    )
    top = tag("header", tag("h1", f"{len(columns)} runs by rule"), class_="top")
    return document("Runs compared", top, body)


def _cell(column: Column, rule: str, at: Path) -> Child:
    verdict = column.verdicts.get(rule)
    if verdict is None:
        return "not asked"
    said = f"{SYMBOL[verdict]} {WORD[verdict]}"
    if not (column.folder / REPORT_FILE).is_file():
        return said
    where = f"{os.path.relpath(column.folder, at)}/{REPORT_FILE}#rule-{rule}"
    return tag("a", said, href=where)

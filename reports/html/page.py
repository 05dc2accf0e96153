"""The report of a run: verdict first, failures open, passes folded, then pictures and grounds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from harness.rules import Conclusion, Judged, Verdict
from reports.html import known
from reports.html.clocks import clock_sections
from reports.html.findings import (
    Anchors,
    css,
    finding_article,
    same_reason_article,
    word,
)
from reports.html.sheet import copied, document, folded, row, table
from reports.markup import Child, Markup, joined, tag
from reports.pictured import OPEN, Pictured, pictured
from reports.terminal import (
    SYMBOL,
    WORD,
    citation,
    depth_told,
    remarks,
    unproven_alike,
)
from reports.view import RunView

_SECTIONS = {
    "findings": "Findings",
    "happened": "What happened",
    "rules": "Rules",
    "faults": "Faults",
    "limits": "Known limits of this run",
    "mutants": "Can the rules fail?",
    "detection": "Detection",
    "coverage": "Coverage of the designs",
}
"""The parts of the page: anchors and titles."""
_FILES = (
    "verdict.json",
    "certificate.json",
    "certificate.html",
    "summary.md",
    "junit.xml",
    "badge.svg",
    "history.jsonl",
)


def page(view: RunView) -> str:
    """The whole page of a run."""
    conclusion = view.conclusion
    drawn = pictured(view)
    anchors = Anchors()
    findings = _findings(view, drawn, anchors)
    pictures = clock_sections(view, drawn, anchors)
    title = f"{_system(conclusion)}: {conclusion.headline}"
    bodies: dict[str, Child] = {
        "findings": findings,
        "happened": pictures,
        "rules": _rules(conclusion),
        "faults": _faults(conclusion, drawn),
        "limits": _limits(conclusion),
        "mutants": known.kill_matrix(conclusion, view.background),
        "detection": known.detection(conclusion, view.background),
        "coverage": known.coverage(view.background.coverage),
    }
    main = tag(
        "main",
        [_section(title, name, bodies[name]) for name, title in _SECTIONS.items()],
        id="main",
        data_around=drawn.around,
    )
    said = tag("p", id="said", role="status", aria_live="polite")
    return document(title, _top(view), tag("div", _side(conclusion), main, class_="shell"), said)


def _system(conclusion: Conclusion) -> str:
    header = conclusion.header
    return f"{header.get('sut')} {header.get('sut_version')}"


def _section(title: str, name: str, *body: Child) -> Markup:
    return tag("section", tag("h2", title), body, id=name)


def _top(view: RunView) -> Markup:
    """The verdict, before anything else."""
    conclusion = view.conclusion
    header = conclusion.header
    counts = [
        f"{conclusion.judgement.count(v)} {WORD[v]}"
        for v in Verdict
        if conclusion.judgement.count(v)
    ]
    profiles = ", ".join(conclusion.plan.examined)
    facts = [
        f"{profiles} {header.get('suite') or 'of an unknown suite'}",
        *(f"{name} {header[name]}" for name in ("world", "seed") if header.get(name) is not None),
        str(header.get("started") or "start unknown"),
        duration(conclusion),
        f"{conclusion.judgement.events:,} events",
    ]
    if conclusion.verdict in (Verdict.PASS, Verdict.WEAK):
        facts.insert(1, f"depth {depth_told(conclusion)}")
    facts += [f"mutant {one}" for one in conclusion.plan.mutants]
    files = [name for name in _FILES if (view.folder / name).is_file()]
    return tag(
        "header",
        tag(
            "h1",
            tag("span", f"{SYMBOL[conclusion.verdict]} {conclusion.headline}", class_="verdict"),
            f" · {_system(conclusion)}",
        ),
        tag("p", " · ".join(counts)),
        tag("p", " · ".join(filter(None, facts)), class_="faint"),
        tag("p", [(tag("a", name, href=name), " ") for name in files], class_="faint"),
        tag(
            "div",
            copied(view.repeat(), "copy repeat command"),
            tag("button", "light or dark", type="button", id="theme"),
            class_="tools",
        ),
        class_="top",
        data_verdict=css(conclusion.verdict),
    )


def duration(conclusion: Conclusion) -> str:
    """How long the run took by the wall, if both ends are known."""
    try:
        started = datetime.fromisoformat(str(conclusion.header.get("started")))
        ended = datetime.fromisoformat(str(conclusion.ended))
        return f"{(ended - started).total_seconds():.0f} s"
    except (ValueError, TypeError):
        return ""


def _side(conclusion: Conclusion) -> Markup:
    """The sections of the designs with a symbol for each rule, and the parts of the page."""
    sections: dict[str, list[Judged]] = {}
    for one in conclusion.judgement.judged:
        sections.setdefault(f"{one.rule.profile}: {one.rule.section}", []).append(one)
    listed = [
        tag(
            "li",
            tag("a", name, href=f"#rule-{members[0].rule.id}"),
            tag("span", "".join(SYMBOL[m.verdict] for m in members), class_="strip"),
        )
        for name, members in sections.items()
    ]
    return tag(
        "nav",
        tag("label", "Filter rules", for_="filter"),
        tag("input", type="search", id="filter", placeholder="word or rule id"),
        tag("ul", [tag("li", tag("a", title, href=f"#{one}")) for one, title in _SECTIONS.items()]),
        tag("ul", listed, class_="sections"),
        class_="side",
        aria_label="Contents",
    )


def _findings(view: RunView, drawn: Pictured, anchors: Anchors) -> Child:
    judged = view.conclusion.judgement.judged
    bad = [one for verdict in OPEN for one in judged if one.verdict is verdict]
    if not bad:
        return tag("p", f"{SYMBOL[Verdict.PASS]} Nothing contradicts the rules that were judged.")
    alike = unproven_alike(judged)
    alone = [one for one in bad if one not in alike.get(one.reason, ())]
    told = [finding_article(one, view, drawn, anchors) for one in alone]
    return told + [same_reason_article(why, members, view) for why, members in alike.items()]


def _rules(conclusion: Conclusion) -> Child:
    """Every rule, by section, folded; those that did not pass are told above."""
    sections: dict[tuple[str, str], list[Judged]] = {}
    for one in conclusion.judgement.judged:
        sections.setdefault((one.rule.profile, one.rule.section), []).append(one)
    groups = []
    for (profile, section), members in sections.items():
        told = ", ".join(f"{_count(members, v)} {WORD[v]}" for v in Verdict if _count(members, v))
        groups.append(
            tag(
                "details",
                tag("summary", f"{profile}: {section} · {told}"),
                [_rule(one) for one in members],
                data_group=True,
            )
        )
    return groups


def _count(members: Sequence[Judged], verdict: Verdict) -> int:
    return sum(one.verdict is verdict for one in members)


def _rule(judged: Judged) -> Markup:
    rule = judged.rule
    told_above = judged.verdict in OPEN
    exercised = f"{judged.result.exercised:,} cases"
    reason = f" · {judged.reason}" if judged.reason else ""
    link = joined(" · ", tag("a", "finding", href=f"#rule-{rule.id}")) if told_above else None
    return tag(
        "p",
        word(judged.verdict),
        " ",
        tag("b", rule.id),
        f" · {rule.level.value} · {rule.sentence} ",
        tag("span", f"{exercised}{reason} · {citation(rule)}", class_="faint"),
        link,
        id=None if told_above else f"rule-{rule.id}",
        data_text=f"{rule.id} {rule.sentence} {rule.section} {rule.profile} {WORD[judged.verdict]}",
    )


def _faults(conclusion: Conclusion, drawn: Pictured) -> Child:
    """Every fault with its anchor; counts first."""
    landed = ", ".join(
        f"{name} ×{count}" for name, count in sorted(conclusion.faults.landed.items())
    )
    rows = []
    for one in drawn.faults:
        clock = drawn.clocks.get(one.clock)
        since = "" if clock is None else f"{clock.at_s(one.since_ns):.3f} s"
        until = "never healed" if one.until_ns is None else ""
        if clock is not None and one.until_ns is not None:
            until = f"{clock.at_s(one.until_ns):.3f} s"
        landed_word = "landed" if one.landed else "did not land"
        rows.append(
            row(
                one.fault,
                one.target,
                one.clock,
                since,
                until,
                landed_word,
                tag("span", one.evidence, class_="mono"),
                id_=f"fault-{one.index}",
            )
        )
    columns = ("fault", "target", "clock", "from", "to", "landed", "evidence")
    listed = folded(f"{len(rows)} faults", table("Every fault of the run", columns, rows))
    return (tag("p", f"Landed: {landed or 'none'}."), listed if rows else None)


def _limits(conclusion: Conclusion) -> Child:
    """What a reader of the verdict has to know; the same remarks as in the terminal."""
    listed = [tag("li", f"{name}: {text}") for name, text in remarks(conclusion)]
    unseen = [
        tag("li", f"not observable: {one.rule.id}, {one.reason}")
        for one in conclusion.judgement.judged
        if one.verdict is Verdict.NOT_OBSERVABLE
    ]
    return tag("ul", listed, unseen) if listed or unseen else tag("p", "None is known.")


__all__ = ["duration", "page"]

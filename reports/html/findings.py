"""The rules that did not pass, open, with everything a reader needs to act.

Rule, design sentence, what was expected, what was seen, when, under which faults, the operations
around it in full, and the command that repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.rules import LEGAL_PREFIX, Cycles, Finding, Holds, Judged, Level, Rule, Verdict
from reports.html.sheet import copied, folded, row, scrolling, table
from reports.markup import Child, Markup, tag
from reports.measures.around import Operation, Slice
from reports.pictured import SHOWN_PER_RULE, Pictured
from reports.pictures.bars import LETTER, Placing, bars
from reports.terminal import SYMBOL, WORD, citation
from reports.view import RunView


@dataclass(slots=True)
class Anchors:
    """Operations may be shown twice; the first place gets the anchor."""

    taken: set[int] = field(default_factory=set)

    def of(self, op: int) -> str | None:
        """The anchor of an operation, if no other place has it."""
        if op in self.taken:
            return None
        self.taken.add(op)
        return f"op-{op}"


def css(verdict: Verdict) -> str:
    """The class of a verdict."""
    return verdict.value.replace(" ", "-")


def word(verdict: Verdict) -> Markup:
    """Symbol and word of a verdict; the colour only repeats them."""
    return tag("span", f"{SYMBOL[verdict]} {WORD[verdict]}", class_=f"{css(verdict)}-word")


def finding_article(judged: Judged, view: RunView, drawn: Pictured, anchors: Anchors) -> Markup:
    """One rule that did not pass: what it says, what to do, each finding with the first open."""
    rule = judged.rule
    level = "" if rule.level is Level.MAY else f" · {rule.level.value}"
    title = tag("h3", word(judged.verdict), " ", tag("b", rule.id), f"{level} · {rule.sentence}")
    facts: list[tuple[str, Child]] = [("cite", cited(rule, view))]
    if quote := view.background.quotes.get(rule.id):
        facts.append(("design", tag("blockquote", quote)))
    facts += _expected(judged)
    facts.append(("because", judged.reason))
    shown = judged.result.findings[:SHOWN_PER_RULE]
    if shown and rule.hint:
        facts.append(("look at", rule.hint))
    if caught := [m.name for m in view.background.mutants if rule.id in m.rules]:
        facts.append(("can fail", f"its mutants were caught: {', '.join(caught)}"))
    facts.append(("repeat", copied(view.repeat(rule.id))))
    more = judged.result.violations - len(shown)
    said = f"{more:,} more; the first {len(judged.result.findings)} are in verdict.json"
    return tag(
        "article",
        title,
        _listed(facts),
        [
            _finding(finding, drawn, anchors, open_=number == 0)
            for number, finding in enumerate(shown)
        ],
        tag("p", said, class_="faint") if shown and more > 0 else None,
        id=f"rule-{rule.id}",
        class_=css(judged.verdict),
        data_text=_text(judged),
    )


def _listed(facts: Sequence[tuple[str, Child]]) -> Markup:
    return tag("dl", [(tag("dt", name), tag("dd", told)) for name, told in facts])


def _finding(finding: Finding, drawn: Pictured, anchors: Anchors, *, open_: bool) -> Markup:
    """What was seen, when, under which faults, and the operations around it."""
    place = "" if finding.topic is None else f" on {finding.topic}/{finding.partition}"
    when = "" if finding.at_s is None else f", {finding.at_s:.3f} s after the start"
    slice_ = drawn.slices.get(finding.op)
    figure = None if slice_ is None else slice_figure(slice_, anchors, placing_of(finding))
    summary = tag("summary", f"op {finding.op}{place}{when}")
    return tag(
        "details", summary, _listed(_seen(finding, drawn)), figure, open=open_, class_="finding"
    )


def same_reason_article(reason: str, members: Sequence[Judged], view: RunView) -> Markup:
    """Many rules that have no proof for one and the same reason: told once."""
    verdict = members[0].verdict
    rows = [
        row(
            tag("b", one.rule.id),
            one.rule.sentence,
            tag("code", view.repeat(one.rule.id)),
            id_=f"rule-{one.rule.id}",
        )
        for one in members
    ]
    title = tag("h3", word(verdict), f" · {len(members)} rules: {reason}")
    return tag(
        "article",
        title,
        _listed([("repeat", copied(view.repeat()))]),
        folded("the rules", table(f"Rules: {reason}", ("rule", "says", "repeat"), rows)),
        class_=css(verdict),
        data_text=" ".join(map(_text, members)),
    )


def cited(rule: Rule, view: RunView) -> Child:
    """Where a rule stands, with a link where that was published."""
    where = view.background.published.get(rule.id)
    if where is None:
        return citation(rule)
    return [citation(rule), " ", tag("a", "read it", href=where, rel="noreferrer")]


def placing_of(finding: Finding) -> Placing | None:
    """How far a legal order gets, where a search found none."""
    prefix = finding.shown.get(LEGAL_PREFIX)
    if not isinstance(prefix, list):
        return None
    order = tuple(int(op) for op in prefix)
    positions = {op: number for number, op in enumerate(order, start=1)}
    return Placing(order=order, stuck=finding.op, positions=positions)


def slice_figure(slice_: Slice, anchors: Anchors, placing: Placing | None = None) -> Markup:
    """The operations around a finding as a picture, and as a table."""
    clock = slice_.clock
    left = f"{slice_.left_out:,} more are not drawn" if slice_.left_out else "none is left out"
    said = f"{slice_.about}, by order: {len(slice_.operations)} around op {slice_.around}; {left}."
    if placing is not None:
        said += (
            " Numbered and filled: the end of the longest legal order, the line is the order in"
            " which they take effect. ×: the first operation that has no place in any legal order."
        )
    rows = [_operation_row(one, slice_, anchors) for one in slice_.operations]
    columns = ("op", "at", "took", "client", "broker", "what", "outcome", "asked and answered")
    return tag(
        "figure",
        scrolling(f"Operations around op {slice_.around}", bars(slice_, placing)),
        tag("figcaption", f"Clock {clock.name}. {said}", class_="faint"),
        folded(
            "the same as a table",
            table(f"Operations around op {slice_.around}", columns, rows),
            open_=False,
        ),
    )


def _operation_row(one: Operation, slice_: Slice, anchors: Anchors) -> Markup:
    took = "" if one.completed_ns is None else f"{(one.completed_ns - one.invoked_ns) / 1e6:.3f} ms"
    outcome = f"{LETTER.get(one.type, '?')} {one.type} {one.error}".rstrip()
    return row(
        str(one.op),
        f"{slice_.clock.at_s(one.invoked_ns):.6f} s",
        took,
        one.client,
        "" if one.node is None else str(one.node),
        f"{one.f} {one.place}",
        outcome,
        tag("span", f"{one.asked} → {one.answered}", class_="mono wrap"),
        id_=anchors.of(one.op),
        class_="found" if one.op == slice_.around else None,
    )


def _expected(judged: Judged) -> list[tuple[str, Child]]:
    """What should have been so, in the rule's own terms."""
    judge = judged.rule.judge
    if judged.verdict is Verdict.NO_PROOF and not judged.result.violations:
        return [("expected", "to be exercised, with every required fault landed")]
    if isinstance(judge, Holds):
        among = f" among {judge.among}" if judge.among else ""
        where = [f"rows of {judge.table}{among} where ", tag("code", " ".join(judge.when.split()))]
        return [("expected", tag("code", " ".join(judge.holds.split()))), ("in all", where)]
    if judge is None:
        return [("expected", judged.rule.sentence)]
    if isinstance(judge, Cycles):
        return [("expected", f"no {judge.kind} among the dependencies in {judge.table}")]
    order = f"a legal order of all operations of each {', '.join(judge.key)}"
    return [("expected", f"{order}, in the model {judge.model}")]


def _seen(finding: Finding, drawn: Pictured) -> list[tuple[str, Child]]:
    """A link where its operation is drawn, else the command that shows it."""
    name: Child = f"op {finding.op}"
    if finding.op in drawn.slices:
        name = tag("a", name, href=f"#op-{finding.op}")
    facts: list[tuple[str, Child]] = [("seen", [name, f": {finding.seen}"])]
    if finding.op in drawn.there and finding.op not in drawn.slices:
        facts.append(("show it", copied(f"{drawn.around} {finding.op}")))
    if finding.at_s is not None:
        facts.append(("faults", ", ".join(finding.faults) or "none in force"))
    facts.append(("evidence", ["history.jsonl, index ", str(finding.op)]))
    return facts


def _text(judged: Judged) -> str:
    """By which words the filter finds a rule."""
    rule = judged.rule
    said = (rule.id, rule.sentence, rule.section, rule.profile, WORD[judged.verdict], judged.reason)
    return " ".join(said)

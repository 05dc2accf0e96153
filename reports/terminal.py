"""What a run looks like in a terminal: 80 columns, or as many as there really are.

Quiet when good: a section that passed is one line. Complete when bad: the rule, where it stands,
what was seen, where the evidence is, and as the last line the command that repeats it. No colour
is needed to read it; symbols carry the meaning.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from harness.history.plan import DetectionRate
from harness.history.run import HISTORY_FILE
from harness.rules import Conclusion, Finding, Judged, Judgement, Rule, Verdict
from harness.sut.lever_sets import SAID

WIDTH = 80
MOST = 140
"""Lines that are longer are hard to read, however wide the window is."""
REPORT_FILE = "report.html"
SYMBOL = {
    Verdict.FAIL: "×",
    Verdict.BROKEN: "!",
    Verdict.NO_PROOF: "?",
    Verdict.WEAK: "~",
    Verdict.PASS: "✓",
    Verdict.NOT_OBSERVABLE: "–",
    Verdict.NOT_APPLICABLE: "–",
}
WORD = {
    Verdict.FAIL: "FAIL",
    Verdict.BROKEN: "broken",
    Verdict.NO_PROOF: "no proof",
    Verdict.WEAK: "weak",
    Verdict.PASS: "pass",
    Verdict.NOT_OBSERVABLE: "not observable",
    Verdict.NOT_APPLICABLE: "n/a",
}
_LISTED = 5
_ALIKE = 5
_DETAILED = (Verdict.FAIL, Verdict.BROKEN, Verdict.NO_PROOF, Verdict.WEAK)


_FIXED: ContextVar[bool] = ContextVar("fixed", default=False)
PROGRAM = "./tidemark"
_ELSEWHERE: ContextVar[bool] = ContextVar("elsewhere", default=False)


def width() -> int:
    """How many columns a line may have: those of the terminal, and 80 where there is none."""
    if _FIXED.get() or not sys.stdout.isatty():
        return WIDTH
    return max(40, min(MOST, shutil.get_terminal_size((WIDTH, 24)).columns))


def called_as() -> str:
    """How the user started the program, for commands that are to be typed again."""
    return PROGRAM if _ELSEWHERE.get() else os.environ.get("TIDEMARK_CALLED_AS", PROGRAM)


@contextmanager
def read_elsewhere() -> Iterator[None]:
    """Within the block commands are told as in a checkout of the project, wherever that is."""
    before = _ELSEWHERE.set(True)
    try:
        yield
    finally:
        _ELSEWHERE.reset(before)


def sections(judgement: Judgement) -> Iterator[str]:
    """One line per section of each document, in the order of the rules."""
    by_profile: dict[str, dict[str, list[Judged]]] = {}
    for judged in judgement.judged:
        chapter = by_profile.setdefault(judged.rule.profile, {})
        chapter.setdefault(judged.rule.section, []).append(judged)
    for profile, chapters in by_profile.items():
        yield profile
        for section, members in chapters.items():
            yield f"  {section:<44}  {_counts(j.verdict for j in members)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where the evidence is, and which command repeats what a rule saw there."""

    evidence: str
    repeat: str

    @classmethod
    def of_run(cls, run: str, folder: str) -> Where:
        """For a run of the lab."""
        return cls(
            evidence=str(Path(folder, HISTORY_FILE)), repeat=f"{called_as()} replay {run} --rule"
        )

    @classmethod
    def of_history(cls, name: str) -> Where:
        """For a history, whoever recorded it."""
        return cls(evidence=name, repeat=f"{called_as()} shrink {name} --finding")


def details(judgement: Judgement, where: Where) -> Iterator[str]:
    """A paragraph for each rule that did not pass, worst first."""
    alike = unproven_alike(judgement.judged)
    for verdict in _DETAILED:
        for judged in (one for one in judgement.judged if one.verdict is verdict):
            if judged not in alike.get(judged.reason, []):
                yield ""
                yield from paragraph(judged, where)
    for reason, together in alike.items():
        yield ""
        yield from wrapped(f"? {len(together)} rules  no proof: ", reason)
        yield from wrapped("    rules     ", " ".join(one.rule.id for one in together))
        yield f"    repeat    {where.repeat} {together[0].rule.id}"
    unseen: dict[str, list[str]] = {}
    for judged in judgement.judged:
        if judged.verdict is Verdict.NOT_OBSERVABLE:
            unseen.setdefault(judged.reason, []).append(judged.rule.id)
    if unseen:
        yield ""
    for reason, rules in unseen.items():
        yield from wrapped(f"– {' '.join(rules)}  not observable: ", reason)


def unproven_alike(judged: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Rules without proof, by their reason, where more than a few have the same one."""
    by_reason: dict[str, list[Judged]] = {}
    for one in judged:
        if one.verdict is Verdict.NO_PROOF and not one.result.violations:
            by_reason.setdefault(one.reason, []).append(one)
    return {reason: members for reason, members in by_reason.items() if len(members) > _ALIKE}


def contradicted(judgement: Judgement, where: Where) -> Iterator[str]:
    """A paragraph for each rule that something in a history contradicts."""
    for judged in judgement.judged:
        if judged.result.violations:
            yield from paragraph(judged, where)
            yield ""


def summary(judgement: Judgement) -> str:
    """All rules in one line."""
    counts = _counts((j.verdict for j in judgement.judged), always=(Verdict.PASS, Verdict.FAIL))
    rules = "1 rule" if len(judgement.judged) == 1 else f"{len(judgement.judged)} rules"
    return f"{rules}: {counts}"


def closing(conclusion: Conclusion, folder: str, run: str) -> Iterator[str]:
    """Everything below the stages of a run: sections, findings, what is missing, the headline.

    `run` is what the run is called on a command line.
    """
    judgement = conclusion.judgement
    yield ""
    yield from sections(judgement)
    yield from details(judgement, Where.of_run(run, folder))
    yield ""
    for word, text in remarks(conclusion):
        yield from wrapped(f"{word:<11}", text)
    if (Path(folder) / REPORT_FILE).is_file():
        yield f"report     {folder}/{REPORT_FILE}"
    yield summary(judgement)
    if conclusion.verdict in (Verdict.PASS, Verdict.WEAK):
        depth = depth_told(conclusion)
        what = f"{', '.join(conclusion.plan.examined)} {conclusion.header.get('suite')}"
        yield from pieces(
            f"{conclusion.headline}  ", [what, *f"depth {depth}".split(" · "), f"{folder}/"]
        )
    else:
        *before, last = textwrap.wrap(
            conclusion.headline,
            width(),
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from before
        yield from pieces("", [last, f"repeat: {called_as()} replay {run}"])


def depth_told(conclusion: Conclusion) -> str:
    """Of how many rules of each depth one could judge how many."""
    return " · ".join(f"{d} {n['judged']}/{n['rules']}" for d, n in conclusion.depth.items())


def remarks(conclusion: Conclusion) -> list[tuple[str, str]]:
    """What a reader of the headline has to know: a word, and what it is about."""
    listed = [("tampered", text) for text in conclusion.tampered[:_LISTED]]
    listed += [("history", text) for text in conclusion.judgement.problems[:_LISTED]]
    listed += [("mutant", mutant) for mutant in conclusion.plan.mutants]
    listed += [("lacks", text) for text in conclusion.lacks]
    if conclusion.brokers.missing:
        found = ", ".join(map(str, conclusion.brokers.found))
        listed.append(("missing", f"of {conclusion.brokers.expected} brokers only {found} answer"))
    listed += [("unexamined", f"{name}: {why}") for name, why in conclusion.not_examined.items()]
    listed += [("not tried", text) for text in _by_reason(conclusion.faults.not_tried)]
    listed += [("not landed", name) for name in conclusion.faults.missed]
    listed += [("detects", rate_told(one)) for one in conclusion.detection]
    listed += [("waived", f"{rule} {words}") for rule, words in conclusion.waived.items()]
    listed += [("stale", text) for text in conclusion.stale]
    return listed


def rate_told(rate: DetectionRate) -> str:
    """What a run like this is known to detect."""
    of = f"{rate.percent} % of {rate.of:,} known breakages"
    drawn = f", drawn from {rate.population:,}" if rate.sample else ""
    return f"{rate.profile}: {of}{drawn}, {SAID.get(rate.levers, rate.levers)} ({rate.world})"


def _by_reason(skipped: Mapping[str, str]) -> Iterator[str]:
    """Names that share a reason, together."""
    reasons: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        reasons.setdefault(reason, []).append(name)
    yield from (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def citation(rule: Rule) -> str:
    """Where a rule stands; what Kafka itself promises stands in none of the designs."""
    if not rule.lines:
        return f"what {rule.document} promises, {rule.section} · {rule.source}"
    lines = " ".join(str(line) for line in rule.lines)
    reading = f" · reading {' '.join(rule.decisions)}" if rule.decisions else ""
    return f"{rule.document}.md, {rule.section}, lines {lines}{reading}"


def wrapped(label: str, text: str) -> list[str]:
    """A labelled text, wrapped and hanging under its label."""
    return textwrap.wrap(
        label + text,
        width(),
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )


def pieces(label: str, parts: Iterable[str]) -> Iterator[str]:
    """Parts side by side, hanging under their label; a path or a command is never broken."""
    line, empty = label, True
    for part in parts:
        if not empty and len(line) + len(f" · {part}") > width():
            yield line
            line, empty = " " * len(label), True
        line, empty = f"{line}{part}" if empty else f"{line} · {part}", False
    yield line


def paragraph(judged: Judged, where: Where) -> Iterator[str]:
    """One rule in full: where it stands, what was seen, and the command that repeats it."""
    rule = judged.rule
    level = rule.level.value if judged.verdict in (Verdict.FAIL, Verdict.WEAK) else ""
    word = level or WORD[judged.verdict]
    yield from wrapped(f"{SYMBOL[judged.verdict]} {rule.id}  {word}  ", rule.sentence)
    yield from wrapped("    cite      ", citation(rule))
    yield from wrapped("    because   ", judged.reason)
    for finding in judged.result.findings[:3]:
        yield from _seen(finding)
    if judged.result.findings:
        index = judged.result.findings[0].op
        yield from wrapped("    evidence  ", f"{where.evidence}, index {index}")
        yield from wrapped("    look at   ", rule.hint)
    elif judged.result.violations:
        yield from wrapped("    seen      ", judged.result.broken)
    yield f"    repeat    {where.repeat} {rule.id}"


def paragraph_text(judged: Judged, where: Where) -> str:
    """The same for a file, which is the same from every terminal."""
    before = _FIXED.set(True)
    try:
        return "\n".join(paragraph(judged, where))
    finally:
        _FIXED.reset(before)


def _seen(finding: Finding) -> Iterator[str]:
    place = [] if finding.topic is None else [f"{finding.topic}/{finding.partition}"]
    place += [] if finding.at_s is None else [f"{finding.at_s:.3f} s"]
    where = f" ({', '.join(place)})" if place else ""
    opening, *more = f"op {finding.op}{where}: {finding.seen}".splitlines()
    yield from wrapped("    seen      ", opening)
    for line in more:
        deeper = " " * (len(line) - len(line.lstrip()))
        yield from wrapped(f"              {deeper}", line.lstrip())
    if finding.faults:
        yield from wrapped("    during    ", ", ".join(finding.faults))


def _counts(verdicts: Iterable[Verdict], always: tuple[Verdict, ...] = ()) -> str:
    seen = list(verdicts)
    order = [Verdict.PASS, *(v for v in Verdict if v is not Verdict.PASS)]
    return ", ".join(
        f"{seen.count(verdict)} {WORD[verdict]}"
        for verdict in order
        if verdict in seen or verdict in always
    )

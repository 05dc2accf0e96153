"""A run as Markdown, for the job page of a CI and for issues."""

from __future__ import annotations

import re

from harness.rules import Judged, Verdict
from reports import terminal
from reports.plain import printable, scrubbed
from reports.terminal import SYMBOL, WORD, citation, remarks
from reports.view import RunView

_STEERS = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@])")
_TOLD = (Verdict.FAIL, Verdict.BROKEN, Verdict.NO_PROOF, Verdict.WEAK)
SHOWN = 20


def plain(text: object) -> str:
    """Text in which nothing is formatted, linked, or run."""
    return _STEERS.sub(r"\\\1", printable(scrubbed(str(text))))


def summary(view: RunView) -> str:
    """Verdict, counts, what failed, what limits it, and the command that repeats it."""
    conclusion = view.conclusion
    header, judgement = conclusion.header, conclusion.judgement
    about = (
        f"{header.get('sut')} {header.get('sut_version')} · {', '.join(conclusion.plan.examined)}"
        f" {header.get('suite')} · world {header.get('world')} · seed {header.get('seed')}"
    )
    lines = [
        f"## {SYMBOL[conclusion.verdict]} {plain(conclusion.headline)}",
        "",
        plain(about),
        "",
        terminal.summary(judgement),
    ]
    bad = [one for verdict in _TOLD for one in judgement.judged if one.verdict is verdict]
    for one in bad[:SHOWN]:
        lines += ["", *_finding(one, view)]
    if len(bad) > SHOWN:
        lines += ["", f"and {len(bad) - SHOWN} more rules"]
    if limits := remarks(conclusion):
        lines += ["", *(f"- {plain(name)}: {plain(text)}" for name, text in limits)]
    return "\n".join([*lines, "", f"repeat: `{_code(view.repeat())}`", ""])


def _code(text: str) -> str:
    return printable(scrubbed(text)).replace("`", "'")


def _finding(one: Judged, view: RunView) -> list[str]:
    rule = one.rule
    lines = [f"### {SYMBOL[one.verdict]} {rule.id} · {WORD[one.verdict]} · {plain(rule.sentence)}"]
    lines += ["", f"- cite: {plain(citation(rule))}", f"- because: {plain(one.reason)}"]
    for finding in one.result.findings[:1]:
        when = "" if finding.at_s is None else f", {finding.at_s:.3f} s after the start"
        seen = finding.seen.replace("\n", " ")
        lines.append(f"- seen: op {finding.op}{when}: {plain(seen)}")
        if finding.faults:
            lines.append(f"- during: {plain(', '.join(finding.faults))}")
    return [*lines, f"- repeat: `{_code(view.repeat(rule.id))}`"]

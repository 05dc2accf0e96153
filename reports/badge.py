"""A badge: profile and suite on the left, what a run is worth on the right.

There is no percentage: nearly durable is not durable.
"""

from __future__ import annotations

from harness.rules import Conclusion, Verdict
from reports.markup import tag

_LETTER_PX = 6.6
_COLOURS = {
    Verdict.PASS: "#00664b",
    Verdict.WEAK: "#00664b",
    Verdict.FAIL: "#b03a00",
    Verdict.NO_PROOF: "#8a5a00",
    Verdict.BROKEN: "#59636e",
}


def worth(conclusion: Conclusion) -> str:
    """What a run is worth in two or three words."""
    if conclusion.certified:
        return "certified"
    if conclusion.verdict is Verdict.FAIL:
        broken = conclusion.judgement.count(Verdict.FAIL)
        return f"{broken} must broken" if broken else "not conformant"
    if conclusion.verdict is Verdict.NO_PROOF:
        return "not proven"
    return "lab broken" if conclusion.verdict is Verdict.BROKEN else "conformant, no certificate"


def badge(conclusion: Conclusion) -> str:
    """The badge as SVG."""
    left = f"{', '.join(conclusion.plan.examined)} {conclusion.header.get('suite')}"
    right = worth(conclusion)
    first, second = (len(text) * _LETTER_PX + 14 for text in (left, right))
    made = tag(
        "svg",
        tag("title", f"{left}: {right}"),
        tag("rect", width=first + second, height=20, rx=3, fill="#333b44"),
        tag("rect", x=first, width=second, height=20, rx=3, fill=_COLOURS[conclusion.verdict]),
        tag("text", left, x=first / 2, y=14, fill="#fff", text_anchor="middle"),
        tag("text", right, x=first + second / 2, y=14, fill="#fff", text_anchor="middle"),
        xmlns="http://www.w3.org/2000/svg",
        width=first + second,
        height=20,
        role="img",
        aria_label=f"{left}: {right}",
        font_family="Verdana,DejaVu Sans,sans-serif",
        font_size=11,
    )
    return f"{made}\n"

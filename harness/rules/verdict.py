"""Verdicts: what a run showed about a rule, and what a run is worth.

The order is worst first. A counterexample stays true whatever else broke, so FAIL leads. Nothing
judged means nothing proven: the worst of no verdicts is NO PROOF, and a rule exercised zero
times is NO PROOF, never PASS.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from harness.rules.rule import Level, Rule

LEGAL_PREFIX = "legal_prefix"
"""Where a search found no legal order, the finding shows under this name how far one gets."""


class Verdict(Enum):
    """Worst first."""

    FAIL = "fail"
    BROKEN = "broken"
    NO_PROOF = "no proof"
    WEAK = "weak"
    PASS = "pass"
    NOT_OBSERVABLE = "not observable"
    NOT_APPLICABLE = "not applicable"

    @staticmethod
    def worst(verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict that decides a whole run."""
        order = list(Verdict)
        decisive = [v for v in verdicts if v not in _SILENT]
        return min(decisive, key=order.index, default=Verdict.NO_PROOF)


_SILENT = frozenset({Verdict.NOT_OBSERVABLE, Verdict.NOT_APPLICABLE})

_EXIT = {
    Verdict.PASS: 0,
    Verdict.WEAK: 0,
    Verdict.FAIL: 1,
    Verdict.NO_PROOF: 2,
    Verdict.BROKEN: 3,
}


def exit_code(verdict: Verdict) -> int:
    """0 conformant, 1 a MUST is broken, 2 no proof, 3 the lab is broken."""
    return _EXIT[verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation: where in the history it shows, and the values that contradict the rule.

    `seen` says it in words, `shown` has the same values by name. `at_s` is the time since the run
    began, `faults` are those in force then.
    """

    rule: str
    op: int
    topic: str | None
    partition: int | None
    seen: str
    shown: Mapping[str, object] = field(default_factory=dict)
    at_s: float | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What the judge of one rule counted. `unknown` counts searches that ran out of budget."""

    rule: str
    exercised: int
    violations: int
    unknown: int = 0
    findings: tuple[Finding, ...] = ()
    broken: str = ""

    def verdict(
        self,
        rule: Rule,
        *,
        complete: bool = True,
        damaged: bool = False,
        circumstances: Collection[str] = (),
    ) -> tuple[Verdict, str]:
        """The verdict and, where it is not self-evident, the reason in a few words.

        What a history made under these `circumstances` may show is told and costs nothing. A
        damaged history accuses nobody: what is missing from it may be what would explain the rest.
        """
        level = rule.level_under(circumstances)
        told = f"{self.violations} of {self.exercised} cases contradict it"
        if self.violations and level is not Level.MAY:
            if damaged:
                return Verdict.NO_PROOF, f"{told}, in a history that is damaged"
            return Verdict.FAIL if level is Level.MUST else Verdict.WEAK, told
        if self.broken:
            return Verdict.BROKEN, self.broken
        if self.unknown:
            return Verdict.NO_PROOF, f"{self.unknown} searches ran out of budget"
        if not self.exercised:
            return Verdict.NO_PROOF, "never exercised"
        if not complete:
            return Verdict.NO_PROOF, "the run is incomplete"
        return Verdict.PASS, f"{told}, which is allowed" if self.violations else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One rule's verdict, the reason where it is not self-evident, and the counts behind it."""

    rule: Rule
    verdict: Verdict
    reason: str
    result: RuleResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All verdicts of a run. `problems` are lines of the history that could not be used; if there
    are any the history is `damaged`, and not only cut short."""

    judged: tuple[Judged, ...]
    complete: bool
    events: int
    sha256: str
    problems: tuple[str, ...] = ()
    damaged: bool = False

    @property
    def verdict(self) -> Verdict:
        """What the run is worth as a whole."""
        return Verdict.worst(judged.verdict for judged in self.judged)

    def count(self, verdict: Verdict) -> int:
        """How many rules got this verdict."""
        return sum(judged.verdict is verdict for judged in self.judged)

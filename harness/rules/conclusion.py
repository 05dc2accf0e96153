"""What a run comes to: everything that text, exit code, verdict file and certificate say.

A conclusion is made in one place, by `spark_checkers.judge`; views only show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.history.plan import DetectionRate, RunPlan
from harness.rules.verdict import Judgement, Verdict, exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsSeen:
    """Faults by what became of them.

    `landed` counts them by name; `missed` are parts of the plan in which one did not land;
    `not_tried` are parts with faults that were skipped, with the reason.
    """

    landed: Mapping[str, int] = field(default_factory=dict)
    missed: tuple[str, ...] = ()
    not_tried: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brokers:
    """How many brokers the system should have, and which were found."""

    expected: int | None = None
    found: tuple[int, ...] = ()

    @property
    def missing(self) -> int:
        """How many did not answer, as far as one knows."""
        return max(0, (self.expected or 0) - len(self.found)) if self.found else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A judged run folder.

    `depth` has for each depth how many rules the examined profiles have for such a system, and how
    many of them were judged. `not_examined` maps claimed profiles to reasons. `waived` maps excused
    rules to the words beside them, `stale` says what is wrong with waivers that outlived their
    reason. `tampered` says what in the folder contradicts the rest, `lacks` what an older folder
    does not say. `detection` has for each profile what such a run is known to detect. `operations`
    is how many were recorded.
    """

    header: Mapping[str, Any]
    plan: RunPlan
    judgement: Judgement
    verdict: Verdict
    headline: str
    certified: bool
    rules_sha256: str
    depth: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    faults: FaultsSeen = field(default_factory=FaultsSeen)
    brokers: Brokers = field(default_factory=Brokers)
    not_examined: Mapping[str, str] = field(default_factory=dict)
    waived: Mapping[str, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    tampered: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    detection: tuple[DetectionRate, ...] = ()
    ended: str | None = None
    operations: int = 0

    def tampered_with(self, what: Sequence[str]) -> Conclusion:
        """The same of a folder that was edited: it proves nothing, and is named."""
        return replace(
            self,
            verdict=Verdict.NO_PROOF,
            headline=f"TAMPERED  {what[0]}",
            certified=False,
            tampered=tuple(what),
        )

    @property
    def exit_code(self) -> int:
        """The exit code of every command that shows it."""
        return exit_code(self.verdict)

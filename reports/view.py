"""What a view of a run is drawn from: the conclusion, the folder, and what is known beside them.

Views may not import the catalogue's package: the command line hands over what stands behind the
rules (mutants, rates, coverage of the designs) and the design sentences where they are at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.rules import Conclusion
from harness.rules.linemap import DocumentMap
from reports.terminal import Where, called_as


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantSeen:
    """A mutant of the self-check: the rules it was made for, and those that saw it."""

    name: str
    why: str
    rules: tuple[str, ...]
    killed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRow:
    """What a plan detected of the derived mutants of a profile."""

    profile: str
    kind: str
    world: str
    levers: str
    mutants: int
    detected: int
    population: int = 0
    sample: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreachedRow:
    """Mutants of a decision that the default run of a profile never reaches."""

    profile: str
    area: str
    decision: str
    mutants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What is known of the rules without this run.

    `quotes` are the cited lines of the designs, `published` is where they can be read.
    """

    mutants: tuple[MutantSeen, ...] = ()
    detection: tuple[DetectionRow, ...] = ()
    unreached: tuple[UnreachedRow, ...] = ()
    coverage: Mapping[str, DocumentMap] = field(default_factory=dict)
    quotes: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A judged run to be shown.

    `called` is what it is called on a command line; `kept_in` the folder as readers know it.
    """

    conclusion: Conclusion
    folder: Path
    called: str
    kept_in: str
    background: Background = field(default_factory=Background)

    def repeat(self, rule: str | None = None) -> str:
        """The command that repeats the run, for one rule or for all."""
        more = f" --rule {rule}" if rule else ""
        return f"{called_as()} replay {self.called}{more}"

    @property
    def where(self) -> Where:
        """Where the evidence is, and which command repeats it."""
        return Where.of_run(self.called, self.kept_in)

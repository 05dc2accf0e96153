"""Bad lines, named and counted.

A `Problem` says which file, which line and why. A file may be all garbage, so the log keeps the
first `KEPT` of them and counts the rest: memory stays bounded, and nothing is dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that could not be used: `line` counts from 1, 0 means the file as a whole."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.reason}"


@dataclass(slots=True, kw_only=True)
class ProblemLog:
    """Collects the problems of one file: the first `KEPT` in full, the others as a count."""

    file: str
    kept: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, line: int, reason: str) -> None:
        """Record one problem of this file."""
        self.extend(Problem(file=self.file, line=line, reason=reason))

    def extend(self, *problems: Problem) -> None:
        """Record problems that already name their file."""
        self.total += len(problems)
        self.kept.extend(problems[: max(0, KEPT - len(self.kept))])

    def listed(self) -> list[Problem]:
        """What was kept, closed by one line that counts the rest."""
        rest = self.total - len(self.kept)
        if not rest:
            return list(self.kept)
        more = Problem(file=self.file, line=0, reason=f"and {rest} more problems, not listed")
        return [*self.kept, more]

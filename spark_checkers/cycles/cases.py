"""What a search for cycles found: cycles with the reason for each step, and what it gave up on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_checkers.cycles.graph import PROCESS, WR, WW


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Why the target comes after the source. A dependency rests on a value of a log."""

    kind: str
    source: int
    target: int
    facts: Mapping[str, object] = field(default_factory=dict)

    def words(self) -> str:
        """The step as a clause."""
        facts = self.facts
        if self.kind == WR:
            return f"{self.target} polled {facts['value']} of {facts['topic']} from {self.source}"
        if self.kind == WW:
            behind = f"{facts['next_value']} of {self.target} stands behind {facts['value']}"
            return f"in {facts['topic']} {behind} of {self.source}"
        if self.kind == PROCESS:
            return f"process {facts['process']} did {self.target} after {self.source}"
        return f"{self.target} began at {facts['began']}, after {self.source} was over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Transactions that each come after the one before; the first is also the last."""

    steps: tuple[Step, ...]

    @property
    def op(self) -> int:
        """Where in the history to look first."""
        return min(step.source for step in self.steps)

    def words(self) -> str:
        """The cycle as a sentence."""
        return "; ".join(step.words() for step in self.steps)

    def shown(self) -> dict[str, object]:
        """The transactions and the steps between them."""
        return {
            "cycle": [*(step.source for step in self.steps), self.steps[0].source],
            "steps": [{"type": step.kind, **step.facts} for step in self.steps],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A knot in which the search found no cycle of a kind, though one exists; or gave up."""

    op: int
    text: str
    facts: Mapping[str, object]

    def words(self) -> str:
        """What is known, as a sentence."""
        return self.text

    def shown(self) -> dict[str, object]:
        """What is known, by name."""
        return dict(self.facts)


Case = Cycle | Unfinished

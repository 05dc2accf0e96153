"""Differences that are known and meant: data in `allowed_differences.json`, a reason with each.

An entry names sequences and paths with `*` for anything, and where need be the API and the steps.
It excuses a difference, never an answer: whatever else the same answer says is still compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.differential.sequence import Step
from harness.history.differences import matches

FILE = Path(__file__).with_name("allowed_differences.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """One excuse."""

    sequence: str
    paths: Sequence[str]
    reason: str
    steps: Sequence[int] | None = None
    """Which steps of the sequence; all of them if none are named."""
    api: str = "*"

    def concerns(self, sequence: str, at: int, step: Step) -> bool:
        """Whether it excuses anything in the answer to this step."""
        return (
            (self.steps is None or at in self.steps)
            and matches(self.api, step.api)
            and matches(self.sequence, sequence)
        )


def allowed_paths(allowed: Sequence[Allowed], sequence: str, at: int, step: Step) -> list[str]:
    """The paths in the answer to a step where a difference is excused."""
    return [path for one in allowed if one.concerns(sequence, at, step) for path in one.paths]


def read_allowed(path: Path = FILE) -> Sequence[Allowed]:
    return [Allowed(**one) for one in json.loads(path.read_text(encoding="utf-8"))]

"""Differences that are known and meant: data in `allowed_differences.json`, a reason with each.

An entry names sequences and paths with `*` for anything, and where need be the steps. It excuses a
difference, never an answer: whatever else the same answer says is still compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.differential.compare import Difference

FILE = Path(__file__).with_name("allowed_differences.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """One excuse."""

    sequence: str
    paths: Sequence[str]
    reason: str
    steps: Sequence[int] | None = None
    """Which steps of the sequence; all of them if none are named."""

    def covers(self, sequence: str, step: int, difference: Difference) -> bool:
        return (
            (self.steps is None or step in self.steps)
            and matches(self.sequence, sequence)
            and any(matches(path, difference.path) for path in self.paths)
        )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


def matches(pattern: str, text: str) -> bool:
    """`*` stands for anything; every other character for itself."""
    return _pattern(pattern).fullmatch(text) is not None


def read_allowed(path: Path = FILE) -> Sequence[Allowed]:
    return [Allowed(**one) for one in json.loads(path.read_text(encoding="utf-8"))]

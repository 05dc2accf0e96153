"""How an operation of a client ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """`ok`, `fail` (definitely had no effect) or `info` (unknown), and what came with it."""

    type: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def done(**fields: Any) -> Outcome:
    """It happened."""
    return Outcome("ok", fields)


def definitely_not(**fields: Any) -> Outcome:
    """It did not happen and never will."""
    return Outcome("fail", fields)


def unknown(**fields: Any) -> Outcome:
    """It may have happened, may yet happen, may never happen."""
    return Outcome("info", fields)

"""The sound function of a decision, for mutants that are wrong only sometimes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.decisions import original


def sound(decision: str) -> Callable[..., Any]:
    """The function that a mutant of this decision replaces; what it returns, the mutant knows."""
    return original(decision)

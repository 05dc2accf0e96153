"""What an error message says could have stood there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def allowed(
    words: Iterable[str], *, near: str | None = None, among: Iterable[str] | None = None
) -> str:
    """The words that are allowed, and the one that was perhaps meant."""
    names = list(words)
    close = difflib.get_close_matches(near, list(among or names), n=1) if near else []
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}allowed: {', '.join(names)}"

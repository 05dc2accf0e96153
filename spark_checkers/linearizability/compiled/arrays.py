"""What the compiled part works on: whole numbers in arrays, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., object])

MOST_SLOTS = 62
"""A set of slots is the bits of one number."""

ANY = -1
"""Required: no particular state."""

SAME = -1
"""Left behind: the state that was there."""

NEVER = -(2**63)
"""When an operation of unknown outcome ended."""


class Line(NamedTuple):
    """A timeline: by operation, by position, by kind, by kind of unknown outcome.

    The members of unknown kind `k` are those from `unknown_first[k]` to `unknown_first[k + 1]`.
    """

    kind: Numbers
    begins_at: Numbers
    returns_at: Numbers
    slot: Numbers
    due: Numbers
    beginning: Numbers
    observing: Numbers
    overwriting: Numbers
    occupant: Numbers
    overtaken_from: Numbers
    requires: Numbers
    leaves: Numbers
    unknown_kind: Numbers
    unknown_twin: Numbers
    unknown_first: Numbers
    unknown_member: Numbers


class Room(NamedTuple):
    """All that a walk remembers.

    `counters` say how much of the rest is taken. `trail` holds pairs of an operation and the step
    before it. `tried` is a hash table of pairs of numbers that stand for a configuration; where
    there are unknown operations, `tried_with` leads from an entry to the last of its used sets, and
    `before` from each to the one before. `seen` are the states at the furthest position, `seen_at`
    is where a state was last noted, `least` how many of each unknown kind were used there at least.
    `wanted` is when a state was last looked for, `alike` when a kind was last met, and which of it.
    """

    counters: Numbers
    here: Numbers
    stack: Numbers
    trail: Numbers
    tried: Numbers
    tried_with: Numbers
    used: Numbers
    before: Numbers
    seen: Numbers
    seen_at: Numbers
    least: Numbers
    wanted: Numbers
    alike: Numbers
    by_return: Numbers


_FILES = sorted(Path(__file__).parent.glob("*.py"))
_SOURCES = sha256(b"".join(path.read_bytes() for path in _FILES)).hexdigest()[:12]

_UNCOUNTED: dict[str, Any] = {"_nrt": False}
"""Compiled code makes no arrays here and need not count who holds them, which takes most of the
time where it is done."""

_ONLY_FROM_CODE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: F) -> F:
    """Machine code that Python calls, kept on disk for the next process.

    What is kept is made anew when any file of this folder changes: the name under which it is kept
    tells.
    """
    function.__qualname__ = f"{function.__qualname__}-{_SOURCES}"
    try:
        return cast(F, numba.njit(cache=True, **_UNCOUNTED)(function))
    except RuntimeError:  # there is no folder in which it could be kept
        return cast(F, numba.njit(**_UNCOUNTED)(function))


def part(function: F) -> F:
    """Machine code that only machine code calls."""
    return cast(F, numba.njit(**_UNCOUNTED, **_ONLY_FROM_CODE)(function))

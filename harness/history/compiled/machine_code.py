"""How functions of this folder are compiled, and kept on disk for the next process."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

_FOLDER = files(__package__)
_TEXTS = sorted(file.name for file in _FOLDER.iterdir() if file.name.endswith(".py"))
_SOURCES = sha256(b"".join((_FOLDER / name).read_bytes() for name in _TEXTS)).hexdigest()[:12]

# Callers make the arrays; threads run at once.
_HOW: dict[str, Any] = {"_nrt": False, "nogil": True, "boundscheck": False}

_ONLY_FROM_CODE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: F) -> F:
    """Machine code that Python calls. The name under which it is kept tells its sources."""
    function.__qualname__ = f"{function.__qualname__}-{_SOURCES}"
    try:
        return cast(F, numba.njit(cache=True, **_HOW)(function))
    except RuntimeError:  # there is no folder in which it could be kept
        return cast(F, numba.njit(**_HOW)(function))


def part(function: F) -> F:
    """Machine code that only machine code calls."""
    return cast(F, numba.njit(**_HOW, **_ONLY_FROM_CODE)(function))

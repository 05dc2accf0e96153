"""Mutants that are argued away, from `survivors.toml`.

*Equivalent*: no run can tell it from the original; the argument names the inputs on which they
differ and why none of them comes up. *Legal*: it differs and breaks no promise; the argument cites.
An entry stands for one mutant by its name, so it ends to count when the code it speaks of changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError

FILE = Path(__file__).parents[1] / "survivors.toml"
EQUIVALENT, LEGAL = KINDS = ("equivalent", "legal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """One mutant, what it is, and the argument."""

    mutant: str
    kind: str
    because: str


def survivors(path: Path = FILE) -> dict[str, Survivor]:
    """All that are argued away, by the name of the mutant."""
    found: dict[str, Survivor] = {}
    for one in tomllib.loads(path.read_text("utf-8")).get("survivor", []):
        names = one["mutants"] if "mutants" in one else [one["mutant"]]
        if one["kind"] not in KINDS or not one["because"].strip():
            raise UsageError(f"{path}: {names[0]}: a kind ({', '.join(KINDS)}) and an argument")
        for name in names:
            if name in found:
                raise UsageError(f"{path}: {name} is argued away twice")
            found[name] = Survivor(mutant=name, kind=one["kind"], because=one["because"])
    return found


def unknown(known: Iterable[str], path: Path = FILE) -> list[str]:
    """Entries about mutants that are not derived any more."""
    return sorted(set(survivors(path)) - set(known))

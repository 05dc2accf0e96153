"""Mutants that are argued away, from `survivors.toml`.

*Equivalent*: no run can tell it from the original; the argument names the inputs on which they
differ and why none of them comes up. *Legal*: it differs and breaks no promise; the argument cites.
An entry stands for one mutant by its name, so it ends to count when the code it speaks of changes.

An argument holds in the profile that decides (`profile_of`). Where it is that what differs is
exercised elsewhere, it says where: `played_by` is another profile, which is offered the mutant and
counts it; `shown_by` is a file of tests that fail on it, where no profile gets there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.profiles import profile_of
from conformance.profiles.profile import AnyMutant
from harness.errors import UsageError

FILE = Path(__file__).parents[1] / "survivors.toml"
EQUIVALENT, LEGAL = KINDS = ("equivalent", "legal")
_NAMES = {"mutant", "mutants"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """One mutant, what it is, and the argument."""

    mutant: str
    kind: str
    because: str
    played_by: str = ""
    shown_by: str = ""

    def holds_in(self, profile: str) -> bool:
        """Not in the profile that plays what the other does not."""
        return not self.played_by or profile != self.played_by


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
            found[name] = Survivor(mutant=name, **{key: one[key] for key in one.keys() - _NAMES})
    return found


def offered_to(mutant: AnyMutant, argued: Mapping[str, Survivor]) -> tuple[str, ...]:
    """Where a mutant is offered: to its own profile, and to one that plays what that cannot."""
    own, entry = profile_of(mutant).name, argued.get(mutant.name)
    return (own, entry.played_by) if entry is not None and entry.played_by else (own,)


def argued_away(argued: Mapping[str, Survivor], mutant: str, profile: str) -> bool:
    """Whether there is an argument about a mutant, and it holds in that profile."""
    return mutant in argued and argued[mutant].holds_in(profile)


def unknown(known: Iterable[str], path: Path = FILE) -> list[str]:
    """Entries about mutants that are not derived any more."""
    return sorted(set(survivors(path)) - set(known))

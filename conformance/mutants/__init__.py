"""Every mutant of the reference, by the reference under which another process can load it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.mutants import boundary, boundary_races, boundary_sql
from reference_impl.decisions import Mutant, SqlMutant
from reference_impl.mutant_files import load_mutants

AnyMutant = Mutant | SqlMutant


def built_in(world: str) -> dict[str, AnyMutant]:
    """`module:name` to mutant: all that can show in a world.

    Races need real concurrency inside the database, which the simulated world does not have.
    """
    races = (boundary_races,) if world == "process" else ()
    return dict(_named((boundary, boundary_sql, *races)))


def from_file(path: Path) -> Mapping[str, AnyMutant]:
    """The mutants of a file from outside the project."""
    return {f"{path}:{mutant.name}": mutant for mutant in load_mutants(str(path))}


def _named(modules: tuple[object, ...]) -> Iterator[tuple[str, AnyMutant]]:
    for module in modules:
        for mutant in module.MUTANTS:  # type: ignore[attr-defined]
            yield f"{module.__name__}:{mutant.name}", mutant  # type: ignore[attr-defined]

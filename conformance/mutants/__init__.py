"""Every mutant of the reference, by the reference under which another process can load it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from conformance.mutants import boundary, boundary_races, boundary_sql
from reference_impl.decisions import Mutant, SqlMutant
from reference_impl.mutant_files import load_mutants

AnyMutant = Mutant | SqlMutant


# Decisions that Python makes also when the register is in the database; the others have SQL twins.
MADE_BESIDE_THE_DATABASE = frozenset({"initialize-transactions", "classify-failure"})


def built_in(world: str) -> dict[str, AnyMutant]:
    """`module:name` to mutant: all that can show in a world.

    In processes the register is in PostgreSQL, where most choices are made in SQL. Races need real
    concurrency inside the database, which the simulated world does not have.
    """
    if world == "sim":
        return dict(_named((boundary, boundary_sql)))
    named = dict(_named((boundary, boundary_sql, boundary_races)))
    return {ref: mutant for ref, mutant in named.items() if _shows_in_processes(mutant)}


def _shows_in_processes(mutant: AnyMutant) -> bool:
    return isinstance(mutant, SqlMutant) or mutant.decision in MADE_BESIDE_THE_DATABASE


def from_file(path: Path) -> Mapping[str, AnyMutant]:
    """The mutants of a file from outside the project."""
    return {f"{path}:{mutant.name}": mutant for mutant in load_mutants(str(path))}


def _named(modules: tuple[ModuleType, ...]) -> Iterator[tuple[str, AnyMutant]]:
    for module in modules:
        for mutant in module.MUTANTS:
            yield f"{module.__name__}:{mutant.name}", mutant

"""Every mutant of the reference, by the reference under which another process can load it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from conformance.mutants import (
    boundary,
    boundary_races,
    boundary_sql,
    replication,
    replication_logs,
)
from reference_impl.decisions import Mutant, SqlMutant, find_decision
from reference_impl.mutant_files import load_mutants

AnyMutant = Mutant | SqlMutant
CLUSTER = (replication, replication_logs)
PROGRAMS = Path(__file__).parents[1] / "classic" / "programs.json"


# Decisions that Python makes also when the register is in the database; the others have SQL twins.
MADE_BESIDE_THE_DATABASE = frozenset({"initialize-transactions", "classify-failure"})


def built_in(world: str) -> dict[str, AnyMutant]:
    """`module:name` to mutant: all that can show in a world.

    In processes the register is in PostgreSQL, where most choices are made in SQL. Races need real
    concurrency inside the database, which the simulated world does not have.
    """
    if world == "sim":
        return dict(_named((boundary, boundary_sql))) | _of_the_cluster()
    named = dict(_named((boundary, boundary_sql, boundary_races)))
    return {ref: mutant for ref, mutant in named.items() if _shows_in_processes(mutant)}


def _of_the_cluster() -> dict[str, AnyMutant]:
    """Those for which a program is recorded that makes a rule see them."""
    programs = json.loads(PROGRAMS.read_text("utf-8"))
    return {ref: mutant for ref, mutant in _named(CLUSTER) if mutant.name in programs}


def _shows_in_processes(mutant: AnyMutant) -> bool:
    return isinstance(mutant, SqlMutant) or mutant.decision in MADE_BESIDE_THE_DATABASE


def profile_of(mutant: AnyMutant) -> str:
    """Which profile's promises it breaks: those of the control plane, or of the cluster."""
    if isinstance(mutant, SqlMutant):
        return "migration"
    made_by = find_decision(mutant.decision).function
    beside = made_by is None or made_by.__module__.startswith("reference_impl.control_plane")
    return "migration" if beside else "classic"


def from_file(path: Path) -> Mapping[str, AnyMutant]:
    """The mutants of a file from outside the project."""
    return {f"{path}:{mutant.name}": mutant for mutant in load_mutants(str(path))}


def _named(modules: tuple[ModuleType, ...]) -> Iterator[tuple[str, AnyMutant]]:
    for module in modules:
        for mutant in module.MUTANTS:
            yield f"{module.__name__}:{mutant.name}", mutant

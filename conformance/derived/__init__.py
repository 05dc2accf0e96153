"""Mutants derived from every registered decision; `conformance.derived:NAME` is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from conformance.derived import python, sql
from conformance.derived.names import mutant_prefix
from reference_impl.decisions import Decision, Mutant, MutantError, SqlMutant, decisions

HERE = __name__
OURS = "reference_impl."  # others may register decisions of their own
AnyMutant = Mutant | SqlMutant


def derived_mutants() -> Mapping[str, AnyMutant]:
    """Every derived mutant by reference, in the order of decisions and of their text."""
    return {
        reference(mutant): mutant
        for one in decisions().values()
        if one.function is None or one.function.__module__.startswith(OURS)
        for mutant in mutants_of(one)
    }


@cache
def mutants_of(decision: Decision) -> tuple[AnyMutant, ...]:
    """The mutants of one decision."""
    return tuple(sql.derive(decision) if decision.kind == "sql" else python.derive(decision))


def reference(mutant: AnyMutant) -> str:
    """How another process finds it."""
    return f"{HERE}:{mutant.name}"


def find_mutant(name: str) -> AnyMutant:
    """The mutant of that name, without deriving those of other decisions."""
    decision = name.partition("/")[0]
    for one in decisions().values():
        if mutant_prefix(one.name) == decision:
            for mutant in mutants_of(one):
                if mutant.name == name:
                    return mutant
            raise MutantError(
                f"no mutant of {decision} is called {name!r}; the source may be newer"
            )
    raise MutantError(f"no decision is called {decision!r}")

"""Which mutants of the reference are Python and which are SQL.

Python mutants are applied in the process that runs the decision: this one in a simulation, the
agent in the process world. SQL mutants are applied to the database, so they need one.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import UsageError
from reference_impl.decisions import DecisionError, Mutant, SqlMutant, load_mutant

Python = list[tuple[str, Mutant]]
Sql = list[tuple[str, SqlMutant]]


def split_mutants(references: Iterable[str]) -> tuple[Python, Sql]:
    """Mutants by kind, each with the text that names it."""
    python: Python = []
    sql: Sql = []
    for reference in references:
        try:
            mutant = load_mutant(reference)
        except DecisionError as error:
            raise UsageError(f"mutant {reference!r}: {error}") from None
        if isinstance(mutant, SqlMutant):
            sql.append((reference, mutant))
        else:
            python.append((reference, mutant))
    return python, sql

"""Decisions made wrong on purpose, for tests of how worlds apply mutants."""

from __future__ import annotations

from reference_impl.decisions import Mutant, SqlMutant
from reference_impl.ports.control_plane import BoundaryError

MUTANTS = (
    Mutant(
        name="boundary-then-seeds",
        decision="initialize-transactions",
        replace=lambda: (("persist",), ("seed",)),
        why="two transactions, the boundary first",
    ),
    Mutant(
        name="nobody-is-stale",
        decision="admit-epoch",
        replace=lambda log, leader_epoch: BoundaryError.NONE,
        why="the fence is never looked at",
    ),
    Mutant(
        name="outages-are-hard",
        decision="classify-failure",
        replace=lambda sqlstate: BoundaryError.KAFKA_STORAGE_ERROR,
        why="a lost connection is reported like a broken database",
    ),
    SqlMutant(
        name="sql-nobody-is-stale",
        decision="sql:admit_epoch",
        old="FENCED_LEADER_EPOCH",
        new="NONE",
        why="the fence is never looked at",
    ),
)

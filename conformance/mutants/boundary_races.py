"""Mistakes that show only when two transactions really overlap."""

from __future__ import annotations

from reference_impl.decisions import SqlMutant

# The pause widens the window between reading and writing, so that an overlap is sure and not
# a matter of luck; with the lock in place it could do no harm.
MUTANTS = (
    SqlMutant(
        name="sql-row-is-not-locked",
        decision="sql:lock_log",
        old="SELECT * FROM logs WHERE topic_id = p_topic_id AND partition = p_partition FOR UPDATE",
        new="SELECT logs.* FROM logs, pg_sleep(0.05)"
        " WHERE topic_id = p_topic_id AND partition = p_partition",
        rules=("MIG-001", "MIG-021"),
        why="read, decide, write, without keeping others out",
    ),
)

"""Words that the rules of the migration share: sections, and pieces of SQL conditions.

The pieces are in the columns of the view boundary_known.
"""

from __future__ import annotations

from functools import partial

from harness.rules import Depth, Holds, Level, Rule

migration_rule = partial(
    Rule, document="migration", level=Level.MUST, depth=Depth.HOOKS, profile="migration"
)

STATE = "State model"
SELECTION = "Boundary selection"
SEEDING = "Control plane initialization requirements"
PERSISTENCE = "Persistence + immutability"
RECOVERY = "Idempotency and failure recovery"
SCHEMA = "Schema migrations"
FUNCTIONS = "Functions"

# Fragments of `when`, in the columns of the view boundary_known.
INITIALIZE = "f = 'initialize_diskless_migration' AND type <> 'info'"
WRITE = (
    "f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset') AND boundary >= 0"
    " AND leader_epoch IS NOT NULL AND type <> 'info'"
)
RESET = "f = 'set_diskless_log_start_offset' AND boundary < 0 AND type <> 'info'"
BARE_WRITE = (
    "f = 'set_diskless_log_start_offset' AND boundary >= 0 AND leader_epoch IS NULL"
    " AND type <> 'info'"
)
TELLS = "type = 'ok' AND stored_boundary IS NOT NULL AND coalesce(boundary, -1) < 0"
GET = "f = 'get_diskless_log_start_offset' AND type = 'ok'"
SET = "set_proven >= 0 AND NOT set_contested AND resets_possible = 0"
SAME = f"{SET} AND set_proven = boundary"
ANOTHER = f"{SET} AND set_proven <> boundary"
UNMOVED = "accepted_during = 0"
UNSET = "sets_possible = 0 AND set_proven < 0"
SEEDED_WITH_IT = "born AND resets_possible = 0 AND bare_sets_begun = 0"

ASKED = ("f", "boundary", "leader_epoch", "type", "error")
STORED = ("stored_boundary", "stored_epoch")


def known(when: str, holds: str, *show: str) -> Holds:
    return Holds(table="boundary_known", when=when, holds=holds, show=show)


def refused(when: str, *show: str) -> Holds:
    """A call that the rule forbids is answered with a definite refusal."""
    return known(when, "type = 'fail'", *ASKED, *show)


def unmoved(when: str, *show: str) -> Holds:
    """Whatever code a foreign caller got, it was told the boundary that is stored."""
    holds = "type = 'fail' OR stored_boundary = set_proven"
    return known(when, holds, *ASKED, "stored_boundary", *show)

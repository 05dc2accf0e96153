"""The producer state that is seeded with the boundary.

Line numbers point into `design/migration.md`; CON and GAP name the readings in
`decisions/migration.md`. B0 is the boundary, `disklessLogStartOffset`.
"""

from __future__ import annotations

from conformance.catalogue.migration.fragments import (
    INITIALIZE,
    SAME,
    SEEDED_WITH_IT,
    SEEDING,
    SELECTION,
    SET,
    UNSET,
    known,
    migration_rule,
    refused,
)
from harness.rules import Holds

RULES = (
    migration_rule(
        id="MIG-006",
        section=SEEDING,
        lines=(198,),
        sentence="An initialization with other seeds is refused once the boundary is set.",
        decisions=("CON-10",),
        judge=refused(
            f"{INITIALIZE} AND {SAME} AND seeds_proven <> entries", "entries", "seeds_proven"
        ),
        hint="are the seeds compared, or only the boundary?",
    ),
    migration_rule(
        id="MIG-007",
        section=SELECTION,
        lines=(91, 158, 190, 197, 592),
        sentence="Whoever sees the boundary sees the producer state seeded with it.",
        decisions=("CON-08",),
        judge=Holds(
            table="boundary_seeds",
            when=SEEDED_WITH_IT,
            holds="proposed",
            show=("stored_boundary", "stored_seeds"),
        ),
        hint="seeds and boundary belong in one transaction, seeds first",
    ),
    migration_rule(
        id="MIG-008",
        section=SEEDING,
        lines=(197, 198, 595),
        sentence="Seeds of an earlier attempt are replaced by those of the initialization.",
        decisions=("CON-08",),
        judge=Holds(
            table="boundary_seeds",
            when=f"{SEEDED_WITH_IT} AND initialized AND seeded_before > 0 AND seeded_since = 0",
            holds="proposed",
            show=("stored_boundary", "stored_seeds", "last_seeds"),
        ),
        hint="merging old and new seeds keeps producers of an attempt that never happened",
    ),
    migration_rule(
        id="MIG-009",
        section=SEEDING,
        lines=(198, 595),
        sentence="While the boundary is unset, seeding again replaces the seeds.",
        decisions=("CON-08",),
        judge=known(
            f"f = 'describe_producers' AND type = 'ok' AND {UNSET} AND seeds_done > 1"
            " AND seeds_done = seeds_begun AND first_seeder = last_seeder",
            "stored_seeds = last_seeds",
            "stored_seeds",
            "last_seeds",
        ),
        hint="a retry after a crash brings the newer truth",
    ),
    migration_rule(
        id="MIG-010",
        section=SEEDING,
        lines=(198, 595),
        sentence="Once the boundary is set, seeding accepts exactly the stored seeds.",
        decisions=("CON-08",),
        judge=known(
            f"f = 'seed_producer_state' AND type <> 'info' AND {SET} AND seeds_proven IS NOT NULL",
            "(type = 'ok') = (entries = seeds_proven)",
            "type",
            "error",
            "entries",
            "seeds_proven",
        ),
        hint="late seeds of a deposed leader must not reach a live suffix",
    ),
    migration_rule(
        id="MIG-028",
        section=SEEDING,
        lines=(197, 198),
        sentence="A reset drops the seeds together with the boundary.",
        decisions=("CON-08",),
        judge=Holds(
            table="boundary_after_reset",
            when="f = 'describe_producers' AND type = 'ok' AND stored_boundary = -1"
            " AND resets_begun = 1 AND seeds_begun = 0",
            holds="stored_seeds = '[]'",
            show=("stored_seeds",),
        ),
        binds_others=False,
        hint="seeds of an earlier life must not become those of the next boundary",
    ),
)

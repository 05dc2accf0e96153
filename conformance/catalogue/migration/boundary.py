"""Who may set the boundary, to what, and what a reset leaves behind.

Line numbers point into `design/migration.md`; CON and GAP name the readings in
`decisions/migration.md`. B0 is the boundary, `disklessLogStartOffset`.
"""

from __future__ import annotations

from conformance.catalogue.migration.fragments import (
    ANOTHER,
    ASKED,
    BARE_WRITE,
    FUNCTIONS,
    INITIALIZE,
    PERSISTENCE,
    RECOVERY,
    RESET,
    SAME,
    SELECTION,
    STATE,
    STORED,
    UNMOVED,
    UNSET,
    WRITE,
    known,
    migration_rule,
    refused,
    unmoved,
)
from harness.rules import Holds

RULES = (
    migration_rule(
        id="MIG-001",
        section=STATE,
        lines=(59, 69, 202),
        sentence="Under one leader epoch a partition shows at most one boundary.",
        decisions=("CON-29",),
        judge=Holds(
            table="boundary_seen",
            when="shown > 1",
            holds="least = stored_boundary AND greatest_shown = stored_boundary",
            show=(*STORED, "least", "greatest_shown"),
        ),
        hint="is the stored boundary compared before it is overwritten, under the row's lock?",
    ),
    migration_rule(
        id="MIG-002",
        section=SELECTION,
        lines=(159, 592),
        sentence="A stale leader epoch cannot replace a boundary.",
        decisions=("CON-09",),
        judge=refused(
            f"{WRITE} AND {ANOTHER} AND leader_epoch < epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=unmoved(
            f"{INITIALIZE} AND {ANOTHER} AND leader_epoch < epoch_told",
            "epoch_told",
            "set_proven",
        ),
        hint="which side of the comparison is the stored epoch?",
    ),
    migration_rule(
        id="MIG-003",
        section=STATE,
        lines=(59, 69, 92, 159, 203),
        sentence="A higher leader epoch cannot replace a boundary that is set.",
        decisions=("CON-09",),
        judge=refused(
            f"{WRITE} AND {ANOTHER} AND leader_epoch > epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=unmoved(
            f"{INITIALIZE} AND {ANOTHER} AND leader_epoch > epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        hint="a newer leader adopts the stored boundary; it never moves it",
    ),
    migration_rule(
        id="MIG-004",
        section=RECOVERY,
        lines=(118, 203, 208, 211, 592),
        sentence="Repeating an initialization with the same boundary and seeds succeeds.",
        decisions=("CON-09", "CON-10"),
        judge=known(
            f"{INITIALIZE} AND {SAME} AND seeds_proven = entries AND leader_epoch >= epoch_ceiling",
            "type = 'ok'",
            *ASKED,
            "set_proven",
            "epoch_ceiling",
        ),
        hint="a retry after a lost reply is the normal case, not a conflict",
    ),
    migration_rule(
        id="MIG-005",
        section=RECOVERY,
        lines=(203, 211),
        sentence="A refusal for another boundary reports the boundary that is stored.",
        decisions=("CON-10",),
        judge=known(
            f"type = 'fail' AND error IN ('BOUNDARY_MISMATCH', 'FENCED_LEADER_EPOCH', 'REFUSED')"
            f" AND {ANOTHER} AND {UNMOVED}",
            "stored_boundary = set_proven",
            *ASKED,
            "stored_boundary",
            "set_proven",
        ),
        hint="the caller adopts what the refusal reports",
    ),
    migration_rule(
        id="MIG-011",
        section=PERSISTENCE,
        lines=(159, 184, 204),
        sentence="A boundary with a committed suffix behind it cannot be reset.",
        decisions=("CON-12", "GAP-23"),
        judge=refused(f"{RESET} AND commits_proven > 0", "commits_proven"),
        hint="one damaged replica must not orphan everybody's data",
    ),
    migration_rule(
        id="MIG-012",
        section=PERSISTENCE,
        lines=(59, 69, 203, 204),
        sentence="After a reset only a strictly higher leader epoch sets a new boundary.",
        decisions=("CON-29", "GAP-34"),
        judge=Holds(
            table="boundary_after_reset",
            when="type <> 'info' AND stored_epoch <= reset_proven",
            holds="stored_boundary = -1",
            show=(*ASKED, *STORED, "reset_proven"),
        ),
        tolerant=Holds(
            table="boundary_after_reset",
            when="type <> 'info' AND stored_epoch <= reset_told",
            holds="stored_boundary = -1",
            show=(*ASKED, *STORED, "reset_told"),
        ),
        hint="an initialization still in flight must not resurrect the boundary",
    ),
    migration_rule(
        id="MIG-013",
        section=FUNCTIONS,
        lines=(581, 593),
        sentence="A reset keeps the leader epoch that fences older leaders.",
        decisions=("CON-33",),
        judge=Holds(
            table="boundary_after_reset",
            when="stored_epoch IS NOT NULL AND reset_proven > 0",
            holds="stored_epoch >= reset_proven",
            show=("f", *STORED, "reset_proven"),
        ),
        tolerant=Holds(
            table="boundary_after_reset",
            when="stored_epoch IS NOT NULL AND reset_told > 0",
            holds="stored_epoch >= reset_told",
            show=("f", *STORED, "reset_told"),
        ),
        hint="does clearing the boundary clear the epoch column with it?",
    ),
    migration_rule(
        id="MIG-014",
        section=FUNCTIONS,
        lines=(581, 588, 592),
        sentence="The stored leader epoch never goes down.",
        decisions=("GAP-35",),
        judge=known(
            "stored_epoch IS NOT NULL AND epoch_told >= 0 AND type <> 'info'",
            "stored_epoch >= epoch_told",
            "f",
            "leader_epoch",
            "stored_epoch",
            "epoch_told",
        ),
        hint="is the epoch written as given, or as the greater of both?",
    ),
    migration_rule(
        id="MIG-015",
        section=FUNCTIONS,
        lines=(593,),
        sentence="A write without an epoch cannot replace a boundary or pass a fence.",
        decisions=("CON-33",),
        judge=refused(
            f"{BARE_WRITE} AND (({ANOTHER}) OR (epoch_floor >= 0 AND {UNSET}))",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=refused(f"{BARE_WRITE} AND {ANOTHER}", "set_proven"),
        hint="the call has no epoch argument; it may not act as if it had the highest",
    ),
    migration_rule(
        id="MIG-016",
        section=RECOVERY,
        lines=(159,),
        sentence="Once a leader registered its epoch, older leaders cannot set the boundary.",
        decisions=("GAP-41",),
        judge=refused(f"{WRITE} AND leader_epoch < unset_fence AND resets_ever = 0", "unset_fence"),
        tolerant=refused(
            f"{INITIALIZE} AND leader_epoch < unset_fence AND resets_ever = 0", "unset_fence"
        ),
        hint="a late request of a deposed leader would cut off what its successor acknowledged",
    ),
    migration_rule(
        id="MIG-023",
        section=FUNCTIONS,
        lines=(592,),
        sentence="A stale leader epoch is refused even with the boundary that is stored.",
        decisions=("GAP-35",),
        judge=refused(
            f"{INITIALIZE} AND {SAME} AND leader_epoch < epoch_floor", "epoch_floor", "set_proven"
        ),
        tolerant=refused(
            f"{INITIALIZE} AND {SAME} AND leader_epoch < epoch_told", "epoch_told", "set_proven"
        ),
        hint="fencing comes before the comparison of boundaries",
    ),
    migration_rule(
        id="MIG-025",
        section=PERSISTENCE,
        lines=(202, 203),
        sentence="In the same leader epoch another boundary is refused.",
        decisions=("CON-09",),
        judge=refused(
            f"{WRITE} AND {ANOTHER} AND leader_epoch = epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=unmoved(
            f"{INITIALIZE} AND {ANOTHER} AND leader_epoch = epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        hint="equal epochs are not a licence to write again",
    ),
    migration_rule(
        id="MIG-026",
        section=FUNCTIONS,
        lines=(593,),
        sentence="A reset that names a stale leader epoch is refused.",
        decisions=("CON-33",),
        judge=refused(f"{RESET} AND leader_epoch < epoch_floor", "epoch_floor"),
        binds_others=False,
        hint="clearing the boundary passes the same fence as setting it",
    ),
)

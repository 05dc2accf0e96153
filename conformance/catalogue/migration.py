"""Rules of the tiered-to-diskless migration: the epoch-fenced boundary of the control plane.

Line numbers point into `design/migration.md`; CON and GAP name the readings in
`decisions/migration.md`. B0 is the boundary, `disklessLogStartOffset`.
"""

from __future__ import annotations

from functools import partial

from harness.rules import Depth, Holds, Level, Rule, Search

_rule = partial(
    Rule, document="migration", level=Level.MUST, depth=Depth.HOOKS, profile="migration"
)

_STATE = "State model"
_SELECTION = "Boundary selection"
_SEEDING = "Control plane initialization requirements"
_PERSISTENCE = "Persistence + immutability"
_RECOVERY = "Idempotency and failure recovery"
_SCHEMA = "Schema migrations"
_FUNCTIONS = "Functions"

# Fragments of `when`, in the columns of the view boundary_known.
_INITIALIZE = "f = 'initialize_diskless_migration' AND type <> 'info'"
_RESET = "f = 'set_diskless_log_start_offset' AND boundary < 0 AND type <> 'info'"
_BARE_WRITE = (
    "f = 'set_diskless_log_start_offset' AND boundary >= 0 AND leader_epoch IS NULL"
    " AND type <> 'info'"
)
_GET = "f = 'get_diskless_log_start_offset' AND type = 'ok'"
_SET = "set_proven >= 0 AND resets_possible = 0"
_SAME = f"{_SET} AND set_proven = boundary"
_ANOTHER = f"{_SET} AND set_proven <> boundary"
_UNSET = "sets_possible = 0"
_SEEDED_WITH_IT = "resets_possible = 0 AND bare_sets_begun = 0"

_ASKED = ("f", "boundary", "leader_epoch", "type", "error")
_STORED = ("stored_boundary", "stored_epoch")


def _known(when: str, holds: str, *show: str) -> Holds:
    return Holds(table="boundary_known", when=when, holds=holds, show=show)


def _refused(when: str, *show: str) -> Holds:
    """A call that the rule forbids is answered with a definite refusal."""
    return _known(when, "type = 'fail'", *_ASKED, *show)


RULES = (
    _rule(
        id="MIG-001",
        section=_STATE,
        lines=(59, 69, 202),
        sentence="Under one leader epoch a partition shows at most one boundary.",
        decisions=("CON-29",),
        judge=Holds(
            table="boundary_seen",
            when="shown > 1",
            holds="least = stored_boundary AND greatest_shown = stored_boundary",
            show=(*_STORED, "least", "greatest_shown"),
        ),
        hint="is the stored boundary compared before it is overwritten, under the row's lock?",
    ),
    _rule(
        id="MIG-002",
        section=_SELECTION,
        lines=(159, 592),
        sentence="A stale leader epoch cannot replace a boundary.",
        decisions=("CON-09",),
        judge=_refused(
            f"{_INITIALIZE} AND {_ANOTHER} AND leader_epoch < epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=_refused(
            f"{_INITIALIZE} AND {_ANOTHER} AND leader_epoch < epoch_told",
            "epoch_told",
            "set_proven",
        ),
        hint="which side of the comparison is the stored epoch?",
    ),
    _rule(
        id="MIG-003",
        section=_STATE,
        lines=(59, 69, 92, 159, 203),
        sentence="A higher leader epoch cannot replace a boundary that is set.",
        decisions=("CON-09",),
        judge=_refused(
            f"{_INITIALIZE} AND {_ANOTHER} AND leader_epoch > epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        hint="a newer leader adopts the stored boundary; it never moves it",
    ),
    _rule(
        id="MIG-004",
        section=_RECOVERY,
        lines=(203, 208, 211, 592),
        sentence="Repeating an initialization with the same boundary and seeds succeeds.",
        decisions=("CON-09", "CON-10"),
        judge=_known(
            f"{_INITIALIZE} AND {_SAME} AND seeds_proven = entries"
            " AND leader_epoch >= epoch_ceiling",
            "type = 'ok'",
            *_ASKED,
            "set_proven",
            "epoch_ceiling",
        ),
        hint="a retry after a lost reply is the normal case, not a conflict",
    ),
    _rule(
        id="MIG-005",
        section=_RECOVERY,
        lines=(210, 211),
        sentence="A refusal for another boundary reports the boundary that is stored.",
        decisions=("CON-10",),
        judge=_known(
            f"error = 'BOUNDARY_MISMATCH' AND {_SET}",
            "stored_boundary = set_proven",
            *_ASKED,
            "stored_boundary",
            "set_proven",
        ),
        hint="the caller adopts what the refusal reports",
    ),
    _rule(
        id="MIG-006",
        section=_SEEDING,
        lines=(198,),
        sentence="An initialization with other seeds is refused once the boundary is set.",
        decisions=("CON-10",),
        judge=_refused(
            f"{_INITIALIZE} AND {_SAME} AND seeds_proven <> entries", "entries", "seeds_proven"
        ),
        hint="are the seeds compared, or only the boundary?",
    ),
    _rule(
        id="MIG-007",
        section=_SELECTION,
        lines=(91, 158, 197, 592),
        sentence="Whoever sees the boundary sees the producer state seeded with it.",
        decisions=("CON-08",),
        judge=Holds(
            table="boundary_seeds",
            when=_SEEDED_WITH_IT,
            holds="proposed",
            show=("stored_boundary", "stored_seeds"),
        ),
        hint="seeds and boundary belong in one transaction, seeds first",
    ),
    _rule(
        id="MIG-008",
        section=_SEEDING,
        lines=(197, 198),
        sentence="Seeds of an earlier attempt are replaced by those of the initialization.",
        decisions=("CON-08",),
        judge=Holds(
            table="boundary_seeds",
            when=f"{_SEEDED_WITH_IT} AND last_seeds IS NOT NULL",
            holds="proposed",
            show=("stored_boundary", "stored_seeds", "last_seeds"),
        ),
        hint="merging old and new seeds keeps producers of an attempt that never happened",
    ),
    _rule(
        id="MIG-009",
        section=_SEEDING,
        lines=(198, 595),
        sentence="While the boundary is unset, seeding again replaces the seeds.",
        decisions=("CON-08",),
        judge=_known(
            f"f = 'describe_producers' AND type = 'ok' AND {_UNSET} AND seeds_done > 1"
            " AND seeds_done = seeds_begun AND first_seeder = last_seeder",
            "stored_seeds = last_seeds",
            "stored_seeds",
            "last_seeds",
        ),
        hint="a retry after a crash brings the newer truth",
    ),
    _rule(
        id="MIG-010",
        section=_SEEDING,
        lines=(198, 595),
        sentence="Once the boundary is set, seeding accepts exactly the stored seeds.",
        decisions=("CON-08",),
        judge=_known(
            f"f = 'seed_producer_state' AND type <> 'info' AND {_SET} AND seeds_proven IS NOT NULL",
            "(type = 'ok') = (entries = seeds_proven)",
            "type",
            "error",
            "entries",
            "seeds_proven",
        ),
        hint="late seeds of a deposed leader must not reach a live suffix",
    ),
    _rule(
        id="MIG-011",
        section=_PERSISTENCE,
        lines=(159, 184, 204),
        sentence="A boundary with a committed suffix behind it cannot be reset.",
        decisions=("CON-12", "GAP-23"),
        judge=_refused(f"{_RESET} AND commits_proven > 0", "commits_proven"),
        hint="one damaged replica must not orphan everybody's data",
    ),
    _rule(
        id="MIG-012",
        section=_PERSISTENCE,
        lines=(59, 203, 204),
        sentence="After a reset only a strictly higher leader epoch sets a new boundary.",
        decisions=("CON-29", "GAP-34"),
        judge=Holds(
            table="boundary_after_reset",
            when="type <> 'info' AND stored_epoch <= reset_epoch",
            holds="stored_boundary = -1",
            show=(*_ASKED, *_STORED, "reset_epoch"),
        ),
        hint="an initialization still in flight must not resurrect the boundary",
    ),
    _rule(
        id="MIG-013",
        section=_FUNCTIONS,
        lines=(581, 593),
        sentence="A reset keeps the leader epoch that fences older leaders.",
        decisions=("CON-33",),
        judge=Holds(
            table="boundary_after_reset",
            when="stored_epoch IS NOT NULL AND reset_epoch > 0",
            holds="stored_epoch >= reset_epoch",
            show=("f", *_STORED, "reset_epoch"),
        ),
        hint="does clearing the boundary clear the epoch column with it?",
    ),
    _rule(
        id="MIG-014",
        section=_FUNCTIONS,
        lines=(581, 588, 592),
        sentence="The stored leader epoch never goes down.",
        decisions=("GAP-35",),
        judge=_known(
            "stored_epoch IS NOT NULL AND epoch_told >= 0 AND type <> 'info'",
            "stored_epoch >= epoch_told",
            "f",
            "leader_epoch",
            "stored_epoch",
            "epoch_told",
        ),
        hint="is the epoch written as given, or as the greater of both?",
    ),
    _rule(
        id="MIG-015",
        section=_FUNCTIONS,
        lines=(593,),
        sentence="A write without an epoch cannot replace a boundary or pass a fence.",
        decisions=("CON-33",),
        judge=_refused(
            f"{_BARE_WRITE} AND (({_ANOTHER}) OR (epoch_floor >= 0 AND {_UNSET}))",
            "epoch_floor",
            "set_proven",
        ),
        tolerant=_refused(f"{_BARE_WRITE} AND {_ANOTHER}", "set_proven"),
        hint="the call has no epoch argument; it may not act as if it had the highest",
    ),
    _rule(
        id="MIG-016",
        section=_RECOVERY,
        lines=(159, 213),
        sentence="Once a leader registered its epoch, older leaders cannot set the boundary.",
        decisions=("GAP-41",),
        judge=_refused(
            f"{_INITIALIZE} AND leader_epoch < unset_fence AND resets_ever = 0", "unset_fence"
        ),
        hint="a late request of a deposed leader would cut off what its successor acknowledged",
    ),
    _rule(
        id="MIG-017",
        section=_SCHEMA,
        lines=(586,),
        sentence="No batch is committed to the suffix while the boundary is unset.",
        decisions=("GAP-40",),
        judge=_known(
            f"f = 'commit_batch' AND type <> 'info' AND {_UNSET} AND created > 0",
            "type = 'fail'",
            "type",
            "error",
            "base_offset",
        ),
        hint="an offset assigned before B0 exists belongs to nobody",
    ),
    _rule(
        id="MIG-018",
        section=_SELECTION,
        lines=(160,),
        sentence="Suffix offsets start at the boundary and follow one another without overlap.",
        judge=Holds(
            table="suffix_commits",
            when="TRUE",
            holds="base_offset >= expected_offset"
            " AND base_offset - expected_offset <= unknown_records",
            show=("base_offset", "expected_offset", "unknown_records", "stored_boundary"),
        ),
        hint="where does the high watermark stand when B0 is written?",
    ),
    _rule(
        id="MIG-019",
        section=_SCHEMA,
        lines=(585,),
        sentence="A log older than the boundary column gets boundary 0, not unset.",
        decisions=("GAP-38",),
        judge=_known(f"{_GET} AND created = 0 AND {_UNSET}", "stored_boundary = 0", "f", *_STORED),
        hint="the column's default is for new rows; existing diskless logs have no prefix",
    ),
    _rule(
        id="MIG-020",
        section=_STATE,
        lines=(58, 594),
        sentence="A boundary that was never set reads as -1.",
        judge=_known(f"{_GET} AND created > 0 AND {_UNSET}", "stored_boundary = -1", "f", *_STORED),
        hint="0 is a valid boundary and cannot stand for unset",
    ),
    _rule(
        id="MIG-021",
        section=_FUNCTIONS,
        lines=(576, 592, 593, 594, 595),
        sentence="The boundary of a partition behaves as one atomic register.",
        decisions=("CON-08", "CON-09", "CON-10", "CON-29", "CON-33", "GAP-34", "GAP-35", "GAP-41"),
        judge=Search(table="boundary_lives", key=("topic", "partition"), model="boundary"),
        tolerant=Search(
            table="boundary_lives", key=("topic", "partition"), model="boundary-tolerant"
        ),
        hint="look for a read that answers from a cache, or a write outside the row's lock",
    ),
    _rule(
        id="MIG-022",
        section=_STATE,
        lines=(52,),
        sentence="Setting the boundary of one partition leaves its neighbours unset.",
        decisions=("GAP-42",),
        judge=Holds(
            table="boundary_neighbours",
            when="TRUE",
            holds="stored_boundary = -1 AND stored_epoch <= epoch_ceiling",
            show=("f", *_STORED),
        ),
        hint="is the partition part of every WHERE clause?",
    ),
    _rule(
        id="MIG-023",
        section=_FUNCTIONS,
        lines=(592,),
        sentence="A stale leader epoch is refused even with the boundary that is stored.",
        decisions=("GAP-35",),
        judge=_refused(
            f"{_INITIALIZE} AND {_SAME} AND leader_epoch < epoch_floor", "epoch_floor", "set_proven"
        ),
        tolerant=_refused(
            f"{_INITIALIZE} AND {_SAME} AND leader_epoch < epoch_told", "epoch_told", "set_proven"
        ),
        hint="fencing comes before the comparison of boundaries",
    ),
    _rule(
        id="MIG-024",
        section="Trigger points",
        lines=(126, 283, 284),
        sentence="An outage answers REQUEST_TIMED_OUT, a hard failure KAFKA_STORAGE_ERROR.",
        decisions=("GAP-24",),
        judge=Holds(
            table="control_plane_failures",
            when="TRUE",
            holds="error = CASE fault WHEN 'control-plane-refused' THEN 'REQUEST_TIMED_OUT'"
            " ELSE 'KAFKA_STORAGE_ERROR' END",
            show=("f", "type", "error", "fault"),
        ),
        hint="classify by SQLSTATE class: 08, 40, 53 and 57 are transient",
    ),
    _rule(
        id="MIG-025",
        section=_PERSISTENCE,
        lines=(202, 203),
        sentence="In the same leader epoch an initialization with another boundary is refused.",
        decisions=("CON-09",),
        judge=_refused(
            f"{_INITIALIZE} AND {_ANOTHER} AND leader_epoch = epoch_floor",
            "epoch_floor",
            "set_proven",
        ),
        hint="equal epochs are not a licence to write again",
    ),
    _rule(
        id="MIG-026",
        section=_FUNCTIONS,
        lines=(593,),
        sentence="A reset that names a stale leader epoch is refused.",
        decisions=("CON-33",),
        judge=_refused(f"{_RESET} AND leader_epoch < epoch_told", "epoch_told"),
        hint="clearing the boundary passes the same fence as setting it",
    ),
)

"""The register as a whole: reads, commits, partitions, schema, failures.

Line numbers point into `design/migration.md`; CON and GAP name the readings in
`decisions/migration.md`. B0 is the boundary, `disklessLogStartOffset`.
"""

from __future__ import annotations

from conformance.catalogue.migration.fragments import (
    FUNCTIONS,
    GET,
    SCHEMA,
    SELECTION,
    STATE,
    STORED,
    TELLS,
    UNSET,
    known,
    migration_rule,
)
from harness.rules import Holds, Search

RULES = (
    migration_rule(
        id="MIG-017",
        section=SCHEMA,
        lines=(586,),
        sentence="No batch is committed to the suffix while the boundary is unset.",
        decisions=("GAP-40",),
        judge=known(
            f"f = 'commit_batch' AND type <> 'info' AND {UNSET} AND born",
            "type = 'fail'",
            "type",
            "error",
            "base_offset",
        ),
        hint="an offset assigned before B0 exists belongs to nobody",
    ),
    migration_rule(
        id="MIG-018",
        section=SELECTION,
        lines=(160,),
        sentence="Suffix offsets start at the boundary and follow without gap or overlap.",
        judge=Holds(
            table="suffix_commits",
            when="TRUE",
            holds="base_offset >= expected_offset AND passed_over <= unknown_records",
            show=("base_offset", "expected_offset", "passed_over", "unknown_records"),
        ),
        tolerant=Holds(
            table="suffix_commits",
            when="TRUE",
            holds="base_offset >= expected_offset",
            show=("base_offset", "expected_offset", "stored_boundary"),
        ),
        hint="where does the high watermark stand when B0 is written?",
    ),
    migration_rule(
        id="MIG-019",
        section=SCHEMA,
        lines=(585,),
        sentence="A log older than the boundary column gets boundary 0, not unset.",
        decisions=("GAP-38",),
        judge=known(
            f"{GET} AND upgraded AND sets_possible = 0 AND resets_begun = 0",
            "stored_boundary = 0",
            "f",
            *STORED,
        ),
        tolerant=known(
            f"{GET} AND upgraded AND sets_possible = 0 AND resets_begun = 0",
            "stored_boundary >= 0",
            "f",
            *STORED,
        ),
        hint="the column's default is for new rows; existing diskless logs have no prefix",
    ),
    migration_rule(
        id="MIG-020",
        section=STATE,
        lines=(58, 161, 594),
        sentence="A boundary that was never set reads as -1.",
        judge=known(
            f"{TELLS} AND born AND NOT upgraded AND sets_possible = 0",
            "stored_boundary = -1",
            "f",
            *STORED,
        ),
        hint="0 is a valid boundary and cannot stand for unset",
    ),
    migration_rule(
        id="MIG-021",
        section=FUNCTIONS,
        lines=(576, 580, 592, 593, 594, 595),
        sentence="The boundary of a partition behaves as one atomic register.",
        decisions=("CON-08", "CON-09", "CON-10", "CON-29", "CON-33", "GAP-34", "GAP-35", "GAP-41"),
        judge=Search(table="boundary_lives", key=("topic", "partition"), model="boundary"),
        tolerant=Search(
            table="boundary_lives", key=("topic", "partition"), model="boundary-tolerant"
        ),
        hint="look for a read that answers from a cache, or a write outside the row's lock",
    ),
    migration_rule(
        id="MIG-022",
        section=STATE,
        lines=(52,),
        sentence="Setting the boundary of one partition leaves its neighbours unset.",
        decisions=("GAP-42",),
        judge=Holds(
            table="boundary_neighbours",
            when="TRUE",
            holds="stored_boundary = -1 AND stored_epoch <= epoch_ceiling",
            show=("f", *STORED),
        ),
        hint="is the partition part of every WHERE clause?",
    ),
    migration_rule(
        id="MIG-033",
        section=STATE,
        lines=(52, 576),
        sentence="A call over several partitions asks each of them as if it were asked alone.",
        decisions=("GAP-42",),
        judge=Search(table="boundary_lives_together", key=("topic", "partition"), model="boundary"),
        tolerant=Search(
            table="boundary_lives_together", key=("topic", "partition"), model="boundary-tolerant"
        ),
        hint="does one refused partition undo the others, or keep them from being asked?",
    ),
    migration_rule(
        id="MIG-024",
        section="Trigger points",
        lines=(126, 283, 284),
        sentence="An outage answers REQUEST_TIMED_OUT, a hard failure KAFKA_STORAGE_ERROR.",
        decisions=("GAP-24",),
        judge=Holds(
            table="control_plane_failures",
            when="TRUE",
            holds="error = CASE fault WHEN 'control-plane-broken' THEN 'KAFKA_STORAGE_ERROR'"
            " ELSE 'REQUEST_TIMED_OUT' END",
            show=("f", "type", "error", "fault"),
        ),
        hint="classify by SQLSTATE class: 08, 40, 53 and 57 are transient",
    ),
    migration_rule(
        id="MIG-027",
        section="Trigger points",
        lines=(126, 283),
        sentence="A call that no fault can have touched gets a definite answer.",
        decisions=("GAP-24",),
        judge=Holds(
            table="calls_in_peace",
            when="TRUE",
            holds="type <> 'info' AND error NOT IN ('REQUEST_TIMED_OUT', 'KAFKA_STORAGE_ERROR')",
            show=("f", "type", "error"),
        ),
        tolerant=Holds(
            table="calls_in_peace",
            when="error IS NOT NULL",
            holds="error <> 'KAFKA_STORAGE_ERROR'",
            show=("f", "type", "error"),
        ),
        hint="an error inside the database, retried for ever, looks like an outage from outside",
    ),
    migration_rule(
        id="MIG-030",
        section=STATE,
        lines=(52, 594),
        sentence="A call on a partition that was not created is refused and shows nothing.",
        decisions=("GAP-42",),
        judge=Holds(
            table="calls_on_missing_logs",
            when="TRUE",
            holds="type = 'fail' AND (error = 'UNKNOWN_TOPIC_OR_PARTITION'"
            " OR error = 'INVALID_REQUEST' AND entries IS NOT NULL)"
            " AND stored_boundary = -1 AND stored_epoch = -1 AND stored_reset_epoch = -1",
            show=("f", "type", "error", *STORED),
        ),
        binds_others=False,
        hint="a row that is not there is no row of defaults",
    ),
    migration_rule(
        id="MIG-032",
        section="Trigger points",
        lines=(127,),
        sentence="Creating a partition is not refused, whether it is there or not.",
        judge=Holds(
            table="boundary_ops",
            when="f = 'create_log' AND type <> 'info'",
            holds="type = 'ok'",
            show=("f", "type", "error"),
        ),
        binds_others=False,
        hint="the first leader creates the log, and so does each of its retries",
    ),
    migration_rule(
        id="MIG-031",
        section=SELECTION,
        lines=(160,),
        sentence="What is stored of a suffix begins at the boundary, ends at the high watermark.",
        judge=Holds(
            table="suffixes_stored",
            when="boundary >= 0 OR next_offset IS NOT NULL",
            holds="boundary >= 0 AND misplaced = 0 AND coalesce(first_offset, boundary) = boundary"
            " AND coalesce(next_offset, boundary) = high_watermark",
            show=("boundary", "first_offset", "next_offset", "high_watermark", "misplaced"),
        ),
        binds_others=False,
        hint="base, last and next offset of a batch are three numbers",
    ),
)

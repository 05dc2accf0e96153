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
)

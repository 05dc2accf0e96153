"""What consumers are given, whichever tier it comes from, and which offsets they are told."""

from __future__ import annotations

from conformance.catalogue.kip_405.fragments import (
    EPOCHS,
    FETCHES,
    LISTS,
    as_in,
    lines,
    requests,
    tier_rule,
)
from harness.rules import Depth, Holds

_SPECIAL = {-3: 7, -4: 8, -5: 9, -6: 11}  # the first version that has each of them
_ALLOWED = " OR ".join(
    f"asked_timestamp = {stamp} AND version >= {version}" for stamp, version in _SPECIAL.items()
)
_LOWER = " OR ".join(
    f"asked_timestamp = {stamp} AND version < {version}" for stamp, version in _SPECIAL.items()
)
LISTED = "f = 'list_offsets_in_version'"

RULES = (
    tier_rule(
        id="TS-001",
        section=FETCHES,
        lines=(149, 662, 749, 751),
        sentence="A reader that passes an acknowledged record finds it, whichever tier has it.",
        **as_in("KFK-031"),
    ),
    tier_rule(
        id="TS-002",
        section=FETCHES,
        lines=(662, 750),
        sentence="A fetch passes over no record of the remote tier, nor where the tiers meet.",
        **as_in("KFK-046"),
    ),
    tier_rule(
        id="TS-003",
        section=FETCHES,
        lines=(149, 181, 205),
        sentence="All who read an offset read the same record, at any replica, in any tier.",
        **as_in("KFK-034"),
    ),
    tier_rule(
        id="TS-004",
        section=FETCHES,
        lines=(147, 751),
        sentence="A record is read from the remote tier with the timestamp it was sent with.",
        **as_in("KFK-036"),
    ),
    tier_rule(
        id="TS-005",
        section=FETCHES,
        lines=(662, 752),
        sentence="No offset between log start and end is out of range, whichever tier has it.",
        decisions=("C-02", "C-40", "G-05"),
        **as_in("KFK-049"),
    ),
    tier_rule(
        id="TS-006",
        section=FETCHES,
        lines=(745, 751),
        sentence="A fetch that begins at a remote record is given records.",
        decisions=("C-27", "G-33"),
        **as_in("KFK-048"),
    ),
    tier_rule(
        id="TS-007",
        section=FETCHES,
        lines=(751,),
        sentence="A remote read gives its first batch whole, and beside it no more than asked for.",
        decisions=("G-43",),
        **as_in("KFK-156"),
    ),
    tier_rule(
        id="TS-008",
        section=FETCHES,
        lines=(749, 750),
        sentence="Offsets in an answer rise from the offset asked for, in any tier.",
        **as_in("KFK-045"),
    ),
    tier_rule(
        id="TS-009",
        section=FETCHES,
        lines=(702,),
        sentence="A fetch below the log start or beyond the end is refused on a tiered log.",
        **as_in("KFK-161"),
    ),
    tier_rule(
        id="TS-010",
        section=FETCHES,
        lines=(205, 751),
        sentence="At the offset of an acknowledged append no other record is read from any tier.",
        **as_in("KFK-035"),
    ),
    tier_rule(
        id="TS-020",
        section=LISTS,
        lines=(676, 702),
        sentence="The earliest offset is the log start, and does not fall with a tier.",
        **as_in("KFK-052"),
    ),
    tier_rule(
        id="TS-021",
        section=LISTS,
        lines=(678,),
        sentence="The latest offset of a tiered log is not below what was acknowledged before.",
        decisions=("C-25",),
        **as_in("KFK-054"),
    ),
    tier_rule(
        id="TS-022",
        section=LISTS,
        lines=(167, 680),
        sentence="The earliest local offset is neither below the log start nor beyond the end.",
        judge=Holds(
            table="remote_bounds",
            when="log_start IS NOT NULL AND local_start IS NOT NULL AND log_end IS NOT NULL",
            holds="log_start <= local_start AND local_start <= log_end",
            show=("log_start", "local_start", "log_end"),
            words=(
                "the log starts at {log_start}",
                "its local part at {local_start}",
                "it ends at {log_end}",
            ),
        ),
        hint="ListOffsets -4 answers the first offset on this disk",
    ),
    tier_rule(
        id="TS-023",
        section=LISTS,
        lines=(147, 167, 680, 1974, 1975, 1976, 1977, 1978),
        sentence="What is no longer local is tiered: the local part begins behind it at most.",
        decisions=("C-26",),
        judge=Holds(
            table="remote_bounds",
            when="tiered AND local_start > log_start AND last_tiered IS NOT NULL",
            holds="local_start <= last_tiered + 1 AND last_tiered < log_end",
            show=("log_start", "local_start", "last_tiered", "log_end"),
            words=(
                "the local part begins at {local_start}",
                "tiered is what stands up to {last_tiered}",
                "the log starts at {log_start}",
                "it ends at {log_end}",
            ),
        ),
        hint="a local segment goes only when RLMM has its copy as finished",
    ),
    tier_rule(
        id="TS-024",
        section=LISTS,
        lines=(680, 1380),
        sentence="ListOffsets knows each special timestamp from the version on that names it.",
        decisions=("C-26",),
        judge=requests(f"{LISTED} AND ({_ALLOWED})", "type = 'ok'"),
        hint="-4 from version 8 on, -5 from 9, -6 from 11",
    ),
    tier_rule(
        id="TS-025",
        section=LISTS,
        lines=(680, 1380),
        sentence="ListOffsets refuses a special timestamp in versions that do not have it.",
        decisions=("C-26",),
        judge=requests(
            f"{LISTED} AND ({_LOWER} OR asked_timestamp < -6)",
            "coalesce(error = 'UNSUPPORTED_VERSION', FALSE)",
        ),
        tolerant=requests(
            f"{LISTED} AND ({_LOWER} OR asked_timestamp < -6)"
            " AND NOT (asked_timestamp = -4 AND version = 7)",
            "coalesce(error = 'UNSUPPORTED_VERSION', FALSE)",
        ),
        hint="UNSUPPORTED_VERSION for the partition, before the topic is looked up",
    ),
    tier_rule(
        id="TS-026",
        section=LISTS,
        lines=(672, 684),
        sentence="No record of any tier before the offset found is as late as the time asked for.",
        **as_in("KFK-061"),
    ),
    tier_rule(
        id="TS-027",
        section=LISTS,
        lines=(672, 684),
        sentence="A search by timestamp finds an offset if a record as late is in any tier.",
        **as_in("KFK-062"),
    ),
    tier_rule(
        id="TS-028",
        section=LISTS,
        lines=(684,),
        sentence="The timestamp found in any tier is not before the one asked for.",
        **as_in("KFK-060"),
    ),
    tier_rule(
        id="TS-029",
        section=LISTS,
        lines=(672,),
        sentence="No record in any tier is later than the maximum timestamp found.",
        decisions=("G-29",),
        **{**as_in("KFK-063"), "binds_others": False},
    ),
    tier_rule(
        id="TS-030",
        section=LISTS,
        lines=(672, 684),
        sentence="A search by timestamp names timestamp and epoch of the record that it finds.",
        **as_in("KFK-162"),
    ),
    tier_rule(
        id="TS-031",
        section=LISTS,
        lines=(115, 680),
        sentence="On a topic that is not tiered the earliest local offset is the earliest.",
        decisions=("C-26", "G-30"),
        judge=Holds(
            table="remote_bounds",
            when="NOT tiered AND local_start IS NOT NULL",
            holds="local_start = log_start AND coalesce(last_tiered, -1) = -1",
            show=("log_start", "local_start", "last_tiered"),
            words=("the log starts at {log_start}", "its local part at {local_start}"),
        ),
        hint="-4 as -2, -5 and -6 are -1",
    ),
    tier_rule(
        id="TS-032",
        section=EPOCHS,
        lines=(698,),
        sentence="The end of an epoch parts its records from those of later epochs, in any tier.",
        **as_in("KFK-072"),
    ),
    tier_rule(
        id="TS-033",
        section=EPOCHS,
        lines=(181, 205),
        sentence="In any tier records of a leader epoch stand beyond all of earlier epochs.",
        **as_in("KFK-070"),
    ),
    tier_rule(
        id="TS-034",
        section=EPOCHS,
        lines=lines(386, 435, 437, 441, 473, 498, 500, 502, 598),
        sentence="A record is served only from the lineage of the leader that serves it.",
        decisions=("C-20", "C-41"),
        judge=Holds(
            table="remote_lineages",
            when="TRUE",
            holds="named_epoch = leader_epoch AND coalesce(record_offset < epoch_end, TRUE)"
            " AND coalesce(record_offset >= earlier_end, TRUE)",
            show=(
                "node",
                "record_offset",
                "value",
                "leader_epoch",
                "named_epoch",
                "epoch_end",
                "earlier_end",
            ),
            words=(
                "node {node} serves {value} of epoch {leader_epoch} at offset {record_offset}",
                "asked about that epoch it names epoch {named_epoch} with the end {epoch_end}",
                "earlier epochs end at {earlier_end}",
            ),
        ),
        hint="which segment of several holds the offset, and where does its lineage end?",
    ),
    tier_rule(
        id="TS-035",
        section=EPOCHS,
        lines=(698,),
        sentence="A leader says of every epoch of a tiered log where it ends.",
        **as_in("KFK-158"),
    ),
    tier_rule(
        id="TS-036",
        section=FETCHES,
        lines=(223, 1384),
        sentence="No consumer is told that an offset moved to tiered storage.",
        decisions=("C-01",),
        depth=Depth.WIRE,
        judge=Holds(
            table="responses",
            when="f = 'fetch'",
            holds="coalesce(error <> 'OFFSET_MOVED_TO_TIERED_STORAGE', TRUE)",
            show=("node", "asked_offset", "error"),
            words=("node {node} answers a consumer at offset {asked_offset} with {error}",),
        ),
        hint="109 is for followers: consumers are given the data",
    ),
    tier_rule(
        id="TS-037",
        section=EPOCHS,
        lines=(437, 596, 598),
        sentence="A reader comes from the log start to the end, whatever elections there were.",
        decisions=("C-20", "C-41"),
        judge=Holds(
            table="ops",
            when="f = 'read_through'",
            holds="type = 'ok'",
            show=("node", "value", "result"),
            words=(
                "a reader begins at {value}, the log start and the end",
                "at node {node} it comes to {result}",
            ),
        ),
        hint="a segment of another lineage hides the one that holds the offset",
    ),
)

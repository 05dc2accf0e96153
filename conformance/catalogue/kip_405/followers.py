"""What followers are told and become, what is deleted, and what brokers do without the store."""

from __future__ import annotations

from conformance.catalogue.kip_405.fragments import (
    CONFIGS,
    COPIES,
    DELETES,
    FOLLOWERS,
    OUTAGES,
    RETENTION,
    TIERED_TOPICS,
    as_in,
    configured,
    lines,
    requests,
    tier_rule,
)
from harness.rules import Holds

_FOLLOWS = "f = 'fetch_as_follower' AND replica >= 0 AND tiered AND log_start IS NOT NULL"
_MOVED = f"{_FOLLOWS} AND asked_offset >= log_start AND asked_offset < local_start"
_NONE = "coalesce(records, 0) = 0"
_REFUSED = "coalesce(error = 'INVALID_CONFIG', FALSE)"
# What has nothing to do with where a record is. An offset may be out of a replica's range, unless
# it has shown the log beyond it before.
_ELSEWHERE = (
    "('NOT_LEADER_OR_FOLLOWER', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH',"
    " 'OFFSET_OUT_OF_RANGE')"
)
SLACK_MS = 1500  # of answers that are due at a deadline, on a busy machine
WAITED_MS = 500  # remote.fetch.max.wait.ms


def in_outages(when: str, holds: str) -> Holds:
    """About a request while the remote store is out of order."""
    return Holds(
        table="requests_in_outages",
        among=TIERED_TOPICS,
        when=when,
        holds=holds,
        show=(
            "node",
            "f",
            "fault",
            "asked_offset",
            "local_before",
            "local_after",
            "type",
            "error",
            "records",
            "took_ms",
            "shown",
        ),
        words=(
            "while the store is under {fault}",
            "node {node} answers {f} of offset {asked_offset}",
            "with {error}",
            "{records} records",
            "after {took_ms} ms",
            "the local part began at {local_before}",
            "later at {local_after}",
            "it had shown the log up to {shown}",
        ),
    )


def awaited(what: str) -> Holds:
    """About something that a log comes to within a bound."""
    return Holds(
        table="ops",
        when=f"f = 'await_tier' AND key = '\"{what}\"'",
        holds="type = 'ok'",
        show=("key", "value", "result", "node"),
        words=("what is waited for is {key}", "{value}", "what came is {result}"),
    )


_REMOTE_READ = (
    "f = 'fetch' AND asked_offset < local_before AND asked_offset >= greatest(start_before, 0)"
)
_STEADY = ("clean-election", "synced-data", "one-leader", "replica-up")

RULES = (
    tier_rule(
        id="TS-040",
        section=FOLLOWERS,
        lines=lines(221, 223, 243, 282, 344, 1384, 1386),
        sentence="A follower that asks below the local part is told that the offset has moved.",
        decisions=("C-01",),
        assumes=_STEADY,
        judge=requests(
            f"{_MOVED} AND version >= 14",
            f"coalesce(error = 'OFFSET_MOVED_TO_TIERED_STORAGE', FALSE) AND {_NONE}",
        ),
        hint="109, no records; log start <= offset < earliest local offset",
    ),
    tier_rule(
        id="TS-041",
        section=FOLLOWERS,
        lines=(1384,),
        sentence="A follower that does not know of tiers is told of a storage error instead.",
        decisions=("C-01",),
        assumes=_STEADY,
        judge=requests(
            f"{_MOVED} AND version < 14",
            f"coalesce(error = 'KAFKA_STORAGE_ERROR', FALSE) AND {_NONE}",
        ),
        tolerant=requests(
            f"{_MOVED} AND version < 14",
            "coalesce(error IN ('KAFKA_STORAGE_ERROR', 'OFFSET_MOVED_TO_TIERED_STORAGE'), FALSE)"
            f" AND {_NONE}",
        ),
        hint="before version 14 of Fetch the error has no number",
    ),
    tier_rule(
        id="TS-042",
        section=FOLLOWERS,
        lines=lines(221, 338, 340),
        sentence="A follower that asks at or above the local start is given what is there.",
        decisions=("C-01",),
        assumes=_STEADY,
        judge=requests(
            f"{_FOLLOWS} AND asked_offset = local_start AND high_watermark > asked_offset",
            "type = 'ok' AND records > 0",
        ),
        hint="the earliest local offset itself is local",
    ),
    tier_rule(
        id="TS-043",
        section=FOLLOWERS,
        lines=(702, 1386),
        sentence="A follower that asks below the log start or beyond the end is out of range.",
        decisions=("C-01", "G-12"),
        assumes=_STEADY,
        judge=requests(
            f"{_FOLLOWS} AND asked_offset < log_start",
            "coalesce(error = 'OFFSET_OUT_OF_RANGE', FALSE)",
        ),
        hint="what is below the log start has not moved: it is gone",
    ),
    tier_rule(
        id="TS-044",
        section=FOLLOWERS,
        lines=lines(190, 191, 230, 232, 233, (258, 260), 262, 284, 365),
        sentence="Within the bound all replicas of a tiered log are in sync, also a rebuilt one.",
        decisions=("C-18",),
        judge=awaited("in-sync"),
        hint="a follower is told 109, builds its state and fetches on",
    ),
    tier_rule(
        id="TS-045",
        section=FOLLOWERS,
        lines=(219, 221),
        sentence="A replica that was rebuilt has nothing local that is only in the remote tier.",
        decisions=("C-29", "G-31"),
        judge=Holds(
            table="ops",
            when="f = 'rebuilt_replica' AND type = 'ok'",
            holds="TRY_CAST(result AS BIGINT) >= TRY_CAST(value AS BIGINT)",
            show=("node", "value", "result"),
            words=(
                "node {node} leads after it was rebuilt",
                "when its disk was emptied the local part began at {value}",
                "its own begins at {result}",
            ),
        ),
        hint="followers fetch from the leader's earliest local offset on",
    ),
    tier_rule(
        id="TS-046",
        section=FOLLOWERS,
        lines=lines(191, 235, 259),
        sentence="A producer's last batch is not appended again by a leader that was rebuilt.",
        decisions=("C-18",),
        **as_in("KFK-151"),
    ),
    tier_rule(
        id="TS-047",
        section=FOLLOWERS,
        lines=(235,),
        sentence="A batch that follows its producer's last is appended, whoever leads.",
        **as_in("KFK-152"),
    ),
    tier_rule(
        id="TS-048",
        section=FOLLOWERS,
        lines=(235,),
        sentence="A batch that does not follow its producer's last is refused, whoever leads.",
        **as_in("KFK-153"),
    ),
    tier_rule(
        id="TS-050",
        section=DELETES,
        lines=(668,),
        sentence="DeleteRecords is carried out up to the high watermark, also in the remote tier.",
        **as_in("KFK-160"),
    ),
    tier_rule(
        id="TS-051",
        section=DELETES,
        lines=(668,),
        sentence="After DeleteRecords no reader is served a record below its offset.",
        **as_in("KFK-065"),
    ),
    tier_rule(
        id="TS-052",
        section=DELETES,
        lines=(668,),
        sentence="After DeleteRecords no log start below its offset is named.",
        **as_in("KFK-066"),
    ),
    tier_rule(
        id="TS-053",
        section=RETENTION,
        lines=(741, 1398),
        sentence="Retention leaves in both tiers what is within retention.ms and retention.bytes.",
        decisions=("C-16", "G-40"),
        **as_in("KFK-163"),
    ),
    tier_rule(
        id="TS-054",
        section=RETENTION,
        lines=(741, 1398),
        sentence="What is past retention.ms or retention.bytes is gone from both tiers in time.",
        decisions=("C-16",),
        **as_in("KFK-164"),
    ),
    tier_rule(
        id="TS-055",
        section=RETENTION,
        lines=(1398,),
        sentence="What is tiered and past local retention is no longer local, in time.",
        decisions=("C-09", "C-16"),
        judge=awaited("local"),
        hint="the earliest local offset rises once the copies are finished",
    ),
    tier_rule(
        id="TS-056",
        section=COPIES,
        lines=(147, 688, 718, 720, 730, 732, 734, 735, 737, 2313),
        sentence="Every segment but the active one is copied in time, whoever leads.",
        decisions=("C-28",),
        judge=awaited("copied"),
        hint="the latest tiered offset follows the last rolled segment",
    ),
    tier_rule(
        id="TS-057",
        section=OUTAGES,
        lines=(710, 722),
        sentence="Copies go on in time once the store is back.",
        decisions=("C-28",),
        judge=awaited("resumed"),
        hint="retries never stop, and back off no longer than their maximum",
    ),
    tier_rule(
        id="TS-060",
        section=OUTAGES,
        lines=(710, 712),
        sentence="While the store is out of order appends are acknowledged.",
        assumes=_STEADY,
        judge=in_outages("f = 'produce' AND acks <> 0 AND latest", "type = 'ok'"),
        hint="copies have threads of their own",
    ),
    tier_rule(
        id="TS-061",
        section=OUTAGES,
        lines=(710, 712),
        sentence="While the store is out of order what is local is read.",
        assumes=_STEADY,
        judge=in_outages(
            "f = 'fetch' AND asked_offset >= local_after AND high_watermark > asked_offset"
            " OR f = 'fetch' AND asked_offset >= local_after AND type <> 'ok'"
            f" AND (coalesce(error NOT IN {_ELSEWHERE}, TRUE)"
            " OR coalesce(shown > asked_offset, FALSE))",
            "type = 'ok' AND records > 0",
        ),
        hint="a reader that waits for the store holds no thread of others",
    ),
    tier_rule(
        id="TS-062",
        section=OUTAGES,
        lines=lines(662, 710, 753),
        sentence="A remote read without the store ends in a storage error at its deadline.",
        decisions=("C-02", "C-27", "G-03", "G-04"),
        assumes=_STEADY,
        judge=in_outages(
            f"{_REMOTE_READ} AND NOT damaged",
            "(type = 'ok' AND records > 0) OR coalesce(error = 'KAFKA_STORAGE_ERROR', FALSE)"
            f" AND took_ms BETWEEN {WAITED_MS} AND {WAITED_MS + SLACK_MS}",
        ),
        tolerant=in_outages(
            f"{_REMOTE_READ} AND NOT damaged",
            "(type = 'ok' OR coalesce(error IN ('KAFKA_STORAGE_ERROR', 'UNKNOWN_SERVER_ERROR'),"
            f" FALSE)) AND took_ms <= {WAITED_MS + SLACK_MS}",
        ),
        hint="56 when max(max_wait_ms, remote.fetch.max.wait.ms) is over, and not before",
    ),
    tier_rule(
        id="TS-063",
        section=OUTAGES,
        lines=(710,),
        sentence="While the store is out of order topics are created.",
        assumes=_STEADY,
        judge=in_outages("f = 'create_topics'", "type = 'ok'"),
        hint="what does not need the store does not wait for it",
    ),
    tier_rule(
        id="TS-064",
        section=OUTAGES,
        lines=(694, 710, 1356),
        sentence="While the store is out of order a tiered topic is deleted without delay.",
        decisions=("C-07", "C-30"),
        assumes=_STEADY,
        judge=in_outages("f = 'delete_topics'", "type = 'ok'"),
        hint="remote data is deleted later",
    ),
    tier_rule(
        id="TS-065",
        section=OUTAGES,
        lines=lines(662, 753, 1535, 1536),
        sentence="A remote read of a damaged object gives what was written, or an error in time.",
        decisions=("C-02", "C-40", "G-05", "G-35"),
        assumes=_STEADY,
        judge=in_outages(
            f"{_REMOTE_READ} AND damaged",
            "(type = 'ok' AND records > 0"
            " OR coalesce(error IN ('KAFKA_STORAGE_ERROR', 'CORRUPT_MESSAGE'), FALSE))"
            f" AND took_ms <= {WAITED_MS + SLACK_MS}",
        ),
        tolerant=in_outages(
            f"{_REMOTE_READ} AND damaged",
            "(type = 'ok' OR coalesce(error IN ('KAFKA_STORAGE_ERROR', 'CORRUPT_MESSAGE',"
            f" 'UNKNOWN_SERVER_ERROR'), FALSE)) AND took_ms <= {WAITED_MS + SLACK_MS}",
        ),
        hint="never out of range; what is wrong with an object does not move a reader",
    ),
    tier_rule(
        id="TS-070",
        section=CONFIGS,
        lines=(1398, 2321),
        sentence="Tiering that is on for a topic cannot be turned off.",
        decisions=("C-08",),
        judge=configured("disable", _REFUSED),
        hint="INVALID_CONFIG, and nothing changes",
    ),
    tier_rule(
        id="TS-071",
        section=CONFIGS,
        lines=(121, 1390, 2323),
        sentence="A compacted topic is not tiered, and a tiered one not compacted.",
        decisions=("C-08",),
        judge=configured("compact", _REFUSED),
        hint="at creation, when tiering is turned on, and when the policy is changed",
    ),
    tier_rule(
        id="TS-072",
        section=CONFIGS,
        lines=(1398,),
        sentence="Local retention beyond the complete retention is refused.",
        decisions=("C-09",),
        judge=configured("local-beyond", _REFUSED),
        hint="-1 is infinite; the resulting configuration counts",
    ),
    tier_rule(
        id="TS-073",
        section=CONFIGS,
        lines=(1398,),
        sentence="Local retention within the complete retention is accepted.",
        decisions=("C-09",),
        judge=configured("accepted", "type = 'ok'"),
        hint="equal is within; -2 is not set",
    ),
    tier_rule(
        id="TS-074",
        section=CONFIGS,
        lines=(1398,),
        sentence="Tiering of a topic is off, and local retention not set, unless told otherwise.",
        decisions=("C-09", "C-37"),
        judge=Holds(
            table="ops",
            when="f = 'describe_tier' AND type = 'ok' AND key = '\"defaults\"'",
            holds='result LIKE \'%"local.retention.bytes":"-2"%\''
            ' AND result LIKE \'%"local.retention.ms":"-2"%\''
            ' AND result LIKE \'%"remote.storage.enable":"false"%\'',
            show=("key", "result", "node"),
            words=("node {node} describes {result}",),
        ),
        hint="remote.storage.enable false, local.retention.* -2",
    ),
)

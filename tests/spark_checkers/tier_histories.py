"""Histories for the rules of tiered storage: what each must flag, and the nearest it must not.

A history is a list of lines in the order of time. Rules whose judge is one of Kafka's own are shown
by the histories of that one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from harness.rules import Holds, Rule

Line = dict[str, Any]
History = Sequence[Line]
PARTS = ("log", "offset", "time", "producers", "epochs")


def probe(what: str, *rows: Line, look: int = 1, resting: bool = True) -> Line:
    """A look, whose rows are about topic t, partition 0, unless they say otherwise."""
    about = {"look": look, "resting": resting, "topic": "t", "topic_id": "T", "partition": 0}
    return {"kind": "probe", "what": what, "rows": [about | row for row in rows]}


def records(*rows: Line, look: int = 1) -> Line:
    """Records of the metadata topic, at offsets 0, 1, …"""
    numbered = [
        {"metadata_partition": 3, "metadata_offset": at, "due_partition": 3, "keyed": False} | row
        for at, row in enumerate(rows)
    ]
    return probe("remote_metadata", *({"deleted": False} | row for row in numbered), look=look)


def begun(segment: str = "a", start: int = 0, end: int = 3, **more: Any) -> Line:
    """The first record of a segment."""
    return {
        "event": "segment",
        "segment_id": segment,
        "start_offset": start,
        "end_offset": end,
        "leader_epoch": 0,
        "max_timestamp": 1000,
        "size": 80,
        "state": 0,
    } | more


def then(state: int, segment: str = "a", **more: Any) -> Line:
    """A later record of it."""
    return {"event": "update", "segment_id": segment, "state": state} | more


def removal(state: int) -> Line:
    """A record about the deletion of the partition."""
    return {"event": "partition", "state": state}


def store(*segments: str, without: str = "", size: int = 80, **more: Any) -> Line:
    """Objects: all parts of these segments but one."""
    return probe(
        "remote_objects",
        *(
            {"segment_id": one, "part": part, "object_key": f"{one}.{part}", "deleted": False}
            | {"size": size if part == "log" else 8}
            | more
            for one in segments
            for part in PARTS
            if part != without
        ),
    )


def log(start: int = 0, local: int = 4, last: int = 3, end: int = 6, **more: Any) -> Line:
    """Bounds of the log, as its leader names them."""
    row = {"log_start": start, "local_start": local, "last_tiered": last, "log_end": end}
    return probe("remote_logs", row | {"tiered": True} | more)


def op(f: str, outcome: str = "ok", asked: Line | None = None, **answer: Any) -> list[Line]:
    """An operation about t-0 at node 1."""
    about = {"kind": "op", "f": f, "topic": "t", "partition": 0, "node": 1}
    return [about | {"type": "invoke"} | (asked or {}), about | {"type": outcome} | answer]


TIERED = [
    {key: value for key, value in line.items() if key != "partition"}
    for line in op("create_topics", "ok", {"value": {"remote.storage.enable": "true"}}, error=0)
]
"""The topic t is created, as a tiered one."""


def follows(offset: int, version: int = 17, error: int = 0, count: int = 0) -> list[Line]:
    """A fetch in the role of a follower, of a log from 2 whose local part begins at 5."""
    asked = {"version": version, "replica": 2, "offset": offset, "tiered": True}
    known = {"log_start": 2, "local_start": 5, "leader_epoch": 0}
    answer = {"error": error, "count": count, "high_watermark": 9, "log_start_offset": 2}
    return op("fetch_as_follower", "fail" if error else "ok", asked | known, **answer)


def answers(**seen: Any) -> list[Line]:
    """A request of a recorded sequence, to which Apache Kafka answered offset 4."""
    asked = {"sequence": "tiered/x", "step": 2, "api": "list_offsets", "version": 11}
    return op("sequence_request", "ok", asked | {"expected": {"offset": 4}}, error=0, answer=seen)


def lists(timestamp: int, version: int, error: int = 0) -> list[Line]:
    """ListOffsets by a version."""
    asked = {"timestamp": timestamp, "version": version, "tiered": True}
    return op("list_offsets_in_version", "fail" if error else "ok", asked, error=error, offset=3)


def awaits(what: str, outcome: str) -> list[Line]:
    """Something that is waited for."""
    return op("await_tier", outcome, {"key": what, "value": {"least": 3}}, value=3)


def configures(case: str, error: int) -> list[Line]:
    """A request for a configuration."""
    asked = {"key": case, "value": {"set": {}}}
    return op("configure_tier", "fail" if error else "ok", asked, error=error)


def outage(*inside: list[Line], name: str = "object-store-broken") -> list[Line]:
    """Lines while the store is out of order; a leader names the local part before and after."""
    local = op("list_offsets", "ok", {"timestamp": -4}, error=0, offset=5)
    fault = {"kind": "fault", "name": name, "target": "object-store"}
    lines = [*local, fault | {"phase": "begin"}]
    lines += [fault | {"phase": "landed", "evidence": {"errors_answered": 3}}]
    lines += [line for one in inside for line in one]
    return [*lines, fault | {"phase": "end"}, *local]


def fetch(offset: int, outcome: str = "ok", *, took_ms: int = 0, **answer: Any) -> list[Line]:
    """A fetch of a consumer."""
    lines = op("fetch", outcome, {"offset": offset, "leader_epoch": 1}, **answer)
    lines[1]["after_ms"] = took_ms
    return lines


def elsewhere(lines: list[Line]) -> list[Line]:
    """At node 2."""
    return [line | {"node": 2} for line in lines]


def reimaged() -> list[Line]:
    """A replica loses its disk, and comes back."""
    fault = {"kind": "fault", "name": "reimage", "target": "broker-1", "assumption": "replica-up"}
    landed = fault | {"phase": "landed", "evidence": {"disks_emptied": 1}}
    return [fault | {"phase": "begin"}, landed, fault | {"phase": "end"}]


def served(*found: Sequence[Any]) -> Line:
    """What a fetch is answered: records of offset, value, timestamp, epoch."""
    marks = {"high_watermark": 9, "last_stable_offset": 9, "log_start_offset": 0}
    return {"error": 0, "records": [list(one) for one in found], **marks}


def ends(epoch: int, named: int, end: int) -> list[Line]:
    """Where an epoch ends, by the leader of epoch 1."""
    asked = {"epoch": epoch, "leader_epoch": 1}
    return op("offset_for_leader_epoch", "ok", asked, error=0, leader_epoch=named, offset=end)


def sent(offset: int, stamp: int) -> list[Line]:
    """An append of one record."""
    asked = {"send": f"s{offset}", "attempt": 1, "acks": -1, "records": [[f"v{offset}", stamp]]}
    return op("produce", "ok", asked, error=0, offset=offset)


def deletes(before: int) -> list[Line]:
    """Everything below an offset."""
    return op("delete_records", "ok", {"offset": before}, error=0, log_start_offset=before)


def set_at(now_ms: int) -> History:
    """A copy of offsets 0 to 3 that names nothing below 2; that was to be deleted at 1,000."""
    clock = {"kind": "probe", "what": "clock", "rows": [{"now_ms": 990}]}
    waits = [{**line, "after_ms": 9} for line in fetch(1, **UPTO_2)]
    copy = records(begun(event_timestamp=now_ms), then(1))
    return [clock, *waits, *deletes(2), copy, log(start=2), epochs((1, 2, 3))]


def kept_here(size: int) -> list[Line]:
    """The topic t is created, and its disks keep so many bytes."""
    asked = {"remote.storage.enable": "true", "local.retention.bytes": str(size)}
    return op("create_topics", "ok", {"value": asked | {"local.retention.ms": "-1"}}, error=0)


def epochs(*entries: tuple[int, int, int], segment: str = "a") -> Line:
    """The epochs of a segment with their offsets."""
    rows = [
        {"segment_id": segment, "epoch": epoch, "first_offset": first, "last_offset": last}
        for epoch, first, last in entries
    ]
    return probe("remote_epochs", *rows)


DONE = records(begun(), then(1))
UPTO_2 = served((1, "w", 1, 0), (2, "x", 1, 1))
GONE = records(begun(), then(1), then(2), then(3))
FAILED, OUT_OF_RANGE, STORAGE, UNSUPPORTED, INVALID, MOVED = -1, 1, 56, 35, 40, 109
GOOD_DEFAULTS = {
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "remote.storage.enable": "false",
}
METADATA_TOPIC = {
    "cleanup.policy": "delete",
    "partitions": 5,
    "replicas": 3,
    "retention.ms": "-1",
}


def described(case: str, value: Line) -> list[Line]:
    """Configurations of a topic."""
    return op("describe_tier", "ok", {"key": case}, error=0, value=value)


def by_hand(f: str, value: Any, result: Any) -> list[Line]:
    """An operation of the lab's own with a value on both sides."""
    return op(f, "ok", {"value": value}, value=result)


# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[History, History]] = {
    "TS-022": ([log(start=5, local=4)], [log(start=4, local=4)]),
    "TS-023": ([log(local=5)], [log(local=4)]),
    "TS-024": (lists(-4, 8, UNSUPPORTED), lists(-4, 8)),
    "TS-025": (lists(-5, 8), lists(-5, 8, UNSUPPORTED)),
    "TS-031": ([log(local=1, last=-1, tiered=False)], [log(local=0, last=-1, tiered=False)]),
    "TS-034": (
        [*ends(0, 0, 2), *fetch(2, **served((2, "x", 1, 0)))],
        [*ends(0, 0, 3), *fetch(2, **served((2, "x", 1, 0)))],
    ),
    "TS-036": (fetch(0, "fail", error=MOVED), fetch(0, "fail", error=STORAGE)),
    "TS-037": (
        op("read_through", "fail", {"value": [0, 9]}, value=4),
        op("read_through", "ok", {"value": [0, 9]}, value=9),
    ),
    "TS-039": (
        by_hand("fetch_from_position", [0, 3, 0], [0, 3, 2]),
        by_hand("fetch_from_position", [0, 3, 0], [0, 3, 0]),
    ),
    "TS-040": (follows(4, error=OUT_OF_RANGE), follows(4, error=MOVED)),
    "TS-041": (follows(4, 13, error=MOVED), follows(4, 13, error=STORAGE)),
    "TS-042": (follows(5, error=MOVED), follows(5, count=2)),
    "TS-043": (follows(1, error=MOVED), follows(1, error=OUT_OF_RANGE)),
    "TS-044": (awaits("in-sync", "fail"), awaits("in-sync", "ok")),
    "TS-045": (by_hand("rebuilt_replica", 5, 0), by_hand("rebuilt_replica", 5, 5)),
    "TS-055": (awaits("local", "fail"), awaits("copied", "fail")),
    "TS-056": (awaits("copied", "fail"), awaits("copied", "ok")),
    "TS-057": (awaits("resumed", "fail"), awaits("shipped", "fail")),
    "TS-058": (
        [*kept_here(200), *sent(0, 1000), *sent(4, 1000), log()],
        [*kept_here(100), *sent(0, 1000), *sent(4, 1000), log()],
    ),
    "TS-060": (
        outage(op("produce", "info", {"send": "a", "acks": -1, "records": [["v", 1]]}, error=7)),
        outage(op("produce", "ok", {"send": "a", "acks": -1, "records": [["v", 1]]}, error=0)),
    ),
    "TS-061": (
        outage(fetch(5, **served())),
        outage(fetch(4, **served()), fetch(99, "fail", error=OUT_OF_RANGE)),
    ),
    "TS-062": (
        outage(fetch(4, "fail", took_ms=20, error=STORAGE)),
        [
            *op("list_offsets", "ok", {"timestamp": -2}, error=0, offset=3),
            *outage(
                fetch(2, "fail", took_ms=2, error=OUT_OF_RANGE),
                fetch(4, "fail", took_ms=520, error=STORAGE),
            ),
        ],
    ),
    "TS-063": (
        outage(op("create_topics", "info", error=None)),
        outage(op("create_topics", "ok", error=0)),
    ),
    "TS-064": (
        outage(op("delete_topics", "info", error=None)),
        [*op("delete_topics", "info", error=None), *outage(op("delete_topics", "ok", error=0))],
    ),
    "TS-065": (
        outage(fetch(4, "fail", error=OUT_OF_RANGE), name="object-vanished"),
        outage(fetch(4, "fail", took_ms=520, error=STORAGE), name="object-vanished"),
    ),
    "TS-070": (configures("disable", 0), configures("disable", INVALID)),
    "TS-071": (configures("compact-later", 0), configures("compact-later", INVALID)),
    "TS-072": (configures("local-beyond-ms", 0), configures("local-beyond-ms", INVALID)),
    "TS-073": (configures("accepted-equal", INVALID), configures("accepted-equal", 0)),
    "TS-074": (
        described("defaults", GOOD_DEFAULTS | {"local.retention.ms": "-1"}),
        described("defaults", GOOD_DEFAULTS),
    ),
    "TS-080": ([records({"problem": "it ends after 3 bytes"})], [DONE]),
    "TS-081": ([records(begun(), then(1, keyed=True))], [records(begun(), then(1))]),
    "TS-082": (
        [records(removal(0) | {"keyed": True})],
        [records(begun() | {"keyed": True}, removal(0))],
    ),
    "TS-083": ([records(begun(due_partition=2))], [records(begun(due_partition=3))]),
    "TS-084": ([records(begun(), then(3))], [records(begun(), then(2), then(3))]),
    "TS-085": ([records(begun(), then(1), begun())], [records(begun(), then(1), begun("b"))]),
    "TS-086": ([records(removal(0), removal(2))], [records(removal(0), removal(1), removal(2))]),
    "TS-087": ([records(removal(0), begun())], [records(begun(), removal(0), then(2))]),
    "TS-088": (
        [DONE, log(), *fetch(1, **UPTO_2), epochs((1, 2, 3)), *deletes(2), DONE, log(start=2)],
        [*fetch(1, **UPTO_2), *deletes(2), DONE, log(start=2), epochs((1, 2, 3))],
    ),
    "TS-089": (
        [*sent(0, 1000), *sent(1, 2000), records(begun(end=1), then(1))],
        [*sent(0, 1000), *sent(1, 900), records(begun(end=1), then(1))],
    ),
    "TS-090": ([DONE, store("a", size=81)], [DONE, store("a")]),
    "TS-091": (
        [records(begun(), begun("b", 4, 5), then(1))],
        [records(begun(), then(1), begun("b", 4, 5))],
    ),
    "TS-092": ([DONE, store("a", without="producers")], [DONE, store("a")]),
    "TS-093": ([GONE, store("a")], [DONE, store("a")]),
    "TS-094": ([GONE, store("a")], [GONE, store("b")]),
    "TS-095": (
        [records(begun(), then(1), then(2)), log(start=3)],
        [records(begun(), then(1), then(2)), log(start=4)],
    ),
    "TS-096": ([DONE, log(start=4, local=4)], [DONE, log(start=3, local=4)]),
    "TS-097": ([DONE, log(local=5)], [DONE, log(local=4)]),
    "TS-098": ([DONE, log(last_stable=3)], [DONE, log(last_stable=4)]),
    "TS-099": ([DONE, log(tiered=False)], [log(tiered=False)]),
    "TS-100": (awaits("removed", "fail"), awaits("removed", "ok")),
    "TS-101": (
        described("metadata-topic", METADATA_TOPIC | {"partitions": 50}),
        described("metadata-topic", METADATA_TOPIC),
    ),
    "TS-102": (by_hand("created_again", None, [0, 7]), by_hand("created_again", None, [0, 0])),
    "TS-210": (answers(offset=3), answers(offset=4)),
}
# The same of rules that look at something else besides.
MORE: list[tuple[str, History, History]] = [
    (
        "TS-061",
        [*sent(7, 1), *outage(fetch(6, "fail", error=OUT_OF_RANGE))],
        [*sent(7, 1), *outage(fetch(8, "fail", error=OUT_OF_RANGE))],
    ),
    (
        "TS-061",
        [*sent(7, 1), *outage(fetch(6, "fail", error=OUT_OF_RANGE))],
        [*elsewhere(sent(7, 1)), *outage(fetch(6, "fail", error=OUT_OF_RANGE))],
    ),
    (
        "TS-061",
        [*sent(7, 1), *outage(fetch(6, "fail", error=OUT_OF_RANGE))],
        [*sent(7, 1), *reimaged(), *outage(fetch(6, "fail", error=OUT_OF_RANGE))],
    ),
    ("TS-088", set_at(900), set_at(1100)),
    (
        "TS-088",
        [*sent(1, 9), DONE, log(), epochs((1, 2, 3))],
        [*sent(1, 9), *deletes(2), DONE, log(start=2), epochs((1, 2, 3))],
    ),
]


def of_cases(rules: Iterable[Rule]) -> dict[str, tuple[History, History]]:
    """For rules about cases of plug-ins: all as they are due, and with another last one."""
    found = {}
    for rule in rules:
        claimed = rule.judge.holds if isinstance(rule.judge, Holds) else ""
        due = [
            (json.loads(case), json.loads(end))
            for case, end in re.findall(r"WHEN '(.*?)' THEN '(.*?)'(?= WHEN| END)", claimed)
        ]
        if rule.id not in HISTORIES and due:
            kept = [
                line for case, end in due for line in op("plug_in", "ok", {"key": case}, value=end)
            ]
            broken = [*kept[:-1], kept[-1] | {"value": f"{due[-1][1]}."}]
            found[rule.id] = (broken, kept)
    return found

"""The interfaces of both plug-ins, case by case: what each call comes to.

A case is a name and an outcome (`conformance/tiered/plug_ins`); what its name begins with says on
what it was played once more. Plug-ins of other systems are
written in other languages and are not driven by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.catalogue.kip_405.fragments import lines, tier_rule
from harness.rules import Depth, Holds, Rule

STORAGE = "RemoteStorageManager"
METADATA = "RemoteLogMetadataManager"
ON_TOPIC, ON_S3 = "on-topic/", "on-s3/"


def case_rule(cases: Mapping[str, str], *, again: str = "", **named: Any) -> Rule:
    """A rule about cases, by the outcome that each of them has, also where it is played `again`."""
    if again:
        cases = {**cases, **{f"{again}{case}": end for case, end in cases.items()}}
    due = " ".join(f"WHEN {_text(case)} THEN {_text(end)}" for case, end in cases.items())
    judge = Holds(
        table="ops",
        when=f"f = 'plug_in' AND key IN ({', '.join(map(_text, cases))})",
        holds=f"coalesce(result = CASE key {due} END, FALSE)",
        show=("key", "result"),
        words=("the case {key}", "comes to {result}"),
    )
    said = {"depth": Depth.TRACE, "binds_others": False, "judge": judge}
    return tier_rule(**{**said, **named})


def _text(said: str) -> str:
    return f"'{json.dumps(said)}'"


_TABLE = {
    "none": ("ok, then 0", "not found, then -", "not found, then -", "not found, then -"),
    "0": ("ok, then 0", "ok, then 1", "ok, then 2", "dropped, then 0"),
    "1": ("dropped, then 1", "ok, then 1", "ok, then 2", "dropped, then 1"),
    "2": ("dropped, then 2", "dropped, then 2", "ok, then 2", "ok, then -"),
    "3": ("dropped, then -", "dropped, then -", "dropped, then -", "ok, then -"),
}
_DELETIONS = {
    "none": ("ok, then 0", "dropped, then -", "dropped, then -"),
    "0": ("ok, then 0", "ok, then 1", "dropped, then 0"),
    "1": ("dropped, then 1", "ok, then 1", "ok, then 2"),
    "2": ("dropped, then 2", "dropped, then 2", "ok, then 2"),
}


def _cells(kind: str, table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    return {
        f"{kind}/{before}-{after}": end
        for before, row in table.items()
        for after, end in enumerate(row)
    }


RULES = (
    case_rule(
        {
            "copy/whole": "0123456789 offsets times producers transactions epochs",
            "copy/over-another": "ok: other: leader-epoch.checkpoint offset.index"
            " producer.snapshot segment.log time.index",
            "copy/the-same-again": "ok: 0123456789",
            "copy/store-down": "failed:",
            "copy/half": "failed: not found",
            "copy/after-half": "ok: 0123456789",
            "copy/beside-another": "0123456789",
        },
        id="TS-110",
        section=STORAGE,
        again=ON_S3,
        lines=lines(658, 1404, 1455, 1474, 1475, 1480, 1484, (1486, 1488)),
        sentence="A copy is read whole with its five indexes, and replaces what was there.",
        decisions=("C-04", "C-23"),
        hint="a copy that is tried again overwrites, also what it does not have itself",
    ),
    case_rule(
        {
            "fetch/from-the-middle": "456789",
            "fetch/both-ends": "2345",
            "fetch/one-byte": "9",
            "fetch/end-beyond": "89",
            "fetch/largest-end": "89",
            "fetch/start-beyond": "failed",
            "fetch/below-zero": "refused",
            "fetch/backwards": "refused",
            "fetch/beyond-any-segment": "refused",
            "fetch/no-such-segment": "not found",
            "fetch/store-down": "failed",
        },
        id="TS-111",
        section=STORAGE,
        again=ON_S3,
        lines=lines((1491, 1494), 1497, 1499, 1500, 1502, 1503, (1506, 1510), 1513, 1514)
        + lines(1516, 1517, (1519, 1521)),
        sentence="A segment is read from one position to another, both included, or to its end.",
        decisions=("C-04",),
        hint="what is beyond the end is cut; a segment that is missing is told as such",
    ),
    case_rule(
        {"index/missing": "not found", "index/store-down": "failed"},
        id="TS-112",
        section=STORAGE,
        again=ON_S3,
        lines=lines(1524, (1526, 1528), 1533, 1534, 1538, 1539),
        sentence="An index that is missing is told apart from a store that does not answer.",
        decisions=("C-04", "C-40"),
        hint="RemoteResourceNotFoundException, or RemoteStorageException",
    ),
    case_rule(
        {
            "delete/all": "ok:",
            "delete/twice": "ok",
            "delete/half-a-copy": "ok:",
            "delete/store-down": "failed",
        },
        id="TS-113",
        section=STORAGE,
        again=ON_S3,
        lines=lines(1404, 1545, 1546, 1548, 1549, 1557, 1559),
        sentence="A deletion takes all parts of a copy away, and succeeds where there are none.",
        decisions=("C-04",),
        hint="the transaction index too, and what a failed copy left",
    ),
    case_rule(
        {**_cells("segment", _TABLE), "segment/taken-back": "then -"},
        id="TS-120",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(1875, 1876, (1894, 1896), 1948, 1949, 1954, 1955),
        sentence="A segment takes each transition of its life cycle, and no other.",
        decisions=("G-06", "G-07"),
        hint="every state to itself succeeds; an id that is not known is not found",
    ),
    case_rule(
        {
            "add/finished": "refused",
            "update/to-started": "refused",
            "update/unknown": "not found",
        },
        id="TS-121",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(1881, 1882, 1885, 1886, 1887, 1947, 1950, 1951),
        sentence="A segment is added as started, and updated to later states only.",
        decisions=("C-03", "G-07"),
        hint="anything else is refused before it is published",
    ),
    case_rule(
        {"applied/own": "found", "applied/other-broker": "found"},
        id="TS-122",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(1888, 1890, 1891, 1952, 2017),
        sentence="An event whose call has returned is in every later answer of that manager.",
        decisions=("C-18",),
        hint="the future is done when the manager's own reader has come to the event",
    ),
    case_rule(
        {**_cells("deletion", _DELETIONS), "deletion/unknown": "ok"},
        id="TS-123",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(2015, 2016, 2019, 2020),
        sentence="The deletion of a partition takes each of its transitions, and no other.",
        decisions=("C-30", "G-06"),
        hint="marked, started, finished; a partition without segments is marked too",
    ),
    case_rule(
        {
            f"marked/{deletion}-{after}": end
            for deletion in range(3)
            for after, end in enumerate(("dropped", "dropped", "ok", "ok"))
        },
        id="TS-124",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(769, 777),
        sentence="Of a partition that is marked for deletion no copy begins or is finished.",
        decisions=("C-30", "G-42"),
        hint="its segments are deleted, in whatever state they are",
    ),
    case_rule(
        {
            "fenced/begins": "dropped, then -",
            "fenced/finishes-its-own": "ok, then 1",
            "fenced/takes-its-own-back": "ok, then 2",
            "fenced/deletes-what-it-finished": "dropped, then 1",
            "fenced/deletes-of-others": "dropped, then 0",
            "fenced/ends-its-taking-back": "ok, then -",
            "fenced/ends-what-another-began": "dropped, then 2",
            "fenced/ends-of-others": "dropped, then 2",
            "fenced/same-epoch": "ok, then 1",
            "fenced/same-epoch-deletes": "ok, then 2",
            "fenced/same-epoch-begins": "ok, then 0",
            "fenced/later-epoch": "ok, then 2",
        },
        id="TS-125",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(173, 769),
        sentence="A leader that was replaced ends its own copy, and begins and deletes nothing.",
        decisions=("C-36", "G-20"),
        hint="by the highest leader epoch that was heard of",
    ),
    case_rule(
        {
            "find/0": "1 1 2 2 - - - - - - - - - - -",
            "find/1": "- - - - 2 2 3 3 3 3 - - - - -",
            "find/2": "- - - - - - - - 4 4 - - - - -",
            "find/3": "- - - - - - - - - - 4 4 4 4 -",
            "find/4": "- - - - - - - - - - - - - - -",
            "prefer/finished-last": "1",
            "prefer/greater-id": "2",
            "prefer/reaches-further": "1",
        },
        id="TS-126",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines((1958, 1960), (1968, 1971)),
        sentence="An offset is found in the finished segment that has it in the epoch asked for.",
        decisions=("C-15", "C-41"),
        hint="of several, the one that reaches furthest in that epoch",
    ),
    case_rule(
        {"highest/all": "14 24 24 34 -"},
        id="TS-127",
        section=METADATA,
        again=ON_TOPIC,
        lines=(1985, 1986),
        sentence="The highest offset of an epoch is that of its finished segments.",
        decisions=("C-15",),
        hint="what is being copied or deleted does not count",
    ),
    case_rule(
        {
            "list/all": "1 2 3 4 5 7",
            "list/0": "1 2",
            "list/1": "2 3 4",
            "list/2": "4",
            "list/3": "3 4 5 7",
            "list/4": "",
        },
        id="TS-128",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(2023, (2025, 2027), 2031, 2032, (2035, 2039), 2045, 2046),
        sentence="Segments are listed by start offset, in any state until they are deleted.",
        decisions=("C-41",),
        hint="given an epoch, those with records of it",
    ),
    case_rule(
        {
            "told/nothing": "not known",
            "told/leads": "ok",
            "told/follows": "ok",
            "told/stopped": "not known",
            "told/late": "found",
            "told/publishes-unknown": "not known, 0 published",
        },
        id="TS-129",
        section=METADATA,
        again=ON_TOPIC,
        lines=lines(804, (2049, 2051), 2056, 2057, 2060, 2061, 2065),
        sentence="A manager answers for partitions of which its broker has a replica.",
        decisions=("C-33",),
        hint="a look-up that cannot be answered yet is an error that passes, never none",
    ),
)

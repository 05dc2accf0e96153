"""Lines of histories about transactions; `log_lines` says how histories are written.

init a v=2 as=7.1 t=60  => ok 7.2               id a; as whom it asks, if it says; time-out in ms
ends T commit id=a as=7.1 v=2 => ok 7.2         end of transaction T; who it is then (version 2)
joins id=a as=7.1 tx=T  => ok                   AddPartitionsToTxn
within g 5 tx=T         => ok                   an offset of a group, within transaction T
scan 0 [committed]      => ok 7.0.0@0-1 +7.0/3@2 x8@5 hw=3 lso=3 start=0
                                                batches: producer.epoch.sequence@first-last, with
                                                `!` outside of transactions; commit (+) and abort
                                                (-) markers: producer.epoch/coordinator@offset;
                                                listed as aborted (x): producer@first offset;
                                                records (:): value@offset
producers               => ok 7.0@4 8.0@-1      and where their transactions begin
describe a              => ok Ongoing 7.0 t     state, producer, logs
list                    => ok a:Ongoing
"""

from __future__ import annotations

import re
from typing import Any

Event = dict[str, Any]
Asked = tuple[Event, Event]
NOWHERE: Event = {"topic": None, "partition": None}
BOUNDS = {"hw": "high_watermark", "lso": "last_stable_offset", "start": "log_start_offset"}
BATCH = re.compile(r"(\d+)\.(\d+)\.(\d+)@(\d+)-(\d+)(!?)")
MARKER = re.compile(r"([+-])(\d+)\.(\d+)/(\d+)@(\d+)")


def _who(text: str | None) -> tuple[int, int]:
    producer, epoch = (text or "-1.-1").split(".")
    return int(producer), int(epoch)


def _asks(topic: str, named: dict[str, str]) -> Event:
    producer, epoch = _who(named.get("as"))
    return NOWHERE | {
        "transactional_id": named.get("id", "a"),
        "version": int(named.get("v", 2)),
        "producer_id": producer,
        "producer_epoch": epoch,
        **({"transaction": f"{topic}-{named['tx']}"} if "tx" in named else {}),
    }


def _given(outcome: list[str]) -> Event:
    if outcome[0] != "ok" or not outcome[1:]:
        return dict(NOWHERE)
    producer, epoch = _who(outcome[1])
    return NOWHERE | {"given_id": producer, "given_epoch": epoch}


def _init(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    asked = _asks(topic, named | {"id": plain[0]})
    asked |= {"f": "init_producer_id", "timeout_ms": int(named.get("t", 60_000))}
    return asked, _given(outcome)


def _ends(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    asked = _asks(topic, named | {"tx": plain[0]})
    return asked | {"f": "end_txn", "committed": plain[1] == "commit"}, _given(outcome)


def _joins(topic: str, plain: list[str], named: dict[str, str], *_: object) -> Asked:
    return _asks(topic, named) | {"f": "add_partitions_to_txn"}, dict(NOWHERE)


def _within(topic: str, plain: list[str], named: dict[str, str], *_: object) -> Asked:
    asked = {name: value for name, value in _asks(topic, named).items() if name not in NOWHERE}
    group, offset = f"{topic}-{plain[0]}", int(plain[1])
    return asked | {"f": "txn_offset_commit", "group": group, "offset": offset}, {}


def _scan(
    topic: str, plain: list[str], named: dict[str, str], outcome: list[str], *_: object
) -> Asked:
    committed = "committed" in plain
    asked: Event = {"f": "fetch", "offset": int(plain[0])}
    asked["isolation"] = "read_committed" if committed else "read_uncommitted"
    batches: list[list[Any]] = []
    aborted = []
    answered: Event = {"records": [], "log_start_offset": 0}
    for word in outcome[1:]:
        if found := BATCH.fullmatch(word):
            producer, epoch, sequence, first, last = map(int, found.groups()[:5])
            batches.append([first, last, producer, epoch, sequence, 1, not found[6], None, None])
        elif found := MARKER.fullmatch(word):
            producer, epoch, coordinator, at = map(int, found.groups()[1:])
            kind = {"+": "commit", "-": "abort"}[found[1]]
            batches.append([at, at, producer, epoch, -1, 1, True, kind, coordinator])
        elif word.startswith(":"):
            value, _, at = word[1:].partition("@")
            answered["records"].append([int(at), value, 1000])
        elif word.startswith("x"):
            aborted.append([int(one) for one in word[1:].split("@")])
        else:
            name, _, value = word.partition("=")
            answered[BOUNDS[name]] = int(value)
    listed = {"aborted": aborted} if committed else {}
    return asked, answered | listed | {"batches": batches}


def _producers(topic: str, plain: object, named: object, outcome: list[str], *_: object) -> Asked:
    told = []
    for word in outcome[1:]:
        who, _, at = word.partition("@")
        told.append([*_who(who), 0, 0, int(at)])
    return {"f": "describe_active_producers"}, {"producers": told}


def _describe(topic: str, plain: list[str], named: object, outcome: list[str], *_: object) -> Asked:
    state, who, *logs = outcome[1:]
    producer, epoch = _who(who)
    told = NOWHERE | {"state": state, "told_id": producer, "told_epoch": epoch}
    asked = {"f": "describe_transactions", "transactional_id": plain[0], **NOWHERE}
    return asked, told | {"written": [[topic, 0] for _ in logs]}


def _list(topic: str, plain: object, named: object, outcome: list[str], *_: object) -> Asked:
    told = [[*word.split(":"), 1] for word in outcome[1:]]
    return {"f": "list_transactions", **NOWHERE}, NOWHERE | {"transactions": told}


CALLS: dict[str, Any] = {
    "init": _init,
    "ends": _ends,
    "joins": _joins,
    "within": _within,
    "scan": _scan,
    "producers": _producers,
    "describe": _describe,
    "list": _list,
}

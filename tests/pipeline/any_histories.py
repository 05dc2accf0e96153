"""Histories without regard to sense, alike enough to be mixed up: few names, few numbers.

Every kind of operation that some rule looks at is in them, answered well, wrongly or not at all,
with faults that break assumptions in between.
"""

from __future__ import annotations

import random
from typing import Any

from good_histories import line, sealed

HEADER = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "process"}
PROCESSES = 6
OFFSETS = (0, 1, 2, 3)
VALUES = ("a", "b", "c", "d")
STORED = (-1, 100, 200)
CALLS = (
    "create_log",
    "initialize_diskless_migration",
    "set_diskless_log_start_offset",
    "get_diskless_log_start_offset",
    "seed_producer_state",
    "register_leader_epoch",
    "describe_producers",
    "commit_batch",
)
REQUESTS = (
    "produce",
    "fetch",
    "list_offsets",
    "delete_records",
    "offset_for_leader_epoch",
    "offset_commit",
    "offset_fetch",
    "end_txn",
)
ERRORS = ("FENCED_LEADER_EPOCH", "OFFSET_OUT_OF_RANGE", "NOT_ENOUGH_REPLICAS")
MICRO = ("send", "poll", "txn", "assign", "subscribe", "crash")

Fields = dict[str, Any]


def any_history(seed: int, steps: int = 400) -> bytes:
    """The sealed history of one seed."""
    rng = random.Random(seed)
    events: list[Fields] = []
    opened: dict[int, Fields] = {}
    faults: set[str] = set()
    world = rng.choice(("process", "sim"))
    other = rng.choice(("host", "host", "other"))
    for step in range(steps):
        place = {"time": step, "clock": other if rng.random() < 0.02 else "host"}
        if rng.random() < 0.02:
            events.append(_fault(rng, faults) | place)
        elif len(opened) == PROCESSES or (opened and rng.random() < 0.5):
            process = rng.choice(sorted(opened))
            events.append(_completion(rng, opened.pop(process)) | place)
        else:
            process = rng.choice([p for p in range(PROCESSES) if p not in opened])
            opened[process] = _invocation(rng, process) | place
            events.append(opened[process])
    header = HEADER | {"world": world, "sut": rng.choice(("x", "reference"))}
    return sealed([line(header), *(line({**e, "index": n}) for n, e in enumerate(events))])


def _fault(rng: random.Random, faults: set[str]) -> Fields:
    name = rng.choice(("pause", "control-plane-refused", "unclean-election"))
    phase = "end" if name in faults else "begin"
    (faults.discard if phase == "end" else faults.add)(name)
    assumption = rng.choice((None, "calm", "no-unclean-election"))
    return {"kind": "fault", "name": name, "target": "x", "phase": phase, "assumption": assumption}


def _invocation(rng: random.Random, process: int) -> Fields:
    f = rng.choice((*CALLS, *REQUESTS, *REQUESTS, *MICRO, *MICRO))
    event: Fields = {"kind": "op", "process": process, "type": "invoke", "f": f, "node": 1}
    if f in MICRO:
        return event | {"value": _asked(rng, f)}
    event |= {"topic": rng.choice("tu"), "partition": 0, "leader_epoch": rng.choice((1, 2))}
    event |= {"offset": rng.choice(OFFSETS), "timestamp": rng.choice((-1, -2, -3, 5))}
    event |= {"isolation": rng.choice(("read_committed", "read_uncommitted"))}
    if f in CALLS:
        event |= {"boundary": rng.choice(STORED), "entries": [], "record_count": 1}
    if f == "produce":
        values = rng.sample(VALUES, rng.randint(1, 2))
        event |= {"send": rng.choice("pq"), "acks": -1, "producer": [7, 0, rng.choice(OFFSETS)]}
        event |= {"records": [[value, 5] for value in values]}
    if f in ("produce", "end_txn"):
        event |= {"transaction": rng.choice(("x1", "x2", None)), "committed": rng.random() < 0.5}
    if f.startswith("offset_"):
        event |= {"group": "g", "epoch": rng.choice((1, 2))}
    return event


def _completion(rng: random.Random, invoke: Fields) -> Fields:
    kept = ("kind", "process", "f", "node", "topic", "partition")
    event = {name: invoke[name] for name in kept if name in invoke}
    event["type"] = rng.choice(("ok", "ok", "ok", "fail", "info"))
    f = invoke["f"]
    if f in MICRO:
        return event | {"value": _told(rng, invoke["value"]) if f in MICRO[:3] else invoke["value"]}
    event["error"] = "NONE" if event["type"] == "ok" else rng.choice(ERRORS)
    if f in CALLS:
        stored = {
            "boundary": rng.choice(STORED),
            "epoch": rng.choice((-1, 1, 2)),
            "reset_epoch": -1,
        }
        return event | {"stored": stored | {"seeds": [], "base_offset": rng.choice(STORED)}}
    event |= {"offset": rng.choice(OFFSETS), "leader_epoch": rng.choice((1, 2))}
    event |= {"found_timestamp": rng.choice((-1, 5))}
    for name in ("high_watermark", "last_stable_offset", "log_start_offset"):
        event[name] = rng.choice(OFFSETS)
    if f == "fetch":
        offsets = sorted(rng.sample(OFFSETS, rng.randint(0, 3)))
        event["records"] = [[offset, rng.choice(VALUES), 5, 1] for offset in offsets]
    return event


def _asked(rng: random.Random, f: str) -> list[Any]:
    if f in ("assign", "subscribe"):
        return rng.sample("tu", rng.randint(0, 2))
    kinds = {"send": ("send",), "poll": ("poll",), "txn": ("send", "poll")}.get(f, ())
    wanted = [rng.choice(kinds) for _ in range(rng.randint(1, 3))] if kinds else []
    return [
        ["poll"] if k == "poll" else ["send", rng.choice("tu"), rng.choice(VALUES)] for k in wanted
    ]


def _told(rng: random.Random, asked: list[Any]) -> list[Any]:
    found: list[Any] = []
    for micro in asked:
        if micro[0] == "send":
            found.append(["send", micro[1], [rng.choice(OFFSETS), micro[2]]])
        else:
            pairs = [[offset, rng.choice(VALUES)] for offset in sorted(rng.sample(OFFSETS, 2))]
            found.append(["poll", {rng.choice("tu"): pairs}])
    return found

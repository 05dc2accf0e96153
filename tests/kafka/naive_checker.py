"""The anomalies of a log a second time, as plain loops over events: slow, short, independent.

It knows nothing of tables, views and rules. What it says and what the checker says must be equal on
every history. Cycles are looked for by trying every walk, so keep histories small.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
Cases = dict[str, list[dict[str, Any]]]


def text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class Op:
    """One operation by its completion, or by its invocation if it has none."""

    def __init__(self, invoke: Event, completion: Event | None) -> None:
        told = completion or invoke
        self.index = told["index"]
        self.began = invoke["index"]
        self.completed = completion is not None
        self.process, self.f = told["process"], told["f"]
        self.type = completion["type"] if completion else "info"
        self.time, self.invoked = told["time"], invoke["time"]
        self.rebalanced = set(told.get("rebalanced", ()))
        self.keys = told["value"] if self.f in ("assign", "subscribe") else []
        self.sent: dict[str, list[tuple[int | None, Any]]] = {}
        self.polled: dict[str, list[tuple[int | None, Any]]] = {}
        self.mops = told["value"] if self.f in ("send", "poll", "txn") else []
        for mop in self.mops:
            if mop[0] == "send":
                pair = tuple(mop[2]) if isinstance(mop[2], list) else (None, mop[2])
                self.sent.setdefault(mop[1], []).append(pair)
            elif len(mop) == 2:
                for key, pairs in mop[1].items():
                    self.polled.setdefault(key, []).extend(tuple(pair) for pair in pairs)


def paired(events: list[Event]) -> list[Op]:
    open_: dict[int, Event] = {}
    ops = []
    for event in events:
        if event["type"] == "invoke":
            open_[event["process"]] = event
        else:
            ops.append(Op(open_.pop(event["process"]), event))
    ops += [Op(invoke, None) for invoke in open_.values()]
    return sorted(ops, key=lambda op: op.index)


class Log:
    """The order of versions of one key."""

    def __init__(self, cells: set[tuple[int, str]]) -> None:
        self.cells = cells
        at: dict[int, list[str]] = defaultdict(list)
        self.offsets_of: dict[str, list[int]] = defaultdict(list)
        for offset, value in sorted(cells):
            at[offset].append(value)
            self.offsets_of[value].append(offset)
        self.offsets = sorted(at)
        self.values_at = at
        chosen = [min(at[o], key=lambda v: (len(self.offsets_of[v]), v)) for o in self.offsets]
        self.by_place = chosen
        self.place = {value: place for place, value in enumerate(chosen)}

    def places(self, value: str) -> list[int]:
        return [self.offsets.index(offset) for offset in self.offsets_of.get(value, ())]

    def delta(self, before: Any, after: Any) -> int | None:
        first, second = self.place.get(text(before)), self.place.get(text(after))
        return None if first is None or second is None else second - first

    def between(self, before: Any, after: Any) -> list[Any]:
        first, second = self.place[text(before)], self.place[text(after)]
        return [json.loads(value) for value in self.by_place[first + 1 : second]]


class Naive:
    """All anomalies of one history."""

    def __init__(self, events: list[Event]) -> None:
        self.ops = paired(events)
        self.found: Cases = defaultdict(list)
        self.ok_reads = {
            (key, text(value))
            for op in self.ops
            if op.type == "ok"
            for key, pairs in op.polled.items()
            for _, value in pairs
        }
        self.writer: dict[tuple[str, str], Op] = {}
        for op in self.ops:
            for key, pairs in op.sent.items():
                for _, value in pairs:
                    self.writer[key, text(value)] = op
        self.logs = self._logs()
        for look in (
            self._offsets,
            self._reads,
            self._own,
            self._lost,
            self._unseen,
            self._inside,
            self._between_polls,
            self._between_sends,
        ):
            look()

    def committed(self, op: Op) -> bool:
        if op.type != "info":
            return op.type == "ok"
        sent = {(key, text(v)) for key, pairs in op.sent.items() for _, v in pairs}
        return bool(sent & self.ok_reads)

    def _logs(self) -> dict[str, Log]:
        cells: dict[str, set[tuple[int, str]]] = defaultdict(set)
        for op in self.ops:
            sources = [op.polled, op.sent] if self.committed(op) else [op.polled]
            for source in sources:
                for key, pairs in source.items():
                    cells[key] |= {(o, text(v)) for o, v in pairs if o is not None and o >= 0}
        return defaultdict(lambda: Log(set()), {key: Log(found) for key, found in cells.items()})

    def _offsets(self) -> None:
        for key, log in self.logs.items():
            for place, offset in enumerate(log.offsets):
                if len(values := log.values_at[offset]) > 1:
                    case = {"key": key, "offset": offset, "index": place}
                    case["values"] = sorted(map(json.loads, values))
                    self.found["inconsistent-offsets"].append(case)
            for value, offsets in log.offsets_of.items():
                above = [offset for offset in offsets if offset > 0]
                for name, places in (("duplicate", offsets), ("duplicate-nonzero", above)):
                    if len(places) > 1:
                        case = {"key": key, "value": json.loads(value), "count": len(places)}
                        self.found[name].append(case | {"offsets": places})

    def _reads(self) -> None:
        failed = {
            (key, text(v))
            for op in self.ops
            if op.type == "fail"
            for key, pairs in op.sent.items()
            for _, v in pairs
        }
        for op in self.ops:
            for key, pairs in op.polled.items():
                for offset, value in pairs:
                    writer = self.writer.get((key, text(value)))
                    case = {"key": key, "value": value, "reader": op.index}
                    if writer is None:
                        self.found["garbage-read"].append(case | {"offset": offset})
                    elif op.type == "ok" and (key, text(value)) in failed:
                        self.found["G1a"].append(case | {"writer": writer.index})

    def _own(self) -> None:
        for op in self.ops:
            for key, pairs in op.sent.items():
                polled = {text(value) for _, value in op.polled.get(key, ())}
                own = [value for _, value in pairs if text(value) in polled]
                if own:
                    case = {"op": op.index, "key": key, "value": own[0]}
                    self.found["precommitted-read"].append(case)
                    break

    def _lost(self) -> None:
        for key, log in self.logs.items():
            read = [value for k, value in self.ok_reads if k == key]
            bound = max((min(places) for v in read if (places := log.places(v))), default=-1)
            for value in log.offsets_of:
                writer = self.writer.get((key, value))
                if writer is None or max(log.places(value)) > bound or value in read:
                    continue
                if self.committed(writer):
                    case = {"key": key, "value": json.loads(value), "writer": writer.index}
                    case |= {"index": min(log.places(value)), "max-read-index": bound}
                    self.found["lost-write"].append(case | {"max-read": self._reader(key, bound)})

    def _reader(self, key: str, bound: int) -> int | None:
        log = self.logs[key]
        last = [v for v in log.offsets_of if max(log.places(v)) == bound]
        readers = [
            op.index
            for op in self.ops
            if any(text(value) in last for _, value in op.polled.get(key, ()))
        ]
        return min(readers, default=None)

    def _unseen(self) -> None:
        self.series: list[dict[str, Any]] = []
        acked: dict[str, set[str]] = {}
        seen: dict[str, set[str]] = defaultdict(set)
        for op in self.ops:
            if op.type != "ok" or op.f in ("assign", "subscribe"):
                continue
            for key, pairs in op.sent.items():
                acked.setdefault(key, set()).update(text(value) for _, value in pairs)
            for key, pairs in op.polled.items():
                seen[key].update(text(value) for _, value in pairs)
            unseen = {key: len(values - seen[key]) for key, values in acked.items()}
            self.series.append({"time": op.time, "unseen": unseen})
        left = sum(len(values - seen[key]) for key, values in acked.items())
        if left:
            self.found["unseen"].append({"values": left})

    def _inside(self) -> None:
        for op in self.ops:
            for way, logs in (("poll", op.polled), ("send", op.sent)):
                for key, pairs in logs.items():
                    if way == "poll" and key in op.rebalanced:
                        continue
                    for (_, a), (_, b) in pairwise(pairs):
                        self._note(f"int-{{}}{way}{{}}", key, a, b, {"op": op.index})

    def _note(self, name: str, key: str, a: Any, b: Any, more: dict[str, Any]) -> None:
        delta = self.logs[key].delta(a, b)
        if delta is None or delta == 1:
            return
        case = {"key": key, "values": [a, b], "delta": delta, **more}
        if delta > 1:
            case["skipped"] = self.logs[key].between(a, b)
            if "ops" in case:
                del case["values"]
            self.found[name.format("", "-skip")].append(case)
        else:
            self.found[name.format("nonmonotonic-", "")].append(case)

    def _by_process(self) -> Iterator[list[Op]]:
        for process in sorted({op.process for op in self.ops}):
            yield [op for op in self.ops if op.process == process and op.completed]

    def _between_polls(self) -> None:
        for ops in self._by_process():
            last: dict[str, Op] = {}
            for op in ops:
                if op.f in ("assign", "subscribe") and op.type != "fail":
                    last = {key: before for key, before in last.items() if key in op.keys}
                for key, pairs in op.polled.items():
                    before = last.get(key)
                    if before is not None and before.polled[key] and pairs:
                        a, b = before.polled[key][-1][1], pairs[0][1]
                        self._note("{}poll{}", key, a, b, {"ops": [before.index, op.index]})
                    if op.type == "ok":
                        last[key] = op

    def _between_sends(self) -> None:
        for ops in self._by_process():
            last: dict[str, Op] = {}
            for op in ops:
                if op.type == "fail":
                    continue
                if op.f in ("assign", "subscribe"):
                    last = {key: before for key, before in last.items() if key in op.keys}
                for key, pairs in op.sent.items():
                    if key in last:
                        a, b = last[key].sent[key][-1][1], pairs[0][1]
                        ops_ = {"ops": [last[key].index, op.index]}
                        delta = self.logs[key].delta(a, b)
                        if delta is not None and delta < 1:
                            self._note("{}send{}", key, a, b, ops_)
                    last[key] = op


def lags(events: list[Event]) -> list[dict[str, Any]]:
    """How far each ok poll was behind real time, for each key its process was reading."""
    ops = [op for op in paired(events) if op.completed]
    known: list[tuple[str, int, int]] = []
    for op in ops:
        for key, highest in _highest(op).items() if op.type != "fail" else ():
            known.append((key, highest, op.time))
    at: dict[int, dict[str, int]] = defaultdict(dict)
    found = []
    for op in ops:
        if op.type != "ok":
            continue
        if op.f == "assign":
            at[op.process] = {key: at[op.process].get(key, -1) for key in op.keys}
        elif op.f == "subscribe":
            at[op.process] = {}
        elif op.f in ("poll", "txn"):
            here = at[op.process]
            for key, highest in _highest(op).items():
                here[key] = max(here.get(key, -1), highest)
            for key, reached in here.items():
                later = [time for k, offset, time in known if k == key and offset > reached]
                lag = max(0, op.invoked - min(later)) if later else 0
                case = {"time": op.invoked, "process": op.process, "key": key, "lag": lag}
                found.append((op.index, key, case))
    return [case for _, _, case in sorted(found, key=lambda entry: entry[:2])]


def _highest(op: Op) -> dict[str, int]:
    found = {
        key: max((o for o, _ in pairs if o is not None), default=-1)
        for key, pairs in op.polled.items()
    }
    for key, pairs in op.sent.items():
        for offset, _ in pairs:
            if offset is not None:
                found[key] = max(found.get(key, -1), offset)
    return found


class Dependencies:
    """All dependencies of a history, and the length of a shortest cycle of each kind."""

    def __init__(self, naive: Naive, *, ww: bool) -> None:
        ops = {op.index: op for op in naive.ops if op.f in ("send", "poll", "txn")}
        self.edges: set[tuple[str, int, int]] = set()
        self._reads(naive, ops)
        if ww:
            self._writes(naive)
        for a in ops.values():
            for b in ops.values():
                if a.type == "ok" and a.index < b.began:
                    self.edges.add(("realtime", a.index, b.index))
                    if a.process == b.process and b.type == "ok":
                        self.edges.add(("process", a.index, b.index))

    def _reads(self, naive: Naive, ops: dict[int, Op]) -> None:
        for op in ops.values():
            for key, pairs in op.polled.items():
                for _, value in pairs:
                    writer = naive.writer.get((key, text(value)))
                    if writer is not None and writer is not op:
                        self.edges.add(("wr", writer.index, op.index))

    def _writes(self, naive: Naive) -> None:
        for (key, value), writer in naive.writer.items():
            place = naive.logs[key].place.get(value, 0)
            before = naive.logs[key].by_place[place - 1] if place else None
            source = naive.writer.get((key, before)) if before is not None else None
            if source is not None and source is not writer:
                self.edges.add(("ww", source.index, writer.index))

    def shortest(self, walks: set[str], needed: set[str]) -> int | None:
        """The length of a shortest closed walk on these edges that uses all needed kinds."""
        lengths = []
        for start in {a for _, a, _ in self.edges}:
            states = {(start, frozenset[str]())}
            seen = set(states)
            for length in range(1, 2 * len(self.edges) + 2):
                states = {
                    (b, used | ({kind} & needed))
                    for vertex, used in states
                    for kind, a, b in self.edges
                    if a == vertex and kind in walks
                } - seen
                if (start, frozenset(needed)) in states:
                    lengths.append(length)
                    break
                if not states:
                    break
                seen |= states
        return min(lengths, default=None)

"""From the lines of a history to the logs of its partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from harness.history import History, classify
from tests.naive.logs import Append, Event, Log, Op, Phase, Read, Window


def ops_of(history: History) -> list[Op]:
    """Invocations and completions paired by process; what is not completed is unknown."""
    opened: dict[int, Event] = {}
    pairs: list[tuple[Event, Event]] = []
    for event in history.events:
        if event["kind"] != "op":
            continue
        if event["type"] == "invoke":
            if event["process"] in opened:
                pairs.append((opened[event["process"]], {}))
            opened[event["process"]] = event
        elif event["process"] in opened:
            pairs.append((opened.pop(event["process"]), event))
    pairs += [(invoke, {}) for invoke in opened.values()]
    unit = "index" if history.index_ordered else "time"
    return [_op(*pair, unit) for pair in sorted(pairs, key=lambda pair: pair[0]["index"])]


def _op(invoke: Event, answer: Event, unit: str) -> Op:
    outcome = answer.get("type", "info")
    if outcome == "fail" and classify(invoke["f"], answer.get("error")) != "fail":
        outcome = "info"
    answered = answer.get(unit)
    return Op(
        index=invoke["index"],
        f=invoke["f"],
        type=outcome,
        clock=invoke["clock"],
        began=invoke[unit],
        ended=None if outcome == "info" else answered,
        answered=answered,
        node=invoke.get("node"),
        asked=invoke,
        answer=answer,
    )


def windows_of(history: History) -> list[Window]:
    """From each `begin` to its `end`, or to the end of the history."""
    unit = "index" if history.index_ordered else "time"
    found: list[Window] = []
    opened: dict[tuple[Any, ...], list[Event]] = {}
    for event in history.events:
        if event["kind"] != "fault" or event["phase"] == "noted":
            continue
        key = (event["name"], event["target"], event.get("id"))
        opened.setdefault(key, []).append(event)
        if event["phase"] == "end":
            found += _window(opened.pop(key), unit, event[unit])
    for lines in opened.values():
        found += _window(lines, unit, None)
    return found


def _window(lines: list[Event], unit: str, until: int | None) -> list[Window]:
    named = [one["assumption"] for one in lines if one.get("assumption")]
    if lines[0]["phase"] == "end":
        return []
    first = lines[0]
    return [
        Window(
            fault=first["name"],
            target=first["target"],
            assumption=named[0] if named else None,
            clock=first["clock"],
            since=first[unit],
            until=until,
        )
    ]


def phases_of(history: History) -> list[Phase]:
    """From each `begin` to its `end`, or to the end of the history."""
    unit = "index" if history.index_ordered else "time"
    found: list[Phase] = []
    opened: dict[tuple[Any, ...], Phase] = {}
    for event in history.events:
        if event["kind"] != "phase":
            continue
        key = (event["campaign"], event["name"])
        if event["phase"] == "end":
            if (phase := opened.pop(key, None)) is not None:
                phase.ended, phase.until_ns = event[unit], event["time"]
            continue
        bound = event.get("bound_s")
        opened[key] = Phase(
            name=event["name"],
            clock=event["clock"],
            began=event[unit],
            ended=None,
            since_ns=event["time"],
            until_ns=None,
            bound_ns=None if bound is None else round(bound * 1_000_000_000),
        )
        found.append(opened[key])
    return found


def run_of(history: History) -> Log:
    """A whole history as if it were one partition."""
    probes = [event for event in history.events if event["kind"] == "probe"]
    return Log(
        ops=ops_of(history),
        windows=windows_of(history),
        nodes=[event for event in probes if event["what"] == "nodes"],
    )


def logs_of(history: History) -> list[Log]:
    """The partitions of a history."""
    found: dict[tuple[Any, Any], Log] = defaultdict(Log)
    adrift: dict[Any, set[Any]] = defaultdict(set)
    ops = ops_of(history)
    for op in ops:
        if op.asked.get("topic") is not None and op.asked.get("partition") is not None:
            found[op.asked["topic"], op.asked["partition"]].ops.append(op)
        elif op.f == "produce":
            adrift[op.asked.get("topic")] |= {record[0] for record in op.asked["records"]}
    logs = list(found.values())
    windows, phases = windows_of(history), phases_of(history)
    transactions = [op for op in ops if op.f == "end_txn"]
    for (topic, _), log in found.items():
        log.adrift = adrift[topic]
        log.windows, log.phases, log.transactions = windows, phases, transactions
        log.everywhere = logs
        log.appends = list(_appends(log.ops))
        log.reads = list(_reads(log.ops))
    return logs


def _appends(ops: list[Op]) -> Iterator[Append]:
    sends: dict[str, Append] = {}
    for op in ops:
        if op.f != "produce":
            continue
        name = op.asked.get("send") or f"op-{op.index}"
        if name not in sends:
            records = [(*one, None, None)[:3] for one in op.asked["records"]]
            acks = op.asked.get("acks")
            sends[name] = Append(
                index=op.index,
                clock=op.clock,
                began=op.began,
                records=records,
                acks=-1 if acks is None else acks,
                producer=op.asked.get("producer"),
                transaction=op.asked.get("transaction"),
            )
        sends[name].attempts.append(op)
    for append in sends.values():
        ok = sorted(append.acknowledged, key=lambda one: one.ended or 0)
        if ok:
            offset = ok[0].answer.get("offset")
            append.ended = ok[0].ended
            append.offset = offset if offset is not None and offset >= 0 else None
        yield append


def _reads(ops: list[Op]) -> Iterator[Read]:
    for op in ops:
        if op.f == "fetch" and op.ok:
            for one in op.answer.get("records") or ():
                offset, value, timestamp, epoch, key = (*one, None, None, None)[:5]
                yield Read(
                    op=op, offset=offset, value=value, timestamp=timestamp, epoch=epoch, key=key
                )

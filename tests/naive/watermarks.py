"""Ends and starts that answers name: KFK-050 to 054, 065 to 067."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.naive.appends import shown_end
from tests.naive.cases import Case
from tests.naive.logs import Log, Op, before, epoch_of, isolation, told_start

ASKED = ("fetch", "list_offsets", "delete_records")


Told = Callable[[Op], float | None]


def never_falls(log: Log, least: Told, most: Told) -> Iterator[Case]:
    """What a node has within a leader epoch at most is not below what it had at least before."""
    answers = [op for op in log.of("produce", *ASKED) if epoch_of(op) is not None]
    had = [(op, value) for op in answers if (value := least(op)) is not None and value >= 0]
    has = [(op, value) for op in answers if (value := most(op)) is not None and value >= 0]
    for op, value in has:
        for earlier, above in had:
            same = earlier.node == op.node and epoch_of(earlier) == epoch_of(op)
            if same and before(earlier, op):
                yield Case(op.index, value >= above, (earlier, op))


def highest(records: Iterable[list[Any]] | None, end: int | None) -> float:
    """The end that an answer names, or that the records in it show; -1 for none."""
    return max([-1 if end is None else end, *(int(one[0]) + 1 for one in records or ())])


def latest_told(op: Op, level: str) -> int | None:
    """The offset answered to who asks for the latest, at an isolation level."""
    asked_for = op.f == "list_offsets" and op.asked.get("timestamp") == -1
    return op.answer.get("offset") if asked_for and isolation(op) == level else None


def kfk_050(log: Log) -> Iterator[Case]:
    """The high watermark of a replica does not fall within a leader epoch."""

    def told(op: Op) -> int | None:
        if op.f == "fetch":
            return op.answer.get("high_watermark")
        return latest_told(op, "read_uncommitted")

    def shown(op: Op) -> float | None:
        if op.f == "produce":
            base = op.answer.get("offset", -1)
            durable = op.asked.get("acks") in (None, -1) and base >= 0
            return float(base + len(op.asked["records"])) if durable else None
        return highest(op.answer.get("records"), told(op))

    return never_falls(log, shown, told)


def kfk_051(log: Log) -> Iterator[Case]:
    """The last stable offset of a replica does not fall within a leader epoch."""

    def told(op: Op) -> int | None:
        if op.f == "fetch":
            return op.answer.get("last_stable_offset")
        return latest_told(op, "read_committed")

    def shown(op: Op) -> float | None:
        committed = op.f == "fetch" and isolation(op) == "read_committed"
        return highest(op.answer.get("records") if committed else (), told(op))

    return never_falls(log, shown, told)


def kfk_052(log: Log) -> Iterator[Case]:
    """The log start of a replica does not fall within a leader epoch."""

    def told(op: Op) -> float | None:
        return told_start(op, -1)

    def shown(op: Op) -> float | None:
        served = [one[0] for one in op.answer.get("records") or ()] if op.f == "fetch" else []
        start = told_start(op, -1)
        return min([*served, start]) if start >= 0 else min(served, default=None)

    return never_falls(log, told, shown)


def kfk_053(log: Log) -> Iterator[Case]:
    """In one answer: log start at most last stable offset at most high watermark."""
    names = ("log_start_offset", "last_stable_offset", "high_watermark")
    for fetch in log.of("fetch"):
        told = [fetch.answer.get(name) for name in names]
        values = [one for one in told if one is not None and one >= 0]
        if len(values) > 1:
            yield Case(fetch.index, values == sorted(values), (fetch,))


def kfk_054(log: Log) -> Iterator[Case]:
    """The latest offset is not below what was acknowledged or shown before it."""
    for latest in log.of("list_offsets"):
        offset = latest.answer.get("offset")
        if latest.asked.get("timestamp") != -1 or offset is None:
            continue
        if isolation(latest) == "read_committed":
            yield from _stable(log, latest, offset)
            continue
        for op in log.ops:
            if before(op, latest) and (end := shown_end(op)) > 0:
                yield Case(latest.index, offset >= end, (op, latest))
        for append in log.appends:
            if append.durable is not None and before(append, latest):
                end = append.durable + len(append.records)
                yield Case(latest.index, offset >= end, (append, latest))


def _stable(log: Log, latest: Op, offset: int) -> Iterator[Case]:
    """For who reads what is committed, the latest offset is the last stable one."""
    for op in log.of("fetch", "list_offsets"):
        end = latest_told(op, "read_committed")
        if op.f == "fetch":
            end = op.answer.get("last_stable_offset")
            if isolation(op) == "read_committed":
                ends = [one[0] + 1 for one in op.answer.get("records") or ()]
                end = max([*ends, end or 0])
        if end is not None and before(op, latest):
            yield Case(latest.index, offset >= end, (op, latest))


def deletions(log: Log) -> Iterator[tuple[Op, float]]:
    """Deletions that were answered, and the offset below which they delete."""
    for op in log.of("delete_records"):
        asked = op.asked["offset"]
        yield op, asked if asked >= 0 else told_start(op, 0)


def kfk_065(log: Log) -> Iterator[Case]:
    """After DeleteRecords was answered nobody is served a record below its offset."""
    for deletion, offset in deletions(log):
        for fetch in log.of("fetch"):
            if before(deletion, fetch):
                served = [one[0] for one in fetch.answer.get("records") or ()]
                if served:
                    yield Case(fetch.index, min(served) >= offset, (deletion, fetch))


def kfk_066(log: Log) -> Iterator[Case]:
    """After DeleteRecords was answered no log start below its offset is named."""
    for deletion, offset in deletions(log):
        for op in log.ops:
            start = told_start(op, -1)
            if start >= 0 and before(deletion, op):
                yield Case(op.index, start >= offset, (deletion, op))


def kfk_067(log: Log) -> Iterator[Case]:
    """DeleteRecords answers with a log start at or beyond the offset asked for."""
    for op in log.of("delete_records"):
        start = op.answer.get("log_start_offset")
        if op.asked["offset"] >= 0 and start is not None:
            yield Case(op.index, start >= op.asked["offset"], (op,))


CHECKS = {
    "KFK-050": kfk_050,
    "KFK-051": kfk_051,
    "KFK-052": kfk_052,
    "KFK-053": kfk_053,
    "KFK-054": kfk_054,
    "KFK-065": kfk_065,
    "KFK-066": kfk_066,
    "KFK-067": kfk_067,
}

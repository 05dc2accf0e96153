"""The events around a moment in the terminal: operations, faults and leaders near an operation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from reports.measures.around import Operation, Slice
from reports.plain import printable, scrubbed
from reports.terminal import width, wrapped

_INDENT = " " * 18
_LETTER = {"ok": "o", "info": "i", "fail": "f"}


def around_lines(slice_: Slice) -> Iterator[str]:
    """One line an event, in the order of time; the operation asked for is marked."""
    clock = slice_.clock
    yield from wrapped("", f"around op {slice_.around}, clock {clock.name}: {slice_.about}")
    events = [(one.invoked_ns, one.op, _operation(one, slice_)) for one in slice_.operations]
    for fault in slice_.faults:
        landed = "landed" if fault.landed else "did not land"
        name = f"{fault.fault} on {fault.target}, {landed}"
        began = _line(" ", clock.at_s(fault.since_ns), f"FAULT   begins: {name}")
        events.append((fault.since_ns, fault.index, began))
        if fault.until_ns is not None and fault.until_ns <= slice_.end_ns:
            ended = _line(" ", clock.at_s(fault.until_ns), f"FAULT   ends: {name}")
            events.append((fault.until_ns, fault.index, ended))
    for one in slice_.leaders:
        who = "none" if one.leader is None else f"broker {one.leader}"
        said = f"LEADER  {one.topic}/{one.partition}: {who}, epoch {one.epoch} (op {one.op})"
        events.append((one.time_ns, one.op, _line(" ", clock.at_s(one.time_ns), said)))
    for _, _, text in sorted(events):
        line = printable(scrubbed(text))
        yield from textwrap.wrap(line, width(), subsequent_indent=_INDENT, break_on_hyphens=False)
    if slice_.left_out:
        yield f"{slice_.left_out} more operations of this clock are not shown"


def around_document(slice_: Slice) -> dict[str, Any]:
    """The same for programs: times are seconds since the first operation of the clock."""
    clock = slice_.clock

    def at(time_ns: int | None) -> float | None:
        return None if time_ns is None else clock.at_s(time_ns)

    return {
        "clock": clock.name,
        "around": slice_.around,
        "about": slice_.about,
        "left_out": slice_.left_out,
        "operations": [
            {
                "op": one.op,
                "client": one.client,
                "node": one.node,
                "f": one.f,
                "place": one.place,
                "type": one.type,
                "error": one.error,
                "began_s": at(one.invoked_ns),
                "ended_s": at(one.completed_ns),
                "asked": one.asked,
                "answered": one.answered,
            }
            for one in slice_.operations
        ],
        "faults": [
            {
                "index": one.index,
                "fault": one.fault,
                "target": one.target,
                "landed": one.landed,
                "since_s": at(one.since_ns),
                "until_s": at(one.until_ns),
            }
            for one in slice_.faults
        ],
        "leaders": [
            {
                "op": one.op,
                "at_s": at(one.time_ns),
                "place": f"{one.topic}/{one.partition}",
                "leader": one.leader,
                "epoch": one.epoch,
            }
            for one in slice_.leaders
        ],
    }


def _line(mark: str, at_s: float, text: str) -> str:
    return f"{mark} {at_s:>12.6f} s  {text}"


def _operation(one: Operation, slice_: Slice) -> str:
    mark = "▶" if one.op == slice_.around else " "
    asked = "" if one.node is None else f" at broker {one.node}"
    took = (
        "" if one.completed_ns is None else f" {(one.completed_ns - one.invoked_ns) / 1e6:.3f} ms"
    )
    what = f"op {one.op} {_LETTER.get(one.type, '?')} {one.client}{asked}: {one.f} {one.place}"
    said = f"{what} {one.type} {one.error}".rstrip() + took
    return _line(mark, slice_.clock.at_s(one.invoked_ns), f"{said} · {one.asked} → {one.answered}")

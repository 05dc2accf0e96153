"""Faults as bars in as few rows as keep them apart, each with its name and its anchor."""

from __future__ import annotations

from collections.abc import Sequence

from reports.markup import Markup, joined, tag
from reports.measures.clocks import Clock
from reports.measures.events import FaultWindow
from reports.pictures.axis import WIDTH, TimeAxis, panel_title, short

ROW = 15.0
MOST_ROWS = 12
MOST_LETTERS = 42
_LETTER = 5.6

Placed = tuple[FaultWindow, int]


def stacked(faults: Sequence[FaultWindow], clock: Clock, axis: TimeAxis) -> list[Placed]:
    """Each fault with the first row in which its bar and its name are free; a last one for all
    that find none, without names."""
    rows: list[list[tuple[float, float]]] = []
    placed = []
    for one in faults:
        start, end = _reach(one, clock, axis)
        free = (
            number
            for number, taken in enumerate(rows)
            if all(end <= first or last <= start for first, last in taken)
        )
        row = next(free, len(rows))
        if row < MOST_ROWS:
            rows[row:] = [*rows[row:], *([[]] if row == len(rows) else [])]
            rows[row].append((start, end))
        placed.append((one, min(row, MOST_ROWS)))
    return placed


def _named(one: FaultWindow) -> str:
    return short(f"{one.fault} {one.target}".rstrip(), MOST_LETTERS)


def _reach(one: FaultWindow, clock: Clock, axis: TimeAxis) -> tuple[float, float]:
    """From where to where the bar and its name need room; a name ends before the edge."""
    x = axis.x(clock.at_s(one.since_ns))
    end = axis.x(clock.at_s(clock.end_ns if one.until_ns is None else one.until_ns))
    room = _LETTER * len(_named(one))
    return (x - room - 6, end + 6) if _beside(x, room) else (x, max(end, x + room) + 6)


def _beside(x: float, room: float) -> bool:
    """Whether a name that begins at its bar would leave the picture."""
    return x + room > WIDTH - 4


def fault_rows(placed: Sequence[Placed], clock: Clock, axis: TimeAxis, y: float) -> Markup:
    """The bars; a fault that did not land is an outline."""
    bars = []
    for one, row in placed:
        x = axis.x(clock.at_s(one.since_ns))
        end_ns = clock.end_ns if one.until_ns is None else one.until_ns
        width = max(2.0, axis.x(clock.at_s(end_ns)) - x)
        beside = _beside(x, _LETTER * len(_named(one)))
        top = y + 4 + row * ROW
        until = "never healed" if one.until_ns is None else f"{clock.at_s(one.until_ns):.3f} s"
        landed = "landed" if one.landed else "did not land"
        said = f"{one.fault} on {one.target}, {clock.at_s(one.since_ns):.3f} s to {until}, {landed}"
        bars.append(
            tag(
                "a",
                tag("title", f"{said} {one.evidence}"),
                tag(
                    "rect",
                    x=x,
                    y=top,
                    width=width,
                    height=ROW - 4,
                    class_="fault" if one.landed else "fault missed",
                ),
                None
                if row == MOST_ROWS
                else tag(
                    "text",
                    _named(one),
                    x=x - 3 if beside else x + 3,
                    y=top + 9,
                    class_="fault-name end" if beside else "fault-name",
                ),
                href=f"#fault-{one.index}",
                tabindex=-1,
            )
        )
    crowded = sum(row == MOST_ROWS for _, row in placed)
    note = f"faults; the last row holds {crowded} that found no room" if crowded else "faults"
    return joined(panel_title(note, y), bars)

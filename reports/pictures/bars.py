"""A slice of a history: operations as bars, a lane for each client and each broker.

The horizontal axis is order, not time: every beginning and every end takes the same room, as
Porcupine draws it, so that operations of a microsecond are as visible as those of a minute. Where
no legal order exists, the bars of the longest legal prefix are filled and numbered, a line runs
through the points at which they take effect, and the first operation without a place is marked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reports.markup import Markup, joined, tag
from reports.measures.around import Operation, Slice
from reports.pictures.axis import LANE_LETTERS, short

LETTER = {"ok": "o", "info": "i", "fail": "f"}
STEP = 30.0
WIDEST_STEP = 84.0
ROOMY = 860.0
"""What few operations are spread over, so that their names fit."""
TICK_PX = 80.0
LETTER_PX = 5.6
LEFT = 110.0
LANE = 32.0
BAR = 13.0
THIN = 12.0
TOP = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """The longest legal order: the position of each operation in it; what has no place."""

    order: tuple[int, ...] = ()
    stuck: int | None = None
    positions: Mapping[int, int] = field(default_factory=dict)


class _Order:
    """The position of each beginning and end on the axis."""

    def __init__(self, slice_: Slice) -> None:
        ends = []
        for one in slice_.operations:
            ends.append((one.invoked_ns, one.began, 0, one.op))
            if one.completed_ns is not None:
                ended = one.ended if one.ended is not None else one.began
                ends.append((one.completed_ns, ended, 1, one.op))
        self._rank: dict[tuple[int, int], int] = {}
        self._times: list[int] = []
        for rank, (time, _, end, op) in enumerate(sorted(ends)):
            self._rank[op, end] = rank
            self._times.append(time)
        self.step = min(WIDEST_STEP, max(STEP, ROOMY / (len(ends) + 2)))
        self.width = LEFT + (len(ends) + 2) * self.step

    def begin(self, one: Operation) -> float:
        return LEFT + self._rank[one.op, 0] * self.step

    def end(self, one: Operation) -> float:
        """Where it was over; what never was reaches to the edge."""
        rank = self._rank.get((one.op, 1)) if one.type != "info" else None
        return self.width - self.step if rank is None else LEFT + rank * self.step

    def at(self, time_ns: int) -> float:
        """Where a moment lies among the beginnings and ends."""
        return LEFT + (sum(time < time_ns for time in self._times) - 0.5) * self.step

    def ticks(self, slice_: Slice) -> list[tuple[float, str]]:
        every = math.ceil(TICK_PX / self.step)
        named = [(rank, time) for rank, time in enumerate(self._times) if rank % every == 0]
        digits = _digits([time for _, time in named])
        return [
            (LEFT + rank * self.step, f"{slice_.clock.at_s(time):.{digits}f} s")
            for rank, time in named
        ]


def _digits(times: Sequence[int]) -> int:
    """How many digits of a second tell these moments apart; equal ones need none."""
    steps = [later - one for one, later in pairwise(times) if later > one]
    return min(9, max(3, 9 - len(str(min(steps))) + 1)) if steps else 3


def bars(slice_: Slice, placing: Placing | None = None) -> Markup:
    """The picture of a slice."""
    order = _Order(slice_)
    clients = list(dict.fromkeys(one.process for one in slice_.operations))
    names = {one.process: one.client for one in reversed(slice_.operations)}
    brokers = sorted({one.node for one in slice_.operations if one.node is not None})
    rooms = _rooms(slice_, order)
    below = TOP + LANE * len(clients) + 10
    height = below + THIN * len(brokers) + 30
    drawn = [
        _behind(slice_, order, height - 24),
        [
            _bar(one, order, TOP + LANE * clients.index(one.process), slice_, placing, rooms)
            for one in slice_.operations
        ],
        [
            tag(
                "rect",
                x=order.begin(one),
                y=below + THIN * brokers.index(one.node) + 1,
                width=max(3.0, order.end(one) - order.begin(one)),
                height=THIN - 3,
                class_=f"thin is-{one.type}",
            )
            for one in slice_.operations
            if one.node is not None
        ],
        _prefix_line(slice_, order, clients, placing),
        [tag("text", said, x=x, y=height - 6, class_="tick") for x, said in order.ticks(slice_)],
        tag(
            "g",
            tag("rect", x=0, y=0, width=LEFT - 4, height=height, class_="ground"),
            _lane_names([short(names[process], LANE_LETTERS) for process in clients], TOP, LANE),
            _lane_names([f"broker {name}" for name in brokers], below, THIN),
            class_="names",
        ),
    ]
    return tag(
        "svg",
        tag("title", f"{len(slice_.operations)} operations around op {slice_.around}"),
        drawn,
        viewBox=f"0 0 {order.width:.0f} {height:.0f}",
        width=f"{order.width:.0f}",
        height=f"{height:.0f}",
        role="img",
        aria_label=f"{len(slice_.operations)} operations around op {slice_.around} as bars; the"
        " same stand in the table below",
    )


def _lane_names(names: Sequence[str], top: float, height: float) -> Markup:
    return joined(
        tag("text", name, x=LEFT - 8, y=top + number * height + 12, class_="lane end")
        for number, name in enumerate(names)
    )


def _bar(
    one: Operation,
    order: _Order,
    top: float,
    slice_: Slice,
    placing: Placing | None,
    rooms: Mapping[int, float],
) -> Markup:
    x, width = order.begin(one), max(5.0, order.end(one) - order.begin(one))
    classes = f"bar is-{one.type}"
    label = f"{LETTER.get(one.type, '?')} {one.f}"
    if placing is not None:
        position = placing.positions.get(one.op)
        label = f"{position}. {one.f}" if position is not None else label
        classes += " placed" if position is not None else " unplaced"
    if one.op == slice_.around:
        label, classes = f"× {label}", f"{classes} found"
    took = (
        "no answer"
        if one.completed_ns is None
        else f"to {slice_.clock.at_s(one.completed_ns):.6f} s"
    )
    said = f"op {one.op} {one.f} {one.place} {one.type} {one.error}".rstrip()
    when = f"from {slice_.clock.at_s(one.invoked_ns):.6f} s {took}"
    about = f"{said}\n{when}\n{one.asked} → {one.answered}"
    return tag(
        "a",
        tag("title", about[:600]),
        tag("rect", x=x, y=top + 2, width=width, height=BAR, rx=2, class_=classes),
        tag(
            "text",
            short(label, int(rooms[one.op] / LETTER_PX)),
            x=x,
            y=top + BAR + 12,
            class_="bar-name",
        ),
        href=f"#op-{one.op}",
        tabindex=-1,
    )


def _rooms(slice_: Slice, order: _Order) -> dict[int, float]:
    """How much room the name of each operation has until its client's next one."""
    rooms, following = {}, dict[int, float]()
    for one in reversed(slice_.operations):
        begin = order.begin(one)
        rooms[one.op] = following.get(one.process, order.width) - begin - 4
        following[one.process] = begin
    return rooms


def _behind(slice_: Slice, order: _Order, height: float) -> Markup:
    bands = []
    for number, fault in enumerate(slice_.faults):
        x = max(LEFT, order.at(fault.since_ns))
        end = order.width if fault.until_ns is None else min(order.width, order.at(fault.until_ns))
        named = f"{fault.fault} {fault.target}"
        bands.append(
            tag(
                "a",
                tag("title", f"{named}, {'landed' if fault.landed else 'did not land'}"),
                tag("rect", x=x, y=14, width=max(2.0, end - x), height=height - 14, class_="band"),
                tag("text", named, x=x + 2, y=11 + 9 * (number % 2), class_="fault-name"),
                href=f"#fault-{fault.index}",
                tabindex=-1,
            )
        )
    lines = [
        tag(
            "g",
            tag("title", f"{one.topic}/{one.partition}: broker {one.leader}, epoch {one.epoch}"),
            tag(
                "line",
                x1=order.at(one.time_ns),
                x2=order.at(one.time_ns),
                y1=14,
                y2=height,
                class_="leader",
            ),
        )
        for one in slice_.leaders
    ]
    return joined(bands, lines)


def _prefix_line(
    slice_: Slice, order: _Order, clients: Sequence[int], placing: Placing | None
) -> Markup | None:
    """The points at which operations take effect in the longest legal order."""
    if placing is None:
        return None
    by_op = {one.op: one for one in slice_.operations}
    points: list[str] = []
    reached = 0.0
    for op in placing.order:
        if (one := by_op.get(op)) is not None:
            reached = max(reached + 2, order.begin(one) + 2)
            y = TOP + LANE * clients.index(one.process) + 2 + BAR / 2
            points.append(f"{reached:.1f},{y:.1f}")
    return tag("polyline", points=" ".join(points), class_="prefix") if points else None

"""One partition as offset regions over time.

Filled from the log start to the tiered end: what the remote store holds. Filled from the local log
start to the highest watermark: what lies on disks. Lines are what each broker said of its high
watermark and log start; the boundary B0 is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from reports.markup import Markup, joined, tag
from reports.measures.offsets import PartitionOffsets, Point
from reports.pictures.axis import LEFT, RIGHT, WIDTH, Scale, TimeAxis, panel_title

PARTITION_HEIGHT = 150.0
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4")
_LEGEND_WIDTH = 118


def partition_panel(told: PartitionOffsets, axis: TimeAxis, y: float) -> Markup:
    """The panel, its legend in the line of its title."""
    clock = told.clock
    series = [*told.high_watermarks.values(), *told.log_starts.values()]
    series += [told.local_start, told.tiered_end, told.boundary]
    values = [offset for points in series for _, offset in points]
    scale = Scale(
        low=min(values) if min(values) > max(values) * 0.5 else 0,
        high=max(max(values), min(values) + 1),
        bottom=y + PARTITION_HEIGHT,
        top=y + 18,
        whole=True,
    )

    def steps(points: Sequence[Point]) -> list[tuple[float, float]]:
        """A value holds until another is told."""
        placed = [(axis.x(clock.at_s(time)), scale.y(offset)) for time, offset in points]
        corners = placed[:1]
        for (_, before), (x, now) in pairwise(placed):
            corners += [(x, before), (x, now)]
        return [*corners, (WIDTH - RIGHT, corners[-1][1])] if corners else []

    high = highest_of(told.high_watermarks)
    low = highest_of(told.log_starts)
    drawn = [
        _region(steps(told.local_start or low), steps(high), "local"),
        _region(steps(low), steps([(t, end + 1) for t, end in told.tiered_end]), "tiered"),
        _lines(told.high_watermarks, steps, "watermark"),
        _lines(told.log_starts, steps, "log-start"),
        _line(steps(told.boundary), "boundary", ""),
    ]
    return joined(
        panel_title(f"offsets of {told.topic}/{told.partition}", y - 6),
        _legend(told, y + 8),
        scale.drawn(),
        drawn,
    )


def highest_of(series: Mapping[str, Sequence[Point]]) -> list[Point]:
    """The highest that any broker has told so far."""
    points = sorted(point for told in series.values() for point in told)
    highest: list[Point] = []
    for time, offset in points:
        if not highest or offset > highest[-1][1]:
            highest.append((time, offset))
    return highest


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "".join(f"{'L' if n else 'M'}{x:.1f} {y:.1f}" for n, (x, y) in enumerate(points))


def _region(
    bottom: Sequence[tuple[float, float]], top: Sequence[tuple[float, float]], name: str
) -> Markup | None:
    """What lies between two series, from when both are known."""
    if not bottom or not top:
        return None
    start = max(bottom[0][0], top[0][0])
    edge = [*_since(top, start), *reversed(_since(bottom, start))]
    return tag("path", d=_path(edge) + "z", class_=f"region {name}")


def _since(points: Sequence[tuple[float, float]], start: float) -> list[tuple[float, float]]:
    """A series from a moment on, with what held then."""
    held = [y for x, y in points if x <= start]
    return [(start, held[-1]), *((x, y) for x, y in points if x > start)]


def _lines(series: Mapping[str, Sequence[Point]], steps: object, kind: str) -> Markup:
    assert callable(steps)
    return joined(
        tag("g", tag("title", f"{kind} of {name}"), _line(steps(points), kind, dash))
        for (name, points), dash in zip(series.items(), _dashes(), strict=False)
    )


def _line(points: Sequence[tuple[float, float]], kind: str, dash: str) -> Markup | None:
    if not points:
        return None
    return tag("path", d=_path(points), class_=f"line {kind}", stroke_dasharray=dash or None)


def _dashes() -> Iterable[str]:
    while True:
        yield from DASHES


def _legend(told: PartitionOffsets, y: float) -> Markup:
    """Which dash is which broker; what the filled regions are."""
    items: list[Markup] = []
    x = LEFT
    names = dict.fromkeys([*told.high_watermarks, *told.log_starts])
    for name, dash in zip(names, _dashes(), strict=False):
        items += [
            tag(
                "path", d=f"M{x} {y - 4}h22", class_="line watermark", stroke_dasharray=dash or None
            ),
            tag("text", name, x=x + 26, y=y, class_="tick"),
        ]
        x += 84
    regions = [("tiered", bool(told.tiered_end)), ("local", bool(told.high_watermarks))]
    for name, there in regions:
        if there:
            items += [
                tag("rect", x=x, y=y - 9, width=16, height=9, class_=f"region {name}"),
                tag("text", name, x=x + 20, y=y, class_="tick"),
            ]
            x += 66
    lines = [
        ("high watermark", "watermark", bool(told.high_watermarks)),
        ("log start", "log-start", bool(told.log_starts)),
        ("boundary B0", "boundary", bool(told.boundary)),
    ]
    for name, kind, there in lines:
        if there:
            items += [
                tag("path", d=f"M{x} {y - 4}h22", class_=f"line {kind}"),
                tag("text", name, x=x + 26, y=y, class_="tick"),
            ]
            x += _LEGEND_WIDTH
    return joined(items)

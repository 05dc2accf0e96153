"""One partition as offset regions over time.

Filled from the log start to the tiered end: what the remote store holds. Filled from the local log
start to the high watermark that the leader told last, which a truncation lowers: what lies on
disks. Lines are what each broker said of its high
watermark and log start; the boundary B0 is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.markup import Markup, joined, tag
from reports.measures.offsets import PartitionOffsets, Point, highest_of
from reports.pictures.axis import LEFT, RIGHT, WIDTH, Scale, TimeAxis, panel_title

PARTITION_HEIGHT = 150.0
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4")
LEGEND_ROW = 14.0


def partition_height(told: PartitionOffsets) -> float:
    """How much room the panel takes: more where its legend has more than one row."""
    return PARTITION_HEIGHT + LEGEND_ROW * (len(_legend_rows(told)) - 1)


def partition_panel(told: PartitionOffsets, axis: TimeAxis, y: float) -> Markup:
    """The panel, its legend below its title."""
    clock = told.clock
    series = [*told.high_watermarks.values(), *told.log_starts.values()]
    series += [told.local_start, told.tiered_end, told.boundary]
    values = [offset for points in series for _, offset in points]
    height = partition_height(told)
    scale = Scale(
        low=min(values) if min(values) > max(values) * 0.5 else 0,
        high=max(max(values), min(values) + 1),
        bottom=y + height,
        top=y + height - PARTITION_HEIGHT + 18,
        whole=True,
    )

    def steps(points: Sequence[Point]) -> list[tuple[float, float]]:
        """A value holds until another is told."""
        placed = [(axis.x(clock.at_s(time)), scale.y(offset)) for time, offset in points]
        corners = placed[:1]
        for (_, before), (x, now) in pairwise(placed):
            corners += [(x, before), (x, now)]
        return [*corners, (WIDTH - RIGHT, corners[-1][1])] if corners else []

    high = told.leaders_watermark
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
    return joined(
        joined(entry.key(x, y + LEGEND_ROW * row), _name(entry, x, y + LEGEND_ROW * row))
        for row, entries in enumerate(_legend_rows(told))
        for x, entry in entries
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One thing that a legend explains."""

    name: str
    width: float
    kind: str = "watermark"
    dash: str = ""
    filled: bool = False

    def key(self, x: float, y: float) -> Markup:
        if self.filled:
            return tag("rect", x=x, y=y - 9, width=16, height=9, class_=f"region {self.kind}")
        path = f"M{x} {y - 4}h22"
        return tag("path", d=path, class_=f"line {self.kind}", stroke_dasharray=self.dash or None)


def _name(entry: _Entry, x: float, y: float) -> Markup:
    return tag("text", entry.name, x=x + (20 if entry.filled else 26), y=y, class_="tick")


def _legend_rows(told: PartitionOffsets) -> list[list[tuple[float, _Entry]]]:
    """Entries from left to right, in as many rows as they need."""
    rows: list[list[tuple[float, _Entry]]] = [[]]
    x = LEFT
    for entry in _entries(told):
        if rows[-1] and x + entry.width > WIDTH - RIGHT:
            rows.append([])
            x = LEFT
        rows[-1].append((x, entry))
        x += entry.width
    return rows


def _entries(told: PartitionOffsets) -> Iterable[_Entry]:
    names = dict.fromkeys([*told.high_watermarks, *told.log_starts])
    for name, dash in zip(names, _dashes(), strict=False):
        yield _Entry(name=name, width=84, dash=dash)
    regions = (("tiered", told.tiered_end), ("local", told.high_watermarks))
    yield from (_Entry(name=name, kind=name, width=66, filled=True) for name, on in regions if on)
    lines = (
        ("high watermark", "watermark", told.high_watermarks),
        ("log start", "log-start", told.log_starts),
        ("boundary B0", "boundary", told.boundary),
    )
    yield from (_Entry(name=name, kind=kind, width=118) for name, kind, on in lines if on)

"""What happened under one clock, in panels over one time axis.

From top to bottom: faults, a lane for each broker and client, operations a second by outcome,
latency, and one partition as offsets. Faults lie behind all panels as bands, changes of leader as
thin lines, findings as marked ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reports.markup import Markup, joined, tag
from reports.measures.events import FaultWindow, LeaderChange
from reports.measures.load import BUCKETS, OUTCOMES, ClockLoad, Lane
from reports.measures.offsets import PartitionOffsets
from reports.pictures.axis import (
    LANE_LETTERS,
    LEFT,
    RIGHT,
    WIDTH,
    Scale,
    TimeAxis,
    panel_title,
    short,
)
from reports.pictures.fault_rows import ROW, fault_rows, stacked
from reports.pictures.partition import partition_height, partition_panel

LANE = 14.0
GAP = 26.0
PLOT = 84.0
_SHARE = {"ok": 0.4, "info": 0.7, "fail": 1.0}
_QUANTILE = ("p50", "p95", "p99")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A finding in the picture: when, of which rule, which operation, where the page tells it."""

    at_s: float
    rule: str
    op: int
    anchor: str


def overview(
    load: ClockLoad,
    faults: Sequence[FaultWindow],
    leaders: Sequence[LeaderChange],
    marks: Sequence[Mark],
    offsets: PartitionOffsets | None,
) -> Markup:
    """The picture of one clock."""
    clock = load.clock
    axis = TimeAxis(start_s=0.0, end_s=clock.at_s(clock.end_ns) or 1e-3)
    rows = stacked(faults, clock, axis)
    drawn: list[Markup] = []
    y = 20.0
    if rows:
        drawn.append(fault_rows(rows, clock, axis, y))
        y += 10 + ROW * (1 + max(row for _, row in rows)) + GAP
    for title, lanes in (("brokers asked", load.brokers), ("clients", load.clients)):
        drawn.append(_lanes(title, lanes, y))
        y += LANE * len(lanes) + GAP
    drawn += [_rates(load, y), _latencies(load, axis, y + PLOT + GAP)]
    y += 2 * (PLOT + GAP)
    if offsets is not None and not offsets.empty:
        drawn.append(partition_panel(offsets, axis, y))
        y += partition_height(offsets) + GAP
    behind = [_bands(faults, load, axis, y), _leaders(leaders, load, axis, y)]
    return tag(
        "svg",
        tag("title", f"What happened under the clock {clock.name}"),
        behind,
        drawn,
        _marks(marks, axis, y),
        axis.drawn(y),
        viewBox=f"0 0 {WIDTH:.0f} {y + 24:.0f}",
        class_="wide",
        role="img",
        aria_label=f"{clock.operations} operations under the clock {clock.name}, with "
        f"{len(faults)} faults, {len(leaders)} changes of leader and {len(marks)} findings",
    )


def _lanes(title: str, lanes: Sequence[Lane], y: float) -> Markup:
    """One row a lane; of each outcome all cells of a lane are one path."""
    rows = []
    for number, lane in enumerate(lanes):
        top = y + number * LANE
        counts = {o: sum(cell.get(o, 0) for cell in lane.cells.values()) for o in OUTCOMES}
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        rows.append(
            tag(
                "g",
                tag("title", f"{lane.name}: {told}"),
                tag(
                    "text",
                    short(lane.name, LANE_LETTERS),
                    x=LEFT - 6,
                    y=top + 10,
                    class_="lane end",
                ),
                tag("rect", x=LEFT, y=top, width=_PLOT_WIDTH, height=LANE - 3, class_="row"),
                [_cells(lane, outcome, top) for outcome in OUTCOMES if counts[outcome]],
            )
        )
    return joined(panel_title(title, y - 6), rows)


_PLOT_WIDTH = WIDTH - LEFT - RIGHT


def _cells(lane: Lane, outcome: str, top: float) -> Markup:
    """The buckets in which this is the worst outcome, as one path."""
    order = OUTCOMES.index(outcome)
    worse = OUTCOMES[order + 1 :]
    buckets = [
        bucket
        for bucket, cell in lane.cells.items()
        if cell.get(outcome) and not any(cell.get(other) for other in worse)
    ]
    height = (LANE - 3) * _SHARE[outcome]
    bottom = top + LANE - 3
    return tag("path", d=_boxes(_runs(buckets), bottom - height, bottom), class_=f"is-{outcome}")


def _runs(buckets: Iterable[int]) -> list[tuple[int, int]]:
    """Buckets side by side, as first and one past the last."""
    runs: list[tuple[int, int]] = []
    for bucket in sorted(buckets):
        if runs and runs[-1][1] == bucket:
            runs[-1] = (runs[-1][0], bucket + 1)
        else:
            runs.append((bucket, bucket + 1))
    return runs


def _bucket_x(bucket: int) -> float:
    return LEFT + bucket * _PLOT_WIDTH / BUCKETS


def _boxes(runs: Iterable[tuple[int, int]], top: float, bottom: float) -> str:
    return "".join(
        f"M{_bucket_x(first):.1f} {bottom:.1f}V{top:.1f}H{_bucket_x(last):.1f}V{bottom:.1f}z"
        for first, last in runs
    )


def _rates(load: ClockLoad, y: float) -> Markup:
    """Operations a second, the outcomes stacked."""
    highest = max((sum(cell.values()) for cell in load.rates.values()), default=1)
    scale = Scale(low=0, high=highest / load.bucket_s, bottom=y + PLOT, top=y)
    paths: dict[str, str] = dict.fromkeys(OUTCOMES, "")
    for bucket, cell in sorted(load.rates.items()):
        below = 0.0
        for outcome in OUTCOMES:
            if count := cell.get(outcome, 0) / load.bucket_s:
                top, bottom = scale.y(below + count), scale.y(below)
                paths[outcome] += _boxes([(bucket, bucket + 1)], top, bottom)
                below += count
    drawn = [tag("path", d=d, class_=f"is-{outcome}") for outcome, d in paths.items() if d]
    return joined(panel_title("operations a second", y - 6), scale.drawn(), drawn)


def _latencies(load: ClockLoad, axis: TimeAxis, y: float) -> Markup:
    """p50, p95 and p99 of what was answered, by powers of ten."""
    values = [v for told in load.latencies_ms.values() for v in told]
    scale = Scale(
        low=min(values, default=1) / 1.5,
        high=max(values, default=10) * 1.5,
        bottom=y + PLOT,
        top=y,
        by_powers=True,
    )
    lines = []
    for number, name in enumerate(_QUANTILE):
        path, before = "", -2
        for bucket, told in sorted(load.latencies_ms.items()):
            # A bucket without an answer interrupts the line: nothing is known of it.
            first = "L" if bucket == before + 1 else "M"
            py, before = scale.y(told[number]), bucket
            path += f"{first}{_bucket_x(bucket):.1f} {py:.1f}H{_bucket_x(bucket + 1):.1f}"
        lines.append(tag("path", d=path or "M0 0", class_=f"line {name}"))
    key = [
        joined(
            tag("path", d=f"M{x} {y - 10}h26", class_=f"line {name}"),
            tag("text", name, x=x + 30, y=y - 6, class_="tick"),
        )
        for x, name in zip((300, 370, 440), _QUANTILE, strict=True)
    ]
    return joined(
        panel_title("latency of what was answered", y - 6), key, scale.drawn(" ms"), lines
    )


def _bands(faults: Sequence[FaultWindow], load: ClockLoad, axis: TimeAxis, height: float) -> Markup:
    clock = load.clock
    return joined(
        tag(
            "rect",
            x=(x := axis.x(clock.at_s(one.since_ns))),
            y=8,
            width=max(1.0, axis.x(clock.at_s(_end_of(one, load))) - x),
            height=height - 8,
            class_="band",
        )
        for one in faults
    )


def _end_of(one: FaultWindow, load: ClockLoad) -> int:
    return load.clock.end_ns if one.until_ns is None else one.until_ns


def _leaders(
    leaders: Sequence[LeaderChange], load: ClockLoad, axis: TimeAxis, height: float
) -> Markup:
    """A thin line for each moment; changes in the same pixel are one line with all their names."""
    at: dict[int, list[str]] = {}
    for one in leaders:
        who = "no leader" if one.leader is None else f"broker {one.leader} leads"
        said = f"{one.topic}/{one.partition}: {who}, epoch {one.epoch}, told by op {one.op}"
        at.setdefault(round(axis.x(load.clock.at_s(one.time_ns))), []).append(said)
    return joined(
        tag(
            "g",
            tag(
                "title", "\n".join([*said[:8], *([f"and {len(said) - 8} more"] * (len(said) > 8))])
            ),
            tag("line", x1=x, x2=x, y1=8, y2=height, class_="leader"),
        )
        for x, said in at.items()
    )


def _marks(marks: Sequence[Mark], axis: TimeAxis, height: float) -> Markup:
    return joined(
        tag(
            "a",
            tag("title", f"{mark.rule}: op {mark.op} at {mark.at_s:.3f} s"),
            tag("line", x1=axis.x(mark.at_s), x2=axis.x(mark.at_s), y1=8, y2=height, class_="mark"),
            tag("path", d=f"M{axis.x(mark.at_s):.1f} 12l-6 -11h12z", class_="mark-head"),
            href=f"#{mark.anchor}",
            tabindex=-1,
        )
        for mark in marks
    )


def lane_totals(lanes: Iterable[Lane]) -> Mapping[str, Mapping[str, int]]:
    """The same lanes as numbers, for those who do not see the picture."""
    return {
        lane.name: {o: sum(cell.get(o, 0) for cell in lane.cells.values()) for o in OUTCOMES}
        for lane in lanes
    }

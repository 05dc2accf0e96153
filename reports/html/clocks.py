"""The pictures of each clock: what happened, what was aggregated, the same in numbers."""

from __future__ import annotations

from reports.html.findings import Anchors, slice_figure
from reports.html.sheet import folded, row, scrolling, table
from reports.markup import Child, Markup, joined, tag
from reports.measures.load import BUCKETS, MOST_LANES, ClockLoad
from reports.pictured import Pictured
from reports.pictures.overview import lane_totals, overview
from reports.view import RunView

LEAST_OPERATIONS = 8


def clock_sections(view: RunView, drawn: Pictured, anchors: Anchors) -> Child:
    """A section a clock: those with findings open, the busiest too, the others folded."""
    if not drawn.loads:
        return tag("p", "The run has no operations.", class_="faint")
    busiest = max(drawn.loads.values(), key=lambda load: load.clock.operations)
    large = [one for one in drawn.loads.values() if one.clock.operations >= LEAST_OPERATIONS]
    small = [one.clock.name for one in drawn.loads.values() if one not in large]
    note = f"Too few operations to draw: {', '.join(small)}." if small else ""
    sections = [
        folded(
            f"clock {load.clock.name}: {load.clock.operations:,} operations in"
            f" {load.clock.at_s(load.clock.end_ns):.1f} s",
            _figure(drawn, load),
            open_=bool(drawn.marks.get(load.clock.name)) or load is busiest,
            id_=f"clock-{load.clock.name}",
        )
        for load in large
    ]
    return (_legend(), sections, tag("p", note, class_="faint"), _all(drawn, anchors))


def _legend() -> Markup:
    names = (("ok", "o ok"), ("info", "i outcome unknown"), ("fail", "f failed, no effect"))
    keys = [tag("span", tag("span", class_=f"key {css}"), said) for css, said in names]
    more = "grey bands: faults in force · dotted lines: a new leader is told · ▼: a finding"
    return tag("p", keys, tag("span", more), class_="legend")


def _figure(drawn: Pictured, load: ClockLoad) -> Markup:
    name = load.clock.name
    offsets = drawn.offsets.get(name)
    picture = overview(
        load,
        [one for one in drawn.faults if one.clock == name],
        [one for one in drawn.leaders if one.clock == name],
        drawn.marks.get(name, ()),
        offsets,
    )
    said = (
        f"Aggregated: {load.clock.operations:,} operations in {BUCKETS} buckets of"
        f" {load.bucket_s:.3g} s; a lane shows the worst outcome of a bucket; latencies are"
        " counted in classes 5 % wide."
    )
    if load.merged_clients:
        more = load.merged_clients
        said += f" The {MOST_LANES} busiest clients have a lane each; in the last: {more} more."
    if offsets is not None and not offsets.empty:
        said += f" Offsets: {offsets.told:,} answers, of each broker the last in a bucket."
    totals = lane_totals([*load.brokers, *load.clients])
    rows = [row(lane, *(f"{count:,}" for count in told.values())) for lane, told in totals.items()]
    return tag(
        "figure",
        scrolling(f"What happened under the clock {name}", picture),
        tag("figcaption", said, class_="faint"),
        folded(
            "lanes in numbers", table("Operations by lane", ("lane", "ok", "info", "fail"), rows)
        ),
    )


def _all(drawn: Pictured, anchors: Anchors) -> Markup:
    """Small runs are shown whole; of large ones only the slices have anchors."""
    if not drawn.everything:
        told = "Operations are listed in full around findings; around any other moment:"
        return tag("p", told, " ", tag("code", f"{drawn.around} OP"), class_="faint")
    figures = [slice_figure(one, anchors) for one in drawn.everything]
    return joined(folded("every operation, in order", figures))

"""Pictures keep their words apart and show no more than was recorded."""

from __future__ import annotations

import re

import pytest

from reports.measures.around import Operation, Slice
from reports.measures.clocks import Clock
from reports.measures.events import FaultWindow
from reports.measures.load import ClockLoad
from reports.measures.offsets import PartitionOffsets
from reports.pictures.axis import LEFT, WIDTH, Scale, TimeAxis
from reports.pictures.bars import bars
from reports.pictures.fault_rows import MOST_ROWS, fault_rows, stacked
from reports.pictures.overview import overview
from reports.pictures.partition import (
    LEGEND_ROW,
    PARTITION_HEIGHT,
    partition_height,
    partition_panel,
)

SECOND = 1_000_000_000
CLOCK = Clock(name="sim", start_ns=0, end_ns=10 * SECOND, operations=3)
AXIS = TimeAxis(start_s=0, end_s=10)


def fault(number: int, since_s: float, until_s: float | None, name: str = "cut") -> FaultWindow:
    return FaultWindow(
        index=number,
        fault=name,
        target="broker-1",
        clock="sim",
        since_ns=int(since_s * SECOND),
        until_ns=None if until_s is None else int(until_s * SECOND),
        landed=True,
        evidence="",
    )


def test_the_name_of_a_fault_near_the_end_stands_before_it() -> None:
    faults = [fault(1, 9.9, None, "object-store-reply-lost")]
    drawn = fault_rows(stacked(faults, CLOCK, AXIS), CLOCK, AXIS, 0)
    (x,) = re.findall(r'<text x="([\d.]+)" y="13" class="fault-name end"', drawn)
    assert LEFT < float(x) < WIDTH


def test_faults_whose_names_would_touch_are_in_different_rows() -> None:
    rows = stacked([fault(1, 1, 1.1), fault(2, 1.2, 1.3), fault(3, 6, 6.1)], CLOCK, AXIS)
    assert [row for _, row in rows] == [0, 1, 0]


def test_what_finds_no_room_is_drawn_without_a_name_and_counted() -> None:
    rows = stacked([fault(number, 5, 5.1) for number in range(MOST_ROWS + 3)], CLOCK, AXIS)
    drawn = fault_rows(rows, CLOCK, AXIS, 0)
    assert drawn.count("<rect") == MOST_ROWS + 3
    assert drawn.count('class="fault-name') == MOST_ROWS
    assert "the last row holds 3 that found no room" in drawn


def test_a_fault_that_ended_at_zero_is_no_band_over_everything() -> None:
    load = ClockLoad(clock=CLOCK, rates={}, latencies_ms={})
    drawn = overview(load, [fault(1, 0, 0)], (), (), None)
    (band,) = re.findall(r'width="([\d.]+)" height="[\d.]+" class="band"', drawn)
    assert float(band) == 1


def test_a_latency_is_a_line_only_where_something_was_answered() -> None:
    told = {0: (1.0, 2.0, 3.0), 1: (1.0, 2.0, 3.0), 90: (1.0, 2.0, 3.0)}
    load = ClockLoad(clock=CLOCK, rates={}, latencies_ms=told)
    (path,) = re.findall(r'd="([^"]+)" class="line p50"', overview(load, (), (), (), None))[1:]
    assert re.sub(r"[\d. ]", "", path) == "MHLHMH"


def test_between_two_offsets_there_is_nothing() -> None:
    assert Scale(low=0, high=2, bottom=80, top=0, whole=True).ticks() == [0, 1, 2]


def test_a_region_begins_when_both_of_its_ends_are_known() -> None:
    told = PartitionOffsets(
        clock=CLOCK,
        topic="t",
        partition=0,
        high_watermarks={"broker 1": ((1 * SECOND, 10), (8 * SECOND, 20))},
        log_starts={"broker 1": ((1 * SECOND, 0),)},
        tiered_end=((5 * SECOND, 6),),
        told=4,
    )
    drawn = partition_panel(told, AXIS, 0)
    (tiered,) = re.findall(r'd="([^"]+)" class="region tiered"', drawn)
    corners = [tuple(map(float, one.split())) for one in re.findall(r"[\d.]+ [\d.]+", tiered)]
    assert min(x for x, _ in corners) == pytest.approx(AXIS.x(5), abs=0.1)
    assert len({x for x, _ in corners}) == len({y for _, y in corners}) == 2  # a rectangle


def told_by(brokers: int, **more: tuple[tuple[int, int], ...]) -> PartitionOffsets:
    series = {f"broker {n}": ((SECOND, 10), (8 * SECOND, 20)) for n in range(brokers)}
    return PartitionOffsets(
        clock=CLOCK,
        topic="t",
        partition=0,
        high_watermarks=series,
        log_starts=dict.fromkeys(series, ((SECOND, 0),)),
        **more,
    )


def test_a_truncation_lowers_the_region() -> None:
    told = told_by(1, by_leader=((1 * SECOND, 20), (5 * SECOND, 12)))
    (local,) = re.findall(r'd="([^"]+)" class="region local"', partition_panel(told, AXIS, 0))
    corners = [tuple(map(float, one.split())) for one in re.findall(r"[\d.]+ [\d.]+", local)]
    first, last = (min(y for x, y in corners if x == at) for at in (LEFT + 81.8, WIDTH - 24))
    assert last > first  # lower on the page


@pytest.mark.parametrize(("brokers", "rows"), [(3, 1), (5, 2), (20, 3)])
def test_a_legend_has_as_many_rows_as_it_needs(brokers: int, rows: int) -> None:
    told = told_by(brokers, tiered_end=((SECOND, 5),), boundary=((SECOND, 5),))
    drawn = partition_panel(told, AXIS, 0)
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)" y="[\d.]+" class="tick">', drawn)]
    assert max(places) < WIDTH - 40
    assert partition_height(told) == PARTITION_HEIGHT + LEGEND_ROW * (rows - 1)


@pytest.mark.parametrize(("low", "high"), [(2.0, 7.5), (0.3, 0.9), (0.5, 20.0), (1.0, 10_000.0)])
def test_an_axis_by_powers_always_has_values(low: float, high: float) -> None:
    ticks = Scale(low=low, high=high, bottom=80, top=0, by_powers=True).ticks()
    assert len(ticks) >= 2
    assert all(low <= one <= high for one in ticks)


def operation(op: int, invoked_ns: int) -> Operation:
    return Operation(
        op=op,
        process=op,
        client=f"c{op}",
        node=None,
        place="t/0",
        f="produce",
        type="ok",
        error="",
        invoked_ns=invoked_ns,
        completed_ns=invoked_ns + 1,
        began=op,
        ended=op + 1,
    )


def test_moments_of_a_slice_are_told_apart_and_its_lanes_are_named_on_top() -> None:
    slice_ = Slice(
        clock=CLOCK,
        around=0,
        about="",
        operations=tuple(operation(op, 3 * SECOND + op * 2_000) for op in range(0, 40, 2)),
        faults=(),
        leaders=(),
        left_out=0,
    )
    drawn = bars(slice_)
    moments = re.findall(r'class="tick">([^<]+) s<', drawn)
    assert len(moments) == len(set(moments)) > 5
    assert drawn.rindex('class="names"') > drawn.rindex('class="bar')

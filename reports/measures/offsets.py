"""One partition as offsets over time: what every broker said of it, and what stands in the store.

The high watermark and the log start are what brokers told in answers, per broker; the local log
start and the tiered end come from tiered requests and looks at leaders; the boundary (B0) is what
the control plane held after a call. Nothing is interpolated: a line holds until something else is
told. Of each broker at most one value per bucket is kept, the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.history.frames import Frames, Where
from reports.measures.clocks import Clock
from reports.measures.load import BUCKETS

Point = tuple[int, int]
"""A time in nanoseconds, and an offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOffsets:
    """The offsets of one partition over time; series by the name of what they show."""

    clock: Clock
    topic: str
    partition: int
    high_watermarks: Mapping[str, tuple[Point, ...]]
    log_starts: Mapping[str, tuple[Point, ...]]
    local_start: tuple[Point, ...] = ()
    tiered_end: tuple[Point, ...] = ()
    boundary: tuple[Point, ...] = ()
    by_leader: tuple[Point, ...] = ()
    told: int = 0

    @property
    def leaders_watermark(self) -> Sequence[Point]:
        """What the leader told; where none is known, the highest that any broker told so far."""
        return self.by_leader or highest_of(self.high_watermarks)

    @property
    def empty(self) -> bool:
        """Whether nothing of it was told."""
        return not (self.high_watermarks or self.log_starts or self.tiered_end or self.boundary)


def busiest_partitions(tables: Frames) -> dict[str, tuple[str, int]]:
    """Of each clock the partition about which most was answered; else the busiest boundary."""
    found: dict[str, tuple[str, int]] = {}
    key = ["clock", "topic", "partition"]
    for table in ("boundary_ops", "responses"):
        parts = [
            part[part.topic.notna()].groupby(key, sort=False).size()
            for part in tables.parts(table, key)
        ]
        if parts := [one for one in parts if len(one)]:
            counts = pd.concat(parts).groupby(level=[0, 1, 2]).sum()
            for clock, topic, partition in counts.groupby(level=0).idxmax():
                found[str(clock)] = (str(topic), int(partition))
    return found


def offsets_of(tables: Frames, clock: Clock, topic: str, partition: int) -> PartitionOffsets:
    """What was told of one partition under one clock."""
    where = [("clock", "==", clock.name), ("topic", "==", topic), ("partition", "==", partition)]
    times = tables.read("ops", ["op", "completed_ns"], where).set_index("op").completed_ns

    def told(table: str, columns: list[str]) -> pd.DataFrame:
        frame = tables.read(table, ["op", *columns], where)
        frame["time"] = frame.op.map(times)
        return frame[frame.time.notna()].sort_values("time")

    answers = told("responses", ["node", "high_watermark", "log_start_offset"])
    tiered = told("tier_requests", ["local_start"])
    looks = tables.read("remote_logs", ["time", "local_start", "last_tiered"], where)
    stored = told("boundary_ops", ["stored_boundary"])
    local = pd.concat([tiered[["time", "local_start"]], looks[["time", "local_start"]]])
    return PartitionOffsets(
        clock=clock,
        topic=topic,
        partition=partition,
        high_watermarks=_by_broker(answers, "high_watermark", clock),
        log_starts=_by_broker(answers, "log_start_offset", clock),
        local_start=_points(local.sort_values("time"), "local_start", clock),
        tiered_end=_points(looks.sort_values("time"), "last_tiered", clock),
        boundary=_points(stored, "stored_boundary", clock),
        by_leader=_points(
            _by_leaders(answers, _leaders(tables, where, times)), "high_watermark", clock
        ),
        told=len(answers) + len(tiered) + len(looks) + len(stored),
    )


def highest_of(series: Mapping[str, Sequence[Point]]) -> list[Point]:
    """The highest that any broker has told so far."""
    points = sorted(point for told in series.values() for point in told)
    highest: list[Point] = []
    for time, offset in points:
        if not highest or offset > highest[-1][1]:
            highest.append((time, offset))
    return highest


def _leaders(tables: Frames, where: Where, times: pd.Series[Any]) -> pd.DataFrame:
    """Who led from when on, as metadata told it; an older epoch told later is old news."""
    columns = ["op", "type", "leader", "leader_epoch"]
    told = pd.concat(
        [tables.read(name, columns, where) for name in ("leaders_told", "partitions_told")]
    )
    told["time"] = told.op.map(times)
    told = told[(told.type == "ok") & told.time.notna() & told.leader_epoch.notna()]
    told = told.sort_values("time")
    return told[told.leader_epoch >= told.leader_epoch.cummax()]


def _by_leaders(answers: pd.DataFrame, leaders: pd.DataFrame) -> pd.DataFrame:
    """The answers of whoever led; before the first leader was told, of that one."""
    if not len(leaders) or not len(answers):
        return answers[:0]
    order = leaders.time.astype("int64").searchsorted(answers.time.astype("int64"), side="right")
    leading = leaders.leader.iloc[(order - 1).clip(min=0)].to_numpy()
    return answers[(answers.node == leading).fillna(value=False)]


def _by_broker(frame: pd.DataFrame, column: str, clock: Clock) -> dict[str, tuple[Point, ...]]:
    """One series per broker that told a value."""
    known = frame[frame[column].notna() & (frame[column] >= 0) & frame.node.notna()]
    return {
        f"broker {node}": _points(group, column, clock) for node, group in known.groupby("node")
    }


def _points(frame: pd.DataFrame, column: str, clock: Clock) -> tuple[Point, ...]:
    known = frame[frame[column].notna() & (frame[column] >= 0)]
    if len(known) > BUCKETS:
        bucket = (known.time - clock.start_ns) * BUCKETS // (clock.span_ns + 1)
        known = known.groupby(bucket, sort=True).last()
    return tuple(
        (int(time), int(value)) for time, value in zip(known.time, known[column], strict=True)
    )

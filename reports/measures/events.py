"""What happened beside the operations: faults in force, leaders that changed, phases.

Tables give `since` and `until` in order units, which in a simulation are indices; pictures need
times, so they are looked up on the lines themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from harness.history.frames import Frames
from harness.history.recorder import SUSPENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultWindow:
    """A fault, and when it was in force; no end if it was never healed."""

    index: int
    fault: str
    target: str
    clock: str
    since_ns: int
    until_ns: int | None
    landed: bool
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderChange:
    """The first answer that named a new leader epoch of a partition."""

    op: int
    clock: str
    time_ns: int
    topic: str
    partition: int
    leader: int | None
    epoch: int


def fault_windows(tables: Frames) -> tuple[FaultWindow, ...]:
    """Every fault of the run, in the order in which they began; assumptions are not faults."""
    lines = tables.read("faults", ["clock", "happened", "time"])
    times = {(row.clock, int(row.happened)): int(row.time) for row in lines.itertuples(index=False)}
    frame = tables.read("fault_windows").sort_values("index")
    return tuple(
        FaultWindow(
            index=int(row.index),
            fault=str(row.fault),
            target="" if pd.isna(row.target) else str(row.target),
            clock=str(row.clock),
            since_ns=times.get((row.clock, int(row.since)), int(row.since)),
            until_ns=None
            if pd.isna(row.until)
            else times.get((row.clock, int(row.until)), int(row.until)),
            landed=bool(row.landed),
            evidence="" if pd.isna(row.evidence) else str(row.evidence),
        )
        for row in frame[frame.fault != SUSPENDED].itertuples(index=False)
    )


def leader_changes(tables: Frames) -> tuple[LeaderChange, ...]:
    """When leadership was first told to have moved; a partition's first leader is no change."""
    columns = ["op", "clock", "topic", "partition", "leader", "leader_epoch", "type"]
    told = pd.concat([tables.read(name, columns) for name in ("leaders_told", "partitions_told")])
    told = told[(told.type == "ok") & told.leader_epoch.notna() & told.topic.notna()]
    told = told.sort_values("op").drop_duplicates(["clock", "topic", "partition", "leader_epoch"])
    partition = ["clock", "topic", "partition"]
    told = told[told.leader_epoch > told.groupby(partition).leader_epoch.transform("min")]
    if not len(told):
        return ()
    times = tables.read(
        "ops", ["op", "invoked_ns", "completed_ns"], [("op", "in", [int(op) for op in told.op])]
    )
    answered = dict(zip(times.op, times.completed_ns.fillna(times.invoked_ns), strict=True))
    return tuple(
        LeaderChange(
            op=int(row.op),
            clock=str(row.clock),
            time_ns=int(answered[row.op]),
            topic=str(row.topic),
            partition=int(row.partition),
            leader=None if pd.isna(row.leader) or row.leader < 0 else int(row.leader),
            epoch=int(row.leader_epoch),
        )
        for row in told.itertuples(index=False)
        if row.op in answered
    )

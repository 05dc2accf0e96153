"""The time domains of a run. Times of different clocks are never compared, so each has pictures of
its own; zero is its first operation, as in the findings."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from harness.history.frames import Frames

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """One time domain: from its first to its last operation."""

    name: str
    start_ns: int
    end_ns: int
    operations: int

    @property
    def span_ns(self) -> int:
        """How long it lasted; never zero."""
        return max(1, self.end_ns - self.start_ns)

    def at_s(self, time_ns: int) -> float:
        """Seconds since its first operation."""
        return (time_ns - self.start_ns) / NS_PER_S


def clocks_of(tables: Frames) -> dict[str, Clock]:
    """Every clock by which operations were timed, the earliest first."""
    seen = []
    for every in tables.parts("ops", ["clock", "invoked_ns", "completed_ns"]):
        part = every[every.invoked_ns.notna()].copy()  # others have no place in time
        part["ended_ns"] = part.completed_ns.fillna(part.invoked_ns)
        by_clock = part.groupby("clock", sort=False)
        seen.append(
            by_clock.agg(
                start=("invoked_ns", "min"), end=("ended_ns", "max"), count=("invoked_ns", "size")
            )
        )
    if not seen:
        return {}
    whole = pd.concat(seen).groupby(level=0).agg({"start": "min", "end": "max", "count": "sum"})
    return {
        str(name): Clock(
            name=str(name),
            start_ns=int(row.start),
            end_ns=int(row.end),
            operations=int(row["count"]),
        )
        for name, row in whole.sort_values("start").iterrows()
    }

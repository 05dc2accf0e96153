"""Operations over time: how many of each outcome, how long they took, and who did them.

One pass over `ops`. The time of a clock is cut into `BUCKETS` equal parts; a latency is counted in
a class about 5 % wide, so percentiles are exact to that. Of clients and brokers the busiest get a
lane of their own, the others share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from harness.history.frames import Frames
from harness.history.recorder import FIRST_CLIENT_ID
from reports.measures.around import client_name
from reports.measures.clocks import NS_PER_S, Clock
from reports.measures.lines import lines_at

BUCKETS = 200
MOST_LANES = 16
MOST_NAMED = 256
"""Of so many processes of a clock, the busiest, the name of the client is looked up."""
CLASSES_PER_DECADE = 48
OUTCOMES = ("ok", "info", "fail")
QUANTILES = (0.5, 0.95, 0.99)
OTHERS = -1
UNKNOWN = -2

_COLUMNS = ("clock", "process", "node", "type", "invoked_ns", "completed_ns")
_CELL = ["clock", "lane", "bucket", "type"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What one client did, or one broker was asked: counts by bucket and outcome."""

    name: str
    cells: Mapping[int, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockLoad:
    """The operations of one clock, by bucket."""

    clock: Clock
    rates: Mapping[int, Mapping[str, int]]
    latencies_ms: Mapping[int, tuple[float, ...]]
    brokers: tuple[Lane, ...] = ()
    clients: tuple[Lane, ...] = ()
    merged_clients: int = 0

    @property
    def bucket_s(self) -> float:
        """How long a bucket is."""
        return self.clock.span_ns / BUCKETS / NS_PER_S


@dataclass(slots=True, kw_only=True)
class _Counted:
    rates: list[pd.Series] = field(default_factory=list)
    latencies: list[pd.Series] = field(default_factory=list)
    clients: list[pd.Series] = field(default_factory=list)
    brokers: list[pd.Series] = field(default_factory=list)


def load_of(tables: Frames, clocks: Mapping[str, Clock], history: Path) -> dict[str, ClockLoad]:
    """The load of every clock; `history` knows what clients are called."""
    if not clocks:
        return {}
    names, merged = _busiest(tables, history)
    starts = {name: clock.start_ns for name, clock in clocks.items()}
    spans = {name: clock.span_ns for name, clock in clocks.items()}
    counted = _Counted()
    for every in tables.parts("ops", _COLUMNS):
        part = every[every.invoked_ns.notna()].copy()  # others have no place in time
        since = part.invoked_ns - part.clock.map(starts).astype("int64")
        span = part.clock.map(spans).astype("int64")
        part["bucket"] = (since * BUCKETS // (span + 1)).astype("int64")
        _count(part, counted, names)
    rates, latencies = _added(counted.rates), _quantiles(_added(counted.latencies))
    clients, brokers = _added(counted.clients), _added(counted.brokers)
    return {
        name: ClockLoad(
            clock=clock,
            rates=_nested(rates, name),
            latencies_ms=latencies.get(name, {}),
            brokers=_lanes(brokers, name, _broker),
            clients=_lanes(clients, name, partial(_client, names, name)),
            merged_clients=merged.get(name, 0),
        )
        for name, clock in clocks.items()
    }


Client = tuple[str, int]
"""A clock and a process."""


def _busiest(tables: Frames, history: Path) -> tuple[dict[Client, str], dict[str, int]]:
    """The processes of the clients that get a lane of their own, with the names of these clients;
    how many clients of each clock do not.

    A client whose operation has no answer goes on under another number, so numbers are added up.
    """
    parts = [
        part.groupby(["clock", "process"], sort=False).op.agg(["size", "min"])
        for part in tables.parts("ops", ["clock", "process", "op"])
    ]
    if not parts:
        return {}, {}
    counts = pd.concat(parts).groupby(level=[0, 1]).agg({"size": "sum", "min": "min"})
    named = counts.groupby(level=0, group_keys=False).apply(
        lambda g: g.nlargest(MOST_NAMED, "size")
    )
    events = lines_at(history, map(int, named["min"]))
    kept: dict[Client, str] = {}
    merged = {}
    for clock, group in named.groupby(level=0):
        names = {
            int(n): client_name(events.get(int(op), {}), int(n))
            for (_, n), op in group["min"].items()
        }
        totals = Counter[str]()
        for (_, number), size in group["size"].items():
            totals[names[int(number)]] += int(size)
        own = {name for name, _ in totals.most_common(MOST_LANES)}
        kept |= {(str(clock), number): name for number, name in names.items() if name in own}
        merged[str(clock)] = len(totals) - len(own) + len(counts.loc[[clock]]) - len(group)
    return kept, merged


def _count(part: pd.DataFrame, counted: _Counted, busiest: Iterable[Client]) -> None:
    counted.rates.append(part.groupby(["clock", "bucket", "type"], sort=False).size())
    known = pd.MultiIndex.from_tuples(busiest)
    own = pd.MultiIndex.from_arrays([part.clock, part.process]).isin(known)
    part["lane"] = part.process.where(pd.Series(own, index=part.index), OTHERS)
    counted.clients.append(part.groupby(_CELL, sort=False).size())
    part["lane"] = part.node.mask(part.node >= FIRST_CLIENT_ID, OTHERS).fillna(UNKNOWN)
    counted.brokers.append(part.groupby(_CELL, sort=False).size())
    answered = part[part.completed_ns.notna()]
    took_us = (answered.completed_ns - answered.invoked_ns).to_numpy("float64") / 1000
    classes = np.log10(np.maximum(took_us, 1)) * CLASSES_PER_DECADE
    keys = [answered.clock, answered.bucket, pd.Series(classes.astype("int64"), answered.index)]
    counted.latencies.append(answered.groupby(keys, sort=False).size())


def _added(parts: Iterable[pd.Series]) -> pd.Series:
    listed = [part for part in parts if len(part)]
    if not listed:
        return pd.Series(dtype="int64")
    whole = pd.concat(listed)
    return whole.groupby(level=list(range(whole.index.nlevels))).sum()


def _of_clock(counts: pd.Series, clock: str) -> pd.Series:
    there = len(counts) and clock in counts.index.get_level_values(0)
    return counts.loc[clock] if there else counts.iloc[:0]


def _nested(counts: pd.Series, clock: str) -> dict[int, dict[str, int]]:
    cells: dict[int, dict[str, int]] = {}
    for (bucket, outcome), count in _of_clock(counts, clock).items():
        cells.setdefault(int(bucket), {})[str(outcome)] = int(count)
    return cells


def _lanes(counts: pd.Series, clock: str, called: Callable[[int], str]) -> tuple[Lane, ...]:
    by_lane: dict[int, dict[int, dict[str, int]]] = {}
    for (lane, bucket, outcome), count in _of_clock(counts, clock).items():
        by_lane.setdefault(int(lane), {}).setdefault(int(bucket), {})[str(outcome)] = int(count)
    by_name: dict[str, dict[int, Counter[str]]] = {}
    for lane in sorted(by_lane, key=lambda lane: (lane < 0, lane)):
        cells = by_name.setdefault(called(lane), {})
        for bucket, cell in by_lane[lane].items():
            cells.setdefault(bucket, Counter()).update(cell)
    return tuple(Lane(name=name, cells=cells) for name, cells in by_name.items())


def _broker(node: int) -> str:
    return {OTHERS: "no broker", UNKNOWN: "broker unknown"}.get(node, f"broker {node}")


def _client(names: Mapping[Client, str], clock: str, process: int) -> str:
    return "other clients" if process == OTHERS else names[clock, process]


def _quantiles(counts: pd.Series) -> dict[str, dict[int, tuple[float, ...]]]:
    """By clock and bucket the middle of the class in which each quantile lies."""
    found: dict[str, dict[int, tuple[float, ...]]] = {}
    if not len(counts):
        return found
    by_bucket = counts.sort_index().groupby(level=[0, 1])
    reached = by_bucket.cumsum() / by_bucket.transform("sum")
    for quantile in QUANTILES:
        first = reached[reached >= quantile - 1e-12].groupby(level=[0, 1]).head(1)
        for clock, bucket, number in first.index:
            latency_ms = 10 ** ((int(number) + 0.5) / CLASSES_PER_DECADE) / 1000
            buckets = found.setdefault(str(clock), {})
            buckets[int(bucket)] = (*buckets.get(int(bucket), ()), latency_ms)
    return found

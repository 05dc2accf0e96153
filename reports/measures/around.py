"""The operations around a moment, in full, with what was going on beside them.

Around a finding: the operations on its partition, because that is the object of the finding.
Around any operation (`report RUN --around`): all operations of its clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from harness.history.frames import Frames
from harness.history.recorder import FIRST_CLIENT_ID
from reports.measures.clocks import Clock
from reports.measures.events import FaultWindow, LeaderChange
from reports.measures.lines import Event, lines_at

BEFORE = 30
AFTER = 15

_COLUMNS = (
    "op",
    "completion",
    "process",
    "node",
    "topic",
    "partition",
    "f",
    "type",
    "error",
    "clock",
) + ("began", "ended", "invoked_ns", "completed_ns")
_TOLD_ELSEWHERE = frozenset(
    {
        "kind",
        "index",
        "time",
        "clock",
        "process",
        "type",
        "f",
        "topic",
        "partition",
        "node",
        "client",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a slice: who asked whom for what, when, and what came of it.

    `node` is the broker that was asked; None where it was the control plane or the store.
    """

    op: int
    process: int
    client: str
    node: int | None
    place: str
    f: str
    type: str
    error: str
    invoked_ns: int
    completed_ns: int | None
    began: int
    ended: int | None
    asked: str = ""
    answered: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Operations near one of them, `left_out` of the same object before and after.

    `indices` are those of their lines in the history.
    """

    clock: Clock
    around: int
    about: str
    operations: tuple[Operation, ...]
    faults: tuple[FaultWindow, ...]
    leaders: tuple[LeaderChange, ...]
    left_out: int
    indices: tuple[int, ...] = ()

    @property
    def start_ns(self) -> int:
        """When its first operation began."""
        return min(one.invoked_ns for one in self.operations)

    @property
    def end_ns(self) -> int:
        """When its last operation was over."""
        return max(one.completed_ns or one.invoked_ns for one in self.operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A run as a slice needs it."""

    tables: Frames
    history: Path
    clocks: Mapping[str, Clock]
    faults: Sequence[FaultWindow]
    leaders: Sequence[LeaderChange]


def slice_around(
    run: Surroundings,
    op: int,
    *,
    partition_only: bool = True,
    before: int = BEFORE,
    after: int = AFTER,
    also: Sequence[int] = (),
) -> Slice | None:
    """The slice around an operation, with those `also` named; None if it is not there."""
    rows = _rows_near(
        run.tables, op, partition_only=partition_only, before=before, after=after, also=also
    )
    return None if rows is None else _slice(run, rows, lines_at(run.history, rows.indices))


def slices_around(run: Surroundings, wanted: Mapping[int, Sequence[int]]) -> dict[int, Slice]:
    """The slices around many operations, each with those also named; one pass over the history."""
    near = {op: _rows_near(run.tables, op, also=also) for op, also in wanted.items()}
    found = {op: rows for op, rows in near.items() if rows is not None}
    events = lines_at(run.history, (index for rows in found.values() for index in rows.indices))
    return {op: _slice(run, rows, events) for op, rows in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowsNear:
    """The rows of a slice, before their lines are read."""

    op: int
    clock: str
    about: str
    rows: pd.DataFrame
    left_out: int

    @property
    def indices(self) -> list[int]:
        return sorted({int(n) for n in (*self.rows.op, *self.rows.completion.dropna())})


def _rows_near(
    tables: Frames,
    op: int,
    *,
    partition_only: bool = True,
    before: int = BEFORE,
    after: int = AFTER,
    also: Sequence[int] = (),
) -> _RowsNear | None:
    """The operations next to one, in the order in which they began."""
    found = tables.read("ops", ["op", "clock", "topic", "partition"], [("op", "==", op)])
    if not len(found):
        return None
    centre = found.iloc[0]
    where: list[tuple[str, str, object]] = [("clock", "==", str(centre.clock))]
    about = "every operation of this clock"
    if partition_only and not pd.isna(centre.topic):
        where.append(("topic", "==", str(centre.topic)))
        about = f"operations on {centre.topic}"
        if not pd.isna(centre.partition):
            where.append(("partition", "==", int(centre.partition)))
            about += f"/{centre.partition}"
    order = tables.read("ops", ["op"], where).op.sort_values().reset_index(drop=True)
    place = int(order.searchsorted(op))
    wanted = order.iloc[max(0, place - before) : place + after + 1].tolist()
    wanted = sorted({*map(int, wanted), *also})
    near = tables.read("ops", [*_COLUMNS], [*where, ("op", "in", wanted)]).sort_values("op")
    near = near[near.invoked_ns.notna()]
    return _RowsNear(
        op=op,
        clock=str(centre.clock),
        about=about,
        rows=near,
        left_out=len(order) - len(near),
    )


def _slice(run: Surroundings, near: _RowsNear, events: Mapping[int, Event]) -> Slice:
    clock = run.clocks[near.clock]
    operations = tuple(_operation(row, events) for row in near.rows.itertuples(index=False))
    start = min(one.invoked_ns for one in operations)
    end = max(one.completed_ns or one.invoked_ns for one in operations)
    return Slice(
        clock=clock,
        around=near.op,
        about=near.about,
        operations=operations,
        faults=tuple(
            one
            for one in run.faults
            if one.clock == clock.name
            and one.since_ns <= end
            and (one.until_ns is None or one.until_ns >= start)
        ),
        leaders=tuple(
            one for one in run.leaders if one.clock == clock.name and start <= one.time_ns <= end
        ),
        left_out=near.left_out,
        indices=tuple(near.indices),
    )


def _operation(row: Any, events: Mapping[int, Event]) -> Operation:
    invoke = events.get(int(row.op), {})
    completion = {} if pd.isna(row.completion) else events.get(int(row.completion), {})
    told = {name: value for name, value in completion.items() if invoke.get(name) != value}
    return Operation(
        op=int(row.op),
        process=int(row.process),
        client=client_name(invoke, int(row.process)),
        node=None if pd.isna(row.node) or row.node >= FIRST_CLIENT_ID else int(row.node),
        place="" if pd.isna(row.topic) else f"{row.topic}/{row.partition}",
        f=str(row.f),
        type=str(row.type),
        error="" if pd.isna(row.error) or row.error == "NONE" else str(row.error),
        invoked_ns=int(row.invoked_ns),
        completed_ns=None if pd.isna(row.completed_ns) else int(row.completed_ns),
        began=int(row.began),
        ended=None if pd.isna(row.ended) else int(row.ended),
        asked=_fields(invoke),
        answered=_fields(told),
    )


def client_name(invoke: Event, process: int) -> str:
    """What a client is called: by its name, or by its number where it has none."""
    name = invoke.get("client")
    return name if isinstance(name, str) and name else f"client {process}"


def _fields(event: Event) -> str:
    """What a line says beside who, where and when."""
    told = [
        f"{name}={_plain(value)}"
        for name, value in event.items()
        if name not in _TOLD_ELSEWHERE and not (name == "error" and value in (0, None))
    ]
    return " ".join(told)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Events become rows of the silver tables.

One pass, in order; each event is handed to what it concerns, each closed operation is laid out in
every table it belongs to. What the schema does not see (the insides of `records`, `entries`,
`stored`, probe rows) is checked here, and what does not fit is reported with the event it came
from. Memory: open operations, unsettled sends, open fault windows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from .fault_windows import FaultWindows
from .history import History
from .lines import Event, canonical
from .liveness_tables import PhaseWindows, leader_row, metric_row, node_row
from .micro_operations import MICRO_OPERATIONS, lay_out_micro_operations
from .pairing import Operation, Pairing
from .plan_tables import plan_row, skip_row
from .sends import Emit, Row, SendBook, named, told_offset, whole
from .sequence_table import SEQUENCE_REQUEST, lay_out_sequence_answer
from .tier_tables import TIER_LAY_OUT, TIER_PROBES
from .topic_tables import LAY_OUT, LaysOut
from .transaction_tables import TRANSACTION_LAY_OUT

REGISTER_CALLS: Final = frozenset(
    {
        "create_log",
        "initialize_diskless_migration",
        "set_diskless_log_start_offset",
        "get_diskless_log_start_offset",
        "seed_producer_state",
        "register_leader_epoch",
        "describe_producers",
        "commit_batch",
        "upgrade_schema",
    }
)

_NAME_OFFSETS: Final = frozenset({"fetch", "delete_records"})
_ANSWER_OFFSETS: Final = frozenset({"produce", "list_offsets", "offset_for_leader_epoch"})
_GROUP_OFFSETS: Final = frozenset({"offset_commit", "txn_offset_commit", "offset_fetch"})
# What Kafka's protocol assumes of a request that does not say.
_DEFAULT_ISOLATION: Final = {"fetch": "read_uncommitted", "list_offsets": "read_uncommitted"}
_UNFIT: Final = (TypeError, ValueError, KeyError, IndexError, AttributeError)


class RowBuilder:
    """Feed it every event of a history, then `finish()`; rows and problems go to the callbacks."""

    def __init__(
        self,
        history: History,
        emit: Emit,
        problem: Callable[[Event, str], None],
        started: Mapping[str, int] | None = None,
    ) -> None:
        """`emit(table, row)` takes rows by column name; `problem(event, reason)` the rest. When
        clocks `started` is told where not all events are fed."""
        by = "index" if history.index_ordered else "time"
        self._order: Callable[[Event], int] = lambda event: int(event[by])
        self._emit = emit
        self._problem = problem
        self._pairing = Pairing(
            self._order, problem, self_contained=MICRO_OPERATIONS, started=started
        )
        self._sends = SendBook(emit, problem)
        self._windows = FaultWindows(emit, self._order, problem)
        self._phases = PhaseWindows(emit, self._order, problem)
        self._kinds: dict[str, Callable[[Event], None]] = {
            "op": self._op,
            "effect": self._effect,
            "probe": self._probe,
            "fault": self._fault,
            "plan": self._plan,
            "skip": self._skip,
            "phase": self._phases.feed,
            "step": lambda _: None,  # what was done, not what came of it
        }
        self._layouts: dict[str, Callable[[Operation, Row], None]] = {
            "produce": lambda attempt, _: self._sends.settle(attempt),
            "end_txn": self._transaction_row,
            "metadata": self._leader_row,
            SEQUENCE_REQUEST: partial(lay_out_sequence_answer, emit=emit),
            **dict.fromkeys(_GROUP_OFFSETS, self._group_offset_row),
            **dict.fromkeys(MICRO_OPERATIONS, partial(lay_out_micro_operations, emit=emit)),
            **{
                f: partial(self._of_topics, lay_out)
                for f, lay_out in (LAY_OUT | TIER_LAY_OUT).items()
            },
        }

    def feed(self, event: Event) -> None:
        """Take one event into account."""
        try:
            self._kinds[event["kind"]](event)
        except _UNFIT as cause:
            self._problem(event, _cannot(cause))

    def finish(self) -> None:
        """Close what is still open: operations as unknown, windows as open."""
        for operation in self._pairing.finish():
            self._closed(operation)
        self._sends.finish()
        self._windows.finish()
        self._phases.finish()

    def _op(self, event: Event) -> None:
        if event["type"] == "invoke" and event["f"] == "produce":
            closed = self._pairing.feed(event)
            self._sends.begin(event, self._order(event))
        else:
            closed = self._pairing.feed(event)
        if closed is not None:
            self._closed(closed)

    def _closed(self, operation: Operation) -> None:
        """Lay one operation out; a table it does not fit is reported, the others are served."""
        shared = _operation_row(operation)
        layouts: list[Callable[[Operation, Row], None]] = [self._model_row]
        if operation.invoke["f"] in REGISTER_CALLS:
            layouts.append(self._register_row)
        elif shared["topic"] is not None and shared["partition"] is not None:
            layouts.append(self._response_row)
        if operation.invoke["f"] in self._layouts:
            layouts.append(self._layouts[operation.invoke["f"]])
        if operation.invoke["f"] in TRANSACTION_LAY_OUT:
            layouts.append(partial(self._of_topics, TRANSACTION_LAY_OUT[operation.invoke["f"]]))
        for lay_out in layouts:
            try:
                lay_out(operation, shared)
            except _UNFIT as cause:
                self._problem(operation.invoke, _cannot(cause))

    def _model_row(self, operation: Operation, shared: Row) -> None:
        invoke, completion = operation.invoke, operation.completion or {}
        values: Row = {
            "key": _json(invoke, "key"),
            "value": _json(invoke, "value"),
            "result": _json(completion, "value"),
            "invoked_ns": invoke["time"],
            "completed_ns": completion.get("time"),
            "detail": str(completion["detail"]) if "detail" in completion else None,
        }
        self._emit("ops", shared | values)

    def _register_row(self, operation: Operation, shared: Row) -> None:
        invoke, completion = operation.invoke, operation.completion or {}
        stored = completion.get("stored") or {}
        call: Row = {
            "client": invoke.get("client"),
            "together": invoke.get("together"),
            "boundary": invoke.get("boundary"),
            "leader_epoch": invoke.get("leader_epoch"),
            "entries": _entries(_distinct(invoke.get("entries"))),
            "record_count": invoke.get("record_count"),
            "stored_boundary": whole(stored.get("boundary")),
            "stored_epoch": whole(stored.get("epoch")),
            "stored_reset_epoch": whole(stored.get("reset_epoch")),
            "stored_seeds": _entries(stored.get("seeds")),
            "base_offset": whole(stored.get("base_offset")),
        }
        self._emit("boundary_ops", shared | call)

    def _group_offset_row(self, operation: Operation, shared: Row) -> None:
        invoke, completion = operation.invoke, operation.completion or {}
        told = completion if invoke["f"] == "offset_fetch" else invoke
        row: Row = {"group_id": invoke.get("group"), "committed_offset": told.get("offset")}
        row["transaction"] = invoke.get("transaction")
        self._emit("group_offsets", shared | row)

    def _transaction_row(self, operation: Operation, shared: Row) -> None:
        asked = {name: operation.invoke.get(name) for name in ("transaction", "committed")}
        self._emit("transactions", shared | asked)

    def _leader_row(self, operation: Operation, shared: Row) -> None:
        asked = shared["topic"] is not None and shared["partition"] is not None
        if asked and operation.completion is not None:
            self._emit("leaders_told", shared | leader_row(operation))

    def _of_topics(self, lay_out: LaysOut, operation: Operation, shared: Row) -> None:
        lay_out(operation, shared, self._emit)

    def _response_row(self, operation: Operation, shared: Row) -> None:
        invoke, completion = operation.invoke, operation.completion
        if completion is None:
            return
        f = invoke["f"]
        records = completion.get("records") if f != "produce" else None
        asked_offset = invoke.get("offset", completion.get("offset"))
        answer: Row = {
            "request": invoke.get("request"),
            "send": invoke.get("send"),
            "attempt": invoke.get("attempt"),
            "acks": invoke.get("acks"),
            "asked_offset": asked_offset if f in _NAME_OFFSETS else None,
            "asked_timestamp": invoke.get("timestamp") if f == "list_offsets" else None,
            "isolation": invoke.get("isolation", _DEFAULT_ISOLATION.get(f)),
            "answered_offset": told_offset(completion.get("offset"))
            if f in _ANSWER_OFFSETS
            else None,
            "found_timestamp": completion.get("found_timestamp"),
            "leader_epoch": named(completion.get("leader_epoch")),
            "current_leader_epoch": named(invoke.get("leader_epoch")),
            "asked_epoch": invoke.get("epoch"),
            "high_watermark": told_offset(completion.get("high_watermark")),
            "last_stable_offset": told_offset(completion.get("last_stable_offset")),
            "log_start_offset": told_offset(completion.get("log_start_offset")),
            "records": None if records is None else len(records),
            "first_offset": told_offset(records[0][0]) if records else None,
            "last_offset": told_offset(records[-1][0]) if records else None,
            "preferred_read_replica": completion.get("preferred_read_replica"),
            "rack": invoke.get("rack"),
            "max_bytes": invoke.get("max_bytes"),
            "bytes": completion.get("bytes"),
            "first_batch_bytes": completion.get("first_batch_bytes"),
        }
        row = shared | answer
        self._emit("responses", row)
        if f == "list_offsets":
            self._emit("offsets_listed", row)
        follows = None if row["asked_offset"] is None else row["asked_offset"] - 1
        for at, record in enumerate(records or ()):
            try:
                seen = _seen(at, record)
            except _UNFIT as cause:
                self._problem(completion, _cannot(cause))
                continue
            self._emit("records_seen", row | seen | {"follows": follows})
            follows = seen["record_offset"]

    def _effect(self, event: Event) -> None:
        row = self._placed(event) | {
            "index": event["index"],
            "node": event["node"],
            "effect": event.get("effect"),
            "port": event["port"],
            "call": event["call"],
            "args": _json(event, "args"),
            "outcome": event.get("outcome"),
        }
        self._emit("effects", row)

    def _fault(self, event: Event) -> None:
        evidence = event.get("evidence")
        row = self._placed(event) | {
            "index": event["index"],
            "fault": event["name"],
            "target": event["target"],
            "fault_id": event.get("id"),
            "plan_part": event.get("plan"),
            "phase": event["phase"],
            "assumption": event.get("assumption"),
            "evidence": None if evidence is None else canonical(evidence),
        }
        self._emit("faults", row)
        self._windows.feed(event)

    def _plan(self, event: Event) -> None:
        self._emit("plans", self._placed(event) | plan_row(event))

    def _skip(self, event: Event) -> None:
        self._emit("skips", self._placed(event) | skip_row(event))

    def _probe(self, event: Event) -> None:
        table, lay_out = _PROBES.get(event["what"], ("probes_other", lambda row: {}))
        shared = self._placed(event) | {"probe": event["index"], "what": event["what"]}
        for found in event["rows"]:
            try:
                self._emit(table, shared | lay_out(found) | {"detail": canonical(found)})
            except _UNFIT as cause:
                self._problem(event, _cannot(cause))

    def _placed(self, event: Event) -> Row:
        return {"clock": event["clock"], "happened": self._order(event), "time": event["time"]}


def _cannot(cause: Exception) -> str:
    return f"cannot be laid out as a row: {type(cause).__name__}: {str(cause)[:120]}"


def _operation_row(operation: Operation) -> Row:
    invoke, completion = operation.invoke, operation.completion or {}
    return {
        "op": invoke["index"],
        "completion": completion.get("index"),
        "process": invoke["process"],
        "node": invoke.get("node", completion.get("node")),
        "topic": invoke.get("topic"),
        "partition": invoke.get("partition"),
        "f": invoke["f"],
        "type": operation.type,
        "error": operation.error,
        "clock": invoke["clock"],
        "began": operation.began,
        "ended": operation.ended,
        "answered": operation.answered,
    }


def _json(event: Event, name: str) -> str | None:
    """A field as canonical JSON text: absent is null, an explicit null is the text `null`."""
    return canonical(event[name]) if name in event else None


def _distinct(entries: list[list[int]] | None) -> list[list[int]] | None:
    """Entries that are asked for mean a set; what is stored is shown as it is."""
    return None if entries is None else [list(e) for e in dict.fromkeys(map(tuple, entries))]


def _entries(entries: list[list[int]] | None) -> str | None:
    if entries is None:
        return None
    return canonical(sorted([int(whole(part) or 0) for part in entry] for entry in entries))


def _seen(at: int, record: list[Any]) -> Row:
    if type(record) is not list or not 2 <= len(record) <= 5 or type(record[0]) is not int:
        form = "[offset, value, timestamp, leader epoch, key]"
        raise ValueError(f"a record seen is {form}, not {repr(record)[:40]}")
    offset, value, timestamp, epoch, key = (*record, None, None, None)[:5]
    return {
        "mop": 0,
        "position": at,
        "rebalanced": False,
        "record_offset": told_offset(offset),
        "value": value,
        "timestamp": whole(timestamp),
        "leader_epoch": whole(epoch),
        "record_key": key,
    }


def _log_row(row: dict[str, Any]) -> Row:
    numbers = ("boundary", "epoch", "reset_epoch", "high_watermark", "log_start_offset")
    return {
        "topic": row["topic"],
        "partition": whole(row["partition"]),
        **{name: whole(row.get(name)) for name in numbers},
        "seeds": _entries(row.get("seeds")),
        "batches": _json(row, "batches"),
        **_suffix(row.get("batches")),
    }


def _suffix(batches: list[list[Any]] | None) -> Row:
    """Where batches begin and end, and how many of them are out of place."""
    found = [(int(base), int(last)) for base, last in batches or ()]
    followed = [found[0][0], *(last + 1 for _, last in found)] if found else []
    misplaced = (
        1 for (base, last), due in zip(found, followed, strict=False) if base != due or last < base
    )
    return {
        "first_offset": followed[0] if found else None,
        "next_offset": followed[-1] if found else None,
        "misplaced": None if batches is None else sum(misplaced),
    }


def _object_row(row: Any) -> Row:
    key, size = (row["key"], row["size"]) if type(row) is dict else (row[0], row[1])
    return {"object_key": key, "size": whole(size)}


_PROBES: Final[dict[str, tuple[str, Callable[[Any], Row]]]] = {
    "control_plane": ("probes_control_plane", _log_row),
    "objects": ("probes_objects", _object_row),
    "nodes": ("probes_nodes", node_row),
    "metrics": ("probes_metrics", metric_row),
    **TIER_PROBES,
}

"""Tables of what rules about liveness rest on: phases of a run, who leads, which nodes run.

`PhaseWindows` pairs the lines of a phase; a phase that does not end stays open. The other two lay
out a completed Metadata request and a row of a look at the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .lines import Event, canonical
from .pairing import Operation
from .sends import Emit, Row, whole

LIVENESS_TABLES: Final[dict[str, tuple[str, str]]] = {
    "phases": (
        "phase of a run, from its begin to its end",
        """
index     bigint  index of the line that began it
campaign  string  what the phase is a part of
phase     string  name of the phase (FORMAT.md 3.6): load, converge, progress, settle, look, …
clock     string  the time domain of all times of the row
since     bigint  when it began, in order units
until     bigint  when it ended, in order units; null if it did not end
since_ns  bigint  when it began, by the clock
until_ns  bigint  when it ended, by the clock; null if it did not end
bound_ns  bigint  how long what is waited for in it may take; null where nothing is waited for
looks     bigint  how often the lab looked in it; null if not told
""",
    ),
    "leaders_told": (
        "completed metadata request about one partition: who leads, as one broker sees it",
        """
op            bigint  index of the invoke line
completion    bigint  index of the completion line
process       bigint  the logical process
node          bigint  the broker that was asked
topic         string  topic
partition     int     partition
type          string  ok, fail or info
error         string  name of the error; null where no answer came
clock         string  the time domain of began and answered
began         bigint  when it was asked
answered      bigint  when it was over
look          bigint  same for all brokers that were asked together; rises from look to look
leader        bigint  the leader; -1 is none
leader_epoch  bigint  its epoch
isr           string  the in-sync replicas, each between two commas
replicas      string  the replicas, each between two commas; null if not recorded
""",
    ),
    "probes_nodes": (
        "node found by a look at the processes of a cluster",
        """
probe       bigint   index of the probe line
clock       string   the time domain
happened    bigint   when, in order units
time        bigint   when, by the clock
node_name   string   name of the node
state       string   running, not ready (it runs, and did not get ready in time) or ended
exit_code   bigint   how it ended; null if it runs or if that is unknown
on_purpose  boolean  whether the lab ended it
detail      string   the whole row as JSON text
""",
    ),
    "probes_metrics": (
        "sample found by a look at the metrics of a cluster",
        """
probe      bigint  index of the probe line
clock      string  the time domain
happened   bigint  when, in order units
time       bigint  when, by the clock
node_name  string  name of the node; null where one page speaks for the cluster
name       string  name of the metric, as Prometheus has it
labels     string  its labels as JSON text, sorted
value      bigint  its value; null if that is no whole number
detail     string  the whole row as JSON text
""",
    ),
}


class PhaseWindows:
    """Feed it the phase lines in order; it emits each phase when it ends."""

    def __init__(
        self,
        emit: Emit,
        order: Callable[[Event], int],
        problem: Callable[[Event, str], None],
    ) -> None:
        """`emit` takes rows of `phases`."""
        self._emit = emit
        self._order = order
        self._problem = problem
        self._open: dict[tuple[str, str, str], Row] = {}

    def feed(self, event: Event) -> None:
        """Take one phase line into account."""
        key = (event["clock"], event["campaign"], event["name"])
        if event["phase"] == "begin":
            if key in self._open:
                self._problem(event, f"the phase {key[2]} begins again before it ended")
                self._emit("phases", self._open[key])
            self._open[key] = self._begun(event)
        elif key not in self._open:
            self._problem(event, f"the phase {key[2]} ends, which has not begun")
        else:
            ended = {
                "until": self._order(event),
                "until_ns": event["time"],
                "looks": whole(event.get("looks")),
            }
            self._emit("phases", self._open.pop(key) | ended)

    def finish(self) -> None:
        """Emit the phases that did not end."""
        for phase in self._open.values():
            self._emit("phases", phase)
        self._open.clear()

    def _begun(self, event: Event) -> Row:
        bound_s = event.get("bound_s")
        return {
            "index": event["index"],
            "campaign": event["campaign"],
            "phase": event["name"],
            "clock": event["clock"],
            "since": self._order(event),
            "until": None,
            "since_ns": event["time"],
            "until_ns": None,
            "looks": None,
            "bound_ns": None if bound_s is None else round(bound_s * 1_000_000_000),
        }


def leader_row(operation: Operation) -> Row:
    """What a broker said about who leads, beyond what all operations have."""
    completion = operation.completion or {}
    return {
        "look": whole(operation.invoke.get("look")),
        "leader": whole(completion.get("leader")),
        "leader_epoch": whole(completion.get("leader_epoch")),
        "isr": _members(completion.get("isr")),
        "replicas": _members(completion.get("replicas")),
    }


def node_row(row: dict[str, Any]) -> Row:
    """One node of a look at the processes."""
    return {
        "node_name": str(row["node"]),
        "state": str(row["state"]),
        "exit_code": whole(row.get("exit_code")),
        "on_purpose": bool(row.get("on_purpose")),
    }


def metric_row(row: dict[str, Any]) -> Row:
    """One sample of a look at the metrics."""
    node, value = row.get("node"), row.get("value")
    return {
        "node_name": None if node is None else str(node),
        "name": str(row["name"]),
        "labels": canonical(row.get("labels") or {}),
        "value": value if type(value) is int and abs(value) < 1 << 63 else None,
    }


def _members(listed: list[int] | None) -> str | None:
    return None if listed is None else "".join(f",{whole(one)}" for one in sorted(listed)) + ","

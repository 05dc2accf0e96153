"""What is written down while a script is played.

One recorder serves one world. It hands out logical process numbers, keeps the rule that a process
has one open operation at most and retires after an unknown outcome, and turns every event into one
line. Only this file knows the shape of those lines.

An invocation is written before the request leaves, a completion after the reply came in. So the
recorded interval is never shorter than the real one, and an order it shows really was there.

The clock and the lock come in from outside: a simulated world has a step counter and needs no lock,
a world with reader threads has the host's clock and a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from harness.history import classify
from harness.sut.protocol import Answer
from harness.workloads.calls import Value
from harness.worlds.place import Place

Line = dict[str, object]
Evidence = Mapping[str, int | str]


@dataclass(slots=True, kw_only=True, eq=False)
class Operation:
    """One invocation on its way; `outcome` is None as long as it is open."""

    client: str
    node: int
    process: int
    f: str
    arguments: Mapping[str, Value]
    outcome: str | None = None
    error: str | None = None

    @property
    def open(self) -> bool:
        """Whether nobody has said how it ended."""
        return self.outcome is None


@dataclass(slots=True, kw_only=True, eq=False)
class Fault:
    """One fault from its begin to its end; it has landed once evidence was written."""

    name: str
    target: str
    landed: bool = False


class Recorder:
    """Writes operations, faults and probes of one world into one shard."""

    def __init__(
        self, place: Place, *, now: Callable[[], int], lock: AbstractContextManager[object]
    ) -> None:
        self.unanswered = 0
        self._place = place
        self._writer = place.writer
        self._clock = place.clock
        self._now = now
        self._lock = lock
        self._nodes: dict[str, int] = {}
        self._process: dict[str, int] = {}
        self._processes = place.first_process
        self._effects: dict[int, int] = {}

    def node(self, client: str) -> int:
        """The node number of a client; the first client is node 1."""
        return self._nodes.setdefault(client, len(self._nodes) + 1)

    def target(self, client: str) -> str:
        """How fault lines name a client."""
        return f"client-{self.node(client)}"

    def topic(self, name: str) -> str:
        """What a script's topic is called in this part of the run; parts share no topic."""
        return self._place.topic(name)

    def invoke(self, client: str, f: str, arguments: Mapping[str, Value]) -> Operation:
        """Record that a client is about to ask; to be called before anything is sent."""
        with self._lock:
            operation = Operation(
                client=client,
                node=self.node(client),
                process=self._process_of(client),
                f=f,
                arguments={**arguments, "topic": self.topic(str(arguments["topic"]))},
            )
            line = self._operation_line(operation, "invoke")
            given = operation.arguments.items()
            line.update((name, _jsonable(value)) for name, value in given if name not in line)
            self._writer.write(line)
            return operation

    def complete(self, operation: Operation, answer: Answer | None) -> bool:
        """Record how it ended, None meaning that nobody will ever say; the first word counts."""
        with self._lock:
            if not operation.open:
                return False
            error = None if answer is None else answer.error
            outcome = "info" if error is None else classify(operation.f, error)
            line = self._operation_line(operation, outcome)
            line["error"] = error
            if answer is not None and answer.definite and answer.stored:
                line["stored"] = dict(answer.stored)
            self._writer.write(line)
            operation.outcome, operation.error = outcome, error
            self.unanswered += answer is None or not answer.definite
            if outcome == "info":
                self._process.pop(operation.client, None)
            return True

    def begin_fault(self, name: str, target: str) -> Fault:
        """Record that a fault starts; this alone proves nothing."""
        fault = Fault(name=name, target=target)
        self._fault_line(fault, "begin", {})
        return fault

    def landed(self, fault: Fault, evidence: Evidence) -> None:
        """Record that a fault bit, and what shows it."""
        fault.landed = True
        self._fault_line(fault, "landed", evidence)

    def end_fault(self, fault: Fault, evidence: Evidence) -> None:
        """Record that a fault is over, with what it did in all."""
        self._fault_line(fault, "end", evidence)

    def probe(self, what: str, rows: list[dict[str, object]]) -> None:
        """Record an independent look at the store."""
        with self._lock:
            self._writer.write({**self._stamp("probe"), "what": what, "rows": rows})

    def effect(self, node: int, call: str, args: Mapping[str, object], outcome: str) -> None:
        """Record a transaction as the port of this node reported it."""
        with self._lock:
            number = self._effects[node] = self._effects.get(node, 0) + 1
            line = {**self._stamp("effect"), "node": node, "effect": number}
            line.update(port="control_plane", call=call, args=dict(args), outcome=outcome)
            self._writer.write(line)

    def _fault_line(self, fault: Fault, phase: str, evidence: Evidence) -> None:
        with self._lock:
            self._writer.write(
                {
                    **self._stamp("fault"),
                    "name": fault.name,
                    "target": fault.target,
                    "phase": phase,
                    "assumption": None,
                    "evidence": dict(evidence),
                }
            )

    def _operation_line(self, operation: Operation, type_: str) -> Line:
        return {
            **self._stamp("op"),
            "process": operation.process,
            "type": type_,
            "f": operation.f,
            "topic": operation.arguments["topic"],
            "partition": operation.arguments["partition"],
            "node": operation.node,
        }

    def _stamp(self, kind: str) -> Line:
        return {"kind": kind, "time": self._now(), "clock": self._clock}

    def _process_of(self, client: str) -> int:
        if client not in self._process:
            self._process[client] = self._processes
            self._processes += 1
        return self._process[client]


def _jsonable(value: Value) -> object:
    if not isinstance(value, tuple):
        return value
    return [list(part) if isinstance(part, tuple) else part for part in value]

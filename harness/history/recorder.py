"""What is written down while a script is played.

One recorder serves one world. It hands out logical process numbers, keeps the rule that a process
has one open operation at most and retires after an unknown outcome, and turns every event into one
line. Only this file knows the shape of those lines.

An invocation is written before the request leaves, a completion after the reply came in. So the
recorded interval is never shorter than the real one, and an order it shows really was there.

The clock and the lock come in from outside: a simulated world has virtual time and needs no lock, a
world with reader threads has the host's clock and a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Protocol

from harness.history import classify
from harness.history.run_slot import RunSlot

Line = dict[str, object]

# What an operation is about, said on both of its lines.
_OBJECT = ("topic", "partition", "key")
Evidence = Mapping[str, int | str]
SUSPENDED = "assumption-suspended"  # not a fault of its own: how long the ones around it are felt


class Answer(Protocol):
    """What a control plane answered: ``harness.sut.protocol.Answer`` is one."""

    @property
    def error(self) -> str: ...

    @property
    def definite(self) -> bool: ...

    @property
    def stored(self) -> Mapping[str, Any]: ...


@dataclass(slots=True, kw_only=True, eq=False)
class Operation:
    """One invocation on its way; `outcome` is None as long as it is open."""

    client: str
    seat: str  # which of its logical processes: a client that asks several things at once has some
    node: int
    process: int
    f: str
    arguments: Mapping[str, Any]
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
    id: str
    landed: bool = False


FIRST_CLIENT_ID = 10_001
"""The number of the first client in a history in which brokers have the low ones."""


class Recorder:
    """Writes operations, faults and probes of one world into one shard."""

    def __init__(
        self,
        slot: RunSlot,
        *,
        now: Callable[[], int],
        lock: AbstractContextManager[object] | None = None,
        first_node: int = 1,
    ) -> None:
        """``first_node`` is the number of the first client, where brokers have the low ones."""
        self.unanswered = 0
        self._slot = slot
        self._writer = slot.writer
        self._clock = slot.clock
        self._now = now
        self._lock = lock or nullcontext()
        self._nodes: dict[str, int] = {}
        self._first_node = first_node
        self._process: dict[str, int] = {}
        self._processes = slot.first_process
        self.plan_part: str | None = None  # that asks for the faults which begin now
        self._faults = count(1)
        self._calls = count(1)  # over several partitions

    @property
    def lines(self) -> int:
        """How many events were written."""
        return self._writer.lines

    def node(self, client: str) -> int:
        """The node number of a client, in the order in which they were first named."""
        return self._nodes.setdefault(client, self._first_node + len(self._nodes))

    def target(self, client: str) -> str:
        """How fault lines name a client."""
        return f"client-{self.node(client)}"

    def topic(self, name: str) -> str:
        """What a script's topic is called in this part of the run; parts share no topic."""
        return self._slot.topic(name)

    def invoke_many(
        self, client: str, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> list[Operation]:
        """Record that a client is about to ask several partitions in one call: an operation each,
        `together` under a name of their own."""
        if len(partitions) == 1:
            return [self.invoke(client, f, partitions[0])]
        name = {"together": f"{self._slot.name}-{next(self._calls)}"}
        seats = [client, *(f"{client}+{number}" for number in range(1, len(partitions)))]
        return [
            self.invoke(client, f, {**asked, **name}, seat=seat)
            for seat, asked in zip(seats, partitions, strict=True)
        ]

    def invoke(
        self, client: str, f: str, arguments: Mapping[str, Any], *, seat: str | None = None
    ) -> Operation:
        """Record that a client is about to ask; to be called before anything is sent.

        Which node it asks is its own (``node``), unless the arguments name one.
        """
        if "topic" in arguments:
            arguments = {**arguments, "topic": self.topic(str(arguments["topic"]))}
        asked = arguments.get("node")
        with self._lock:
            operation = Operation(
                client=client,
                seat=seat or client,
                node=asked if isinstance(asked, int) else self.node(client),
                process=self._process_of(seat or client),
                f=f,
                arguments=arguments,
            )
            line = {**self._operation_line(operation, "invoke"), "client": client}
            given = operation.arguments.items()
            line.update((name, _jsonable(value)) for name, value in given if name not in line)
            self._writer.write(line)
            return operation

    def complete(self, operation: Operation, answer: Answer | None) -> bool:
        """Record the answer of a control plane, None meaning that nobody will ever say."""
        first = self.finish(operation, *ending(operation.f, answer))
        if first:
            operation.error = None if answer is None else answer.error
            self.unanswered += answer is None or not answer.definite
        return first

    def finish(self, operation: Operation, outcome: str, fields: Mapping[str, object]) -> bool:
        """Record how an operation ended; False if it had ended already: the first word counts."""
        with self._lock:
            if not operation.open:
                return False
            self._writer.write({**self._operation_line(operation, outcome), **fields})
            operation.outcome = outcome
            if outcome == "info":
                self._process.pop(operation.seat, None)
            return True

    def begin_fault(self, name: str, target: str) -> Fault:
        """Record that a fault starts; this alone proves nothing."""
        fault = Fault(name=name, target=target, id=self._next_fault())
        self._fault(name, target, fault.id, "begin", {})
        return fault

    def landed(self, fault: Fault, evidence: Evidence) -> None:
        """Record that a fault bit, and what shows it."""
        fault.landed = True
        self._fault(fault.name, fault.target, fault.id, "landed", evidence)

    def end_fault(self, fault: Fault, evidence: Evidence) -> None:
        """Record that a fault is over, with what it did in all."""
        self._fault(fault.name, fault.target, fault.id, "end", evidence)

    def suspend_assumption(self, assumption: str, why: str) -> Callable[[], None]:
        """Record that rules which rest on an assumption are not to be judged; what ends that."""
        same = self._next_fault()
        tell = partial(self._fault, SUSPENDED, why, same, assumption=assumption)
        tell(phase="begin", evidence={})
        return lambda: tell(phase="end", evidence={})

    def phase(
        self, campaign: str, name: str, *, bound_s: float | None = None
    ) -> Callable[..., None]:
        """Record that a phase begins; what is called with further fields when it ends."""
        about = {"campaign": campaign, "name": name}
        bound = {} if bound_s is None else {"bound_s": bound_s}

        def write(phase: str, **said: object) -> None:
            with self._lock:
                self._writer.write({**self._stamp("phase"), **about, "phase": phase, **said})

        write("begin", **bound)
        return partial(write, "end")

    def step(self, document: Mapping[str, Any], meant: Mapping[str, Any]) -> None:
        """Record a step before it is carried out, and what its symbolic arguments mean."""
        resolved = {"resolved": dict(meant)} if meant else {}
        with self._lock:
            self._writer.write({**self._stamp("step"), **document, **resolved})

    def probe(self, what: str, rows: list[dict[str, object]]) -> None:
        """Record an independent look at the store."""
        with self._lock:
            self._writer.write({**self._stamp("probe"), "what": what, "rows": rows})

    def effect(
        self,
        node: int,
        *,
        number: int,
        port: str,
        call: str,
        args: Mapping[str, object],
        outcome: str,
    ) -> None:
        """Record an effect as the gate of this node reported it."""
        with self._lock:
            line = {**self._stamp("effect"), "node": node, "effect": number}
            line.update(port=port, call=call, args=dict(args), outcome=outcome)
            self._writer.write(line)

    def _fault(
        self,
        name: str,
        target: str,
        fault_id: str,
        phase: str,
        evidence: Evidence,
        *,
        assumption: str | None = None,
    ) -> None:
        """Record a phase of a fault, and which assumption of rules it breaks, if any."""
        with self._lock:
            planned = {"plan": self.plan_part} if self.plan_part and phase == "begin" else {}
            self._writer.write(
                {
                    **self._stamp("fault"),
                    "name": name,
                    "target": target,
                    "id": fault_id,
                    **planned,
                    "phase": phase,
                    "assumption": assumption,
                    "evidence": dict(evidence),
                }
            )

    def _next_fault(self) -> str:
        return f"{self._slot.name}-{next(self._faults)}"

    def _operation_line(self, operation: Operation, type_: str) -> Line:
        given = operation.arguments
        return {
            **self._stamp("op"),
            "process": operation.process,
            "type": type_,
            "f": operation.f,
            **{name: given[name] for name in _OBJECT if name in given},
            "node": operation.node,
        }

    def _stamp(self, kind: str) -> Line:
        return {"kind": kind, "time": self._now(), "clock": self._clock}

    def _process_of(self, seat: str) -> int:
        if seat not in self._process:
            self._process[seat] = self._processes
            self._processes += 1
        return self._process[seat]


def ending(f: str, answer: Answer | None) -> tuple[str, Line]:
    """How a call of a control plane ended, by its answer: the type, and what the line says."""
    if answer is None:
        return "info", {"error": None}
    fields: Line = {"error": answer.error}
    if answer.definite and answer.stored:
        fields["stored"] = dict(answer.stored)
    return classify(f, answer.error), fields


def _jsonable(value: object) -> object:
    if not isinstance(value, tuple):
        return value
    return [list(part) if isinstance(part, tuple) else part for part in value]

"""Plays scripts in any world: one reading of the script language for all of them.

The player follows the order table, opens and completes operations through the recorder, brackets
every fault with begin and end, and writes `landed` only when the transport showed evidence with a
count above zero. A fault that never bit therefore has no landed line, however often it was tried.
Its window is never wider than the fault: the begin is written before it starts to act on requests
that follow, the end before it is lifted. So what lies inside the window really met the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.errors import LabBroken, UsageError
from harness.history.recorder import Evidence, Fault, Operation, Recorder
from harness.steps.order import OUTAGES, Order, OutOfOrder
from harness.steps.step import LAB, Step
from harness.steps.text import ScriptError, where
from harness.sut.protocol import Answer
from harness.worlds.transport import Transport

if TYPE_CHECKING:
    from harness.processes.database import Log

# Which fault a verb is, and the count that shows that it bit.
FAULTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "hold": ("hold-request", "requests_held"),
        "step": ("split-request", "transactions_passed"),
        "lose": ("lose-reply", "replies_dropped"),
        "drop": ("drop-request", "requests_dropped"),
        "kill": ("kill", "operations_open"),
        "pause": ("pause", "requests_stalled"),
        "refuse": ("control-plane-refused", "refusals"),
        "break": ("control-plane-broken", "errors_answered"),
    }
)

CONTROL_PLANE = "control-plane"


class Player:
    """Carries out steps one by one; keeps what is open between two calls of `play`."""

    def __init__(self, recorder: Recorder, transport: Transport) -> None:
        self._recorder = recorder
        self._transport = transport
        self._order = Order()
        self._open: dict[str, Operation] = {}
        self._faults: dict[tuple[str, str], Fault] = {}
        self._verbs: Mapping[str, Callable[[Step], None]] = {
            "call": self._call,
            "begin": self._begin,
            "end": self._end,
            "hold": self._hold,
            "step": self._step,
            "release": self._release,
            "lose": self._lose,
            "drop": self._drop,
            "kill": self._kill,
            "pause": self._pause,
            "resume": self._resume,
            "probe": self._probe,
            "upgrade": self._upgrade,
            **{verb: self._outage for pair in OUTAGES.items() for verb in pair},
        }

    def play(self, steps: Iterable[Step]) -> None:
        """Play the steps in order; refuses before the first one what this world cannot do."""
        steps = list(steps)
        self._refuse_unsupported(steps)
        for step in steps:
            try:
                self._order.advance(step.actor, step.verb, with_call=step.f is not None)
            except OutOfOrder as problem:
                raise ScriptError(f"{where(step)}: {problem}") from None
            self._verbs[step.verb](step)
            self._transport.settle()
            self._watch()

    def finish(self) -> None:
        """Record that what is still open will never be answered, and that all faults are over."""
        for operation in self._open.values():
            self._recorder.complete(operation, None)
        self._open.clear()
        for verb, client in list(self._faults):
            self._end_fault(verb, client, {})

    def _refuse_unsupported(self, steps: list[Step]) -> None:
        for step in steps:
            if step.verb not in self._transport.supports:
                able = ", ".join(sorted(self._transport.supports))
                raise UsageError(f"{where(step)}: this world cannot {step.verb}; it can: {able}")

    def _invoke(self, step: Step) -> Operation:
        if step.f is None:
            raise LabBroken(f"{where(step)} carries no call")
        self._transport.prepare(step.actor)
        operation = self._recorder.invoke(step.actor, step.f, step.arguments)
        self._open[step.actor] = operation
        return operation

    def _call(self, step: Step) -> None:
        operation = self._invoke(step)
        self._transport.send(operation)
        self._wait(step.actor)

    def _begin(self, step: Step) -> None:
        self._transport.send(self._invoke(step))

    def _end(self, step: Step) -> None:
        self._wait(step.actor)

    def _wait(self, client: str) -> None:
        self._transport.wait(self._open[client])
        self._open.pop(client)

    def _hold(self, step: Step) -> None:
        fault = self._begin_fault("hold", step.actor)
        self._land("hold", fault, self._transport.hold(self._invoke(step)))

    def _step(self, step: Step) -> None:
        fault = self._begin_fault("step", step.actor)
        evidence = self._transport.step(self._open[step.actor])
        self._land("step", fault, evidence)
        self._end_fault("step", step.actor, evidence)

    def _release(self, step: Step) -> None:
        self._end_fault("hold", step.actor, {})
        self._transport.release(self._open[step.actor])
        self._wait(step.actor)

    def _lose(self, step: Step) -> None:
        self._on_the_way(step, self._transport.lose)

    def _drop(self, step: Step) -> None:
        self._on_the_way(step, self._transport.drop)

    def _on_the_way(self, step: Step, damage: Callable[..., Evidence]) -> None:
        """Lose the request or its reply, whether it leaves now or was held before."""
        held = step.f is None
        if held:
            self._end_fault("hold", step.actor, {})
        fault = self._begin_fault(step.verb, step.actor)
        operation = self._open[step.actor] if held else self._invoke(step)
        evidence = damage(operation, held=held)
        self._land(step.verb, fault, evidence)
        self._wait(step.actor)
        self._end_fault(step.verb, step.actor, evidence)

    def _kill(self, step: Step) -> None:
        fault = self._begin_fault("kill", step.actor)
        evidence = self._transport.kill(step.actor)
        self._land("kill", fault, evidence)
        self._recorder.complete(self._open.pop(step.actor), None)
        for verb in ("hold", "pause"):
            if (verb, step.actor) in self._faults:
                self._end_fault(verb, step.actor, {})
        self._end_fault("kill", step.actor, evidence)

    def _pause(self, step: Step) -> None:
        self._begin_fault("pause", step.actor)
        self._transport.pause(step.actor)

    def _resume(self, step: Step) -> None:
        self._end_fault("pause", step.actor, self._transport.stalled(step.actor))
        self._transport.resume(step.actor)

    def _outage(self, step: Step) -> None:
        if step.verb in OUTAGES:
            self._begin_fault(step.verb, LAB)
            self._transport.outage(step.verb)
            return
        opening = next(verb for verb, closing in OUTAGES.items() if closing == step.verb)
        self._end_fault(opening, LAB, self._transport.hits(opening))
        self._transport.outage(step.verb)

    def _probe(self, step: Step) -> None:
        self._recorder.probe("control_plane", self._transport.probe())

    def _upgrade(self, step: Step) -> None:
        topic, partitions = step.arguments.get("topic"), step.arguments.get("partition", ())
        asked: list[Log] = []
        if isinstance(topic, str) and isinstance(partitions, tuple):
            asked = [(topic, partition) for partition in partitions if isinstance(partition, int)]
        operations = [
            self._recorder.invoke(
                f"{LAB}-{partition}", "upgrade_schema", {"topic": name, "partition": partition}
            )
            for name, partition in asked
        ]
        self._transport.upgrade([(self._recorder.topic(name), number) for name, number in asked])
        for operation in operations:
            self._recorder.complete(operation, Answer(error="NONE", stored={}))

    def _begin_fault(self, verb: str, client: str) -> Fault:
        name, _ = FAULTS[verb]
        target = CONTROL_PLANE if client == LAB else self._recorder.target(client)
        fault = self._recorder.begin_fault(name, target)
        self._faults[verb, client] = fault
        return fault

    def _land(self, verb: str, fault: Fault, evidence: Evidence) -> None:
        count = evidence.get(FAULTS[verb][1], 0)
        if not fault.landed and isinstance(count, int) and count > 0:
            self._recorder.landed(fault, evidence)

    def _end_fault(self, verb: str, client: str, evidence: Evidence) -> None:
        self._recorder.end_fault(self._faults.pop((verb, client)), evidence)

    def _watch(self) -> None:
        """Some faults bite later than they begin: ask after every step until they did."""
        for (verb, client), fault in self._faults.items():
            if fault.landed:
                continue
            if verb == "pause":
                self._land(verb, fault, self._transport.stalled(client))
            elif verb in OUTAGES:
                self._land(verb, fault, self._transport.hits(verb))

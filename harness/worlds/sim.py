"""The simulated world: one process, no threads, no clock; the same script gives the same bytes.

A request is a coroutine of the control plane that this transport advances by hand, one transaction
at a time. Until its first transaction it is in the network; between two transactions it can be
held, killed or overtaken; after the last one its reply travels back. Time is the number of steps
played.

What was begun and not yet ended is carried out at some moment in between, chosen by the seed after
each step, and its reply arrives at `end`. So two begun requests really interleave, differently for
each seed and identically for the same one.

An outage is answered as the reference's own code would: the decision that classifies failures is
asked with the SQLSTATE a database would have given, so a mutant of it shows here as well.
"""

from __future__ import annotations

import random
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.sut.protocol import STATE, Answer
from harness.workloads.verbs import ALL_VERBS
from harness.worlds.recorder import Evidence, Operation, Recorder
from harness.worlds.transport import Log, Row, Transport
from reference_impl.control_plane.flow import effect_args, transactions_of
from reference_impl.control_plane.port import Reply, Request, Seed

Call = Coroutine[Any, Any, Reply]

# What a database that cannot be reached, and one without our functions, would say.
UNREACHABLE: str | None = None
UNDEFINED_FUNCTION = "42883"


class Store(Protocol):
    """A control plane that can be stepped, looked into and damaged."""

    verbs: frozenset[str]

    def call(self, node: int, request: Request) -> Call:
        """The coroutine of one call, not yet started."""

    def advance(self, node: int, call: Call) -> Reply | None:
        """Run one transaction of it; the reply if that was the last one."""

    def failure(self, sqlstate: str | None) -> Reply:
        """What a caller is told when the control plane fails this way."""

    def broken(self, broken: bool) -> bool:
        """Start or end a hard failure; False if the transport has to play it."""

    def probe(self) -> list[Row]:
        """All rows, from the store itself."""

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Logs under the old schema, then the rest of the migrations."""

    def close(self) -> None:
        """Let go of everything."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Flight:
    """One request on its way: not started, somewhere in between, or done with a reply."""

    operation: Operation
    request: Request
    call: Call
    passed: int = 0  # transactions carried out
    held: bool = False
    reply: Reply | None = None


class SimTransport(Transport):
    """Carries requests by stepping coroutines."""

    def __init__(self, recorder: Recorder, store: Store, *, seed: int) -> None:
        self.supports = ALL_VERBS & store.verbs
        self.steps = 0
        self._recorder = recorder
        self._store = store
        self._random = random.Random(seed)
        self._flights: dict[str, _Flight] = {}
        self._paused: dict[str, int] = {}
        self._bitten: dict[str, int] = {}
        self._plays_failure = False

    def send(self, operation: Operation) -> None:
        """Put it in the network; settling decides when it is carried out."""
        request = _request(operation)
        call = self._store.call(operation.node, request)
        flight = _Flight(operation=operation, request=request, call=call)
        self._flights[operation.client] = flight

    def wait(self, operation: Operation) -> None:
        """Carry out what is left of it and deliver the reply."""
        if operation.open:
            self._tell(operation, self._run(self._flights[operation.client]))
        self._flights.pop(operation.client, None)

    def hold(self, operation: Operation) -> Evidence:
        """It stays in the network until somebody lets it go."""
        self.send(operation)
        self._flights[operation.client].held = True
        return {"requests_held": 1}

    def step(self, operation: Operation) -> Evidence:
        """One transaction; the reply travels back if it was the last."""
        flight = self._flights[operation.client]
        if flight.reply is not None:
            return {"transactions_passed": 0, "requests_left": 0}
        reply = self._advance(flight)
        if reply is not None:
            self._tell(operation, reply)
        return {"transactions_passed": 1, "requests_left": int(reply is None)}

    def release(self, operation: Operation) -> None:
        """Waiting does the rest."""
        self._flights[operation.client].held = False

    def lose(self, operation: Operation, *, held: bool) -> Evidence:
        """Carried out whole; the caller only learns that nothing came back."""
        if not held:
            self.send(operation)
        if not operation.open:
            return {"replies_dropped": 0}
        self._run(self._flights[operation.client])
        self._tell(operation, self._store.failure(UNREACHABLE))
        return {"replies_dropped": 1}

    def drop(self, operation: Operation, *, held: bool) -> Evidence:
        """What has not been carried out never will be."""
        if not held:
            self.send(operation)
        if not operation.open:
            return {"requests_dropped": 0}
        self._flights[operation.client].call.close()
        self._tell(operation, self._store.failure(UNREACHABLE))
        return {"requests_dropped": 1}

    def kill(self, client: str) -> Evidence:
        """The agent is gone, with whatever of its request had not been carried out."""
        flight = self._flights.pop(client)
        flight.call.close()
        self._paused.pop(client, None)
        return {"operations_open": int(flight.operation.open)}

    def pause(self, client: str) -> None:
        """Its request and its reply stay where they are."""
        self._paused[client] = self.steps

    def resume(self, client: str) -> None:
        """They go on."""
        self._paused.pop(client)

    def stalled(self, client: str) -> Evidence:
        """A request of a paused client that is not complete is stalled."""
        flight = self._flights.get(client)
        return {"requests_stalled": int(flight is not None and flight.operation.open)}

    def outage(self, verb: str) -> None:
        """Refusals are played here; a hard failure by the store itself, if it can."""
        if verb in ("refuse", "break"):
            self._bitten[verb] = 0
        if verb in ("heal", "mend"):
            self._bitten.pop("refuse" if verb == "heal" else "break")
        if verb in ("break", "mend"):
            really = self._store.broken(verb == "break")
            self._plays_failure = verb == "break" and not really

    def bitten(self, verb: str) -> Evidence:
        """How many transactions ran into the outage."""
        key = "refusals" if verb == "refuse" else "errors_answered"
        return {key: self._bitten.get(verb, 0)}

    def probe(self) -> list[Row]:
        """Straight from the store."""
        return self._store.probe()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Straight in the store."""
        self._store.upgrade(logs)

    def settle(self) -> None:
        """Time passes: what was begun may be carried out now, or later."""
        self.steps += 1
        for client, flight in self._flights.items():
            free = not flight.held and flight.reply is None and client not in self._paused
            if free and self._random.random() < 0.5:
                self._advance(flight)

    def close(self) -> None:
        """Abandon what is still on its way."""
        for flight in self._flights.values():
            flight.call.close()
        self._flights.clear()
        self._store.close()

    def _run(self, flight: _Flight) -> Reply:
        reply = flight.reply
        while reply is None:
            reply = self._advance(flight)
        return reply

    def _advance(self, flight: _Flight) -> Reply | None:
        """One transaction, or the outage it runs into; the reply if there is one now."""
        if "refuse" in self._bitten:
            self._bitten["refuse"] += 1
            return self._fail(flight, UNREACHABLE)
        if "break" in self._bitten:
            self._bitten["break"] += 1
        if self._plays_failure:
            return self._fail(flight, UNDEFINED_FUNCTION)
        flight.reply = self._store.advance(flight.operation.node, flight.call)
        flight.passed += 1
        return flight.reply

    def _fail(self, flight: _Flight, sqlstate: str | None) -> Reply:
        """The transaction that met an outage; the port reports it like any other."""
        flight.call.close()
        flight.reply = reply = self._store.failure(sqlstate)
        transaction = transactions_of(flight.request)[flight.passed]
        args = effect_args(flight.request, transaction)
        self._recorder.effect(flight.operation.node, flight.request.f, args, str(reply.error))
        return reply

    def _tell(self, operation: Operation, reply: Reply) -> None:
        found = reply.to_json()
        error = str(found["error"])
        stored = {name: found[name] for name in STATE if found.get(name) is not None}
        self._recorder.complete(operation, Answer(error=error, stored=stored))


def _request(operation: Operation) -> Request:
    values: dict[str, Any] = dict(operation.arguments)
    if "entries" in values:
        values["entries"] = tuple(Seed(*entry) for entry in values["entries"])
    return Request(f=operation.f, **values)

"""The simulated world: one process, virtual time; the same script and seed give the same bytes.

Each client is a node of a simulation. Its program takes requests from an inbox, one at a time, asks
its control plane, and writes the answer down when it has it. Requests and replies take their time
on the way, and a client takes its time to ask, unless somebody waits for the answer. The seed says
how long. So what was begun is carried out, and answered, at some moment between `begin` and `end`:
two begun requests really interleave, differently for each seed and identically for the same one.

What is under way is not in the client's hands any more. The request of a client that is killed or
paused is carried out all the same, and the reply of a paused one waits until it goes on. Only what
the lab holds back in the network goes down with its client, as it would with a connection.

An outage is answered by the reference's own code: a transaction that meets it is told so at its
gate, and the port says what that means to a caller.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.deployments.simulated_database import SimulatedDatabase
from harness.history.recorder import Evidence, Operation, Recorder
from harness.simulation.gate import Condition
from harness.simulation.lever import SimLever
from harness.simulation.process import Process
from harness.simulation.simulation import Simulation
from harness.sut.protocol import Answer
from harness.worlds.transport import Transport
from reference_impl.control_plane.port import Request, Seed
from reference_impl.ports import Ports
from reference_impl.ports.effects import Trouble

if TYPE_CHECKING:
    from harness.processes.database import Log, Row

PORT = "control_plane"

# A round trip takes 0.4 to 2 ms. A step of the script takes less than the shortest way there, so
# that nothing is carried out before the next step, but a few steps make a difference. A client that
# nobody urges may let several round trips of the others pass before it asks.
STEP_S = 0.0001
THINK_TIME_S = 0.02


@dataclass(slots=True, kw_only=True, eq=False)
class _Client:
    """A client: the node that acts for it, and where its last request stands."""

    node: str
    inbox: asyncio.Queue[Operation] = field(default_factory=asyncio.Queue)
    urged: asyncio.Event = field(default_factory=asyncio.Event)  # somebody waits for the answer
    operation: Operation | None = None
    held: Condition | None = None

    @property
    def waits(self) -> bool:
        """Whether it asked something and has no answer."""
        return self.operation is not None and self.operation.open


class SimTransport(Transport):
    """Carries requests by letting simulated time pass."""

    def __init__(
        self,
        recorder: Recorder,
        sim: Simulation,
        database: SimulatedDatabase,
        verbs: frozenset[str],
    ) -> None:
        self.supports = verbs
        self._recorder = recorder
        self._sim = sim
        self._database = database
        self._failure: SimLever | None = None
        self._conditions = sim.effects.conditions
        self._clients: list[_Client] = []
        self._refusal = Condition(port=PORT, trouble=Trouble.REFUSED)

    def prepare(self, client: str) -> None:
        """Start its node if it is down."""
        self._client(client)

    def send(self, operation: Operation) -> None:
        """Put it in the inbox of its client, who asks as soon as it runs."""
        client = self._client(operation.client)
        client.operation, client.urged = operation, asyncio.Event()
        client.inbox.put_nowait(operation)

    def wait(self, operation: Operation) -> None:
        """Let time pass until the answer is there."""
        self._until(operation, lambda: False)

    def hold(self, operation: Operation) -> Evidence:
        """Its transactions stay in the network until somebody lets them go."""
        client = self._client(operation.client)
        client.held = held = self._impose(client, Condition(port=PORT, holds=True))
        self.send(operation)
        self._until(operation, lambda: held.hits > 0)
        return {"requests_held": held.hits}

    def step(self, operation: Operation) -> Evidence:
        """One transaction; then it is complete, or its next transaction is held."""
        held = self._client(operation.client).held
        assert held is not None, "the player steps only what it held"
        before, passed = held.hits, held.release(1)
        self._until(operation, lambda: held.hits > before)
        return {"transactions_passed": passed, "requests_left": int(operation.open)}

    def release(self, operation: Operation) -> None:
        """Let go of what is held; what comes after it is not held any more."""
        self._let_go(self._client(operation.client)).release()

    def lose(self, operation: Operation, *, held: bool) -> Evidence:
        """The next transaction is carried out, and nobody hears of it."""
        loss = Condition(port=PORT, loses_replies=True, left=1)
        return {"replies_dropped": self._lost(operation, loss, held=held)}

    def drop(self, operation: Operation, *, held: bool) -> Evidence:
        """The next transaction never gets there."""
        loss = Condition(port=PORT, trouble=Trouble.REFUSED, left=1)
        return {"requests_dropped": self._lost(operation, loss, held=held)}

    def kill(self, client: str) -> Evidence:
        """Its node dies, and with it what was held of its request."""
        found = self._client(client)
        if found.held is not None:
            self._let_go(found).drop()
        self._sim.kill(found.node)
        return {"operations_open": int(found.waits)}

    def pause(self, client: str) -> None:
        """Its node stands still; what is under way is not."""
        self._sim.pause(self._client(client).node)

    def resume(self, client: str) -> None:
        """Its node goes on."""
        self._sim.resume(self._life(self._client(client)))

    def stalled(self, client: str) -> Evidence:
        """A request of a paused client that is not complete is stalled."""
        return {"requests_stalled": int(self._client(client).waits)}

    def outage(self, verb: str) -> None:
        """Refusals happen on the way to the store, a hard failure in it."""
        if verb == "refuse":
            self._refusal = Condition(port=PORT, trouble=Trouble.REFUSED)
            self._conditions.append(self._refusal)
        elif verb == "heal":
            self._conditions.remove(self._refusal)
        elif verb == "break":
            self._failure = self._database.fail()
        elif verb == "mend" and self._failure is not None:
            self._failure.release()

    def hits(self, verb: str) -> Evidence:
        """How many transactions ran into the outage."""
        if verb == "break":
            return {} if self._failure is None else self._failure.counts
        return {"refusals": self._refusal.hits}

    def probe(self) -> list[Row]:
        """Straight from the store."""
        return self._database.probe()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Straight in the store."""
        self._database.upgrade(logs)

    def settle(self) -> None:
        """A step of the script takes its time."""
        self._sim.advance(STEP_S)

    def close(self) -> None:
        """Abandon what is still on its way."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._database.close)
            self._sim.close()

    def _client(self, name: str) -> _Client:
        """A client whose node is up; nodes are numbered as the recorder numbers clients."""
        number = self._recorder.node(name)
        while len(self._clients) < number:
            self._add()
        client = self._clients[number - 1]
        if not self._sim.nodes[client.node].up:
            client.inbox = asyncio.Queue()
            self._sim.start(client.node)
        return client

    def _add(self) -> None:
        client = _Client(node=f"client-{len(self._clients) + 1}")

        async def program(ports: Ports) -> None:
            while True:
                operation = await client.inbox.get()
                await _think(client, ports)
                reply = await ports.control_plane.call(_request(operation))
                self._recorder.complete(operation, Answer.of(reply.to_json()))

        self._clients.append(client)
        self._sim.add(client.node, program)

    def _until(self, operation: Operation, reached: Callable[[], bool]) -> None:
        """Let time pass until it is so, or the operation is complete."""
        self._client(operation.client).urged.set()
        self._sim.run_until(lambda: reached() or not operation.open)

    def _life(self, client: _Client) -> Process:
        process = self._sim.nodes[client.node].process
        assert process is not None, f"{client.node} is up"
        return process

    def _impose(self, client: _Client, condition: Condition) -> Condition:
        """Let it befall what a client asks in its present life, and in no former one."""
        condition.life = self._life(client)
        self._conditions.append(condition)
        return condition

    def _let_go(self, client: _Client) -> Condition:
        held, client.held = client.held, None
        assert held is not None, "the player lets go only of what it held"
        self._conditions.remove(held)
        return held

    def _lost(self, operation: Operation, loss: Condition, *, held: bool) -> int:
        """Let it run into a loss, to its end; whether that happened."""
        self._impose(self._client(operation.client), loss)
        if held:
            self.release(operation)
        else:
            self.send(operation)
        self.wait(operation)
        self._conditions.remove(loss)
        return loss.hits


async def _think(client: _Client, ports: Ports) -> None:
    """Mostly not for long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(THINK_TIME_S * ports.rng.random() ** 3):
            await client.urged.wait()


def _request(operation: Operation) -> Request:
    values: dict[str, Any] = dict(operation.arguments)
    if "entries" in values:
        values["entries"] = tuple(Seed(*entry) for entry in values["entries"])
    return Request(f=operation.f, **values)

"""A client of a simulated deployment: a node whose process does what the lab asks of it.

Its work runs as tasks of that process, through its ports. So a kill ends it, a pause parks it, cuts
of its links and levers on its calls apply to it. What has left a client is carried out whether or
not the client lives; what is held in the network goes down with it.

A call of the control plane that is not waited for (`deployment.urgency`) is not sent at once: the
client takes its time, as long as the seed says. So calls that were begun interleave, differently
for each seed and identically for the same one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from harness.deployments.deployment import ClientLost, Result, urgency
from harness.errors import LabBroken
from harness.simulation.simulation import Simulation
from harness.sut.protocol import Answer
from reference_impl.control_plane.lines import answered, request_of
from reference_impl.ports import Address, Connection, Listener, Network, ObjectStore, Ports
from reference_impl.ports.network import Handler

# A round trip to the control plane takes 0.4 to 2 ms: a client that takes its time may let several
# round trips of the others pass.
THINK_TIME_S = 0.02


class SimClient:
    """One client; `services` are those that its deployment has."""

    def __init__(self, sim: Simulation, node: str, number: int, services: frozenset[str]) -> None:
        self.node = node
        self._sim = sim
        self._services = services
        self._ports: Ports | None = None
        self._stop = asyncio.Event()
        self._waiting: list[asyncio.Future[Any]] = []
        sim.add(node, self._program, number=number)

    async def ready(self) -> None:
        """Start it, if it is down."""
        self._sim.levers.start_again(self.node)

    def stop(self) -> None:
        """Let its process end in good order."""
        self._sim.nodes[self.node].stopping = True
        self._stop.set()

    async def kafka(self, work: Callable[[Network], Awaitable[Result]]) -> Result:
        """Talk to brokers over its own network."""
        return await self._inside(lambda ports: work(_Network(self)))

    async def control_plane(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        """Ask the control plane about one partition."""
        (answer,) = await self.control_plane_many(f, (arguments,))
        return answer

    async def control_plane_many(
        self, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Ask the control plane about several partitions in one call."""
        self._check("control_plane")
        urged = urgency.get()

        async def ask(ports: Ports) -> Sequence[Answer]:
            if urged is not None:
                await _think(urged, ports)
            request = request_of({"f": f, "partitions": [dict(one) for one in partitions]})
            answer = await ports.control_plane.call(request)
            return [Answer.of(answered(one)) for one in answer.partitions]

        return await self._inside(ask)

    async def store(self, work: Callable[[ObjectStore], Awaitable[Result]]) -> Result:
        """Talk to the object store."""
        self._check("object_store")
        return await self._inside(lambda ports: work(ports.object_store))

    @property
    def ports(self) -> Ports:
        """Those of its present life."""
        if self._ports is None or not self._sim.nodes[self.node].up:
            raise ClientLost(f"{self.node} is down")
        return self._ports

    def _check(self, service: str) -> None:
        if service not in self._services:
            raise LabBroken(f"{self.node} was asked for a {service}, which this plan does not have")

    async def _inside(self, work: Callable[[Ports], Awaitable[Result]]) -> Result:
        """Carry work out as a task of its process; what that came to, or ClientLost."""
        ports, process = self.ports, self._sim.nodes[self.node].process
        assert process is not None, f"{self.node} is up"
        answer: asyncio.Future[Result] = self._sim.loop.create_future()
        task = self._sim.loop.create_task(
            _answered(work, ports, answer), context=process.context.copy()
        )
        self._waiting.append(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._waiting.remove(answer)

    def _program(self, ports: Ports) -> Coroutine[Any, Any, None]:
        """It only lives; those who wait for its work are told when that ends."""
        self._ports, self._stop = ports, asyncio.Event()
        process = self._sim.nodes[self.node].process
        assert process is not None, f"{self.node} is being started"
        process.at_end.append(self._lost)
        return _until(self._stop)

    def _lost(self) -> None:
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(ClientLost(f"{self.node} was killed"))


class _Network:
    """The network of a client, whichever life it is in; connections end with a life."""

    def __init__(self, client: SimClient) -> None:
        self._client = client

    async def connect(self, address: Address) -> Connection:
        """From the node of the client."""
        return await self._client.ports.network.connect(address)

    async def listen(self, address: Address, handler: Handler) -> Listener:
        """On the node of the client."""
        return await self._client.ports.network.listen(address, handler)


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


async def _answered(
    work: Callable[[Ports], Awaitable[Result]], ports: Ports, answer: asyncio.Future[Result]
) -> None:
    try:
        result = await work(ports)
    except asyncio.CancelledError:
        answer.cancel()
        raise
    except Exception as error:
        if not answer.done():
            answer.set_exception(error)
    else:
        if not answer.done():
            answer.set_result(result)


async def _think(urged: asyncio.Event, ports: Ports) -> None:
    """Mostly not for long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(THINK_TIME_S * ports.rng.random() ** 3):
            await urged.wait()

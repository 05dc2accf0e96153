"""A client inside the lab's own process that can be killed, paused and cut off like a node.

What it does runs in tasks of its own. Killed, they are cancelled, its connections are reset, and
callers get `ClientLost`. Paused, it sends nothing and hears nothing: bytes and results wait until
it goes on. Where there is a link proxy, its connections come from an address of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from harness.deployments.deployment import ClientLost, Result
from harness.errors import LabBroken
from harness.levers import Lever, PulledLever
from harness.sut.protocol import Answer
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Connection, Network, ObjectStore
from reference_impl.ports.network import Handler, Listener


class LiveClient:
    """A client of a deployment with real nodes."""

    def __init__(self, node: str, *, host: str | None = None) -> None:
        """``host`` is the address that its connections come from."""
        self.node = node
        self.alive = True
        self.connections: dict[ClientConnection, None] = {}
        self._network = ClientNetwork(self, StreamNetwork(host))
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._kills = 0
        self._pauses = 0
        self._held = 0
        self._going = asyncio.Event()
        self._going.set()

    async def ready(self) -> None:
        """Run again, if it was killed."""
        self.alive = True

    async def kafka(self, work: Callable[[Network], Awaitable[Result]]) -> Result:
        """Talk to brokers over its own network."""
        return await self.carry_out(work(self._network))

    async def control_plane(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        """About one partition."""
        (answer,) = await self.control_plane_many(f, (arguments,))
        return answer

    async def control_plane_many(
        self, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Not here."""
        raise LabBroken(f"{self.node} has no control plane in this deployment")

    async def store(self, work: Callable[[ObjectStore], Awaitable[Result]]) -> Result:
        """Not here."""
        raise LabBroken(f"{self.node} has no object store in this deployment")

    # ── what is done to it ───────────────────────────────────────────────────────────────────────

    async def kill(self) -> Lever:
        """End all it has under way; released, it can be used again."""
        counts = await self._kill()
        return PulledLever(lambda: counts, self.ready)

    async def _kill(self) -> dict[str, int]:
        self.alive = False
        self._kills += 1
        tasks, connections = list(self._tasks), list(self.connections)
        for task in tasks:
            task.cancel()
        for connection in connections:
            connection.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pauses = 0  # a pause ends with what was paused
        self._going.set()
        return {
            "processes_ended": int(bool(tasks or connections)),
            "operations_open": len(tasks),
            "connections_ended": len(connections),
        }

    async def pause(self) -> Lever:
        """Keep back what it sends, hears and finds out; released, all of it goes on."""
        before, kills = self._held, self._kills
        self._pauses += 1
        self._going.clear()

        async def release() -> None:
            if kills == self._kills:
                self._pauses -= 1
                if not self._pauses:
                    self._going.set()

        return PulledLever(lambda: {"callbacks_stalled": self._held - before}, release)

    async def close(self) -> None:
        """End it with the deployment."""
        await self._kill()

    # ── how it does things ───────────────────────────────────────────────────────────────────────

    async def carry_out(self, work: Awaitable[Result]) -> Result:
        """Do it in a task that ends with the client."""
        try:
            return await self._in_task(work)
        finally:
            if isinstance(work, Coroutine):
                work.close()  # perhaps it was never begun

    async def _in_task(self, work: Awaitable[Result]) -> Result:
        if not self.alive:
            raise ClientLost(f"{self.node} was killed")
        kills = self._kills
        task = asyncio.get_running_loop().create_task(self.withheld(work))
        self._tasks[task] = None
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if kills == self._kills or (caller is not None and caller.cancelling()):
                raise
            raise ClientLost(f"{self.node} was killed") from None
        finally:
            del self._tasks[task]

    async def withheld(self, work: Awaitable[Result]) -> Result:
        """Wait for it, and return when the client runs."""
        try:
            result = await work
        except Exception:
            await self.passes()
            raise
        await self.passes()
        return result

    async def passes(self) -> None:
        """Return at once, or when the client goes on."""
        if not self._going.is_set():
            self._held += 1
            await self._going.wait()


class ClientNetwork:
    """The network of a client."""

    def __init__(self, client: LiveClient, inner: Network) -> None:
        self._client = client
        self._inner = inner

    async def connect(self, address: Address) -> Connection:
        """A connection that ends with the client."""
        await self._client.passes()
        return ClientConnection(self._client, await self._inner.connect(address))

    async def listen(self, address: Address, handler: Handler) -> Listener:
        """Clients are not called."""
        raise LabBroken(f"{self._client.node} cannot listen")


class ClientConnection:
    """A connection of a client that may be paused."""

    def __init__(self, client: LiveClient, inner: Connection) -> None:
        self.peer = inner.peer
        self._client = client
        self._inner = inner
        client.connections[self] = None

    async def read_exactly(self, count: int) -> bytes:
        """That many bytes, once the client hears them."""
        return await self._client.withheld(self._inner.read_exactly(count))

    async def read_long(self, count: int) -> bytes | bytearray:
        """The same."""
        return await self._client.withheld(self._inner.read_long(count))

    async def read_into(self, place: memoryview) -> None:
        """The same, into a place."""
        await self._client.withheld(self._inner.read_into(place))

    async def read_some(self, most: int) -> bytes:
        """At least one byte, once the client hears it."""
        return await self._client.withheld(self._inner.read_some(most))

    async def send(self, data: bytes) -> None:
        """Hand bytes over as soon as the client runs."""
        await self._client.passes()
        await self._inner.send(data)

    async def close(self) -> None:
        """Close it in good order."""
        await self._client.passes()
        self._client.connections.pop(self, None)
        await self._inner.close()

    def abort(self) -> None:
        """Break it at once."""
        self._client.connections.pop(self, None)
        self._inner.abort()

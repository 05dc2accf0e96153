"""A client of the process world: Kafka connections, an agent for the control plane, a store.

All of it is one node: killed, the agent gets SIGKILL and everything else ends with it; paused, the
agent gets SIGSTOP and nothing else passes either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from harness.deployments.agent import Agent
from harness.deployments.deployment import Result
from harness.deployments.live_client import LiveClient
from harness.deployments.pulled import PulledLever
from harness.levers import Lever
from harness.sut.protocol import Answer
from reference_impl.ports import ObjectStore
from reference_impl.ports.object_store import ObjectInfo


class ProcessClient(LiveClient):
    """A client with an agent, a store, or both."""

    def __init__(
        self,
        node: str,
        *,
        host: str | None = None,
        agent: Agent | None = None,
        store: ObjectStore | None = None,
        on_kill: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_kill`` is called when it was killed."""
        super().__init__(node, host=host)
        self.agent = agent
        self._on_kill = on_kill
        self._store = None if store is None else ClientStore(self, store)

    async def ready(self) -> None:
        """Return when it runs; a client that was killed is started again."""
        await super().ready()
        if self.agent is not None and self._going.is_set():
            await self.agent.ready()

    async def control_plane(self, f: str, arguments: Mapping[str, Any]) -> Answer | None:
        """Ask the agent, which is started if there is none."""
        agent = self.agent
        if agent is None:
            return await super().control_plane(f, arguments)

        async def ask() -> Answer | None:
            await self.passes()
            return await agent.ask(f, arguments)

        return await self.carry_out(ask())

    async def store(self, work: Callable[[ObjectStore], Awaitable[Result]]) -> Result:
        """Talk to the object store."""
        if self._store is None:
            return await super().store(work)
        return await self.carry_out(work(self._store))

    async def pause(self) -> Lever:
        """Stop the agent, and keep back what the client sends, hears and finds out."""
        inner, agent = await super().pause(), self.agent
        if agent is None:
            return inner
        stopped = await agent.pause()

        async def release() -> None:
            if self._pauses == 1:
                agent.resume()
            await inner.release()

        return PulledLever(lambda: {**inner.counts, "threads_stopped": stopped()}, release)

    async def close(self) -> None:
        """End it for good."""
        if self.agent is not None:
            await self.agent.close()
        await super()._kill()

    async def _kill(self) -> dict[str, int]:
        self.alive = False
        ended = 0 if self.agent is None else await self.agent.kill()
        counts = await super()._kill()
        self._on_kill()
        return {**counts, "processes_ended": ended or counts["processes_ended"]}


class ClientStore:
    """The object store of a client that may be paused."""

    def __init__(self, client: ProcessClient, inner: ObjectStore) -> None:
        self._client = client
        self._inner = inner

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """Store an object whole."""
        await self._passed(lambda: self._inner.put(key, data, if_absent=if_absent))

    async def get(self, key: str) -> bytes:
        """The whole object."""
        return await self._passed(lambda: self._inner.get(key))

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """Up to that many bytes from there."""
        return await self._passed(lambda: self._inner.get_range(key, start, count))

    async def head(self, key: str) -> ObjectInfo:
        """How large it is."""
        return await self._passed(lambda: self._inner.head(key))

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """All objects whose key begins so."""
        return await self._passed(lambda: self._inner.list(prefix))

    async def delete(self, keys: Sequence[str]) -> None:
        """Take objects away."""
        await self._passed(lambda: self._inner.delete(keys))

    async def close(self) -> None:
        """It ends with the client."""

    async def _passed(self, call: Callable[[], Awaitable[Result]]) -> Result:
        await self._client.passes()
        return await self._client.withheld(call())

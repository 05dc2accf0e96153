"""A client with Kafka connections, a program that asks the control plane, and a store.

All of it is one node: killed, the program gets SIGKILL and everything else ends with it; paused,
the program gets SIGSTOP and nothing else passes either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from harness.deployments.control_program import ControlProgram
from harness.deployments.deployment import Result
from harness.deployments.live_client import LiveClient
from harness.levers import Lever, PulledLever
from harness.processes.groups import stopped_threads
from harness.sut.protocol import Answer
from reference_impl.ports import ObjectStore
from reference_impl.ports.object_store import ObjectInfo


class ProcessClient(LiveClient):
    """A client with a program, a store, or both."""

    def __init__(
        self,
        node: str,
        *,
        host: str | None = None,
        program: ControlProgram | None = None,
        store: ObjectStore | None = None,
        on_kill: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_kill`` is called when it was killed."""
        super().__init__(node, host=host)
        self.program = program
        self._on_kill = on_kill
        self._store = None if store is None else ClientStore(self, store)

    async def ready(self) -> None:
        """Return when it runs; a client that was killed is started again."""
        await super().ready()
        if self.program is not None and self._going.is_set():
            await self.program.ready()

    async def control_plane_many(
        self, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Ask the program, which is started if there is none."""
        program = self.program
        if program is None:
            return await super().control_plane_many(f, partitions)
        return await self.carry_out(self.ask(program, f, partitions))

    async def ask(
        self, program: ControlProgram, f: str, partitions: Sequence[Mapping[str, Any]]
    ) -> Sequence[Answer | None]:
        """Ask as soon as the client runs."""
        await self.passes()
        return await program.ask(f, partitions)

    async def store(self, work: Callable[[ObjectStore], Awaitable[Result]]) -> Result:
        """Talk to the object store."""
        if self._store is None:
            return await super().store(work)
        return await self.carry_out(work(self._store))

    async def pause(self) -> Lever:
        """Stop the program, if there is one, and keep back all that the client sends and hears."""
        rest, program = await super().pause(), self.program
        if program is None or not program.running:
            return rest
        group = await program.pause()

        async def release() -> None:
            if self._pauses == 1:
                program.resume()
            await rest.release()

        return PulledLever(
            lambda: {**rest.counts, "threads_stopped": stopped_threads(group)}, release
        )

    async def close(self) -> None:
        """Let the program end."""
        if self.program is not None:
            await self.program.close()
        await super()._kill()

    async def _kill(self) -> dict[str, int]:
        counts = await super()._kill()
        ended = 0 if self.program is None else await self.program.kill()
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

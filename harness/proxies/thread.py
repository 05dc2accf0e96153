"""What all proxies share: a loop in a thread of its own, and levers that act there.

A proxy serves in its thread, whatever the loop of the run does. Orders are coroutines that are
carried out in that thread: an order that has returned holds for every byte that is sent after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from harness.errors import LabBroken
from harness.levers import Counts

Result = TypeVar("Result")
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]

LOOPBACK = "127.0.0.1"
_ORDER_S = 10.0


class LoopThread:
    """A loop in a thread; it ends with every server and task that was started in it."""

    def __init__(self, name: str, host: str = LOOPBACK) -> None:
        """``host`` is the address of this machine at which its servers listen."""
        self.host = host
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._connections: list[asyncio.Task[None]] = []
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._loop.is_closed()

    def order(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Carry out work in the thread and wait for it. For code outside the thread."""
        self._check_open(work)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_ORDER_S)

    async def carry_out(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The same for code in another loop, which goes on until the work is done."""
        self._check_open(work)
        there = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return await asyncio.wrap_future(there)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise LabBroken("the proxy was closed") from None

    async def listen(
        self, serve: Serve, hosts: Sequence[str] = (), port: int = 0
    ) -> asyncio.Server:
        """Accept connections until the thread ends. For code in the thread."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(serve(reader, writer))
            self._connections.append(task)
            task.add_done_callback(self._connections.remove)

        server = await asyncio.start_server(accept, hosts or self.host, port)
        self._servers.append(server)
        return server

    def close(self) -> None:
        """Stop listening, cancel all that runs and end the thread."""
        if self.closed:
            return
        self.order(self._hang_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ORDER_S)
        if self._thread.is_alive():
            raise LabBroken(f"the thread {self._thread.name} did not end")
        self._loop.close()

    async def _hang_up(self) -> None:
        for server in self._servers:
            server.close()
        await asyncio.sleep(0)  # connections that were accepted just now become tasks
        running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await asyncio.sleep(0)  # what they aborted closes its sockets

    def _check_open(self, work: Coroutine[Any, Any, Any]) -> None:
        if self.closed:
            work.close()
            raise LabBroken("the proxy is closed")


class ProxyLever:
    """A lever that acts in the thread of a proxy, and is pulled and awaited from elsewhere."""

    def __init__(self, thread: LoopThread, *counts: str) -> None:
        self.released = asyncio.Event()
        self._thread = thread
        self._counts = dict.fromkeys(counts, 0)
        self._acted = asyncio.Event()

    @property
    def counts(self) -> Counts:
        """What it did so far."""
        return dict(self._counts)

    def count(self, name: str, by: int = 1) -> None:
        """It acted. For code in the thread."""
        self._counts[name] += by
        self._acted.set()

    async def acted(self) -> None:
        """Return once a count is above zero."""
        await self._thread.carry_out(self._wait())

    async def release(self) -> None:
        """End it; a second time, or once the proxy is closed, does nothing."""
        if not self._thread.closed:
            await self._thread.carry_out(self._end())

    async def _wait(self) -> None:
        await self._acted.wait()

    async def _end(self) -> None:
        self.released.set()


def reset(writer: asyncio.StreamWriter) -> None:
    """Break a connection at once; the other side sees a reset, not a goodbye."""
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()

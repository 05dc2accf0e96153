"""Networks to be held to the contract of their port, and what can be done to them.

A bench is a place with two nodes. The test runs on one of them, the handlers it gives to `listen`
on the other. Everything a test may do to the network, it does by its bench; so the same tests run
wherever somebody can write one.

    NETWORKS   benches with a link that can be cut
    PEERS      benches whose other node is a process of its own, to be frozen and killed

To add an implementation, write a bench and add a line to these lists. `run` raises what no code of
the test has caught, with the original as its cause.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from sim_network_bench import sim_network

from reference_impl.live.network import StreamNetwork
from reference_impl.live.sockets import SocketNetwork
from reference_impl.ports.effects import OpenGate
from reference_impl.ports.network import Address, GatedNetwork, Handler, Listener, Network

Result = TypeVar("Result")
Scenario = Callable[[], Awaitable[Result]]

LOOPBACK = Address("127.0.0.1", 0)
ROOT = Path(__file__).parents[2]


class NetworkBench(Protocol):
    """Two nodes and the link between them."""

    @property
    def client(self) -> Network:
        """The network of the node on which the test runs."""

    @property
    def nowhere(self) -> Address:
        """Where nobody listens."""

    def run(self, scenario: Scenario[Result]) -> Result:
        """Run a test's coroutine to its end."""

    async def listen(self, handler: Handler) -> Listener:
        """Accept connections on the other node."""

    async def by_link(self, listener: Listener) -> Address:
        """Where the client finds the listener at the other end of the link that can be cut."""

    def cut(self, *, to_server: bool = True, to_client: bool = True) -> None:
        """From now on nothing arrives, one way or both."""

    def heal(self) -> None:
        """Let everything arrive again."""


class PeerBench(Protocol):
    """A node of ours, and a process elsewhere that sends back whatever it is sent."""

    @property
    def client(self) -> Network:
        """The network of the node on which the test runs."""

    def run(self, scenario: Scenario[Result]) -> Result:
        """Run a test's coroutine to its end."""

    async def start_echo(self) -> Address:
        """Start the other process; where it listens."""

    def freeze(self) -> None:
        """It stands still."""

    def thaw(self) -> None:
        """It goes on."""

    def kill(self) -> None:
        """It is gone."""


class Uncaught(Exception):
    """Something reached the exception handler of the loop."""


def run_live(scenario: Scenario[Result]) -> Result:
    """Run on a loop of asyncio; what nobody caught is raised at the end."""
    uncaught: list[dict[str, Any]] = []

    async def watched() -> Result:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: uncaught.append(what))
        async with asyncio.timeout(30):  # a test that hangs is to fail
            return await scenario()

    result = asyncio.run(watched())
    for context in uncaught:
        raise Uncaught(context["message"]) from context.get("exception")
    return result


class LiveNetworkBench:
    """TCP on loopback; the link is a proxy that stops passing bytes on."""

    nowhere = Address("127.0.0.1", 1)

    def __init__(self, client: Network, server: Network) -> None:
        self.client = client
        self._server = server
        self._link = Link()

    def run(self, scenario: Scenario[Result]) -> Result:
        async def with_link() -> Result:
            try:
                return await scenario()
            finally:
                await self._link.close()

        return run_live(with_link)

    async def listen(self, handler: Handler) -> Listener:
        return await self._server.listen(LOOPBACK, handler)

    async def by_link(self, listener: Listener) -> Address:
        return await self._link.open(listener.address)

    def cut(self, *, to_server: bool = True, to_client: bool = True) -> None:
        for way, affected in ((self._link.to_server, to_server), (self._link.to_client, to_client)):
            if affected:
                way.clear()

    def heal(self) -> None:
        self._link.to_server.set()
        self._link.to_client.set()


class Link:
    """Passes bytes on both ways; a way whose event is cleared keeps them."""

    def __init__(self) -> None:
        self.to_server, self.to_client = asyncio.Event(), asyncio.Event()
        self.to_server.set()
        self.to_client.set()
        self._server: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, target: Address) -> Address:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far_reader, far_writer = await asyncio.open_connection(target.host, target.port)
            for way in (
                self._pass_on(reader, far_writer, self.to_server),
                self._pass_on(far_reader, writer, self.to_client),
            ):
                self._tasks.append(asyncio.create_task(way))

        self._server = await asyncio.start_server(accept, LOOPBACK.host, 0)
        return Address(*self._server.sockets[0].getsockname())

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: asyncio.Event
    ) -> None:
        try:
            while data := await reader.read(1 << 16):
                await way.wait()
                writer.write(data)
                await writer.drain()
            await way.wait()
            writer.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()


class LivePeerBench:
    """The echo is a real process, which signals reach."""

    client: Network = StreamNetwork()

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, scenario: Scenario[Result]) -> Result:
        return run_live(scenario)

    async def start_echo(self) -> Address:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("echo_peer.py"))],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        return Address("127.0.0.1", int(self._process.stdout.readline()))

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def live_network() -> Iterator[NetworkBench]:
    yield LiveNetworkBench(StreamNetwork(), StreamNetwork())


@contextmanager
def socket_network() -> Iterator[NetworkBench]:
    yield LiveNetworkBench(SocketNetwork(), SocketNetwork())


@contextmanager
def gated_network() -> Iterator[NetworkBench]:
    client, server = (GatedNetwork(StreamNetwork(), OpenGate()) for _ in range(2))
    yield LiveNetworkBench(client, server)


@contextmanager
def live_peer() -> Iterator[PeerBench]:
    bench = LivePeerBench()
    try:
        yield bench
    finally:
        bench.kill()


NETWORKS = [
    pytest.param(live_network, id="live"),
    pytest.param(socket_network, id="live-sockets"),
    pytest.param(gated_network, id="live-gated"),
    pytest.param(sim_network, id="sim"),
]
PEERS = [
    pytest.param(live_peer, id="live", marks=pytest.mark.process),
    pytest.param(sim_network, id="sim"),
]

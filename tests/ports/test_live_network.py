"""The network on asyncio streams: what the system reports, in the words of the port."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import NoReturn

import pytest

from reference_impl.live.network import StreamConnection, StreamNetwork
from reference_impl.ports.network import Address

LOOPBACK = Address("127.0.0.1", 0)
NOT_CONNECTION_ERRORS = [
    OSError(errno.EHOSTUNREACH, "no route to host"),
    TimeoutError(errno.ETIMEDOUT, "timed out"),
    socket.gaierror(socket.EAI_NONAME, "unknown host"),
]


@pytest.mark.parametrize("error", NOT_CONNECTION_ERRORS, ids=repr)
def test_whatever_keeps_a_connection_from_being_made_is_a_connection_error(
    monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    async def fail(*args: object, **options: object) -> NoReturn:
        raise error

    monkeypatch.setattr(asyncio, "open_connection", fail)
    with pytest.raises(ConnectionError, match=str(error.args[1])):
        asyncio.run(StreamNetwork().connect(LOOPBACK))


class Broken:
    """A reader and a writer of a connection that the system has given up."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    async def fail(self, *args: object) -> NoReturn:
        raise self._error

    read = readexactly = drain = fail

    def write(self, data: bytes) -> None:
        pass

    def get_extra_info(self, name: str) -> None:
        return None


@pytest.mark.parametrize("error", NOT_CONNECTION_ERRORS, ids=repr)
@pytest.mark.parametrize("use", ["read_exactly", "read_some", "send"])
def test_whatever_breaks_a_connection_is_a_connection_error(error: OSError, use: str) -> None:
    broken = Broken(error)
    connection = StreamConnection(broken, broken)  # type: ignore[arg-type]
    with pytest.raises(ConnectionError, match=str(error.args[1])):
        asyncio.run(getattr(connection, use)(b"x" if use == "send" else 1))


def test_a_connection_knows_its_peer() -> None:
    async def story() -> tuple[str, str, list[str]]:
        network, seen = StreamNetwork(), asyncio.get_running_loop().create_future()

        async def handle(connection: StreamConnection) -> None:
            seen.set_result(connection.peer)

        listener = await network.listen(LOOPBACK, handle)
        connection = await network.connect(listener.address)
        here = connection._writer.get_extra_info("sockname")
        peers = [connection.peer, await seen]
        await connection.close()
        await listener.close()
        return str(listener.address), str(Address(*here)), peers

    listener, client, peers = asyncio.run(story())
    assert peers == [listener, client]


def test_a_port_that_is_taken_is_an_error_of_whoever_listens() -> None:
    async def story() -> None:
        async def handle(connection: StreamConnection) -> None: ...

        listener = await StreamNetwork().listen(LOOPBACK, handle)
        try:
            await StreamNetwork().listen(listener.address, handle)
        finally:
            await listener.close()

    with pytest.raises(OSError, match="address") as taken:
        asyncio.run(story())
    assert taken.value.errno == errno.EADDRINUSE


def test_a_handler_that_is_cancelled_resets_its_peer() -> None:
    async def story() -> None:
        network, handling = StreamNetwork(), asyncio.get_running_loop().create_future()

        async def handle(connection: StreamConnection) -> None:
            handling.set_result(asyncio.current_task())
            await connection.read_exactly(1)

        listener = await network.listen(LOOPBACK, handle)
        connection = await network.connect(listener.address)
        (await handling).cancel()
        with pytest.raises(ConnectionResetError):
            await connection.read_exactly(1)
        await connection.close()
        await listener.close()

    asyncio.run(story())

"""What tests do on connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from network_benches import NetworkBench, PeerBench

from reference_impl.ports.network import Address, Connection, EndOfStream, Listener

SILENCE_S = 0.2  # so long without a byte is called silence
KIB = 1024


@asynccontextmanager
async def connected(
    bench: NetworkBench | PeerBench, to: Listener | Address
) -> AsyncIterator[Connection]:
    """A connection that is broken off at the end, if it is still there."""
    address = to if isinstance(to, Address) else to.address
    connection = await bench.client.connect(address)
    try:
        yield connection
    finally:
        connection.abort()


async def read_all(connection: Connection) -> bytes:
    read = bytearray()
    while True:
        try:
            data = await connection.read_some(64 * KIB)
        except EndOfStream:
            return bytes(read)
        assert data  # or this would never end
        read += data


async def send_for_ever(connection: Connection) -> None:
    while True:
        await connection.send(b"x" * KIB)


class Flood:
    """Sends more than any network keeps for a peer that does not read; a chunk at a time."""

    chunks = tuple(bytes([number % 251]) * 64 * KIB for number in range(512))

    def __init__(self, connection: Connection) -> None:
        self.sent = 0
        self._connection = connection
        self.sending = asyncio.create_task(self._send())

    async def held_back(self) -> int:
        """How many chunks were sent before the sender had to wait."""
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.sending), SILENCE_S * 2)
        return self.sent

    async def _send(self) -> None:
        for chunk in self.chunks:
            await self._connection.send(chunk)
            self.sent += 1


class LateReader:
    """A handler that reads nothing before it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.result: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def __call__(self, connection: Connection) -> None:
        await self.go.wait()
        try:
            self.result.set_result(await read_all(connection))
        except ConnectionError as error:
            self.result.set_exception(error)


async def ask(connection: Connection, question: bytes) -> bytes:
    """What an echo makes of it, if it answers soon."""
    async with asyncio.timeout(SILENCE_S):
        await connection.send(question)
        return await connection.read_exactly(len(question))


async def read_until_silent(connection: Connection) -> bytes:
    read = bytearray()
    try:
        while True:
            async with asyncio.timeout(SILENCE_S):
                read += await connection.read_some(64 * KIB)
    except TimeoutError:
        return bytes(read)


async def silent(connection: Connection) -> bool:
    """Whether nothing comes for a while."""
    try:
        async with asyncio.timeout(SILENCE_S):
            await connection.read_exactly(1)
    except TimeoutError:
        return True
    return False

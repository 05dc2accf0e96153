"""The network on sockets: what arrives before it is asked for is bounded."""

from __future__ import annotations

import asyncio

import pytest

from reference_impl.live.sockets import AHEAD_BYTES, SocketNetwork
from reference_impl.ports.network import Address, Connection

LOOPBACK = Address("127.0.0.1", 0)
SENDERS = 40
SMALL_PIECE = 1 << 12


@pytest.mark.parametrize("most", [AHEAD_BYTES, 1 << 20])
def test_connections_that_are_not_read_hold_no_more_than_the_bound_together(most: int) -> None:
    data = bytes(range(256)) * 4096
    network = SocketNetwork()
    network.ahead.most = most

    async def scenario() -> int:
        read = asyncio.Event()
        seen: list[bytes | bytearray] = []

        async def handle(connection: Connection) -> None:
            await read.wait()
            seen.append(await connection.read_long(len(data)))

        listener = await network.listen(LOOPBACK, handle)
        senders = [await SocketNetwork().connect(listener.address) for _ in range(SENDERS)]
        sending = [asyncio.create_task(sender.send(data)) for sender in senders]
        held = 0
        for _ in range(500):
            await asyncio.sleep(0)
            held = max(held, network.ahead.count)
        assert network.ahead.count > 0
        read.set()
        for sender in senders:
            with pytest.raises(ConnectionError):  # closed once it is read
                await sender.read_some(1)
            await sender.close()
        await asyncio.gather(*sending)
        await listener.close()
        assert all(one == data for one in seen)
        assert len(seen) == SENDERS
        return held

    held = asyncio.run(scenario())

    assert held <= most + SENDERS * SMALL_PIECE
    assert network.ahead.count == 0

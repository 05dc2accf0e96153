"""A program that sends back whatever it is sent, until whoever started it is gone."""

from __future__ import annotations

import asyncio
import sys

from reference_impl.live.network import StreamNetwork
from reference_impl.ports.network import Address, Connection


async def echo(connection: Connection) -> None:
    """Send everything back."""
    while True:
        await connection.send(await connection.read_some(1 << 16))


async def main() -> None:
    listener = await StreamNetwork().listen(Address("127.0.0.1", 0), echo)
    print(listener.address.port, flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())

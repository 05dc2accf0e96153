"""A server on loopback that answers every request with one kind of nonsense."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from reference_impl.ports import Address

HUGE_ARRAY = b"\xff\xff\xff\xff\x07"


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


# From the correlation id of a request to the bytes of its answer.
UNREADABLE: dict[str, Callable[[bytes], bytes]] = {
    "a negative size": lambda asked: struct.pack(">i", -1),
    "a huge size": lambda asked: struct.pack(">i", 2**31 - 1) + bytes(1000),
    "no room for a correlation id": lambda asked: framed(b"\0\0"),
    "nothing but its correlation id": framed,
    "an array that is not there": lambda asked: framed(asked + bytes(5) + HUGE_ARRAY + b"\1"),
    "an array of the old form": lambda asked: framed(asked + b"\x7f\xff\xff\xff" * 3),
    "another correlation id": lambda asked: framed(bytes([asked[0] ^ 1]) + asked[1:] + bytes(40)),
    "more than its message": lambda asked: framed(asked + bytes(5000)),
    "random bytes": lambda asked: framed(asked + random.Random(1).randbytes(200)),
    "text": lambda asked: b"HTTP/1.1 400 Bad Request\r\n\r\n",
}
LOST = ("half of it", "drop by drop")


@asynccontextmanager
async def nonsense_broker(kind: str) -> AsyncIterator[Address]:
    """Where it listens."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                asked = (await reader.readexactly(size))[4:8]
                if kind in UNREADABLE:
                    writer.write(UNREADABLE[kind](asked))
                    continue
                writer.write(struct.pack(">i", 100_000) + asked)
                if kind == "half of it":
                    return
                while not writer.is_closing():
                    writer.write(b"\0")
                    await writer.drain()
                    await asyncio.sleep(0.01)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield Address(*server.sockets[0].getsockname()[:2])
    finally:
        server.close()

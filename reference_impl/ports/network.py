"""The network port: connections that carry bytes in order, or break.

What is promised: bytes arrive in order and at most once; ``send`` returns once the bytes are handed
over and the peer is not too far behind, which says nothing about whether they arrive. A peer that
closes is seen as ``EndOfStream`` after its last byte; a peer that dies, as a ``ConnectionError`` or
as silence. Nothing tells silence from slowness: callers bring their own timeouts.

    OSError
    └── ConnectionError          the connection is broken, or could not be made
        └── EndOfStream          the peer closed in good order
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from reference_impl.ports.effects import Gate, Passage, Trouble


class Address(NamedTuple):
    """Where somebody listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class EndOfStream(ConnectionError):
    """The peer closed; there are no more bytes."""


class Connection(Protocol):
    """One end of a connection."""

    @property
    def peer(self) -> str:
        """Who is at the other end, for people to read."""
        ...

    async def read_exactly(self, count: int) -> bytes:
        """That many bytes; EndOfStream if the peer closes before."""
        ...

    async def read_long(self, count: int) -> bytes | bytearray:
        """The same; of much, a bytearray that nobody else has may be cheaper."""
        ...

    async def read_into(self, place: memoryview) -> None:
        """As many bytes as the place has, into it; EndOfStream if the peer closes before."""
        ...

    async def read_some(self, most: int) -> bytes:
        """At least one byte and at most that many; EndOfStream if there are no more."""
        ...

    async def send(self, data: bytes) -> None:
        """Hand bytes over; waits while the peer is too far behind."""
        ...

    async def close(self) -> None:
        """Send what is left, then close; calling it twice is harmless."""
        ...

    def abort(self) -> None:
        """Break it at once; the peer sees a reset."""
        ...


Handler = Callable[[Connection], Awaitable[None]]


class Listener(Protocol):
    """Somebody who accepts connections."""

    @property
    def address(self) -> Address:
        """Where it listens; the port is the real one, also where 0 was asked for."""
        ...

    async def close(self) -> None:
        """Accept no more; connections that are open stay open."""
        ...


class Network(Protocol):
    """What a node may do to reach others."""

    async def connect(self, address: Address) -> Connection:
        """A connection to whoever listens there; a ConnectionError if nobody does."""
        ...

    async def listen(self, address: Address, handler: Handler) -> Listener:
        """Accept connections there; each is handled by a task of its own and closed after it."""
        ...


def _refused(trouble: Trouble) -> ConnectionError:
    return ConnectionRefusedError(f"the connection was {trouble}")


def _reset(trouble: Trouble) -> ConnectionError:
    return ConnectionResetError(f"the bytes were {trouble}")


class GatedNetwork:
    """A network whose connects and sends are effects. Listening and reading reach nobody."""

    def __init__(self, inner: Network, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate
        self._passage = Passage(gate, "network", _refused)

    async def connect(self, address: Address) -> Connection:
        """An effect: `connect`."""
        made: list[Connection] = []

        async def do() -> Connection:
            made.append(await self._inner.connect(address))
            return made[0]

        try:
            return _GatedConnection(
                await self._passage.run("connect", do, to=str(address)), self._gate
            )
        except OSError:
            for connection in made:  # of which this node was not told
                connection.abort()
            raise

    async def listen(self, address: Address, handler: Handler) -> Listener:
        """Whatever is sent on the connections accepted is an effect too."""

        async def handle(connection: Connection) -> None:
            await handler(_GatedConnection(connection, self._gate))

        return await self._inner.listen(address, handle)


class _GatedConnection:
    """A connection whose sends are effects. Where one fails, the connection breaks."""

    def __init__(self, inner: Connection, gate: Gate) -> None:
        self._inner = inner
        self._passage = Passage(gate, "network", self._broken)
        self.read_exactly = inner.read_exactly
        self.read_long = inner.read_long
        self.read_into = inner.read_into
        self.read_some = inner.read_some
        self.close = inner.close
        self.abort = inner.abort

    @property
    def peer(self) -> str:
        """Who is at the other end."""
        return self._inner.peer

    async def send(self, data: bytes) -> None:
        """An effect: `send`."""
        do, peer = self._inner.send, self._inner.peer
        await self._passage.run("send", lambda: do(data), to=peer, bytes=len(data))

    def _broken(self, trouble: Trouble) -> ConnectionError:
        self._inner.abort()
        return _reset(trouble)

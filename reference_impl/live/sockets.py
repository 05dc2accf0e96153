"""The network port on sockets, for nodes that have much to carry.

It promises what ``StreamNetwork`` promises (the same tests hold both to it) and differs in what it
costs. Long reads are received in place: no byte of a batch is copied between the kernel and the
frame. What is sent in one turn of the loop leaves in one call: a client that sends many requests at
once gets the answers together, as soon as a request has to wait for anything.

Memory follows what arrives, not what is announced: room for a long read is made once an eighth of
it is there. What arrives before it is asked for is bounded, for each connection and for all of a
network together: past ``AHEAD_BYTES`` a connection receives a small piece at a time, and nothing
while it has one that was not read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, cast

from reference_impl.live.network import StreamListener, StreamNetwork, abort, connection_error
from reference_impl.ports.network import Address, Connection, EndOfStream, Handler

_PIECE_BYTES: Final = 1 << 17  # received at once, unless it is received in place
_ENOUGH_BYTES: Final = 2 * _PIECE_BYTES  # arrived and not read: no more is received
_LONG_BYTES: Final = 1 << 17
_SHORT_BYTES: Final = 1 << 12  # so few bytes are copied sooner than looked at through a view
_GATHER_BYTES: Final = 1 << 16
_SMALL_PIECE_BYTES: Final = 1 << 12

AHEAD_BYTES: Final = 1 << 24

# Between being offered to the kernel and being emptied nobody else has a turn: one is enough.
_PIECE: Final = memoryview(bytearray(_PIECE_BYTES))


class ReadAhead:
    """What the connections of a network have received before it was asked for."""

    def __init__(self, most: int = AHEAD_BYTES) -> None:
        self.most = most
        self.count = 0

    @property
    def piece(self) -> int:
        """How much a connection may receive next."""
        return max(_SMALL_PIECE_BYTES, min(_PIECE_BYTES, self.most - self.count))


class SocketNetwork(StreamNetwork):
    """A Network of sockets."""

    def __init__(self, local_host: str | None = None) -> None:
        super().__init__(local_host)
        self.ahead = ReadAhead()

    async def connect(self, address: Address) -> Connection:
        """A connection to whoever listens there."""
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(
                lambda: SocketConnection(self.ahead),
                address.host,
                address.port,
                local_addr=self._local,
            )
        except OSError as error:
            raise connection_error(error) from None
        return connection

    async def listen(self, address: Address, handler: Handler) -> StreamListener:
        """Accept connections there; each is handled by a task of its own and closed after it."""

        def accept() -> SocketConnection:
            return SocketConnection(self.ahead, lambda one: self._begin(handler, one))

        loop = asyncio.get_running_loop()
        return StreamListener(await loop.create_server(accept, address.host, address.port))


class SocketConnection(asyncio.BufferedProtocol):
    """One end of a connection, as the loop's transport sees it and as its user does."""

    def __init__(
        self, ahead: ReadAhead, accepted: Callable[[SocketConnection], None] | None = None
    ) -> None:
        self.peer = "somebody who has left"
        self._accepted = accepted
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._lost: asyncio.Future[None] = self._loop.create_future()
        # Reading: what has arrived and nobody has read, or the long read that it goes into.
        self._arrived = bytearray()
        self._ahead = ahead
        self._long: memoryview | None = None
        self._missing = 0
        self._ended = False
        self._failure: OSError | None = None
        self._reader: asyncio.Future[None] | None = None
        self._reading_paused = False
        # Writing.
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0
        self._writers: list[asyncio.Future[None]] = []
        self._writing_paused = False

    # ── what the transport calls ─────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It exists."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        if name:
            self.peer = str(Address(*name[:2]))
        if self._accepted is not None:
            self._accepted(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes next."""
        if self._long is not None and self._missing:
            return self._long[-self._missing :]
        return _PIECE[: self._ahead.piece]

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes came."""
        if self._missing:
            self._missing -= nbytes
            if self._missing:
                return
        else:
            self._arrived += _PIECE[:nbytes]
            ahead = self._ahead
            ahead.count += nbytes
            enough = len(self._arrived) > _ENOUGH_BYTES or ahead.count >= ahead.most
            if enough and not self._reading_paused:
                self._reading_paused = True
                self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        """The peer sends no more; it may still read."""
        self._ended = True
        _wake(self._reader)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over, in good order or not."""
        self._ended = True
        if exc is not None:
            self._failure = exc if isinstance(exc, OSError) else ConnectionError(str(exc))
        _wake(self._reader)
        for writer in self._writers:
            _wake(writer)
        _wake(self._lost)

    def pause_writing(self) -> None:
        """The peer is too far behind."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._writing_paused = False
        for writer in self._writers:
            _wake(writer)

    # ── what its user calls ──────────────────────────────────────────────────────────────────────

    async def read_exactly(self, count: int) -> bytes:
        """That many bytes; EndOfStream if the peer closes before."""
        if len(self._arrived) < count or self._failure is not None:
            await self._until(count)
        return self._take(count)

    async def read_long(self, count: int) -> bytes | bytearray:
        """The same, received in place if it is much."""
        if count <= _LONG_BYTES:
            if count < _SHORT_BYTES:
                return await self.read_exactly(count)
            if len(self._arrived) < count or self._failure is not None:
                await self._until(count)
            data = self._arrived[:count]
            self._forget(count)
            return data
        await self._until(count // 8)
        if len(self._arrived) >= count:
            return self._take(count)
        whole = bytearray(count)
        await self.read_into(memoryview(whole))
        return whole

    async def read_into(self, place: memoryview) -> None:
        """As many bytes as the place has, into it; EndOfStream if the peer closes before."""
        there = min(len(self._arrived), len(place))
        place[:there] = self._arrived[:there]
        self._forget(there)
        self._missing, self._long = len(place) - there, place
        try:
            while self._missing:
                self._check(self._missing)
                await self._more()
        finally:
            if self._missing:  # given up: what is there can still be read
                self._arrived[:0] = place[: -self._missing]
                self._ahead.count += len(place) - self._missing
            self._missing, self._long = 0, None

    async def _until(self, count: int) -> None:
        """Return when so much has arrived."""
        while len(self._arrived) < count:
            self._check(count - len(self._arrived))
            await self._more()
        if self._failure is not None:
            raise connection_error(self._failure)

    async def read_some(self, most: int) -> bytes:
        """At least one byte and at most that many; EndOfStream if there are no more."""
        if most < 1:
            raise ValueError(f"cannot read {most} bytes")
        await self._until(1)
        return self._take(most)

    def _take(self, most: int) -> bytes:
        data = bytes(memoryview(self._arrived)[:most])
        self._forget(most)
        return data

    def _forget(self, most: int) -> None:
        arrived = self._arrived
        before = len(arrived)
        del arrived[:most]
        self._ahead.count -= before - len(arrived)
        few = _PIECE_BYTES if self._ahead.count < self._ahead.most else 0
        if self._reading_paused and len(arrived) <= few:
            self._resume()

    def _check(self, missing: int) -> None:
        """Fail if nothing will come any more."""
        if self._failure is not None:
            raise connection_error(self._failure)
        if self._ended:
            raise EndOfStream(f"{self.peer} closed {missing} bytes too early")

    async def _more(self) -> None:
        """Until more has arrived."""
        if self._reader is not None:
            raise RuntimeError("two read from one connection")
        if self._reading_paused:
            self._resume()
        self._reader = self._loop.create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def _resume(self) -> None:
        self._reading_paused = False
        self._transport.resume_reading()

    async def send(self, data: bytes) -> None:
        """Hand bytes over; waits while more than the transport's buffer is unsent."""
        if self._closed:  # the transport would drop the bytes without a word
            raise ConnectionResetError("the connection was closed on this side")
        if self._failure is not None:
            raise connection_error(self._failure)
        if self._lost.done():
            raise ConnectionResetError("Connection lost")
        if not self._gathered:
            self._loop.call_soon(self._flush)
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        if self._gathered_bytes > _GATHER_BYTES:
            self._flush()
        while self._writing_paused and not self._lost.done():
            await self._until_writable()

    async def _until_writable(self) -> None:
        writer = self._loop.create_future()
        self._writers.append(writer)
        try:
            await writer
        finally:
            self._writers.remove(writer)
        if self._lost.done():
            raise connection_error(self._failure or ConnectionResetError("Connection lost"))

    def _flush(self) -> None:
        if self._gathered:
            data = self._gathered[0] if len(self._gathered) == 1 else b"".join(self._gathered)
            self._gathered.clear()
            self._gathered_bytes = 0
            self._transport.write(data)

    async def close(self) -> None:
        """Send what is left, then close."""
        if self._closed:
            return
        self._flush()
        self._closed = True
        self._forget(len(self._arrived))
        self._transport.close()
        try:
            await asyncio.shield(self._lost)
        except asyncio.CancelledError:
            self.abort()
            raise

    def abort(self) -> None:
        """Break it at once; the peer sees a reset, unless it was closed and has been told so."""
        self._closed = True
        self._gathered.clear()
        self._forget(len(self._arrived))
        abort(self._transport)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)

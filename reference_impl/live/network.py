"""The network port on asyncio streams.

On the normal loop that is TCP. On a loop with transports of its own it is whatever these carry:
only the public streams of asyncio are used, so this class runs there as it is.

What it adds to streams: every failure is a ``ConnectionError``, also those that the system reports
as another ``OSError`` (no route, timed out); an abort is seen as a reset; a close that is cancelled
becomes an abort, so that nothing is left behind that still waits to be sent. A handler that fails
with a ``ConnectionError`` has lost its peer, which is nobody's fault and said to nobody; any other
failure goes to the exception handler of the loop, and the peer sees a reset.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

from reference_impl.ports.network import Address, Connection, EndOfStream, Handler

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class StreamNetwork:
    """A Network of asyncio streams."""

    def __init__(self, local_host: str | None = None) -> None:
        """``local_host`` is the address that others see connections come from."""
        self._local = None if local_host is None else (local_host, 0)
        self._serving: set[asyncio.Task[None]] = set()  # the loop itself holds tasks only weakly

    async def connect(self, address: Address) -> Connection:
        """A connection to whoever listens there."""
        try:
            reader, writer = await asyncio.open_connection(
                address.host, address.port, local_addr=self._local
            )
        except OSError as error:
            raise connection_error(error) from None
        return StreamConnection(reader, writer)

    async def listen(self, address: Address, handler: Handler) -> StreamListener:
        """Accept connections there; each is handled by a task of its own and closed after it."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._begin(handler, StreamConnection(reader, writer))

        return StreamListener(await asyncio.start_server(accept, address.host, address.port))

    def _begin(self, handler: Handler, connection: Connection) -> None:
        task = asyncio.get_running_loop().create_task(_serve(handler, connection))
        self._serving.add(task)
        task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            message = "the handler of a connection failed"
            context = {"message": message, "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)


class StreamListener:
    """A server of asyncio streams."""

    def __init__(self, server: asyncio.Server) -> None:
        host, port = server.sockets[0].getsockname()[:2]
        self.address = Address(host, port)
        self._server = server

    async def close(self) -> None:
        """Accept no more. Not `wait_closed`: newer Pythons wait there for open connections."""
        self._server.close()


class StreamConnection:
    """One end of a connection, as a reader and a writer of asyncio."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._closed = False
        name = writer.get_extra_info("peername")
        self.peer = str(Address(*name[:2])) if name else "somebody who has left"

    async def read_exactly(self, count: int) -> bytes:
        """That many bytes; EndOfStream if the peer closes before."""
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as short:
            missing = count - len(short.partial)
            raise EndOfStream(f"{self.peer} closed {missing} bytes too early") from None
        except OSError as error:
            raise connection_error(error) from None

    async def read_long(self, count: int) -> bytes | bytearray:
        """The same."""
        return await self.read_exactly(count)

    async def read_into(self, place: memoryview) -> None:
        """As many bytes as the place has, into it; EndOfStream if the peer closes before."""
        place[:] = await self.read_exactly(len(place))

    async def read_some(self, most: int) -> bytes:
        """At least one byte and at most that many; EndOfStream if there are no more."""
        if most < 1:
            raise ValueError(f"cannot read {most} bytes")
        try:
            data = await self._reader.read(most)
        except OSError as error:
            raise connection_error(error) from None
        if not data:
            raise EndOfStream(f"{self.peer} closed")
        return data

    async def send(self, data: bytes) -> None:
        """Hand bytes over; waits while more than the writer's buffer is unsent."""
        if self._closed:  # asyncio would drop the bytes without a word
            raise ConnectionResetError("the connection was closed on this side")
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise connection_error(error) from None

    async def close(self) -> None:
        """Send what is left, then close."""
        if self._closed:
            return
        self._closed = True
        self._writer.close()
        try:
            with contextlib.suppress(OSError):  # broken instead: closed all the same
                await self._writer.wait_closed()
        except asyncio.CancelledError:
            self.abort()
            raise

    def abort(self) -> None:
        """Break it at once; the peer sees a reset, unless it was closed and has been told so."""
        self._closed = True
        abort(self._writer.transport)


async def _serve(handler: Handler, connection: Connection) -> None:
    try:
        with contextlib.suppress(ConnectionError):
            await handler(connection)
        await connection.close()
    except BaseException:
        connection.abort()
        raise


def abort(transport: asyncio.WriteTransport) -> None:
    """Break a transport, so that the peer sees a reset; not one that has closed by itself."""
    if transport.is_closing() and not transport.get_write_buffer_size():
        return  # asyncio fails on an abort after that
    wire = transport.get_extra_info("socket")
    if wire is not None:
        # Where everything was read, the system would end the connection in good order.
        with contextlib.suppress(OSError):
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    transport.abort()


def connection_error(error: OSError) -> ConnectionError:
    """What it is to whoever uses the port."""
    return error if isinstance(error, ConnectionError) else ConnectionError(str(error))

"""Connections as asyncio knows them: transports and servers over simulated sockets.

Protocols are called in the context of the process they belong to, in order, and never from within
a call of their peer. What code of a dead process does here, while it is being cleaned away, has no
effect. ``abort`` always shows the peer a reset; on Linux that takes ``SO_LINGER`` as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any

from harness.simulation.process import Process
from harness.simulation.sockets import Socket
from harness.simulation.waiting import named

if TYPE_CHECKING:
    from harness.simulation.loop import SimLoop

Factory = Callable[[], Any]
Address = tuple[str, int]

_HIGH_WATER = 64 * 1024


class SimTransport(asyncio.Transport):
    """The process's half of a connection; the other one is the socket."""

    def __init__(
        self,
        loop: SimLoop,
        socket: Socket,
        process: Process | None,
        factory: Factory,
        waiter: asyncio.Future[None] | None = None,
    ) -> None:
        super().__init__({"sockname": socket.address, "peername": socket.peer.address})
        self._loop = loop
        self._socket = socket
        self._process = process
        self._factory = factory
        self._waiter = waiter
        self._protocol: Any = None
        self._buffer = bytearray()
        self._closing = False
        self._finishing = False
        self._reading_paused = False
        self._writing_paused = False
        self._high_water, self._low_water = _HIGH_WATER, _HIGH_WATER // 4
        socket.belong(process, self)
        self._context: Context = socket.context

    # Writing.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes, or keep them until there is room at the other side."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data must be bytes-like, not {type(data).__name__!r}")
        if self._finishing:
            raise RuntimeError("Cannot call write() after write_eof()")
        data = bytes(data)
        if not data or not self._able():
            return
        sent = 0 if self._buffer else self._socket.send(data)
        if sent < len(data):
            self._buffer += data[sent:]
            self._hold_back()

    def write_eof(self) -> None:
        """Send no more after this; reading goes on."""
        if self._able():
            self._finishing = True
            if not self._buffer:
                self._socket.finish()

    def can_write_eof(self) -> bool:
        """It can."""
        return True

    def get_write_buffer_size(self) -> int:
        """How many bytes wait for room."""
        return len(self._buffer)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """At how many bytes the protocol writes again, and at how many it is held back."""
        return self._low_water, self._high_water

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set them; one follows from the other, as everywhere in asyncio."""
        if high is None:
            high = _HIGH_WATER if low is None else 4 * low
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self._high_water, self._low_water = high, low
        self._hold_back()

    def _hold_back(self) -> None:
        if len(self._buffer) > self._high_water and not self._writing_paused:
            self._writing_paused = True
            self._tell(self._protocol.pause_writing)

    # Reading.

    def is_reading(self) -> bool:
        """Whether bytes are passed to the protocol as they come."""
        return not self._closing and not self._reading_paused

    def pause_reading(self) -> None:
        """Leave bytes where they are, up to the window."""
        if self.is_reading():
            self._reading_paused = True
            self._socket.pause()

    def resume_reading(self) -> None:
        """Take them again."""
        if self._reading_paused and not self._closing:
            self._reading_paused = False
            self._socket.resume()

    # The end.

    def close(self) -> None:
        """Send what is left, then close."""
        if self._closing or not self._able():
            return
        self._closing = True
        self._socket.pause()
        if not self._buffer:
            self._let_go(None)

    def abort(self) -> None:
        """Break it at once."""
        if self._able():
            self._socket.reset()
            self._let_go(None)

    def is_closing(self) -> bool:
        """Whether it is closed, will be, or nobody is left to close it."""
        return self._closing or not self._able()

    def _able(self) -> bool:
        """Whether anything that is done here has an effect."""
        process = self._process
        alive = not self._loop.is_closed() if process is None else process.alive
        return alive and not self._socket.shut

    def _let_go(self, error: BaseException | None) -> None:
        self._closing = True
        self._buffer.clear()
        self._socket.close()
        self._loop.call_soon(self._say_goodbye, error, context=self._context)

    def _say_goodbye(self, error: BaseException | None) -> None:
        if self._protocol is not None:
            self._protocol.connection_lost(error)

    # What the socket says, in the process's context.

    def made(self) -> None:
        """The connection is there."""
        self._tell(self._make)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _make(self) -> None:
        self._protocol = self._factory()
        self._protocol.connection_made(self)

    def received(self, data: bytes) -> None:
        """Bytes came."""
        self._tell(self._protocol.data_received, data)

    def ended(self) -> None:
        """The peer sends no more."""
        if not self._tell(self._protocol.eof_received):
            self.close()

    def lost(self, error: OSError) -> None:
        """The connection is no more, or never was."""
        self._closing = True
        self._buffer.clear()
        if self._protocol is not None:
            self._say_goodbye(error)
        elif self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    def room(self) -> None:
        """There is room again."""
        if self._buffer:
            del self._buffer[: self._socket.send(bytes(self._buffer))]
        if self._writing_paused and len(self._buffer) <= self._low_water:
            self._writing_paused = False
            self._tell(self._protocol.resume_writing)
        if self._buffer or not self._able():
            return
        if self._closing:
            self._let_go(None)
        elif self._finishing:
            self._socket.finish()

    def _tell(self, call: Callable[..., Any], *args: object) -> Any:
        """Call the protocol; one that fails loses its connection."""
        try:
            return call(*args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._loop.call_exception_handler(
                {
                    "message": f"{named(call)} failed",
                    "exception": error,
                    "transport": self,
                    "protocol": self._protocol,
                }
            )
            if self._able():
                self._let_go(error)
            return True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Somebody else is told from now on."""
        self._protocol = protocol

    def get_protocol(self) -> Any:
        """Who is told."""
        return self._protocol


class ListeningSocket:
    """What a server's ``sockets`` are for: where it listens."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def getsockname(self) -> Address:
        """Host and port."""
        return self._address


class SimServer(asyncio.AbstractServer):
    """Somebody who accepts connections until closed, or until the process is dead."""

    def __init__(
        self,
        loop: SimLoop,
        process: Process | None,
        factory: Factory,
        address: Address,
        vacate: Callable[[SimServer], None],
    ) -> None:
        self.process = process
        self.address = address
        self._loop = loop
        self._factory = factory
        self._vacate = vacate
        self._open = True
        self._closed: asyncio.Future[None] = loop.create_future()
        self._forever: asyncio.Future[None] | None = None

    def accept(self, socket: Socket) -> None:
        """One connection more, for this server's process."""
        SimTransport(self._loop, socket, self.process, self._factory)
        socket.accept()

    @property
    def sockets(self) -> tuple[ListeningSocket, ...]:
        """One, until it is closed."""
        return (ListeningSocket(self.address),) if self._open else ()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Where it runs."""
        return self._loop

    def is_serving(self) -> bool:
        """It does so from the beginning."""
        return self._open

    def close(self) -> None:
        """Accept no more; connections that are open stay open."""
        if not self._open:
            return
        self._open = False
        self._vacate(self)
        if not self._closed.done():
            self._closed.set_result(None)
        if self._forever is not None:
            self._forever.cancel()

    async def wait_closed(self) -> None:
        """Until somebody closes it. Newer Pythons also wait for connections; this does not."""
        await asyncio.shield(self._closed)

    async def start_serving(self) -> None:
        """It does already."""

    async def serve_forever(self) -> None:
        """Until cancelled or closed."""
        if self._forever is not None or not self._open:
            raise RuntimeError(f"{self!r} is closed, or served for ever already")
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()

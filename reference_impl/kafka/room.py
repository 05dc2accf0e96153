"""Room: memory for the requests that have arrived, bounded over all connections.

Bytes are reserved before they are read; where there is no room, nothing is read. A frame gives its
bytes back when its request is answered, or, where the message keeps none of them, when it is
parsed. Frames share two pools, so that those who announce much do not hold up normal batches:

    normal   frames of up to ``CHUNK_BYTES``, more than a batch of the usual ``max.message.bytes``
    long     all that are longer

In each pool reservations are served in the order in which they came. The longest frame there may be
always fits into what is kept aside for the frame that has held bytes for the longest time; so that
one gets on when all others wait for more, and no two frames wait for each other.

Who holds bytes and does not send can hold up the others, but not for long. While any wait, a frame
has a second for each ``PIECE_BYTES``; a slower one loses its connection and gives its bytes back.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple, Protocol

from reference_impl.kafka.frames import MAX_FRAME_BYTES

PIECE_BYTES: Final = 1 << 17
CHUNK_BYTES: Final = 5 << 18
NORMAL_BYTES: Final = 112 << 20
LONG_BYTES: Final = 128 << 20
PIECE_S: Final = 1.0
_LOOK_S: Final = PIECE_S / 4


class Holder(Protocol):
    """A frame that is being read."""

    size: int
    held: int
    due: float | None  # by the loop's clock: when what is being read should be there

    def give_up(self) -> None:
        """Read no more, and give back what is held."""
        ...


class _Waiter(NamedTuple):
    wanted: int
    granted: asyncio.Future[None]


class Pool:
    """So many bytes, for frames of which the longest has a length of its own."""

    def __init__(self, size: int, longest: int) -> None:
        self.size = size
        self.used = 0
        self.closed = 0  # connections, because they held bytes and were slow
        self._shared = size - longest
        self._arriving: dict[Holder, None] = {}  # by when they first held bytes
        self._waiting: dict[Holder, _Waiter] = {}
        self._next_look: float | None = None

    @property
    def pressed(self) -> bool:
        """Whether frames wait for room."""
        return bool(self._waiting)

    def try_take(self, frame: Holder, count: int) -> bool:
        """Reserve so many bytes, if there is room now."""
        used = self.used + count
        if self._waiting or used > self._shared:
            return False
        self.used = used
        frame.held += count
        self._arriving[frame] = None
        return True

    async def take(self, frame: Holder, count: int) -> None:
        """Reserve so many bytes; waits until there is room."""
        if self.try_take(frame, count):
            return
        loop = asyncio.get_running_loop()
        self._waiting[frame] = waiter = _Waiter(count, loop.create_future())
        self._serve_waiting()
        if self._waiting and self._next_look is None:
            self._look_later(loop)
        try:
            await waiter.granted
        finally:
            self._waiting.pop(frame, None)

    def complete(self, frame: Holder) -> None:
        """No more bytes of a frame are read."""
        self._arriving.pop(frame, None)
        if self._waiting:
            self._serve_waiting()

    def give_back(self, frame: Holder) -> None:
        """The bytes of a frame are needed no longer."""
        self.used -= frame.held
        frame.held = 0
        self.complete(frame)

    def _serve_waiting(self) -> None:
        while self._waiting:
            first = next(iter(self._waiting))
            if self.used + self._waiting[first].wanted > self._shared:
                first = next(iter(self._arriving), first)
                rest = first.size - first.held
                if first not in self._waiting or self.used + rest > self.size:
                    return
            waiter = self._waiting.pop(first)
            if not waiter.granted.done():  # else it is cancelled
                self.used += waiter.wanted
                first.held += waiter.wanted
                self._arriving[first] = None
                waiter.granted.set_result(None)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_look = loop.time() + _LOOK_S
        loop.call_later(_LOOK_S, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close those who are late, if others wait."""
        now, expected = loop.time(), self._next_look or 0
        self._next_look = None
        if not self._waiting:
            return
        if now < expected + _LOOK_S:  # else this process is late itself
            for frame in [one for one in self._arriving if one.due is not None and one.due <= now]:
                self.closed += 1
                frame.due = None
                frame.give_up()
        self._look_later(loop)


class Room:
    """What the connections of one or more listeners may hold together."""

    def __init__(
        self,
        *,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        normal_bytes: int = NORMAL_BYTES,
        long_bytes: int = LONG_BYTES,
        connections: int | None = None,
    ) -> None:
        """Pools grow with the longest frame: one of each kind always has room."""
        self.max_frame_bytes = max_frame_bytes
        self.connections = connections
        self.open_connections = 0
        self.normal = Pool(max(normal_bytes, CHUNK_BYTES), CHUNK_BYTES)
        self.long = Pool(max(long_bytes, max_frame_bytes), max_frame_bytes)

    def pool(self, size: int) -> Pool:
        """Where a frame of that size belongs."""
        return self.normal if size <= CHUNK_BYTES else self.long

    @property
    def used_bytes(self) -> int:
        """What is reserved now."""
        return self.normal.used + self.long.used

"""Limits: what clients may cost, all together.

A frame takes memory as its bytes arrive, not when its size is announced; so what is counted is what
has arrived. Frames up to ``SHORT_BYTES`` are not counted: they are bounded by the number of
connections. Longer ones are read in chunks (the usual batch of a megabyte is one, and so is not
copied once more), and while more has arrived than there is room for, they
wait before they read on: for requests that are being handled, or, if there are none, for the frame
whose first chunk came before all others'. That one never has to wait, and each chunk has
``stall_s`` to arrive. A frame gives its bytes back when its request is answered.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from reference_impl.kafka.frames import MAX_FRAME_BYTES, size_in
from reference_impl.kafka.patience import within
from reference_impl.ports.network import Connection

SHORT_BYTES: Final = 1 << 18
CHUNK_BYTES: Final = 5 << 18


class Room:
    """Room for the long frames of many connections, and for the connections themselves."""

    def __init__(self, *, frame_bytes: int = 1 << 28, connections: int | None = None) -> None:
        self.frame_bytes = frame_bytes
        self.connections = connections
        self.used_bytes = 0
        self.open_connections = 0
        self._handled_bytes = 0
        self._arriving: dict[Frame, None] = {}  # by when their first chunk came
        self._changed = asyncio.Event()

    def must_wait(self, frame: Frame) -> bool:
        """Whether this frame has to let others go first."""
        if self.used_bytes <= self.frame_bytes:
            return False
        return self._handled_bytes > 0 or next(iter(self._arriving)) is not frame

    async def change(self) -> None:
        """Until bytes are given back, or a frame is complete."""
        await self._changed.wait()

    def add(self, frame: Frame, count: int) -> None:
        """So many bytes of a frame arrived."""
        self._arriving[frame] = None
        self.used_bytes += count

    def arrived(self, frame: Frame, count: int) -> None:
        """No more bytes of a frame will arrive; its request is handled now."""
        self._arriving.pop(frame, None)
        self._handled_bytes += count
        self._tell()

    def give_back(self, count: int) -> None:
        """The bytes of a frame are needed no longer."""
        self._handled_bytes -= count
        self.used_bytes -= count
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one listener allows. ``room`` may be shared by several."""

    max_frame_bytes: int = MAX_FRAME_BYTES  # socket.request.max.bytes
    idle_s: float = 600.0  # connections.max.idle.ms
    stall_s: float = 60.0
    room: Room = field(default_factory=Room)


class Frame:
    """One request's bytes, counted for as long as they are in use."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._counted = 0

    def __enter__(self) -> Frame:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._counted:
            self._limits.room.give_back(self._counted)

    async def read(self) -> bytes | bytearray:
        """The next frame; TimeoutError when it takes too long, WireError when it is too long."""
        size, frame = await within(self._limits.idle_s, self._begin())
        return await self._read_long(size) if frame is None else frame

    async def _begin(self) -> tuple[int, bytes | bytearray | None]:
        """The size of the frame, and all of it if it is short."""
        connection = self._connection
        size = size_in(await connection.read_exactly(4), self._limits.max_frame_bytes)
        return size, await connection.read_long(size) if size <= SHORT_BYTES else None

    async def _read_long(self, size: int) -> bytes | bytearray:
        room = self._limits.room
        try:
            chunks: list[bytes | bytearray] = []
            while self._counted < size:
                while room.must_wait(self):
                    await room.change()
                rest = min(CHUNK_BYTES, size - self._counted)
                chunks.append(await within(self._limits.stall_s, self._connection.read_long(rest)))
                self._counted += rest
                room.add(self, rest)
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        finally:
            room.arrived(self, self._counted)

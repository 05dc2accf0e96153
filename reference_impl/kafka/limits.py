"""Limits: what one client may cost, and how its requests are read within the room for all.

Frames of up to ``TINY_BYTES`` take no room: they are bounded by the number of connections. Others
reserve theirs (``kafka.room``): a first piece when their size is announced, the rest in chunks,
each when the one before has arrived. The usual batch of a megabyte is one chunk; it is received in
place and not copied again, and so is a longer frame, which takes memory page by page.
"""

from __future__ import annotations

import asyncio
import mmap
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, TypeVar

from reference_impl.kafka.frames import size_in
from reference_impl.kafka.patience import within
from reference_impl.kafka.readers import Data
from reference_impl.kafka.room import CHUNK_BYTES, PIECE_BYTES, PIECE_S, Pool, Room
from reference_impl.ports.network import Connection

Result = TypeVar("Result")

TINY_BYTES: Final = 1 << 12
_FIRST_BYTES: Final = PIECE_BYTES // 2  # of a long frame, before there is a place for all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one listener allows. ``room`` may be shared by several."""

    idle_s: float = 600.0  # connections.max.idle.ms
    stall_s: float = 60.0  # for what was reserved at once
    room: Room = field(default_factory=Room)


class Frame:
    """One request's bytes, counted for as long as they are in use."""

    __slots__ = ("_connection", "_limits", "_pool", "due", "held", "size")

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._pool: Pool | None = None
        self.size = 0
        self.held = 0
        self.due: float | None = None

    def __enter__(self) -> Frame:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """The bytes are needed no longer."""
        if self._pool is not None:
            self._pool.give_back(self)
            self._pool = None

    def give_up(self) -> None:
        """Close the connection; whoever reads from it gives the bytes back."""
        self._connection.abort()

    async def read(self) -> Data:
        """The next frame; TimeoutError when it takes too long, WireError when it is too long."""
        frame = await within(self._limits.idle_s, self._begin())
        return await self._read_long() if frame is None else frame

    async def _begin(self) -> Data | None:
        """All of the frame if it is short."""
        connection, room = self._connection, self._limits.room
        self.size = size = size_in(await connection.read_exactly(4), room.max_frame_bytes)
        if size <= TINY_BYTES:
            return await connection.read_long(size)
        if size > PIECE_BYTES:
            return None
        pool = self._pool = room.normal
        if not pool.try_take(self, size):
            await pool.take(self, size)
        self.due = asyncio.get_running_loop().time() + PIECE_S
        frame = await connection.read_long(size)
        self.due = None
        pool.complete(self)
        return frame

    async def _read_long(self) -> Data:
        pool = self._pool = self._limits.room.pool(self.size)
        await pool.take(self, PIECE_BYTES)
        at, size = _FIRST_BYTES, self.size
        first = await self._timed(self._connection.read_exactly(at), at)
        await pool.take(self, min(CHUNK_BYTES, size) - PIECE_BYTES)
        whole = bytearray(size) if size <= CHUNK_BYTES else mmap.mmap(-1, size)
        view = memoryview(whole)
        view[:at] = first
        while at < size:
            if at == self.held:
                await pool.take(self, min(CHUNK_BYTES, size - at))
            end = min(self.held, at + PIECE_BYTES) if pool.pressed else self.held
            await self._timed(self._connection.read_into(view[at:end]), end - at)
            at = end
        pool.complete(self)
        return whole

    async def _timed(self, reading: Coroutine[Any, Any, Result], count: int) -> Result:
        self.due = asyncio.get_running_loop().time() + max(1.0, count / PIECE_BYTES) * PIECE_S
        try:
            return await within(self._limits.stall_s, reading)
        finally:
            self.due = None

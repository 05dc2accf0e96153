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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one listener allows. ``room`` may be shared by several."""

    idle_s: float = 600.0  # connections.max.idle.ms
    stall_s: float = 60.0  # for what was reserved at once
    room: Room = field(default_factory=Room)


class Frame:
    """One request's bytes, counted for as long as they are in use."""

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
        if frame is not None:
            return frame
        pool = self._pool = self._limits.room.pool(self.size)
        if self.size <= PIECE_BYTES:
            await pool.take(self, self.size)
            whole: Data = await self._timed(self._connection.read_long(self.size), self.size)
        else:
            whole = await self._read_long(pool)
        pool.complete(self)
        return whole

    async def _begin(self) -> Data | None:
        """All of the frame if it is tiny."""
        connection = self._connection
        size = size_in(await connection.read_exactly(4), self._limits.room.max_frame_bytes)
        self.size = size
        return await connection.read_long(size) if size <= TINY_BYTES else None

    async def _read_long(self, pool: Pool) -> Data:
        await pool.take(self, PIECE_BYTES)
        piece = await self._timed(self._connection.read_exactly(PIECE_BYTES), PIECE_BYTES)
        at, size = PIECE_BYTES, self.size
        await pool.take(self, min(CHUNK_BYTES, size) - at)
        whole = bytearray(size) if size <= CHUNK_BYTES else mmap.mmap(-1, size)
        view = memoryview(whole)
        view[:at] = piece
        while at < size:
            if at == self.held:
                await pool.take(self, min(CHUNK_BYTES, size - at))
            end = min(self.held, at + PIECE_BYTES) if pool.pressed else self.held
            await self._timed(self._connection.read_into(view[at:end]), end - at)
            at = end
        return whole

    async def _timed(self, reading: Coroutine[Any, Any, Result], count: int) -> Result:
        self.due = asyncio.get_running_loop().time() + max(1.0, count / PIECE_BYTES) * PIECE_S
        try:
            return await within(self._limits.stall_s, reading)
        finally:
            self.due = None

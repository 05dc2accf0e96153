"""The bytes of one simulated file: what is read now, and what may be left when power goes.

A file is only ever cut and added to, so all that happened since the last sync is a list of writes:
"cut here, then put these bytes". When power goes, the first few of them are there and the others
are not; the first that is not may be there in part. A later write never survives an earlier one.

A sync that fails loses the bytes it should have synced. They are read as before, and no later sync
brings them back: what is written behind them and synced has zeros before it. Cuts are not lost, as
they are in the journal of the file system; they stay unsynced.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Write:
    """Cut at ``offset``, then put ``data`` there. An append cuts nothing, a cut puts nothing."""

    offset: int
    data: bytes

    def apply(self, image: bytearray) -> None:
        """Do it to an image of the file, which may lack bytes that a failed sync lost."""
        del image[self.offset :]
        if self.data:
            image.extend(bytes(self.offset - len(image)))
            image.extend(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class WritesLost:
    """What a loss of power did to the unsynced writes of a file."""

    lost: int  # of which nothing is left
    torn: int  # of which a part is left


class Inode:
    """A file, whatever its name. ``data`` is what is read now."""

    __slots__ = ("_platter", "_unsynced", "data", "number", "path", "rotten")

    def __init__(self, number: int, path: str) -> None:
        self.number = number
        self.path = path
        self.data = bytearray()
        self.rotten: list[int] = []
        self._platter = bytearray()
        self._unsynced: list[Write] = []

    def append(self, data: bytes) -> None:
        """Write at the end."""
        if data:
            self._write(Write(len(self.data), data))

    def truncate(self, size: int) -> None:
        """Cut everything from there on."""
        if size < len(self.data):
            self._write(Write(size, b""))
            self.rotten = [offset for offset in self.rotten if offset < size]

    def sync(self) -> None:
        """Everything written so far is safe, but for what a failed sync lost."""
        for write in self._unsynced:
            write.apply(self._platter)
        self._unsynced.clear()

    def fail_sync(self) -> int:
        """Everything unsynced is lost, though it can still be read; how many bytes that is."""
        lost = sum(len(write.data) for write in self._unsynced)
        self._unsynced = [write for write in self._unsynced if not write.data]
        return lost

    def durable(self) -> bytes:
        """What is left if nothing unsynced survives."""
        return bytes(self._platter)

    def lose_power(self, rng: Random | None) -> WritesLost:
        """Keep what chance lets survive, and without chance nothing but what was synced."""
        writes = self._unsynced
        kept = 0 if rng is None else some_of(rng, len(writes))
        surviving, rest = writes[:kept], writes[kept:]
        torn = rng is not None and len(rest) > 0 and len(rest[0].data) > 1 and rng.random() < 0.5
        if rng is not None and torn:
            some = 1 + rng.randrange(len(rest[0].data) - 1)
            surviving.append(Write(rest[0].offset, rest[0].data[:some]))
        self._unsynced = surviving
        self.sync()
        self.data = bytearray(self._platter)
        self.rotten = [offset for offset in self.rotten if offset < len(self.data)]
        return WritesLost(lost=len(rest) - torn, torn=int(torn))

    def flip(self, offset: int, bit: int) -> None:
        """Turn a bit of a byte over, for those who read it now and wherever it may survive."""
        self.data[offset] ^= 1 << bit
        self.rotten.append(offset)
        for index, write in reversed(list(enumerate(self._unsynced))):
            if write.offset <= offset < write.offset + len(write.data):
                data = bytearray(write.data)
                data[offset - write.offset] ^= 1 << bit
                self._unsynced[index] = Write(write.offset, bytes(data))
                return
        if offset < len(self._platter):
            self._platter[offset] ^= 1 << bit

    def _write(self, write: Write) -> None:
        write.apply(self.data)
        self._unsynced.append(write)


def some_of(rng: Random, count: int) -> int:
    """How many of the first so many survive: none, all, or any number, each often."""
    return rng.choice((0, count, rng.randrange(count + 1)))

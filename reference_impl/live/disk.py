"""The disk port on the files below one folder.

Everything but a sync happens in the event loop's own thread: it reaches the page cache and takes
microseconds, less than handing it to another thread would. A sync waits for the device, and is
handed over. So calls on one disk do not overlap, except with syncs; a sync covers what was written
before it was asked for, and perhaps more.

A sync of a directory makes the whole chain up to the root durable, because the name of a directory
is durable only once the one above it is synced. The root itself belongs to whoever made it.

Nothing outside the root is touched: a path cannot leave it, and a symbolic link below it is refused
(ELOOP) wherever it points. That is a guard against mistakes, not against somebody who changes the
folders meanwhile. One process at a time may have the folder; nothing checks that.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import stat
from pathlib import Path

from reference_impl.ports.disk import check_directory, check_path

_OPEN = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class FileDisk:
    """A Disk of real files; makes its root if there is none."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = str(root.resolve())

    async def open(self, path: str, *, create: bool = True) -> OpenFile:
        """The file of that name, made if need be, together with the directories above it."""
        check_path(path)
        place = self._place(path)
        if create:
            _make_above(place)
        return OpenFile(place, _OPEN | os.O_CREAT if create else _OPEN)

    async def names(self, directory: str = "") -> tuple[str, ...]:
        """What is in a directory, sorted; nothing if there is none."""
        check_directory(directory)
        try:
            return tuple(sorted(os.listdir(self._place(directory))))
        except FileNotFoundError:
            return ()

    async def rename(self, path: str, to: str) -> None:
        """Give a file another name at once, in place of the one that had it."""
        check_path(path)
        check_path(to)
        place, wanted = self._place(path), self._place(to)
        _check_file(place)
        _make_above(wanted)
        os.replace(place, wanted)

    async def remove(self, path: str) -> None:
        """Take a file away; whoever has it open keeps it until it is closed."""
        check_path(path)
        place = self._place(path)
        _check_file(place)
        os.unlink(place)

    async def sync_directory(self, directory: str = "") -> None:
        """Return once the names in a directory, and its own, survive a loss of power."""
        check_directory(directory)
        self._place(directory)
        names = directory.split("/") if directory else []
        chain = [os.path.join(self._root, *names[:depth]) for depth in range(len(names), -1, -1)]
        await asyncio.to_thread(_sync_directories, chain)

    def _place(self, path: str) -> str:
        place = os.path.join(self._root, path) if path else self._root
        if os.path.realpath(place) != place:
            raise _error(errno.ELOOP, place)
        return place


class OpenFile:
    """An open file. It has no position: writes go to the end, reads say where."""

    def __init__(self, place: str, flags: int) -> None:
        self._place = place
        self._file = io.FileIO(place, "r+", opener=lambda path, _: os.open(path, flags, 0o644))

    async def append(self, data: bytes | memoryview) -> None:
        """Write at the end, in as many writes as the system wants."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._file.fileno(), left) :]

    async def read(self, offset: int, count: int) -> bytes:
        """Up to that many bytes; fewer at the end of the file, none beyond it."""
        if offset < 0 or count < 0:
            raise ValueError(f"{self._place}: no bytes to read: {count} from {offset}")
        data = os.pread(self._file.fileno(), count, offset)
        while data and len(data) < count:
            more = os.pread(self._file.fileno(), count - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    async def truncate(self, size: int) -> None:
        """Cut everything from there on; a size beyond the end is a ValueError."""
        there = await self.size()
        if not 0 <= size <= there:
            raise ValueError(f"{self._place}: cannot cut {there} bytes to {size}")
        os.ftruncate(self._file.fileno(), size)

    async def size(self) -> int:
        """How many bytes it holds."""
        return os.fstat(self._file.fileno()).st_size

    async def sync(self) -> None:
        """Return once everything written so far survives a loss of power."""
        # A descriptor of its own: the caller may give up waiting, close, and open another file.
        await asyncio.to_thread(_sync_and_close, os.dup(self._file.fileno()))

    async def close(self) -> None:
        """Let go of it, without syncing."""
        self._file.close()


def _check_file(place: str) -> None:
    """Refuse what is not there, and a directory: the system would rename that too."""
    if stat.S_ISDIR(os.lstat(place).st_mode):
        raise _error(errno.EISDIR, place)


def _make_above(place: str) -> None:
    above = os.path.dirname(place)
    try:
        os.makedirs(above, exist_ok=True)
    except FileExistsError:
        raise _error(errno.ENOTDIR, above) from None


def _sync_directories(chain: list[str]) -> None:
    for place in chain:
        _sync_and_close(os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))


def _sync_and_close(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _error(number: int, place: str) -> OSError:
    return OSError(number, os.strerror(number), place)

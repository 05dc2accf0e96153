"""The disk port: files of one node, and what survives when it dies.

Paths are relative, with `/` between their parts; directories exist as soon as something is put into
them. Writes show at once to whoever reads. What survives is another matter:

- a node that is killed keeps everything it wrote;
- a machine that loses power keeps what was synced: the bytes of a file by ``File.sync``, the
  names in a directory (files created, renamed or removed there) by ``Disk.sync_directory``. Of what
  was not synced, nothing, a part or all may be there; a write may be torn at any byte.
- after a ``sync`` that failed, what it should have synced must be taken for lost: a later one that
  succeeds says nothing about those bytes.

A write that fails, for want of room or otherwise, may have written a part of its bytes.

    OSError                  with errno: ENOSPC, EIO, ...
    └── FileNotFoundError    no file of that name; of a file that was removed while open, nothing
"""

from __future__ import annotations

import errno
import os
from typing import Protocol

from reference_impl.ports.effects import Gate, Passage, Trouble


class File(Protocol):
    """An open file. Several may be open on one path; they see the same bytes."""

    async def append(self, data: bytes | memoryview) -> None:
        """Write at the end."""
        ...

    async def read(self, offset: int, count: int) -> bytes:
        """Up to that many bytes; fewer at the end of the file, none beyond it."""
        ...

    async def truncate(self, size: int) -> None:
        """Cut everything from there on; a size beyond the end is a ValueError."""
        ...

    async def size(self) -> int:
        """How many bytes it holds."""
        ...

    async def sync(self) -> None:
        """Return once everything written so far survives a loss of power."""
        ...

    async def close(self) -> None:
        """Let go of it, without syncing; calling it twice is harmless."""
        ...


class Disk(Protocol):
    """The files of one node."""

    async def open(self, path: str, *, create: bool = True) -> File:
        """The file of that name; made empty where there is none and it may be created."""
        ...

    async def names(self, directory: str = "") -> tuple[str, ...]:
        """What is in a directory, sorted; nothing if there is none."""
        ...

    async def rename(self, path: str, to: str) -> None:
        """Give a file another name at once, in place of the one that had it."""
        ...

    async def remove(self, path: str) -> None:
        """Take a file away."""
        ...

    async def sync_directory(self, directory: str = "") -> None:
        """Return once the names in a directory survive a loss of power."""
        ...


_NAME_BYTES = 255  # what the common file systems take


def check_path(path: str) -> None:
    """Refuse what is no path of a file; every disk refuses the same, with a ValueError.

    A path is one name or several with `/` between them. A name is neither empty nor `.` nor `..`,
    has no NUL, and is at most 255 bytes of UTF-8.
    """
    for name in path.split("/"):
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            size = 0
        if not 0 < size <= _NAME_BYTES or name in (".", "..") or "\0" in name:
            raise ValueError(f"not a path of a file: {path!r}")


def check_directory(directory: str) -> None:
    """Refuse what is no directory; the topmost one is the empty text."""
    if directory:
        check_path(directory)


_ERRNO = {Trouble.FULL: errno.ENOSPC}


def disk_error(trouble: Trouble) -> OSError:
    """What a disk says to a trouble: ENOSPC where it is full, else EIO."""
    number = _ERRNO.get(trouble, errno.EIO)
    return OSError(number, os.strerror(number))


class GatedDisk:
    """A disk where everything that changes it is an effect; looking is none."""

    def __init__(self, inner: Disk, gate: Gate) -> None:
        self._inner = inner
        self._passage = Passage(gate, "disk", disk_error)
        self.names = inner.names

    async def open(self, path: str, *, create: bool = True) -> File:
        """An effect (`create`) only where it makes the file."""
        try:
            found = await self._inner.open(path, create=False)
        except FileNotFoundError:
            if not create:
                raise
            found = await self._passage.run("create", lambda: self._inner.open(path), path=path)
        return _GatedFile(path, found, self._passage)

    async def rename(self, path: str, to: str) -> None:
        """An effect: `rename`."""
        await self._passage.run("rename", lambda: self._inner.rename(path, to), path=path, to=to)

    async def remove(self, path: str) -> None:
        """An effect: `remove`."""
        await self._passage.run("remove", lambda: self._inner.remove(path), path=path)

    async def sync_directory(self, directory: str = "") -> None:
        """An effect: `sync_directory`."""
        do = self._inner.sync_directory
        await self._passage.run("sync_directory", lambda: do(directory), path=directory)


class _GatedFile:
    """A file whose writes, truncations and syncs are effects."""

    def __init__(self, path: str, inner: File, passage: Passage) -> None:
        self._path = path
        self._inner = inner
        self._passage = passage
        self.read = inner.read
        self.size = inner.size
        self.close = inner.close

    async def append(self, data: bytes | memoryview) -> None:
        """An effect: `append`."""
        do = self._inner.append
        await self._passage.run("append", lambda: do(data), path=self._path, bytes=len(data))

    async def truncate(self, size: int) -> None:
        """An effect: `truncate`."""
        do = self._inner.truncate
        await self._passage.run("truncate", lambda: do(size), path=self._path, size=size)

    async def sync(self) -> None:
        """An effect: `sync`."""
        await self._passage.run("sync", self._inner.sync, path=self._path)

"""What a node of the register keeps on its disk: a promise and a log.

The promise is replaced whole: written beside, synced, renamed, and the name synced. The log is a
file of lines, each with a checksum. Whatever is torn at its end was never acknowledged, and is cut.

What a process finds when it starts proves nothing about what is safe: the one before it may have
died before its sync, or because of it, and after a failed sync no later one helps. So a node writes
everything anew before it says a word.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from register_decisions import Entry, Promise, promise_on_disk, syncs_before_answering

from reference_impl.ports import Disk
from reference_impl.ports.disk import File

PROMISE, LOG = "promise", "log"


def line(*fields: Any) -> bytes:
    """One line with its checksum."""
    text = json.dumps(fields, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def lines(data: bytes) -> list[Any]:
    """The fields of each line, up to the first that is not whole."""
    found = []
    for text in data.split(b"\n")[:-1]:
        if text[:8] != b"%08x" % zlib.crc32(text[9:]):
            break
        found.append(json.loads(text[9:]))
    return found


class Journal:
    """The files of one node. An OSError of any method leaves them unusable for this process."""

    def __init__(self, disk: Disk, file: File, ends: list[int]) -> None:
        self._disk = disk
        self._file = file
        self._ends = ends  # of the log's entries, in bytes, after a 0

    @classmethod
    async def recover(cls, disk: Disk) -> tuple[Journal, Promise, list[Entry]]:
        """Read what is there and make it safe."""
        promise = Promise(*(lines(await _content(disk, PROMISE)) or [()])[0])
        log = [Entry(*fields) for fields in lines(await _content(disk, LOG))]
        await _replace(disk, PROMISE, line(*astuple(promise)))
        written = [line(*astuple(entry)) for entry in log]
        await _replace(disk, LOG, b"".join(written))
        journal = cls(disk, await disk.open(LOG), [0])
        journal._extend(written)
        return journal, promise, log

    async def promise(self, promise: Promise) -> None:
        """Keep a promise, in place of the one before."""
        await _replace(self._disk, PROMISE, line(*astuple(promise_on_disk(promise))))

    async def write(self, keep: int, entries: Sequence[Entry]) -> None:
        """Cut the log to so many entries and put others behind."""
        if keep < len(self._ends) - 1:
            await self._file.truncate(self._ends[keep])
            del self._ends[keep + 1 :]
        written = [line(*astuple(entry)) for entry in entries]
        await self._file.append(b"".join(written))
        self._extend(written)
        if syncs_before_answering(len(entries)):
            await self._file.sync()

    def _extend(self, written: Sequence[bytes]) -> None:
        for one in written:
            self._ends.append(self._ends[-1] + len(one))


async def _content(disk: Disk, path: str) -> bytes:
    try:
        file = await disk.open(path, create=False)
    except FileNotFoundError:
        return b""
    content = await file.read(0, await file.size())
    await file.close()
    return content


async def _replace(disk: Disk, path: str, data: bytes) -> None:
    """A file with this content under this name, or the one before: never something between."""
    file = await disk.open(f"{path}.new")
    await file.truncate(0)
    await file.append(data)
    await file.sync()
    await file.close()
    await disk.rename(f"{path}.new", path)
    await disk.sync_directory()

"""Small text files that are replaced whole, as Kafka writes them: version, count, lines.

The new text goes to a file beside the old one, is synced, and takes its name; so there is always
one whole version, whatever dies in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.ports.disk import Disk

VERSION = "0"


class CorruptCheckpoint(ValueError):
    """The file is no checkpoint, or not a whole one."""


async def write_checkpoint(disk: Disk, path: str, lines: Sequence[str]) -> None:
    """Replace the file by these lines, for good."""
    text = "".join(f"{line}\n" for line in (VERSION, str(len(lines)), *lines))
    await replace_file(disk, path, text.encode())


async def replace_file(disk: Disk, path: str, data: bytes) -> None:
    """Replace the contents of a file at once, and for good."""
    beside = f"{path}.tmp"
    file = await disk.open(beside)
    try:
        await file.truncate(0)
        await file.append(data)
        await file.sync()
    finally:
        await file.close()
    await disk.rename(beside, path)
    await disk.sync_directory(path.rpartition("/")[0])


async def overwrite_file(disk: Disk, path: str, data: bytes) -> None:
    """Give a file these contents, unsynced; killed meanwhile, it has a part of them."""
    file = await disk.open(path)
    try:
        await file.truncate(0)
        await file.append(data)
    finally:
        await file.close()


async def read_checkpoint(disk: Disk, path: str) -> tuple[str, ...] | None:
    """The lines of the file, None if there is no file."""
    data = await read_file(disk, path)
    return None if data is None else lines_of_checkpoint(data, path)


def lines_of_checkpoint(data: bytes, path: str) -> tuple[str, ...]:
    """The lines of a checkpoint, wherever its bytes come from."""
    try:
        version, count, *lines = data.decode().splitlines()
        if version != VERSION or int(count) != len(lines):
            raise CorruptCheckpoint(f"{path}: version {version}, {count} lines announced")
    except ValueError as error:
        raise CorruptCheckpoint(f"{path} is no checkpoint: {error}") from error
    return tuple(lines)


async def read_file(disk: Disk, path: str) -> bytes | None:
    """A whole file, None if there is none."""
    try:
        file = await disk.open(path, create=False)
    except FileNotFoundError:
        return None
    try:
        return await file.read(0, await file.size())
    finally:
        await file.close()

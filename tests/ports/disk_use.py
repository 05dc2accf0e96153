"""What tests do with whole files."""

from __future__ import annotations

from reference_impl.ports.disk import Disk, File


async def write(disk: Disk, path: str, data: bytes) -> None:
    file = await disk.open(path)
    await file.append(data)
    await file.close()


async def content(disk: Disk, path: str) -> bytes:
    file = await disk.open(path, create=False)
    try:
        return await all_of(file)
    finally:
        await file.close()


async def all_of(file: File) -> bytes:
    return await file.read(0, await file.size())

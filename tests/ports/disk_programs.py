"""Programs that write until they are killed, and what may be left of their writing.

Each acknowledges a step once it is done. As a program, this file runs one of them on real files and
prints the steps that it acknowledges.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from reference_impl.live.disk import FileDisk
from reference_impl.ports.disk import Disk

Acknowledge = Callable[[int], Awaitable[None]]
Program = Callable[[Disk, Acknowledge], Awaitable[None]]


def record(step: int) -> bytes:
    """What a step writes: some are small, some of several pages."""
    return f"{step:08d}".encode() * (1 + step * 37 % 3000)


async def append(disk: Disk, acknowledge: Acknowledge) -> None:
    """One record after another to the end of a file."""
    file = await disk.open("log/0")
    step = 0
    while True:
        step += 1
        await file.append(record(step))
        await acknowledge(step)


async def replace(disk: Disk, acknowledge: Acknowledge) -> None:
    """A file written whole beside another one, and put in its place."""
    step = 0
    while True:
        step += 1
        file = await disk.open("state/next")
        await file.truncate(0)
        await file.append(record(step))
        await file.close()
        await disk.rename("state/next", "state/current")
        await acknowledge(step)


PROGRAMS: dict[str, Program] = {"append": append, "replace": replace}


async def print_step(step: int) -> None:
    print(step, flush=True)


if __name__ == "__main__":
    asyncio.run(PROGRAMS[sys.argv[1]](FileDisk(Path(sys.argv[2])), print_step))

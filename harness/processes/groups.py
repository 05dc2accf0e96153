"""What the kernel's process table says of a process group: Linux, by `/proc`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_STATE, _GROUP, _STARTED = 0, 2, 19  # fields behind the name of the program
_ENDED, _STOPPED = "ZX", "Tt"


class Member(NamedTuple):
    """A process of a group; with the time of its start, because numbers are given out again."""

    pid: int
    started: int


def members(group: int) -> frozenset[Member]:
    """The processes of a group that have not ended."""
    return frozenset(
        Member(int(entry.name), int(fields[_STARTED]))
        for entry in _PROC.iterdir()
        if entry.name.isdigit()
        and (fields := _fields(entry / "stat"))
        and fields[_GROUP] == str(group)
        and fields[_STATE] not in _ENDED
    )


def stopped_threads(group: int) -> int:
    """How many threads of a group are stopped by a signal."""
    return sum(fields[_STATE] in _STOPPED for one in members(group) for fields in _threads(one.pid))


def _threads(pid: int) -> Iterator[list[str]]:
    try:
        tasks = list((_PROC / str(pid) / "task").iterdir())
    except OSError:  # ended since
        return
    yield from filter(None, (_fields(task / "stat") for task in tasks))


def _fields(stat: Path) -> list[str]:
    try:
        return stat.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []

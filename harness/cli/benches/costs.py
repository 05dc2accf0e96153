"""What this process and those it started have cost so far, by what Linux keeps of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def _ours() -> set[int]:
    """This process and those it started."""
    parents = dict(_statuses("PPid"))
    ours = {os.getpid()}
    for _ in parents:
        ours |= {process for process, parent in parents.items() if parent in ours}
    return ours


def peak_mb() -> float:
    """The peak of memory of our processes, as Linux counts it."""
    ours = _ours()
    return sum(kib for process, kib in _statuses("VmHWM") if process in ours) / 1024


def cpu_s() -> float:
    """The seconds of CPU that our processes have used."""
    ticks = 0
    for process in _ours():
        try:
            stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        # Of itself, and of those that it started and that have ended.
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return max(ticks / os.sysconf("SC_CLK_TCK"), 0.01)


def _statuses(name: str) -> Iterator[tuple[int, int]]:
    """A number that the kernel keeps of each process, by process."""
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = path.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            continue  # it has ended meanwhile
        yield from (
            (int(path.parent.name), int(line.split()[1])) for line in lines if line.startswith(name)
        )

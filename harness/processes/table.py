"""What the process table says: who lives, and how many ended when they were told to."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path


def ended(pid: int) -> bool:
    """Whether a process is gone, or is left as a zombie."""
    with _held([pid]) as handles:
        return not handles or bool(select.select(handles, [], [], 0)[0])


def children(pid: int) -> list[int]:
    """The processes that a process has started and not yet waited for."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text()
                if int(stat.rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
    return sorted(found)


def kill_with_children(pid: int, *, within_s: float = 10.0) -> int:
    """SIGKILL a process and its children; how many of them the kernel then reports as ended.

    It is stopped first, so that it starts no more of them. Its parent has to wait for it.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    with _held([pid, *children(pid)]) as handles:
        alive = [handle for handle in handles if not select.select([handle], [], [], 0)[0]]
        for handle in alive:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        return _count_ended(alive, time.monotonic() + within_s)


def _count_ended(handles: list[int], deadline: float) -> int:
    left = list(handles)
    while left and (wait_s := deadline - time.monotonic()) > 0:
        gone = select.select(left, [], [], wait_s)[0]
        left = [handle for handle in left if handle not in gone]
    return len(handles) - len(left)


@contextlib.contextmanager
def _held(pids: Iterable[int]) -> Iterator[list[int]]:
    """Descriptors of those that are there, so that no number can mean another process."""
    with contextlib.ExitStack() as stack:
        handles = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                handles.append(os.pidfd_open(pid))
                stack.callback(os.close, handles[-1])
        yield handles

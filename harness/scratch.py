"""Temporary folders of the lab, and how those of a lab that was killed are cleared away.

The owner of a folder holds a lock on a file in it for as long as it lives, and the kernel lets go
of the lock when it dies, however it dies. The first folder that a process makes has it look for
others: one with the lab's mark, of the same user, whose lock is free, belongs to nobody and goes.
What has no mark is never touched, whatever it is called.

The mark gets its name when it is locked already, so that there is no moment at which the folder of
a living lab looks abandoned. Where the file system knows no locks a folder gets no mark.

A folder's removal is arranged before it is made: an interrupt finds no moment at which a folder is
there and its owner does not know of it.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import weakref
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final

PREFIX: Final = "tidemark-"
MARK: Final = ".tidemark-owner"


class ScratchFolder:
    """A folder that is there until it is closed, or its process is gone."""

    def __init__(self, purpose: str) -> None:
        """`purpose` becomes part of its name."""
        _clear_once(tempfile.gettempdir())
        name = f"{PREFIX}{purpose}-{secrets.token_hex(8)}"
        self.path = Path(tempfile.gettempdir()) / name
        self._locks: list[int] = []
        self._removal = weakref.finalize(self, _remove, self.path, self._locks, os.getpid())
        self.path.mkdir(mode=0o700)
        _mark(self.path, self._locks)

    @property
    def locked(self) -> bool:
        """Whether others can see that it is owned; not so where the file system knows no locks."""
        return bool(self._locks)

    def close(self) -> None:
        """Remove it with all that is in it; calling it twice is harmless."""
        self._removal()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def clear_abandoned(place: str) -> list[Path]:
    """Remove what no living lab owns in a folder of temporary folders; what that was."""
    with os.scandir(place) as entries:
        names = sorted(
            entry.path
            for entry in entries
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
        )
    return [path for path in map(Path, names) if _cleared(path)]


def is_owned(folder: Path) -> bool:
    """Whether a living lab holds the lock of a scratch folder."""
    try:
        lock = os.open(folder / MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        return True  # of another user, who alone may say so
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


@cache
def _clear_once(place: str) -> None:
    try:
        clear_abandoned(place)
    except OSError:
        return  # it cannot be listed: then it cannot be cleared


def _mark(folder: Path, locks: list[int]) -> None:
    """Mark a folder as owned by this process; the descriptor that holds the lock joins `locks`."""
    unnamed = folder / f"{MARK}.new"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        unnamed.unlink()
        return
    os.rename(unnamed, folder / MARK)
    locks.append(lock)


def _remove(folder: Path, locks: list[int], owner: int) -> None:
    """Remove a folder and let go of its lock; a forked child leaves that to the owner."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
        while locks:
            os.close(locks.pop())


def _cleared(folder: Path) -> bool:
    """Remove a folder that carries the mark of this user's lab, if nobody holds its lock."""
    try:
        lock = os.open(folder / MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        found = os.fstat(lock)
        if found.st_uid != os.getuid() or not stat.S_ISREG(found.st_mode):
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True

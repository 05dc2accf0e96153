"""The names on a simulated disk: which there are now, and which may be left when power goes.

Names are apart from files. To create, rename or remove a file, or to make a directory, is a
*change*, and belongs to the one or two directories whose names it touches; to make a directory also
belongs to the directory made. The changes of a directory survive in their order: one survives only
if all that came before it, in any directory it belongs to, survive too. To sync a directory makes
all its changes safe, and with them whatever they rest on. So

- a file whose bytes were synced is gone where its name was not;
- a rename that comes undone brings back the old name and whatever had the new one;
- a rename between two directories survives as a whole or not at all, and either sync settles it;
- a name that was removed and made anew shows the old file, none, or the new one;
- what was synced in a directory can be reached: the directories above it are safe as well.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from harness.simulation.disk_bytes import Inode, some_of

Names = dict[str, Inode | None]  # None is a directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Take one name away, put another there, or both at once."""

    directories: tuple[str, ...]
    removed: str | None = None
    added: str | None = None
    entry: Inode | None = None

    def apply(self, names: Names) -> None:
        """Do it."""
        if self.removed is not None:
            del names[self.removed]
        if self.added is not None:
            names[self.added] = self.entry

    def makes_directory(self) -> bool:
        """Whether no file is concerned."""
        return self.added is not None and self.entry is None


class Directories:
    """All names on a disk. The topmost directory is the empty text and always there."""

    def __init__(self) -> None:
        self._now: Names = {}
        self._safe: Names = {}
        self._unsynced: list[Change] = []

    def files(self) -> dict[str, Inode]:
        """The files by their names, in order of these."""
        return _files(self._now)

    def durable(self) -> dict[str, Inode]:
        """The files by the names that are left if no unsynced change survives."""
        return _files(self._safe)

    def inside(self, directory: str) -> tuple[str, ...]:
        """What is in a directory, sorted; nothing if there is none."""
        self._check_above(f"{directory}/" if directory else "")
        above = len(directory) + 1 if directory else 0
        return tuple(sorted(path[above:] for path in self._now if parent(path) == directory))

    def find(self, path: str) -> Inode:
        """The file of that name."""
        self._check_above(path)
        if path not in self._now:
            raise disk_says(errno.ENOENT, path)
        inode = self._now[path]
        if inode is None:
            raise disk_says(errno.EISDIR, path)
        return inode

    def create(self, path: str, inode: Inode) -> None:
        """Name a new file, and make the directories above it."""
        self._make_above(path)
        self._change(Change(directories=(parent(path),), added=path, entry=inode))

    def rename(self, path: str, to: str) -> None:
        """Give a file another name, in place of the one that had it."""
        inode = self.find(path)
        self._check_above(to)
        if to in self._now and self._now[to] is None:
            # Linux has a word of its own for the directory in which the file is.
            raise disk_says(errno.ENOTEMPTY if path.startswith(f"{to}/") else errno.EISDIR, to)
        if path == to:
            return
        self._make_above(to)
        touched = tuple(dict.fromkeys((parent(path), parent(to))))
        self._change(Change(directories=touched, removed=path, added=to, entry=inode))
        inode.path = to

    def remove(self, path: str) -> None:
        """Take the name of a file away."""
        self.find(path)
        self._change(Change(directories=(parent(path),), removed=path))

    def sync(self, directory: str) -> None:
        """Make the changes of a directory safe, and what they rest on."""
        needed = {directory}
        safe: list[Change] = []
        rest: list[Change] = []
        for change in reversed(self._unsynced):
            if needed.isdisjoint(change.directories):
                rest.append(change)
            else:
                needed.update(change.directories)
                safe.append(change)
        self._unsynced = rest[::-1]
        for change in reversed(safe):
            change.apply(self._safe)

    def check_directory(self, directory: str) -> None:
        """Refuse one that is not there."""
        if directory:
            self._check_above(f"{directory}/")
            if directory not in self._now:
                raise disk_says(errno.ENOENT, directory)

    def lose_power(self, rng: Random | None) -> int:
        """Keep the changes that chance lets survive, without chance none; how many came undone."""
        left = self._draw(rng)
        undone = 0
        for change in self._unsynced:
            if all(left[directory] for directory in change.directories):
                change.apply(self._safe)
                left.update((directory, left[directory] - 1) for directory in change.directories)
            else:
                undone += not change.makes_directory()
                left.update((directory, 0) for directory in change.directories)
        self._unsynced.clear()
        self._now = dict(self._safe)
        for path, inode in self.files().items():
            inode.path = path
        return undone

    def _draw(self, rng: Random | None) -> dict[str, int]:
        """For each directory, how many of its changes may survive."""
        changes: dict[str, int] = {}
        for change in self._unsynced:
            for directory in change.directories:
                changes[directory] = changes.get(directory, 0) + 1
        return {
            directory: 0 if rng is None else some_of(rng, count)
            for directory, count in changes.items()
        }

    def _check_above(self, path: str) -> None:
        for above in _above(path):
            if self._now.get(above) is not None:
                raise disk_says(errno.ENOTDIR, path)

    def _make_above(self, path: str) -> None:
        self._check_above(path)
        for above in _above(path):
            if above not in self._now:
                self._change(Change(directories=(parent(above), above), added=above))

    def _change(self, change: Change) -> None:
        change.apply(self._now)
        self._unsynced.append(change)


def parent(path: str) -> str:
    """The directory in which a name is."""
    return path.rpartition("/")[0]


def disk_says(number: int, path: str) -> OSError:
    """The error that a file system gives, with its number."""
    return OSError(number, os.strerror(number), path)


def _above(path: str) -> Iterator[str]:
    """The directories on the way to a path, the topmost one aside."""
    parts = path.split("/")[:-1]
    return ("/".join(parts[: count + 1]) for count in range(len(parts)))


def _files(names: Names) -> dict[str, Inode]:
    return {path: inode for path, inode in sorted(names.items(), key=_name) if inode is not None}


def _name(item: tuple[str, Inode | None]) -> str:
    return item[0]

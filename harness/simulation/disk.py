"""The simulated disk: the files of one machine in memory, and what is left when it fails.

It outlives its node: a process that dies and one that starts again meet the same disk. The port's
calls never suspend; being slow, refusing, and dying in the middle are the business of the gate in
front of it. What the lab may do to it:

    kill()          the process died: its open files are dead, every byte stays
    lose_power()    the machine died: what was not synced may be gone (`disk_bytes`, `disk_names`)
    break_sync()    syncs fail, and lose for good what they should have synced
    capacity        there is only so much room; a write that does not fit writes what fits
    corrupt()       a bit of a file has turned over
    wipe()          the machine comes back with an empty disk

``counts`` is the evidence that any of it has hits.

Where file systems differ the twin takes the harder side, within what the port allows: a sync of a
file does not save its name, as it happens to do on ext4, and directories keep no order among each
other. It is kinder than some in three ways: an unsynced write never survives an earlier one of the
same file, a rename is never half done, and room that a removal frees can be used at once.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from random import Random
from typing import Literal

from harness.simulation.disk_bytes import Inode
from harness.simulation.disk_names import Directories, disk_says
from harness.simulation.errors import SimulationError
from reference_impl.ports.disk import check_directory, check_path


class DeadFile(SimulationError):
    """A file was used that a process had open which is dead: its code should not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLoss:
    """What one loss of power took. Bytes count from the first one of a file that is not there."""

    bytes_lost: int  # could be read before, and cannot any more
    writes_lost: int  # appends and truncations that came undone
    writes_torn: int  # appends of which only the beginning is there
    names_lost: int  # files created, renamed or removed, and it came undone


@dataclass(slots=True, kw_only=True)
class DiskCounts:
    """What the faults of one disk did, ever."""

    bytes_lost: int = 0
    writes_lost: int = 0
    writes_torn: int = 0
    names_lost: int = 0
    syncs_failed: int = 0
    bytes_not_synced: int = 0  # lost to syncs that failed, though still readable then
    writes_without_room: int = 0
    reads_corrupt: int = 0


@dataclass(slots=True)
class _BrokenSync:
    prefix: str
    left: int | None  # None: until it is mended


class SimDisk:
    """A Disk in memory. ``capacity`` in bytes may be set at any time; None is boundless."""

    def __init__(self, rng: Random) -> None:
        self.capacity: int | None = None
        self.counts = DiskCounts()
        self._rng = rng
        self._directories = Directories()
        self._open: dict[int, Inode] = {}
        self._opened = 0
        self._created = 0
        self._broken: list[_BrokenSync] = []

    async def open(self, path: str, *, create: bool = True) -> SimFile:
        """The file of that name, made if need be."""
        check_path(path)
        try:
            inode = self._directories.find(path)
        except FileNotFoundError:
            if not create:
                raise
            self._created += 1
            inode = Inode(self._created, path)
            self._directories.create(path, inode)
        self._opened += 1
        self._open[self._opened] = inode
        return SimFile(self, inode, self._opened)

    async def names(self, directory: str = "") -> tuple[str, ...]:
        """What is in a directory, sorted; nothing if there is none."""
        check_directory(directory)
        return self._directories.inside(directory)

    async def rename(self, path: str, to: str) -> None:
        """Give a file another name at once, in place of the one that had it."""
        check_path(path)
        check_path(to)
        self._directories.rename(path, to)

    async def remove(self, path: str) -> None:
        """Take a file away; whoever has it open keeps it until it is closed."""
        check_path(path)
        self._directories.remove(path)

    async def sync_directory(self, directory: str = "") -> None:
        """Make the names in a directory safe. Where that fails, they stay unsynced."""
        check_directory(directory)
        self._directories.check_directory(directory)
        if self._sync_fails(directory):
            raise disk_says(errno.EIO, directory)
        self._directories.sync(directory)

    @property
    def used(self) -> int:
        """The bytes of all files that have a name or are open."""
        sizes = {inode.number: len(inode.data) for inode in self._directories.files().values()}
        sizes.update((inode.number, len(inode.data)) for inode in self._open.values())
        return sum(sizes.values())

    def contents(self) -> dict[str, bytes]:
        """Every file as it reads now, in order of their names."""
        return {path: bytes(inode.data) for path, inode in self._directories.files().items()}

    def durable(self) -> dict[str, bytes]:
        """Every file as it would be if power went and nothing unsynced survived."""
        return {path: inode.durable() for path, inode in self._directories.durable().items()}

    def kill(self) -> int:
        """The process that had files open died; how many there were."""
        dead = len(self._open)
        self._open.clear()
        return dead

    def lose_power(self, *, lose: Literal["some", "all"] = "some") -> PowerLoss:
        """The machine died. Of what was unsynced it loses all, or what chance will have."""
        rng = None if lose == "all" else self._rng
        self.kill()
        readable = _by_number(self._directories.files())
        names_lost = self._directories.lose_power(rng)
        files = self._directories.files()
        writes = [inode.lose_power(rng) for inode in files.values()]
        left = _by_number(files)
        loss = PowerLoss(
            bytes_lost=sum(
                len(data) - _same(data, left.get(number, b"")) for number, data in readable.items()
            ),
            writes_lost=sum(each.lost for each in writes),
            writes_torn=sum(each.torn for each in writes),
            names_lost=names_lost,
        )
        self.counts.bytes_lost += loss.bytes_lost
        self.counts.writes_lost += loss.writes_lost
        self.counts.writes_torn += loss.writes_torn
        self.counts.names_lost += loss.names_lost
        return loss

    def break_sync(self, prefix: str = "", *, times: int | None = None) -> None:
        """Let syncs fail where the path begins so: the next so many, or all until mended.

        A sync of a file then loses what it should have synced (see ``disk_bytes``); one of a
        directory only fails.
        """
        self._broken.append(_BrokenSync(prefix, times))

    def mend_sync(self) -> None:
        """Let syncs succeed again. What was lost stays lost."""
        self._broken.clear()

    def corrupt(self, path: str, offset: int) -> None:
        """Turn one bit of a byte over. It stays so, whatever is synced or lost."""
        inode = self._directories.find(path)
        if not 0 <= offset < len(inode.data):
            raise ValueError(f"{path} has no byte {offset}")
        inode.flip(offset, self._rng.randrange(8))

    def wipe(self) -> int:
        """The machine was set up anew, with an empty disk; how many bytes that cost."""
        bytes_wiped = self.used
        self.kill()
        self._directories = Directories()
        return bytes_wiped - self.used

    def _room(self, wanted: int) -> int:
        if self.capacity is None:
            return wanted
        return min(wanted, max(0, self.capacity - self.used))

    def _sync_fails(self, path: str) -> bool:
        hit = [broken for broken in self._broken if path.startswith(broken.prefix)]
        for broken in hit:
            if broken.left is not None:
                broken.left -= 1
        self._broken = [broken for broken in self._broken if broken.left != 0]
        self.counts.syncs_failed += bool(hit)
        return bool(hit)


class SimFile:
    """An open file of a simulated disk."""

    def __init__(self, disk: SimDisk, inode: Inode, number: int) -> None:
        self._disk = disk
        self._inode = inode
        self._number = number
        self._closed = False

    async def append(self, data: bytes | memoryview) -> None:
        """Write at the end, as much as there is room for."""
        inode = self._use()
        room = self._disk._room(len(data))
        inode.append(bytes(data[:room]))
        if room < len(data):
            self._disk.counts.writes_without_room += 1
            raise disk_says(errno.ENOSPC, inode.path)

    async def read(self, offset: int, count: int) -> bytes:
        """Up to that many bytes; fewer at the end of the file, none beyond it."""
        inode = self._use()
        if offset < 0 or count < 0:
            raise ValueError(f"no bytes to read: {count} from {offset}")
        end = offset + count
        self._disk.counts.reads_corrupt += any(offset <= place < end for place in inode.rotten)
        return bytes(inode.data[offset:end])

    async def truncate(self, size: int) -> None:
        """Cut everything from there on."""
        inode = self._use()
        if not 0 <= size <= len(inode.data):
            raise ValueError(f"cannot cut {len(inode.data)} bytes to {size}")
        inode.truncate(size)

    async def size(self) -> int:
        """How many bytes it holds."""
        return len(self._use().data)

    async def sync(self) -> None:
        """Make the bytes safe. Where that fails, they are lost for good."""
        inode = self._use()
        if self._disk._sync_fails(inode.path):
            self._disk.counts.bytes_not_synced += inode.fail_sync()
            raise disk_says(errno.EIO, inode.path)
        inode.sync()

    async def close(self) -> None:
        """Let go of it. The clean-up code of a dead process may do so too: it changes nothing."""
        self._closed = True
        self._disk._open.pop(self._number, None)

    def _use(self) -> Inode:
        if self._closed:
            raise ValueError(f"{self._inode.path} is closed")
        if self._number not in self._disk._open:
            raise DeadFile(f"{self._inode.path} was opened by a process that is dead")
        return self._inode


def _by_number(files: dict[str, Inode]) -> dict[int, bytes]:
    return {inode.number: bytes(inode.data) for inode in files.values()}


def _same(before: bytes, after: bytes) -> int:
    """How many bytes at the beginning are the same."""
    if before.startswith(after):
        return len(after)
    pairs = zip(before, after, strict=False)
    return next((at for at, (was, now) in enumerate(pairs) if was != now), len(before))

"""Leader epochs: which offsets of a log which leader wrote.

Kept in ``leader-epoch-checkpoint``, one ``epoch start_offset`` a line, and written before the first
batch of an epoch is: the file may know of an epoch without records, never the other way round. What
it knows too much is cut when the log is opened. An entry of the epoch −1 stands for offsets that
are kept elsewhere and whose epochs are not known yet.
"""

from __future__ import annotations

from collections.abc import Iterable

from reference_impl.log.checkpoints import CorruptCheckpoint, read_checkpoint, write_checkpoint
from reference_impl.log.decisions import (
    UNDEFINED_EPOCH,
    EpochEntry,
    end_offset_for_epoch,
    epochs_from,
    epochs_up_to,
    epochs_with,
)
from reference_impl.ports.disk import Disk

FILE = "leader-epoch-checkpoint"


class LeaderEpochs:
    """The epochs of one log, oldest first."""

    def __init__(self, disk: Disk, directory: str, entries: tuple[EpochEntry, ...] = ()) -> None:
        self._disk = disk
        self._path = f"{directory}/{FILE}"
        self.entries = entries

    @classmethod
    async def load(cls, disk: Disk, directory: str) -> LeaderEpochs:
        """What the file says; CorruptCheckpoint if it says nothing one can make sense of."""
        epochs = cls(disk, directory)
        lines = await read_checkpoint(disk, epochs._path)
        epochs.entries = epochs_of_lines(lines or (), epochs._path)
        return epochs

    @property
    def latest(self) -> int | None:
        """The epoch of the last record, or of the leader that has not written one yet."""
        return self.entries[-1].epoch if self.entries else None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest epoch up to this one and the offset behind its last record; or (-1, -1)."""
        known = [entry for entry in self.entries if entry.epoch != UNDEFINED_EPOCH]
        return end_offset_for_epoch(known, epoch, log_end_offset)

    def epoch_for(self, offset: int) -> int | None:
        """The epoch of the record at an offset."""
        found = None
        for entry in self.entries:
            if entry.start_offset > offset:
                break
            found = entry.epoch
        return found

    def knows(self, epoch: int, start_offset: int) -> bool:
        """Whether a batch there belongs to the epoch that is written already; the usual case."""
        return bool(
            self.entries
            and self.entries[-1].epoch == epoch
            and self.entries[-1].start_offset <= start_offset
        )

    async def assign(self, epoch: int, start_offset: int) -> None:
        """An epoch begins there, unless it has begun already."""
        if not self.knows(epoch, start_offset):
            await self.keep(epochs_with(self.entries, EpochEntry(epoch, start_offset)))

    async def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that begin there or later."""
        await self.keep(epochs_up_to(self.entries, end_offset))

    async def truncate_from_start(self, start_offset: int) -> None:
        """Forget the epochs that end there or earlier."""
        await self.keep(epochs_from(self.entries, start_offset))

    async def keep(self, entries: tuple[EpochEntry, ...]) -> None:
        """Know these from now on, and after a crash."""
        if entries != self.entries:
            await self.replace(entries)

    async def replace(self, entries: tuple[EpochEntry, ...]) -> None:
        """The same, whatever the file says now."""
        lines = [f"{entry.epoch} {entry.start_offset}" for entry in entries]
        await write_checkpoint(self._disk, self._path, lines)
        self.entries = entries


def epochs_of_lines(lines: Iterable[str], path: str) -> tuple[EpochEntry, ...]:
    """The epochs that a checkpoint has; CorruptCheckpoint where a line is none."""
    entries: tuple[EpochEntry, ...] = ()
    for line in lines:
        epoch, _, start_offset = line.partition(" ")
        try:
            entries = epochs_with(entries, EpochEntry(int(epoch), int(start_offset)))
        except ValueError as error:
            raise CorruptCheckpoint(f"{path}: no epoch: {line!r}") from error
    return entries

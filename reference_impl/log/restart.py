"""A log begins anew at an offset, with epochs and producers that it is given.

What is to be is written down first, in ``log-restart``, and synced. Then it is carried out, and the
file removed. A log that is opened and finds the file carries it out again, from the first step
behind it: each may be done twice, as nothing is appended before the file is gone. So the log that
is found after a crash, wherever it came, is the one from before or the one that was asked for;
never one at the new offset that lacks its epochs or its producers.

    0                          a checkpoint: its version
    4                          how many lines follow
    100 40                     the first local offset, and the log start
    000100000000...            the producers, as the bytes of a snapshot
    3 40                       the epochs: each with its first offset
    5 72
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from reference_impl.log.checkpoints import (
    CorruptCheckpoint,
    read_checkpoint,
    replace_file,
    write_checkpoint,
)
from reference_impl.log.decisions import EpochEntry, steps_of_a_restart
from reference_impl.log.epochs import LeaderEpochs
from reference_impl.log.segment import SNAPSHOT, Segment, path_of
from reference_impl.ports.disk import Disk

FILE = "log-restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The log that is to be: empty, and from ``offset`` on here.

    What is between its log start and that offset is kept elsewhere, and its epochs are known.
    """

    offset: int
    log_start_offset: int
    epochs: tuple[EpochEntry, ...] = ()
    producers: bytes | None = None  # a snapshot; None if no producer is known

    def check(self) -> None:
        """Refuse, by a ValueError, what no log can be."""
        known_from = self.epochs[0].start_offset if self.epochs else self.offset
        if not known_from <= self.log_start_offset <= self.offset:
            raise ValueError(f"a log from {self.log_start_offset} on with epochs from {known_from}")

    def lines(self) -> list[str]:
        """What is written down."""
        return [
            f"{self.offset} {self.log_start_offset}",
            (self.producers or b"").hex(),
            *(f"{entry.epoch} {entry.start_offset}" for entry in self.epochs),
        ]


async def carry_out(
    disk: Disk,
    directory: str,
    restart: Restart,
    epochs: LeaderEpochs,
    now_ms: int,
    *,
    written_down: bool = False,
) -> Segment | None:
    """Bring a directory, none of whose files is open, to that state; its segment, open.

    With ``written_down`` everything that a first attempt did may be done already.
    """
    made: list[Segment] = []

    async def begin() -> None:
        made.append(await Segment.create(disk, directory, restart.offset, now_ms))
        await disk.sync_directory(directory)

    work: dict[str, Callable[[], Awaitable[None]]] = {
        "write down": lambda: write_checkpoint(disk, f"{directory}/{FILE}", restart.lines()),
        "remove": lambda: _remove_all(disk, directory),
        "epochs": lambda: epochs.replace(restart.epochs),
        "producers": lambda: _write_producers(disk, directory, restart),
        "begin": begin,
        "done": lambda: _forget(disk, directory),
    }
    for step in steps_of_a_restart():
        if not (written_down and step == "write down"):
            await work[step]()
    return made[-1] if made else None


async def finish_restart(disk: Disk, directory: str, now_ms: int) -> Restart | None:
    """Carry out a restart that was written down and may not be done."""
    try:
        lines = await read_checkpoint(disk, f"{directory}/{FILE}")
        restart = None if lines is None else _read(lines)
    except (CorruptCheckpoint, ValueError):
        # It was whole once: the disk has lost it. What is left of the old log speaks for itself.
        await _forget(disk, directory)
        return None
    if restart is not None:
        epochs = LeaderEpochs(disk, directory)
        segment = await carry_out(disk, directory, restart, epochs, now_ms, written_down=True)
        if segment is not None:
            await segment.close()
    return restart


def _read(lines: tuple[str, ...]) -> Restart:
    where, producers, *epochs = lines
    offset, log_start_offset = (int(word) for word in where.split())
    return Restart(
        offset=offset,
        log_start_offset=log_start_offset,
        epochs=tuple(EpochEntry(*(int(word) for word in line.split())) for line in epochs),
        producers=bytes.fromhex(producers) or None,
    )


async def _remove_all(disk: Disk, directory: str) -> None:
    """Segments, indexes and snapshots go, the last name first."""
    for name in reversed(await disk.names(directory)):
        if name.partition(".")[0].isdigit():
            await disk.remove(f"{directory}/{name}")


async def _write_producers(disk: Disk, directory: str, restart: Restart) -> None:
    if restart.producers is not None:
        path = path_of(directory, restart.offset, SNAPSHOT)
        await replace_file(disk, path, restart.producers)


async def _forget(disk: Disk, directory: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        await disk.remove(f"{directory}/{FILE}")
    await disk.sync_directory(directory)

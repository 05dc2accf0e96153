"""Snapshots of the producers at the end of a finished segment, for those who keep it elsewhere.

A roll writes one. A file that was lost with power is made again: by the nearest earlier snapshot
and the log behind it, or by the whole log if it begins on this disk.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import pairwise

from reference_impl.log.checkpoints import overwrite_file, read_file
from reference_impl.log.producers import (
    CorruptSnapshot,
    Producer,
    ProducerStates,
    read_snapshot,
)
from reference_impl.log.recovery import replay
from reference_impl.log.segment import SNAPSHOT, Segment, path_of
from reference_impl.ports.disk import Disk


async def snapshot_at(
    disk: Disk,
    directory: str,
    segments: Sequence[Segment],
    snapshots: list[int],
    states: ProducerStates,
    *,
    offset: int,
    begins_here: bool,
) -> bytes | None:
    """The snapshot of an offset where a segment ends; None if nothing on this disk tells.

    ``states`` is empty, and used to work it out; ``begins_here``: all of the log is on this disk.
    """
    path = path_of(directory, offset, SNAPSHOT)
    data = await read_file(disk, path)
    if data is not None and _producers(data) is not None:
        return data
    if not await _earlier(disk, directory, snapshots, states, offset):
        if not begins_here or not segments:
            return None
        states.reset(segments[0].base_offset)
    for segment, after in pairwise(segments):
        if states.end_offset < after.base_offset and segment.base_offset < offset:
            await replay(segment, states, offset)
    made = states.snapshot()
    await overwrite_file(disk, path, made)
    if offset not in snapshots:
        insort(snapshots, offset)
    return made


async def _earlier(
    disk: Disk, directory: str, snapshots: Sequence[int], states: ProducerStates, offset: int
) -> bool:
    """Begin with the nearest whole snapshot before an offset, if there is one."""
    for one in sorted(snapshots, reverse=True):
        if one < offset:
            data = await read_file(disk, path_of(directory, one, SNAPSHOT))
            found = None if data is None else _producers(data)
            if found is not None:
                states.reset(one, found)
                return True
    return False


def _producers(data: bytes) -> list[Producer] | None:
    try:
        return read_snapshot(data)
    except CorruptSnapshot:
        return None

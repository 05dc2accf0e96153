"""Opening a log: what a crash left of it is made whole again.

After a clean end, what is on disk is what was there. After any other, every segment that was not
flushed whole is read from its first batch: at the first one that is torn, damaged, or not where it
should be, the log ends, and what comes behind is removed. Indexes of those segments are made anew,
as are indexes that are missing or damaged elsewhere.

What is found may never have been synced: a process that was killed leaves writes, cuts and removals
that a later loss of power undoes. So the names are synced before they are looked at, and each
segment that is read once it is cut: a log that is open survives a loss of power as it is.

Epochs and producers are then brought to the
same end: epochs that begin behind it are forgotten, those of batches that the file lacks are
learned; producers come from the newest snapshot that is whole, and the log behind it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from reference_impl.kafka.batches import HEADER_BYTES, MAGIC, Batch, header, intact, slices
from reference_impl.kafka.errors import KafkaError
from reference_impl.log.checkpoints import CorruptCheckpoint, read_file
from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import (
    EpochEntry,
    epochs_from,
    epochs_up_to,
    epochs_with,
    producer_expired,
    producers_need_replay,
    recovered_epochs_end,
    recovered_log_start,
    recovery_goes_on,
    segment_needs_recovery,
)
from reference_impl.log.epochs import LeaderEpochs
from reference_impl.log.indexes import CorruptIndex
from reference_impl.log.producers import CorruptSnapshot, ProducerStates, read_snapshot
from reference_impl.log.restart import finish_restart
from reference_impl.log.segment import INDEX, LOG, SNAPSHOT, TIME_INDEX, Segment, path_of
from reference_impl.ports.disk import Disk

_LEFT_OVER = (".tmp", ".deleted", ".cleaned", ".swap")


@dataclass(slots=True, kw_only=True)
class Loaded:
    """A log as it was found, or made, on disk."""

    segments: list[Segment]
    epochs: LeaderEpochs
    log_start_offset: int
    log_end_offset: int
    claimed: int  # the highest recovery point that may be written down, true or not
    snapshots: list[int]
    older_elsewhere: bool  # its log start may lie below its first segment


async def load(
    disk: Disk,
    directory: str,
    *,
    config: LogConfig,
    now_ms: int,
    clean: bool,
    log_start_offset: int,
    recovery_point: int,
    older_elsewhere: bool,
) -> Loaded:
    """Bring the log of a directory into a sound state; without one, an empty log is made."""
    if not clean and await disk.names(directory):
        await disk.sync_directory(directory)
    restarted = await finish_restart(disk, directory, now_ms)
    bases, snapshots = await _tidy(disk, directory)
    if restarted is not None:
        log_start_offset = restarted.log_start_offset  # what was written down of it is older
    try:
        epochs = await LeaderEpochs.load(disk, directory)
        known_from = epochs.entries[0].start_offset if epochs.entries else None
    except CorruptCheckpoint:
        # The batches know their epochs: read all of them again. What is elsewhere stays there.
        epochs, clean, recovery_point = LeaderEpochs(disk, directory), False, 0
        known_from = log_start_offset
    segments = [await Segment.open(disk, directory, base, now_ms) for base in bases]
    entries = await _recover(segments, epochs.entries, config, clean, recovery_point)
    end = await _end_offset(segments) if segments else log_start_offset
    if segments and end < log_start_offset:
        await _remove(segments)
        entries, end = (), log_start_offset
    if not segments:
        segments.append(await Segment.create(disk, directory, log_start_offset, now_ms))
    first = segments[0].base_offset
    start = recovered_log_start(log_start_offset, first, known_from, older_elsewhere)
    entries = epochs_up_to(entries, recovered_epochs_end(end, end == first, older_elsewhere))
    entries = await _with_earlier(segments, entries, start)
    await epochs.keep(epochs_from(entries, start))
    return Loaded(
        segments=segments,
        epochs=epochs,
        log_start_offset=start,
        log_end_offset=end,
        claimed=max(recovery_point, end),
        snapshots=snapshots,
        older_elsewhere=older_elsewhere,
    )


async def _tidy(disk: Disk, directory: str) -> tuple[list[int], list[int]]:
    """The offsets of segments and snapshots; files that belong to nothing are removed."""
    bases: list[int] = []
    snapshots: list[int] = []
    indexes: list[tuple[int, str]] = []
    for name in await disk.names(directory):
        stem, dot, suffix = name.partition(".")
        if name.endswith(_LEFT_OVER):
            await disk.remove(f"{directory}/{name}")
        elif stem.isdigit() and dot + suffix == LOG:
            bases.append(int(stem))
        elif stem.isdigit() and dot + suffix == SNAPSHOT:
            snapshots.append(int(stem))
        elif stem.isdigit() and dot + suffix in (INDEX, TIME_INDEX):
            indexes.append((int(stem), dot + suffix))
    for base, suffix in indexes:
        if base not in bases:
            await disk.remove(path_of(directory, base, suffix))
    return bases, snapshots


async def _recover(
    segments: list[Segment],
    entries: tuple[EpochEntry, ...],
    config: LogConfig,
    clean: bool,
    recovery_point: int,
) -> tuple[EpochEntry, ...]:
    """Read what needs reading, cut what is not sound, and return the epochs as they are then."""
    for number, segment in enumerate(list(segments)):
        after = segments[number + 1].base_offset if number + 1 < len(segments) else None
        flushed = not segment_needs_recovery(clean, after, recovery_point)
        if flushed and await _indexes_are_whole(segment):
            continue
        found = await recover_segment(segment, config)
        if not flushed:
            # The batches are the truth; the file may lack an epoch, or know one too many.
            entries = epochs_up_to(entries, segment.base_offset)
            for entry in found.epochs:
                if not entries or entry.epoch > entries[-1].epoch:
                    entries = epochs_with(entries, entry)
        if after is not None and not recovery_goes_on(found.bytes_cut, found.next_offset, after):
            doomed = segments[number + 1 :]
            del segments[number + 1 :]
            await _remove(doomed)
            break
    return entries


async def _indexes_are_whole(segment: Segment) -> bool:
    try:
        await segment.load_indexes()
    except CorruptIndex:
        return False
    return True


async def _with_earlier(
    segments: Sequence[Segment], entries: tuple[EpochEntry, ...], start: int
) -> tuple[EpochEntry, ...]:
    """The epochs from the log start on: one that was moved and then not written down had its
    epochs cut already, and the batches have to say them again."""
    until = entries[0].start_offset if entries else None
    earlier: tuple[EpochEntry, ...] = ()
    for segment in segments:
        if until is not None and until <= max(start, segment.base_offset):
            break
        async for _, batch in segment.headers(0):
            if until is not None and batch.base_offset >= until:
                break
            if batch.partition_leader_epoch >= 0:
                new = EpochEntry(batch.partition_leader_epoch, batch.base_offset)
                earlier = epochs_with(earlier, new)
    for entry in entries:
        earlier = epochs_with(earlier, entry)
    return earlier


@dataclass(slots=True, kw_only=True)
class Recovered:
    """What reading a segment again came to."""

    bytes_cut: int
    next_offset: int
    epochs: tuple[EpochEntry, ...]


async def recover_segment(segment: Segment, config: LogConfig) -> Recovered:
    """Read a segment from its first batch, cut it at the first unsound one, index it anew, and
    make all that durable."""
    size, next_offset = segment.size, segment.base_offset
    epochs: tuple[EpochEntry, ...] = ()
    segment.forget()
    async for batch in _sound_batches(segment, size):
        segment.note(batch, config.index_interval_bytes)
        next_offset = batch.next_offset
        if batch.partition_leader_epoch >= 0 and (
            not epochs or batch.partition_leader_epoch > epochs[-1].epoch
        ):
            epochs = (*epochs, EpochEntry(batch.partition_leader_epoch, batch.base_offset))
    if segment.size < size:
        await segment.file.truncate(segment.size)
    await segment.finish()
    await segment.save_indexes()
    await segment.sync()
    return Recovered(bytes_cut=size - segment.size, next_offset=next_offset, epochs=epochs)


async def _sound_batches(segment: Segment, size: int) -> AsyncIterator[Batch]:
    """The batches of a file up to the first that is not whole, damaged, or out of order."""
    expected = segment.base_offset
    async for _, data in segment.whole_batches(0, size):
        try:
            for at, batch_size in slices(data):
                if batch_size < HEADER_BYTES or data[at + 16] != MAGIC:
                    return
                batch = header(data, at)
                if not intact(data, at, batch) or batch.base_offset < expected:
                    return
                expected = batch.next_offset
                yield batch
        except KafkaError:
            return


async def _end_offset(segments: Sequence[Segment]) -> int:
    """The offset behind the last batch."""
    segment = segments[-1]
    end = segment.base_offset
    async for _, batch in segment.headers(
        segment.offsets.place_before(segment.offsets.last_offset)
    ):
        end = batch.next_offset
    return end


async def _remove(segments: list[Segment]) -> None:
    """Remove segments, the last one first: what is left at any time is the beginning of a log."""
    while segments:
        segment = segments.pop()
        await segment.remove()
        await segment.disk.sync_directory(segment.directory)


async def load_producers(
    disk: Disk,
    directory: str,
    states: ProducerStates,
    segments: Sequence[Segment],
    snapshots: list[int],
    *,
    start_offset: int,
    end_offset: int,
    now_ms: int,
) -> None:
    """Bring the producers to an offset: by the newest whole snapshot, and the log from there on.

    ``start_offset`` is where the log begins on this disk; a snapshot there tells of what is not.
    """
    gone = [offset for offset in snapshots if not start_offset <= offset <= end_offset]
    for offset in gone:
        await remove_snapshot(disk, directory, snapshots, offset)
    if gone:
        # One of a log that ended elsewhere must not come back when this one has grown so far.
        await disk.sync_directory(directory)
    states.reset(start_offset)
    for offset in reversed(list(snapshots)):
        data = await read_file(disk, path_of(directory, offset, SNAPSHOT))
        try:
            found = read_snapshot(data or b"")
        except CorruptSnapshot:
            await remove_snapshot(disk, directory, snapshots, offset)
            continue
        states.reset(
            offset,
            [
                producer
                for producer in found
                if not producer_expired(producer.last_timestamp, now_ms, states.expiration_ms)
            ],
        )
        break
    for number, segment in enumerate(segments):
        after = segments[number + 1].base_offset if number + 1 < len(segments) else end_offset
        if producers_need_replay(after, states.end_offset):
            await replay(segment, states, end_offset)
    states.end_offset = end_offset


async def replay(segment: Segment, states: ProducerStates, end_offset: int) -> None:
    """Add what a segment tells of producers, from where they are known up to an offset."""
    place = segment.offsets.place_before(states.end_offset)
    start = states.end_offset
    async for _, batch in segment.headers(place):
        if batch.base_offset >= end_offset:
            return
        if batch.last_offset >= start:
            states.add(batch)


async def remove_snapshot(disk: Disk, directory: str, snapshots: list[int], offset: int) -> None:
    """Take a snapshot away, if it is there."""
    snapshots.remove(offset)
    try:
        await disk.remove(path_of(directory, offset, SNAPSHOT))
    except FileNotFoundError:
        return

"""What makes a log shorter: cuts at its end, restarts, and segments removed from its beginning."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.checkpoints import replace_file
from reference_impl.log.decisions import (
    UNDEFINED_EPOCH,
    EpochEntry,
    epochs_from,
    epochs_up_to,
    epochs_with,
    log_start_may_be,
    next_log_start,
    steps_of_a_cut,
)
from reference_impl.log.kept_log import LogMaintenance
from reference_impl.log.producers import Producer, snapshot_of
from reference_impl.log.recovery import remove_snapshot
from reference_impl.log.restart import Restart, carry_out
from reference_impl.log.retention import (
    Reason,
    deletable,
    kept_elsewhere,
    most_with_snapshot,
    reasons,
)
from reference_impl.log.segment import SNAPSHOT, Segment, path_of


class LogShortening(LogMaintenance):
    """Cuts, restarts and retention of a log."""

    # From the end.

    async def truncate_to(self, offset: int) -> None:
        """Remove every batch that does not end before the offset; for good when it returns."""
        await self._whatever_happens(self._truncate_to(offset))

    async def _truncate_to(self, offset: int) -> None:
        async with self._turn:
            if offset >= self.log_end_offset:
                await self.epochs.truncate_from_end(self.log_end_offset)
            elif offset < self._segments[0].base_offset:
                kept = epochs_up_to(self.epochs.entries, offset)
                start = min(offset, self.log_start_offset)
                await self._restart(Restart(offset=offset, log_start_offset=start, epochs=kept))
            else:
                await self._cut(offset)

    async def _cut(self, offset: int) -> None:
        self._cuts += 1
        if self._segments[-1].base_offset > offset:
            while self._segments[-1].base_offset > offset:
                await self._segments.pop().remove()
            # Or they may come back behind a segment that was cut.
            await self._disk.sync_directory(self.directory)
        active = self._segments[-1]
        await active.cut(offset, self._clock.now_ms())
        await active.sync()
        end = active.base_offset
        async for _, batch in active.headers(active.offsets.place_before(offset)):
            end = batch.next_offset
        self.log_end_offset = max(end, self._segments[-1].base_offset)
        self.recovery_point = min(self.recovery_point, self.log_end_offset)
        self.log_start_offset = min(self.log_start_offset, self.log_end_offset)
        self.high_watermark = self._high_watermark
        work: dict[str, Callable[[], Awaitable[None]]] = {
            "epochs": partial(self.epochs.truncate_from_end, offset),
            "producers": self._load_producers,
            "names": partial(self._disk.sync_directory, self.directory),
        }
        for step in steps_of_a_cut():
            await work[step]()

    async def restart_at(
        self,
        offset: int,
        *,
        log_start_offset: int | None = None,
        epochs: Iterable[EpochEntry] = (),
        producers: Iterable[Producer] = (),
    ) -> None:
        """Remove everything; the log is empty and begins there, with these epochs and producers.

        Its log start is that offset too, unless told otherwise: then what lies between is kept
        elsewhere, and the epochs reach down to it. A crash leaves the log as it was, or all of this
        (``log.restart``).
        """
        known = tuple(producers)
        start = offset if log_start_offset is None else log_start_offset
        restart = Restart(
            offset=offset,
            log_start_offset=start,
            epochs=epochs_from(tuple(epochs), start),
            producers=snapshot_of(known) if known else None,
        )
        restart.check()
        await self._whatever_happens(self._restart_in_turn(restart, known))

    async def learn_earlier(
        self, epochs: Iterable[EpochEntry], producers: Iterable[Producer]
    ) -> None:
        """Take what was not known of the offsets that are kept elsewhere: up to the first offset
        here these are the epochs, and these the producers there."""
        await self._whatever_happens(self._learn_earlier(tuple(epochs), tuple(producers)))

    async def _learn_earlier(
        self, epochs: tuple[EpochEntry, ...], producers: tuple[Producer, ...]
    ) -> None:
        async with self._turn:
            first = self.local_log_start_offset
            for offset in list(self._snapshots):
                await remove_snapshot(self._disk, self.directory, self._snapshots, offset)
            path = path_of(self.directory, first, SNAPSHOT)
            await replace_file(self._disk, path, snapshot_of(producers))
            self._snapshots, self._unsynced_snapshots = [first], []
            await self._load_producers()
            # Last: until they are known, all of this is done again.
            known = epochs_up_to(epochs, first)
            for entry in self.epochs.entries:
                if entry.epoch != UNDEFINED_EPOCH:
                    known = epochs_with(known, entry)
            await self.epochs.keep(epochs_from(known, self.log_start_offset))

    async def _restart_in_turn(self, restart: Restart, producers: tuple[Producer, ...]) -> None:
        async with self._turn:
            await self._restart(restart, producers)

    async def _restart(self, restart: Restart, producers: tuple[Producer, ...] = ()) -> None:
        self._cuts += 1
        doomed, self._segments = self._segments, []
        for segment in doomed:
            await segment.give_up()
        now_ms = self._clock.now_ms()
        made = await carry_out(self._disk, self.directory, restart, self.epochs, now_ms)
        at = restart.offset
        self._segments = [made or await Segment.create(self._disk, self.directory, at, now_ms)]
        self._snapshots = [] if restart.producers is None else [at]
        self._unsynced_snapshots = []
        self.log_start_offset = restart.log_start_offset
        self.log_end_offset = self._high_watermark = at
        self._vouch_for(at)
        self.producers.reset(at, producers)

    # From the beginning.

    async def advance_log_start_offset(self, offset: int) -> None:
        """The log begins there from now on, if that is further than before."""
        async with self._turn:
            await self._advance(offset)

    async def _advance(self, offset: int) -> None:
        if not log_start_may_be(offset, self._high_watermark):
            raise KafkaError(
                ErrorCode.offset_out_of_range,
                f"Cannot increment the log start offset to {offset} of partition "
                f"{self.partition} since it is larger than the high watermark "
                f"{self._high_watermark}",
            )
        start = next_log_start(self.log_start_offset, offset)
        if start != self.log_start_offset:
            self.log_start_offset = start
            await self.epochs.truncate_from_start(start)

    async def delete_old_segments(self) -> int:
        """Remove the segments that are too old, too much, or below the log start; how many."""
        return await self._whatever_happens(self._delete_old_segments())

    async def _delete_old_segments(self) -> int:
        async with self._turn:
            now_ms = self._clock.now_ms()
            # Who keeps the older segments expires them, and tells the new log start.
            elsewhere = self.older_elsewhere and not self.older_unreachable
            config = None if elsewhere else self.config
            why = reasons(config, self.log_start_offset, lambda: self.size, now_ms)
            return sum([await self._delete_for(reason(), now_ms) for reason in why])

    async def delete_local_segments(self, upto: int) -> int:
        """Remove the segments that end there or earlier and are kept elsewhere; how many.

        Committed ones only, never the active one, and none whose producers would be forgotten. The
        log start stays where it is.
        """
        if not self.older_elsewhere:
            raise ValueError(f"{self.directory}: no segment of it is kept elsewhere")
        return await self._whatever_happens(self._delete_local(upto))

    async def _delete_local(self, upto: int) -> int:
        async with self._turn:
            end, committed = self.log_end_offset, self._high_watermark
            most = deletable(self._segments, end, committed, kept_elsewhere(upto))
            count = most_with_snapshot(self._segments, self._snapshots, most)
            if count:
                # Of the producers of what goes, this will be all that is known.
                await self._sync_snapshot(self._segments[count].base_offset)
                await self._disk.sync_directory(self.directory)
                await self._remove_oldest(count)
            return count

    async def _delete_for(self, reason: Reason, now_ms: int) -> int:
        segments = self._segments
        count = deletable(segments, self.log_end_offset, self._high_watermark, reason)
        if not count:
            return 0
        if count == len(segments):
            await self._roll(self.log_end_offset, now_ms)
        await self._advance(segments[count].base_offset)
        await self._remove_oldest(count)
        return count

    async def _remove_oldest(self, count: int) -> None:
        for _ in range(count):
            segment = self._segments.pop(0)
            await segment.remove()
            if segment.base_offset in self._snapshots:
                gone = segment.base_offset
                await remove_snapshot(self._disk, self.directory, self._snapshots, gone)

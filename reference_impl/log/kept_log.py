"""What keeps a log in order: segments rolled and flushed, producers noted, the log closed.

With ``log.shortening``, the half of ``Log`` that has nothing to do with what is in the batches.
Every change is made so that it may stop anywhere: what is left on disk opens as a log that once
was, or was about to be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from reference_impl.kafka.batches import Batch
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.checkpoints import overwrite_file
from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import last_stable_offset, local_log_start
from reference_impl.log.epochs import LeaderEpochs
from reference_impl.log.producers import ProducerStates
from reference_impl.log.recovery import Loaded, load_producers
from reference_impl.log.segment import SNAPSHOT, Segment, path_of
from reference_impl.log.snapshots import snapshot_at
from reference_impl.log.turns import Turn
from reference_impl.ports.clock import Clock
from reference_impl.ports.disk import Disk

Result = TypeVar("Result")


class LogMaintenance:
    """The segments of a log, its epochs and its producers, and what is done to all of them."""

    def __init__(
        self, disk: Disk, directory: str, config: LogConfig, clock: Clock, loaded: Loaded
    ) -> None:
        self.directory = directory
        self.partition = directory.rpartition("/")[2]
        self.config = config
        self.epochs: LeaderEpochs = loaded.epochs
        self.producers = ProducerStates(self.partition, config.producer_id_expiration_ms)
        self.older_elsewhere = loaded.older_elsewhere
        self.older_unreachable = False  # it is elsewhere, and cannot be read from here
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.log_end_offset
        self._claimed = loaded.claimed
        self.last_flush_ms = clock.now_ms()
        self.failure: OSError | None = None
        self._disk = disk
        self._clock = clock
        self._segments = loaded.segments
        self._snapshots = loaded.snapshots
        self._unsynced_snapshots: list[int] = []
        self._high_watermark = self.local_log_start_offset
        self._lock = asyncio.Lock()
        self._turn = Turn(self)
        self._cuts = 0
        self._rolled = False
        self.on_roll: Callable[[int], None] = lambda base_offset: None
        self.on_failure: Callable[[], None] = lambda: None
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def local_log_start_offset(self) -> int:
        """The first offset that is on this disk; ``log_start_offset`` is the first there is at all.

        They differ only where ``older_elsewhere`` says that earlier segments are kept elsewhere.
        """
        if not self.older_elsewhere or not self._segments:
            return self.log_start_offset
        return local_log_start(self.log_start_offset, self._segments[0].base_offset)

    @property
    def high_watermark(self) -> int:
        """The offset behind the last record that is committed."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self._high_watermark = max(self.local_log_start_offset, min(offset, self.log_end_offset))
        self.producers.transactions.replicated_up_to(self._high_watermark)

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which every transaction is decided."""
        unstable = self.producers.transactions.first_unstable_offset
        if unstable is not None:
            unstable = max(unstable, self.log_start_offset)  # what was deleted waits for nothing
        return last_stable_offset(unstable, self._high_watermark, self.log_end_offset)

    @property
    def size(self) -> int:
        """The bytes of its segments."""
        return sum(segment.size for segment in self._segments)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Its segments, oldest first."""
        return tuple(self._segments)

    # Turns.

    def _check_in_service(self) -> None:
        if self.failure is not None:
            raise self._out_of_service(self.failure)
        if self._closed:
            raise KafkaError(ErrorCode.kafka_storage_error, f"{self.directory} is closed")

    def _out_of_service(self, error: OSError) -> KafkaError:
        if self.failure is None:
            self.failure = error
            self.on_failure()
        return KafkaError(ErrorCode.kafka_storage_error, f"{self.directory}: {error}")

    # Segments.

    async def assign_epoch(self, leader_epoch: int) -> None:
        """A leader begins its epoch at the end of the log, before it writes anything."""
        async with self._turn:
            await self.epochs.assign(leader_epoch, self.log_end_offset)

    async def roll(self) -> None:
        """Begin a new segment at the end of the log, unless the active one is empty."""
        async with self._turn:
            await self._roll(self.log_end_offset, self._clock.now_ms())

    async def _roll(self, base_offset: int, now_ms: int) -> None:
        active = self._segments[-1]
        if active.base_offset == base_offset:
            return
        await active.finish()
        await active.save_indexes()
        self.producers.end_offset = base_offset
        await self._take_snapshot()
        if base_offset <= self._claimed:
            # A recovery point that may be written down vouches for this segment as a whole: one
            # from before a cut, or from a flush that did not know its last index entry.
            await active.sync()
            await self._disk.sync_directory(self.directory)
        self._segments.append(await Segment.create(self._disk, self.directory, base_offset, now_ms))
        self._flush_soon()
        self.on_roll(base_offset)

    async def _take_snapshot(self) -> None:
        """Write down the producers, unless there is nothing new since the last time."""
        offset = self.producers.end_offset
        if offset <= (self._snapshots[-1] if self._snapshots else self.local_log_start_offset):
            return
        path = path_of(self.directory, offset, SNAPSHOT)
        await overwrite_file(self._disk, path, self.producers.snapshot())
        self._snapshots.append(offset)
        self._unsynced_snapshots.append(offset)

    async def _load_producers(self) -> None:
        await load_producers(
            self._disk,
            self.directory,
            self.producers,
            self._segments,
            self._snapshots,
            start_offset=self.local_log_start_offset,
            end_offset=self.log_end_offset,
            now_ms=self._clock.now_ms(),
        )

    async def producer_snapshot(self, offset: int) -> bytes | None:
        """The snapshot of the producers where a finished segment ends, made again if it is missing;
        None if what is on this disk does not tell."""
        async with self._turn:
            known = list(self._snapshots)
            found = await snapshot_at(
                self._disk,
                self.directory,
                self._segments,
                self._snapshots,
                ProducerStates(self.partition, self.config.producer_id_expiration_ms),
                offset=offset,
                begins_here=self.local_log_start_offset == self.log_start_offset,
            )
            self._unsynced_snapshots += [one for one in self._snapshots if one not in known]
            return found

    def start_verification(self, batch: Batch, *, bumps: bool) -> int:
        """The guard under which the coordinator of a batch is asked about its transaction."""
        return self.producers.start_verification(
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            bumps=bumps,
            now_ms=self._clock.now_ms(),
        )

    def expire_producers(self) -> int:
        """Forget producers that have been silent for ``producer.id.expiration.ms``."""
        self.producers.expiration_ms = self.config.producer_id_expiration_ms
        return self.producers.expire(self._clock.now_ms())

    # Flushing.

    async def flush(self) -> None:
        """Return once everything appended so far survives a loss of power."""
        await self._flush(self.log_end_offset)

    async def flush_if_due(self) -> None:
        """Flush if the last time is ``flush.ms`` ago."""
        if self._clock.now_ms() - self.last_flush_ms >= self.config.flush_ms:
            await self.flush()

    async def _flush_if_many(self) -> None:
        if self.log_end_offset - self.recovery_point >= self.config.flush_messages:
            await self.flush()

    def _flush_soon(self) -> None:
        """Flush what lies behind the active segment, without anybody waiting for it."""
        self._rolled = True
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.ensure_future(self._flush_rolled())

    async def _flush_rolled(self) -> None:
        while self._rolled and not self._closed and self.failure is None:
            self._rolled = False
            try:
                await self._flush(self._segments[-1].base_offset)
            except KafkaError:
                return  # it is out of service, and says so to whoever asks next

    async def _flush(self, offset: int, *, everything: bool = False) -> None:
        if offset <= self.recovery_point and not everything:
            return
        async with self._turn:
            todo = [
                each
                for each in self._segments
                if each.unsynced and (everything or each.base_offset < offset)
            ]
            for segment in todo:
                await segment.save_indexes()
            snapshots, self._unsynced_snapshots = self._unsynced_snapshots, []
            cuts = self._cuts
        # Appends go on while the device works; only what was asked for is known to be safe then.
        try:
            for segment in todo:
                await segment.sync()
            for snapshot in snapshots:
                await self._sync_snapshot(snapshot)
            await self._disk.sync_directory(self.directory)
        except (OSError, ValueError) as error:
            raise self._out_of_service(
                error if isinstance(error, OSError) else OSError(str(error))
            ) from error
        if cuts == self._cuts:
            # One that was rolled meanwhile got an index entry that may not be synced.
            rolled = [each.base_offset for each in self._segments if each.finish_unsynced]
            self._vouch_for(max(self.recovery_point, min([offset, *rolled])))
            self.last_flush_ms = self._clock.now_ms()

    def _vouch_for(self, recovery_point: int) -> None:
        self.recovery_point = recovery_point
        self._claimed = max(self._claimed, recovery_point)

    async def _sync_snapshot(self, offset: int) -> None:
        if offset not in self._snapshots:
            return
        file = await self._disk.open(path_of(self.directory, offset, SNAPSHOT))
        try:
            await file.sync()
        finally:
            await file.close()

    # The end.

    async def close(self, *, clean: bool) -> None:
        """Let go of the log; cleanly, it can be opened as ``clean`` afterwards."""
        if self._closed:
            return
        if clean and self.failure is None:
            await self._whatever_happens(self._settle())
        self._closed = True
        if self._flushing is not None:
            self._flushing.cancel()
        for segment in self._segments:
            await segment.close()

    async def _settle(self) -> None:
        """Bring everything to disk that spares the next start some reading."""
        async with self._turn:
            await self._segments[-1].finish()
            await self._take_snapshot()
        await self._flush(self.log_end_offset, everything=True)

    async def delete(self) -> None:
        """Remove the log and everything in its directory, the last name first: what is left if it
        ends on the way is no log of its owner, or the beginning of one."""
        async with self._lock:
            await LogMaintenance.close(self, clean=False)
            for name in reversed(await self._disk.names(self.directory)):
                await self._disk.remove(f"{self.directory}/{name}")
            await self._disk.sync_directory(self.directory)

    async def _whatever_happens(self, change: Coroutine[Any, Any, Result]) -> Result:
        """Carry a change to its end even if whoever asked for it is cancelled: no half of it is
        a state that the log could go on from."""
        return await asyncio.shield(asyncio.ensure_future(change))

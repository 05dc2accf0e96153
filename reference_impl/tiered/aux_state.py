"""What a follower builds when its leader no longer has on its disk what the follower lacks (C-18).

    wait for the metadata ► the segment that holds ELO − 1 in the leader's lineage
      ► its leader epochs, cut ► its producer snapshot, or an earlier one and the batches behind it

The wait has an end: the leader removes from its disk only what is finished in the metadata, so once
everything is applied that was there when ELO was asked for, a segment that is not known tells that
ELO is stale; then the follower fetches again. What the store or the metadata topic does not give is
tried again with a back-off, without limit, and ELO is asked for anew each time. The log is empty at
the log start until all is built, so the replica is in no ISR. Reading takes a reader of the pool;
other partitions go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NoReturn

from reference_impl.kafka.batches import Batch, batches, intact
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.checkpoints import CorruptCheckpoint, lines_of_checkpoint
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.epochs import epochs_of_lines
from reference_impl.log.producers import (
    CorruptSnapshot,
    Producer,
    ProducerStates,
    read_snapshot,
)
from reference_impl.log.transactions import EndMarker, read_marker
from reference_impl.metrics.registry import GAUGE, Metric
from reference_impl.ports.log_lines import Lines
from reference_impl.replication.copying import RestartPoint
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.leaders_log import LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched, until
from reference_impl.tiered.aux_decisions import (
    ProducerSource,
    epoch_at,
    epoch_before_elo,
    epochs_before_elo,
    producers_before_elo,
    segment_before_elo,
    segment_before_own_elo,
)
from reference_impl.tiered.metadata import NotInitialised
from reference_impl.tiered.reader_pool import PoolFull, ReaderPool
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, TopicIdPartition
from reference_impl.tiered.storage import IndexKind, RemoteStorageException
from reference_impl.tiered.tier import Tier

REPORT_INTERVAL_S = 60.0
READ_BYTES = 1 << 20
_UNTIL_CAUGHT_UP_S = 3600.0

LONGEST_BUILD = Metric(
    name="kafka.log.remote:type=RemoteLogManager,name=RemoteLogAuxStateWaitMsMax",
    kind=GAUGE,
    about="how long the partition that waits longest for its auxiliary state has waited",
)


class AuxiliaryState:
    """Builds the auxiliary state of any partition that a broker follows."""

    def __init__(self, tier: Tier, pool: ReaderPool) -> None:
        self._tier = tier
        self._pool = pool
        self._applied = Watched()
        self._since_ns: dict[TopicIdPartition, int] = {}
        self._watching = False
        tier.meters.gauge(LONGEST_BUILD, self._longest_ms)

    async def build(
        self, partition: Partition, *, leader: LeadersStart, ask: LeadersLog
    ) -> RestartPoint:
        """Where the follower goes on; a KafkaError if its leader's log is another by now."""
        if not self._watching:  # not before: the manager is configured when the broker listens
            self._watching = True
            self._tier.metadata.watch(lambda _: self._applied.wake())
        where = TopicIdPartition(partition.topic_id, partition.topic, partition.index)
        self._since_ns[where] = self._tier.ports.clock.monotonic_ns()
        reports = asyncio.get_running_loop().create_task(self._report(where))
        attempt = 0
        try:
            while True:
                try:
                    return await self._build(where, leader, ask)
                except KafkaError:
                    raise
                except Exception as error:  # a plug-in may raise anything
                    why = f"{type(error).__name__}: {error}"
                    self._log(Lines.AUX_STATE_FAILED, where, attempt=attempt, why=why)
                await self._tier.ports.clock.sleep(self._tier.backoff_ms(attempt) / 1000)
                attempt += 1
                leader = await ask.start(leader.log_start_offset)
        finally:
            reports.cancel()
            del self._since_ns[where]

    async def _build(
        self, where: TopicIdPartition, leader: LeadersStart, ask: LeadersLog
    ) -> RestartPoint:
        elo, elo_epoch = leader.local_log_start_offset, leader.local_log_start_epoch
        if elo <= leader.log_start_offset:
            _stale(where, elo)
        earlier = EpochEnd(epoch=-1, end_offset=-1)
        if elo_epoch > 0:
            earlier = await ask.epoch_end(elo_epoch - 1)
        segment = await self._segment(where, epoch_before_elo(elo, elo_epoch, earlier), elo)
        return await self._built(where, leader, segment)

    async def before(self, where: TopicIdPartition, own: LeadersStart) -> RestartPoint:
        """What came before the first offset on this broker's own disk; a KafkaError if that is not
        in the remote tier, a RemoteStorageException if it cannot be read now."""
        elo, elo_epoch = own.local_log_start_offset, own.local_log_start_epoch
        known = self._tier.metadata.list_remote_log_segments(where)
        segment = segment_before_own_elo(known, elo, elo_epoch)
        if segment is None:
            _stale(where, elo)
        return await self._built(where, own, segment)

    async def _built(
        self, where: TopicIdPartition, leader: LeadersStart, segment: RemoteLogSegmentMetadata
    ) -> RestartPoint:
        elo, elo_epoch = leader.local_log_start_offset, leader.local_log_start_epoch
        log_start = leader.log_start_offset
        try:
            async with self._pool.reader():
                known = await self._epochs_of(segment)
                epochs = epochs_before_elo(known, log_start, elo, elo_epoch)
                segments = self._tier.metadata.list_remote_log_segments(where)
                source = producers_before_elo(segment, segments, epochs, log_start, elo)
                producers = await self._producers(where, source, epochs, elo)
        except PoolFull as error:
            raise RemoteStorageException(str(error)) from error
        return RestartPoint(
            offset=elo, log_start_offset=log_start, epochs=epochs, producers=tuple(producers)
        )

    # Which segment.

    async def _segment(
        self, where: TopicIdPartition, epoch: int, elo: int
    ) -> RemoteLogSegmentMetadata:
        def look() -> RemoteLogSegmentMetadata | None:
            try:
                known = self._tier.metadata.list_remote_log_segments(where, epoch)
            except NotInitialised:
                return None
            return segment_before_elo(known, epoch, elo)

        caught_up = asyncio.get_running_loop().create_task(self._tier.metadata.caught_up(where))
        caught_up.add_done_callback(self._caught_up)

        def decided() -> bool:
            return caught_up.done() or look() is not None

        try:
            while not await until(decided, [self._applied], timeout_s=_UNTIL_CAUGHT_UP_S):
                pass
            found = look()
            if found is None:
                await caught_up  # its failure, if it is one
                found = look()
        finally:
            caught_up.cancel()
        if found is None:
            _stale(where, elo)
        return found

    def _caught_up(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # told to who waits, if anyone still does
        self._applied.wake()

    # What it says.

    async def _epochs_of(self, segment: RemoteLogSegmentMetadata) -> tuple[EpochEntry, ...]:
        data = await self._tier.storage.fetch_index(segment, IndexKind.LEADER_EPOCH)
        name = f"the leader epochs of {segment.segment_id.id}"
        try:
            return epochs_of_lines(lines_of_checkpoint(data, name), name)
        except CorruptCheckpoint as error:
            raise RemoteStorageException(str(error)) from error

    async def _producers(
        self,
        where: TopicIdPartition,
        source: ProducerSource,
        epochs: Sequence[EpochEntry],
        elo: int,
    ) -> list[Producer]:
        states = ProducerStates(str(where), expiration_ms=0)  # the log forgets those it need not
        if source.snapshot_of is not None:
            snapshot = source.snapshot_of
            data = await self._tier.storage.fetch_index(snapshot, IndexKind.PRODUCER_SNAPSHOT)
            try:
                states.reset(source.replay_from, read_snapshot(data))
            except CorruptSnapshot as error:
                raise RemoteStorageException(f"{snapshot.segment_id.id}: {error}") from error
        at = source.replay_from
        while at < elo:
            epoch = epoch_at(epochs, at)
            segment = None
            if epoch is not None:
                segment = self._tier.metadata.remote_log_segment_metadata(where, epoch, at)
            if segment is None:
                _stale(where, elo)
            at = await self._replay(segment, states, epochs, at, elo)
        return list(states.producers.values())

    async def _replay(
        self,
        segment: RemoteLogSegmentMetadata,
        states: ProducerStates,
        epochs: Sequence[EpochEntry],
        start: int,
        elo: int,
    ) -> int:
        """Apply the batches of a segment that are of the lineage; behind the last of them."""
        end = start
        async for batch, marker in self._batches(segment):
            if batch.last_offset < start:
                continue
            mine = epoch_at(epochs, batch.base_offset) == batch.partition_leader_epoch
            if batch.base_offset >= elo or not mine:
                break
            states.add(batch, marker)
            end = batch.next_offset
        if end == start:
            raise RemoteStorageException(f"{segment.segment_id.id} has no batch at {start}")
        return end

    async def _batches(
        self, segment: RemoteLogSegmentMetadata
    ) -> AsyncIterator[tuple[Batch, EndMarker | None]]:
        """The headers of a segment's batches, read piece by piece, and what ends a transaction;
        each batch is checked."""
        position, size = 0, READ_BYTES
        while position < segment.segment_size_bytes:
            last = min(position + size, segment.segment_size_bytes) - 1
            data = await self._tier.storage.fetch_log_segment(segment, position, last)
            read = 0
            try:
                for at, batch in batches(data):
                    if not intact(data, at, batch):
                        raise RemoteStorageException(f"{segment.segment_id.id}: a damaged batch")
                    read = at + batch.size
                    yield batch, read_marker(data, at) if batch.control else None
            except KafkaError as error:
                raise RemoteStorageException(f"{segment.segment_id.id}: {error}") from error
            if not read and last + 1 == segment.segment_size_bytes:
                raise RemoteStorageException(f"{segment.segment_id.id} ends inside a batch")
            position, size = position + read, READ_BYTES if read else 2 * size

    # How long it takes.

    def _longest_ms(self) -> float:
        now = self._tier.ports.clock.monotonic_ns()
        return max((now - since for since in self._since_ns.values()), default=0) / 1_000_000

    async def _report(self, where: TopicIdPartition) -> None:
        """Say each minute that it is not done yet."""
        waited = 0.0
        while True:
            await self._tier.ports.clock.sleep(REPORT_INTERVAL_S)
            waited += REPORT_INTERVAL_S
            self._log(Lines.AUX_STATE_WAITS, where, seconds=int(waited))

    def _log(self, line: Lines, where: TopicIdPartition, **values: object) -> None:
        self._tier.ports.log(line, partition=where, **values)


def _stale(where: TopicIdPartition, elo: int) -> NoReturn:
    raise KafkaError(
        ErrorCode.offset_moved_to_tiered_storage,
        f"{where}: what comes before {elo} is not in the remote tier, or not any more",
    )

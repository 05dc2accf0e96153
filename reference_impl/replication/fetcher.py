"""How a follower copies: one loop per leader, over all partitions that follow it.

Each round is one Fetch with the partition's leader epoch and the epoch of the follower's last
record. The leader answers with records, or with the epoch where the two logs part; then the
follower cuts its log and asks again. A partition that met an error rests for a while, the others
go on. What the image says about a partition (another leader, another epoch) takes effect with the
next round: an answer to an earlier epoch changes nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.kafka.apis import FETCH, LIST_OFFSETS
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.ports import Clock
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched, until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

FETCH_VERSION = 17
LIST_OFFSETS_VERSION = 9
LATEST, EARLIEST_LOCAL = -1, -4
NO_SESSION, FINAL_EPOCH = 0, -1
_REFETCH = (TimeoutError, ConnectionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherSettings:
    """How a broker fetches from others; times in milliseconds."""

    broker_id: int
    max_wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 10 * 1024 * 1024
    partition_max_bytes: int = 1024 * 1024
    backoff_ms: int = 1000
    timeout_ms: int = 30_000


class Fetcher(Watched):
    """Copies from one leader whatever ``partitions()`` says follows it now."""

    def __init__(
        self,
        *,
        peer: Peer,
        settings: FetcherSettings,
        clock: Clock,
        partitions: Callable[[], Iterable[Partition]],
        broker_epoch: Callable[[], int],
    ) -> None:
        super().__init__()
        self._peer = peer
        self._settings = settings
        self._clock = clock
        self._partitions = partitions
        self._broker_epoch = broker_epoch
        self._rests_until_ns: dict[tuple[UUID, int], int] = {}

    async def run(self) -> None:
        """Copy for ever."""
        while True:
            asked = self._ready()
            if not asked:
                await until(self._ready_now, [self], timeout_s=self._settings.backoff_ms / 1000)
                continue
            try:
                answer = await self._peer.ask(
                    FETCH,
                    FETCH_VERSION,
                    self._request(asked),
                    timeout_s=(self._settings.timeout_ms + self._settings.max_wait_ms) / 1000,
                )
                await self._take(answer, {key: (one, at) for key, one, at in asked})
            except _REFETCH:
                await self._clock.sleep(self._settings.backoff_ms / 1000)

    def roles_changed(self) -> None:
        """Partitions may have come or gone, or begun another epoch: nobody rests any longer."""
        self._rests_until_ns.clear()
        self.wake()

    def _ready_now(self) -> bool:
        return bool(self._ready())

    def _ready(self) -> list[tuple[tuple[UUID, int], Partition, _Asked]]:
        now = self._clock.monotonic_ns()
        ready = []
        for partition in self._partitions():
            key = (partition.topic_id, partition.index)
            if self._rests_until_ns.get(key, 0) <= now:
                ready.append((key, partition, _Asked.about(partition)))
        return ready

    def _request(self, asked: Iterable[tuple[tuple[UUID, int], Partition, _Asked]]) -> FetchRequest:
        topics: dict[UUID, list[FetchRequest.FetchPartition]] = {}
        for (topic_id, index), _, at in asked:
            topics.setdefault(topic_id, []).append(
                FETCH.request.FetchPartition(
                    partition=index,
                    current_leader_epoch=at.leader_epoch,
                    fetch_offset=at.offset,
                    last_fetched_epoch=at.last_epoch,
                    log_start_offset=at.log_start_offset,
                    partition_max_bytes=self._settings.partition_max_bytes,
                )
            )
        replica = FETCH.request.ReplicaState(
            replica_id=self._settings.broker_id, replica_epoch=self._broker_epoch()
        )
        request: FetchRequest = FETCH.request(
            replica_state=replica,
            max_wait_ms=self._settings.max_wait_ms,
            min_bytes=self._settings.min_bytes,
            max_bytes=self._settings.max_bytes,
            isolation_level=0,
            session_id=NO_SESSION,
            session_epoch=FINAL_EPOCH,
            topics=[
                FETCH.request.FetchTopic(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in topics.items()
            ],
        )
        return request

    async def _take(
        self, answer: FetchResponse, asked: dict[tuple[UUID, int], tuple[Partition, _Asked]]
    ) -> None:
        if answer.error_code:
            raise ConnectionError(f"the leader refused a fetch with {answer.error_code}")
        for topic in answer.responses:
            for data in topic.partitions:
                key = (topic.topic_id, data.partition_index)
                if key not in asked:
                    continue
                partition, at = asked[key]
                if _Asked.about(partition) != at:
                    continue  # its log or its leader changed meanwhile
                try:
                    await self._take_one(partition, at, data)
                except KafkaError:
                    self._rest(key)

    async def _take_one(
        self, partition: Partition, at: _Asked, data: FetchResponse.PartitionData
    ) -> None:
        if data.error_code == ErrorCode.offset_out_of_range:
            await self._out_of_range(partition, at)
        elif data.error_code:
            raise KafkaError(ErrorCode(data.error_code))
        elif data.diverging_epoch.epoch >= 0:
            end = EpochEnd(
                epoch=data.diverging_epoch.epoch, end_offset=data.diverging_epoch.end_offset
            )
            await partition.agree(end, leader_epoch=at.leader_epoch)
        else:
            await partition.copy(
                data.records or b"",
                leader_epoch=at.leader_epoch,
                high_watermark=data.high_watermark,
                log_start_offset=data.log_start_offset,
            )

    async def _out_of_range(self, partition: Partition, at: _Asked) -> None:
        end = await self._leaders_offset(partition, at, LATEST)
        start = await self._leaders_offset(partition, at, EARLIEST_LOCAL)
        await partition.restart_at(start, end, leader_epoch=at.leader_epoch)

    async def _leaders_offset(self, partition: Partition, at: _Asked, timestamp: int) -> int:
        one = LIST_OFFSETS.request.ListOffsetsPartition(
            partition_index=partition.index,
            current_leader_epoch=at.leader_epoch,
            timestamp=timestamp,
        )
        topic = LIST_OFFSETS.request.ListOffsetsTopic(name=partition.topic, partitions=[one])
        request = LIST_OFFSETS.request(
            replica_id=self._settings.broker_id, isolation_level=0, topics=[topic]
        )
        answer = await self._peer.ask(
            LIST_OFFSETS, LIST_OFFSETS_VERSION, request, timeout_s=self._settings.timeout_ms / 1000
        )
        found = answer.topics[0].partitions[0]
        if found.error_code:
            raise KafkaError(ErrorCode(found.error_code))
        offset: int = found.offset
        return offset

    def _rest(self, key: tuple[UUID, int]) -> None:
        wait_ns = self._settings.backoff_ms * 1_000_000
        self._rests_until_ns[key] = self._clock.monotonic_ns() + wait_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Where a follower was when it asked."""

    leader_epoch: int
    offset: int
    last_epoch: int
    log_start_offset: int

    @classmethod
    def about(cls, partition: Partition) -> _Asked:
        log = partition.log
        return cls(
            leader_epoch=partition.state.leader_epoch,
            offset=log.log_end_offset,
            last_epoch=-1 if log.epochs.latest is None else log.epochs.latest,
            log_start_offset=log.log_start_offset,
        )

"""How a follower copies: one loop per leader, over all partitions that follow it.

Each round is one Fetch with the partition's leader epoch and the epoch of the follower's last
record. The leader answers with records, or with the epoch where the two logs part; then the
follower cuts its log and asks again. What each answer leads to, the table in ``following`` says.
Whatever needs another question, or somebody else's storage, leaves the loop: it is a task of that
partition, on a connection of its own, which is not fetched meanwhile; the others go on. A partition
that met an error rests for a while. What the image says about a partition (another leader, another
epoch) takes effect with the next round: an answer to an earlier epoch changes nothing any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.ports import Clock
from reference_impl.replication.copying import FollowerPosition, RestartPoint
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.following import (
    FollowEvent,
    Following,
    boundary_reached,
    fetch_answer_means,
)
from reference_impl.replication.leaders_log import EARLIEST, LATEST, LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched, until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

FETCH_VERSION = 17
NO_SESSION, FINAL_EPOCH = 0, -1
_REFETCH = (TimeoutError, ConnectionError)

Key = tuple[UUID, int]


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


class RemoteAux(Protocol):
    """Who knows the epochs and producers of offsets that are kept elsewhere."""

    async def build(
        self, partition: Partition, *, leader: LeadersStart, ask: LeadersLog
    ) -> RestartPoint:
        """Where a follower goes on, and with what, however long it takes; what it is told may be
        asked again. A KafkaError if the leader's log is another by now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptElsewhere:
    """What replicas are told of offsets that their logs do not hold; by default there are none.

    ``older`` says of a topic whether its log may start before the first offset on a disk, and
    ``unreachable`` whether this broker cannot get at what comes before it;
    ``boundary_of`` where a follower has to stop, as what follows is not kept in logs.
    """

    older: Callable[[str], bool] = lambda topic: False
    unreachable: Callable[[str], bool] = lambda topic: False
    remote_aux: RemoteAux | None = None
    boundary_of: Callable[[Partition], int | None] = lambda partition: None


class Fetcher(Watched):
    """Copies from one leader whatever ``partitions()`` says follows it now.

    ``peer`` is for fetches alone; ``connect`` makes another connection to the same leader.
    """

    def __init__(
        self,
        *,
        peer: Peer,
        connect: Callable[[], Peer],
        settings: FetcherSettings,
        clock: Clock,
        partitions: Callable[[], Iterable[Partition]],
        broker_epoch: Callable[[], int],
        elsewhere: KeptElsewhere,
    ) -> None:
        super().__init__()
        self._peer = peer
        self._connect = connect
        self._remote_aux = elsewhere.remote_aux
        self._boundary_of = elsewhere.boundary_of
        self._work: dict[Key, _Work] = {}
        self._settings = settings
        self._clock = clock
        self._partitions = partitions
        self._broker_epoch = broker_epoch
        self._rests_until_ns: dict[Key, int] = {}

    async def run(self) -> None:
        """Copy for ever."""
        try:
            await self._copy()
        finally:
            for work in self._work.values():
                work.give_up()

    async def _copy(self) -> None:
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
        now = {(one.topic_id, one.index): one.state.leader_epoch for one in self._partitions()}
        for key, work in self._work.items():
            if now.get(key) != work.leader_epoch:
                work.give_up()
        self.wake()

    def _ready_now(self) -> bool:
        return bool(self._ready())

    def _ready(self) -> list[tuple[Key, Partition, FollowerPosition]]:
        now = self._clock.monotonic_ns()
        ready = []
        for partition in self._partitions():
            key = (partition.topic_id, partition.index)
            if partition.following.fetches and self._rests_until_ns.get(key, 0) <= now:
                ready.append((key, partition, partition.position))
        return ready

    def _request(self, asked: Iterable[tuple[Key, Partition, FollowerPosition]]) -> FetchRequest:
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
        self, answer: FetchResponse, asked: dict[Key, tuple[Partition, FollowerPosition]]
    ) -> None:
        if answer.error_code:
            raise ConnectionError(f"the leader refused a fetch with {answer.error_code}")
        for topic in answer.responses:
            for data in topic.partitions:
                key = (topic.topic_id, data.partition_index)
                if key not in asked:
                    continue
                partition, at = asked[key]
                if partition.position != at:
                    continue  # its log or its leader changed meanwhile
                await self._take_one(key, partition, at, data)

    async def _take_one(
        self,
        key: Key,
        partition: Partition,
        at: FollowerPosition,
        data: FetchResponse.PartitionData,
    ) -> None:
        diverges = data.diverging_epoch.epoch >= 0
        builds_aux = self._remote_aux is not None
        event = fetch_answer_means(ErrorCode(data.error_code), diverges, builds_aux)
        if not partition.following.happened(event, at.leader_epoch):
            return
        match event:
            case FollowEvent.RECORDS:
                await self._do(key, partition, at, self._records(partition, at, data))
            case FollowEvent.DIVERGING_EPOCH:
                await self._do(key, partition, at, self._diverging(partition, at, data))
            case FollowEvent.OUT_OF_RANGE:
                start = data.log_start_offset
                self._begin(key, partition, at, partial(self._out_of_range, partition, at, start))
            case FollowEvent.MOVED_TO_TIERED_STORAGE:
                start = data.log_start_offset
                self._begin(key, partition, at, partial(self._moved, partition, at, start))
            case _:
                self._rest(key)

    # What follows from an answer.

    async def _do(
        self, key: Key, partition: Partition, at: FollowerPosition, work: Awaitable[None]
    ) -> None:
        """Carry it to its end, and note what became of it."""
        done = False
        try:
            await work
            done = True
        except Exception as error:
            # A mistake is one the next time, too.
            self._rest(key)
            if not isinstance(error, (KafkaError, *_REFETCH)):
                raise
        finally:
            event = FollowEvent.WORK_DONE if done else FollowEvent.WORK_FAILED
            partition.following.happened(event, at.leader_epoch)

    def _begin(
        self,
        key: Key,
        partition: Partition,
        at: FollowerPosition,
        work: Callable[[], Awaitable[None]],
    ) -> None:
        """The same, while the loop goes on."""

        async def run() -> None:
            try:
                await self._do(key, partition, at, work())
            except Exception as error:  # a mistake: told at once, and tried again after a rest
                about = {"message": "the work of a follower failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(about)
            finally:
                if self._work.get(key) is mine:
                    del self._work[key]
                self.wake()

        task = asyncio.get_running_loop().create_task(run())
        self._work[key] = mine = _Work(
            leader_epoch=at.leader_epoch, following=partition.following, task=task
        )

    async def _records(
        self, partition: Partition, at: FollowerPosition, data: FetchResponse.PartitionData
    ) -> None:
        boundary = self._boundary_of(partition)
        await partition.copy(
            data.records or b"",
            leader_epoch=at.leader_epoch,
            high_watermark=data.high_watermark,
            log_start_offset=data.log_start_offset,
            upto=boundary,
        )
        if boundary_reached(at.offset, partition.log.high_watermark, boundary):
            partition.following.happened(FollowEvent.BOUNDARY_REACHED, at.leader_epoch)

    async def _diverging(
        self, partition: Partition, at: FollowerPosition, data: FetchResponse.PartitionData
    ) -> None:
        diverging = data.diverging_epoch
        end = EpochEnd(epoch=diverging.epoch, end_offset=diverging.end_offset)
        await partition.agree(end, leader_epoch=at.leader_epoch)

    async def _out_of_range(
        self, partition: Partition, at: FollowerPosition, log_start: int
    ) -> None:
        with closing(self._leaders_log(partition, at)) as leader:
            end, _ = await leader.offset(LATEST)
            start, _ = await leader.offset(EARLIEST)
        await partition.fit_range(start, end, asked=at, log_start=log_start)

    async def _moved(self, partition: Partition, at: FollowerPosition, log_start: int) -> None:
        """What is not touched before the leader has said where its disk begins: the log."""
        assert self._remote_aux is not None
        with closing(self._leaders_log(partition, at)) as leader:
            start = await leader.start(log_start)
            if start.local_log_start_offset <= log_start:
                raise KafkaError(ErrorCode.offset_moved_to_tiered_storage, "nothing is elsewhere")
            if not partition.following.happened(FollowEvent.LOCAL_START_KNOWN, at.leader_epoch):
                return
            emptied = await partition.empty_at(log_start, asked=at)
            if emptied is not None:
                point = await self._remote_aux.build(partition, leader=start, ask=leader)
                await partition.begin_at(point, asked=emptied)

    def _leaders_log(self, partition: Partition, at: FollowerPosition) -> LeadersLog:
        return LeadersLog(
            self._connect,
            partition,
            leader_epoch=at.leader_epoch,
            broker_id=self._settings.broker_id,
            timeout_s=self._settings.timeout_ms / 1000,
        )

    def _rest(self, key: Key) -> None:
        wait_ns = self._settings.backoff_ms * 1_000_000
        self._rests_until_ns[key] = self._clock.monotonic_ns() + wait_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is done for one partition beside the loop."""

    leader_epoch: int
    following: Following
    task: asyncio.Task[None]

    def give_up(self) -> None:
        """End it, though it may not have begun."""
        self.task.cancel()
        self.following.happened(FollowEvent.WORK_FAILED, self.leader_epoch)

"""Fetch: what consumers and followers read, at once or as soon as there is enough.

A follower's fetch also says how far it is. A consumer reads what is committed, from the leader or,
since version 11, from any replica; it may be sent to a replica in its own rack (KIP-392).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference_impl.broker.fetch_sessions import Fetching, FetchSessions, Place
from reference_impl.broker.leaders import Leaders
from reference_impl.broker.node import Node
from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.metadata.image import PartitionState
from reference_impl.replication.decisions import (
    EpochEnd,
    Reader,
    ReplicaView,
    logs_diverge,
    nearest_replica,
    readable_upto,
)
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

CONSUMER = -1
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
_FIRST_WITH_IDS = 13
_FIRST_FROM_FOLLOWERS = 11
_FIRST_WITH_LEADERS = 16
_FIRST_WITH_STATE = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a whole request says, whichever version it has."""

    replica_id: int
    replica_epoch: int
    reader: Reader
    only_leader: bool
    rack: str
    max_bytes: int
    min_bytes: int
    wait_s: float

    @property
    def follower(self) -> bool:
        return self.replica_id >= 0


class Fetches:
    """Answers Fetch requests of one broker."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._max_bytes_at = (-2, 0)  # by the image's offset
        self._sessions = FetchSessions(
            node.ports.clock,
            node.ports.rng,
            slots=node.layers.number("max.incremental.fetch.session.cache.slots"),
        )

    async def __call__(self, context: Context, request: FetchRequest) -> FetchResponse:
        """Answer a Fetch request."""
        if request.isolation_level not in _ISOLATIONS:
            return _refused(context, request, ErrorCode.unknown_server_error)
        asked = self._asked(context, request)
        uses_ids = context.version >= _FIRST_WITH_IDS
        fetching = self._sessions.begin(
            session_id=request.session_id,
            epoch=request.session_epoch,
            uses_ids=uses_ids,
            privileged=asked.follower,
            partitions=_places(request.topics, uses_ids),
            forgotten=_forgotten(request.forgotten_topics_data, uses_ids),
        )
        answers = await self._read(asked, fetching)
        return self._answer(context, request, fetching, answers, asked)

    def _asked(self, context: Context, request: FetchRequest) -> _Asked:
        replica, epoch = request.replica_id, -1
        if context.version >= _FIRST_WITH_STATE:
            replica = request.replica_state.replica_id
            epoch = request.replica_state.replica_epoch
        consumer = Reader.COMMITTED if request.isolation_level == 1 else Reader.CONSUMER
        largest = min(request.max_bytes, self._max_bytes())
        return _Asked(
            replica_id=replica,
            replica_epoch=epoch,
            reader=Reader.FOLLOWER if replica >= 0 else consumer,
            only_leader=replica >= 0
            or (replica == CONSUMER and context.version < _FIRST_FROM_FOLLOWERS),
            rack=request.rack_id if context.version >= _FIRST_FROM_FOLLOWERS else "",
            max_bytes=largest,
            min_bytes=min(request.min_bytes, largest),
            wait_s=request.max_wait_ms / 1000,
        )

    def _max_bytes(self) -> int:
        """``fetch.max.bytes``, which can change only with the image."""
        offset = self._node.image.offset
        if self._max_bytes_at[0] != offset:
            self._max_bytes_at = offset, self._node.layers.number("fetch.max.bytes")
        return self._max_bytes_at[1]

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def _read(
        self, asked: _Asked, fetching: Fetching
    ) -> dict[Place, FetchResponse.PartitionData]:
        found: dict[Place, Partition | KafkaError] = {
            place: await self._find(place) for place in fetching.partitions
        }
        partitions = [one for one in found.values() if isinstance(one, Partition)]
        loop = asyncio.get_running_loop()
        deadline = loop.time() + asked.wait_s
        more = _may_have_more(asked.reader, partitions)
        answers = await self._read_all(asked, fetching, found, first=True)
        while asked.wait_s > 0 and partitions and not _enough(answers, asked.min_bytes):
            news = await until(more, partitions, timeout_s=deadline - loop.time())
            more = _may_have_more(asked.reader, partitions)
            answers = await self._read_all(asked, fetching, found, first=False)
            if not news:
                break
        return answers

    async def _read_all(
        self,
        asked: _Asked,
        fetching: Fetching,
        found: dict[Place, Partition | KafkaError],
        *,
        first: bool,
    ) -> dict[Place, FetchResponse.PartitionData]:
        left, at_least_one = asked.max_bytes, True
        answers = {}
        for place, request in fetching.partitions.items():
            answer = FETCH.response.PartitionData(
                partition_index=place.partition, high_watermark=-1, records=b""
            )
            try:
                partition = found[place]
                if isinstance(partition, KafkaError):
                    raise partition
                await self._read_one(asked, partition, request, answer, left, at_least_one, first)
            except KafkaError as error:
                answer = FETCH.response.PartitionData(
                    partition_index=place.partition,
                    high_watermark=-1,
                    error_code=error.code,
                    aborted_transactions=[] if error.code in _UNKNOWN else None,
                    records=b"",
                )
            if answer.records:
                at_least_one = False
                left = max(0, left - len(answer.records))
            answers[place] = answer
        if len(answers) < 2:
            return answers
        # Those that Kafka never looks at come last, in the order in which it puts them aside.
        return dict(sorted(answers.items(), key=lambda one: _UNKNOWN.get(one[1].error_code, 0)))

    async def _find(self, place: Place) -> Partition | KafkaError:
        name = place.topic
        if name is None:
            known = self._node.image.topic_ids.get(place.topic_id)
            if known is None:
                return KafkaError(ErrorCode.unknown_topic_id)
            name = known
        try:
            return await self._node.replicas.partition(name, place.partition)
        except KafkaError as error:
            return error

    async def _read_one(
        self,
        asked: _Asked,
        partition: Partition,
        request: FetchRequest.FetchPartition,
        answer: FetchResponse.PartitionData,
        left: int,
        at_least_one: bool,
        first: bool,
    ) -> None:
        log = partition.log
        elsewhere = self._elsewhere(asked, partition, request.fetch_offset)
        epoch = max(-1, request.current_leader_epoch)
        partition.check(epoch, only_leader=asked.only_leader)
        if asked.follower:
            partition.check_follower(asked.replica_id, epoch)
        if min(request.partition_max_bytes, left) < 0:
            raise KafkaError(ErrorCode.unknown_server_error)
        end, start = log.log_end_offset, log.log_start_offset
        answer.high_watermark = log.high_watermark
        answer.last_stable_offset = log.last_stable_offset
        answer.log_start_offset = start
        if asked.reader is Reader.COMMITTED:
            answer.aborted_transactions = []
        if elsewhere is not None:
            answer.preferred_read_replica = elsewhere
            return
        if _diverging(partition, request, answer):
            answer.aborted_transactions = None  # nothing was read, so there is nothing to skip
            return
        answer.records = await log.read(
            request.fetch_offset,
            max_bytes=min(request.partition_max_bytes, left),
            upto=readable_upto(asked.reader, end, log.high_watermark, log.last_stable_offset),
            at_least_one=at_least_one,
        )
        if asked.follower and first:
            partition.follower_fetched(
                asked.replica_id,
                offset=request.fetch_offset,
                log_start_offset=request.log_start_offset,
                leaders_end=end,
                epoch=asked.replica_epoch,
            )

    def _elsewhere(self, asked: _Asked, partition: Partition, offset: int) -> int | None:
        """The replica that a consumer had better read from, if it is not this one."""
        settings = self._node.settings
        if (
            asked.follower
            or not asked.rack
            or not partition.leads
            or self._node.layers.value("replica.selector.class") != RACK_AWARE
        ):
            return None
        chosen = nearest_replica(asked.rack, self._views(partition, offset))
        return None if chosen == settings.node_id else chosen

    def _views(self, partition: Partition, offset: int) -> list[ReplicaView]:
        brokers, me = self._node.image.brokers, self._node.settings.node_id
        now_ms = self._node.ports.clock.monotonic_ns() // 1_000_000
        views = [
            ReplicaView(
                broker_id=me,
                rack=self._node.settings.rack,
                log_end_offset=partition.log.log_end_offset,
                since_caught_up_ms=0,
                leads=True,
            )
        ]
        for one, follower in partition.followers.items():
            broker = brokers.get(one)
            has_it = follower.log_start_offset <= offset <= follower.log_end_offset
            if broker is None or broker.fenced or one not in partition.state.isr or not has_it:
                continue
            views.append(
                ReplicaView(
                    broker_id=one,
                    rack=broker.rack,
                    log_end_offset=follower.log_end_offset,
                    since_caught_up_ms=follower.since_caught_up_ms(now_ms),
                    leads=False,
                )
            )
        return views

    # ── answering ────────────────────────────────────────────────────────────────────────────────

    def _answer(
        self,
        context: Context,
        request: FetchRequest,
        fetching: Fetching,
        answers: dict[Place, FetchResponse.PartitionData],
        asked: _Asked,
    ) -> FetchResponse:
        error, session_id, told = self._sessions.end(fetching, answers, request.session_epoch)
        leaders = Leaders(self._node.image, FETCH.response)
        topics: list[FetchResponse.FetchableTopicResponse] = []
        for place, data in told.items():
            if context.version >= _FIRST_WITH_LEADERS and data.error_code in _WRONG_LEADER:
                name = self._node.image.topic_ids.get(place.topic_id, "")
                leaders.name(data, self._node.image.topics.get(name), place.partition)
            named = place.topic or ""
            if not topics or (topics[-1].topic_id, topics[-1].topic) != (place.topic_id, named):
                topics.append(
                    FETCH.response.FetchableTopicResponse(
                        topic=named, topic_id=place.topic_id, partitions=[]
                    )
                )
            topics[-1].partitions.append(data)
        response: FetchResponse = FETCH.response(
            error_code=error,
            session_id=session_id,
            responses=topics,
            node_endpoints=[] if asked.follower else leaders.endpoints,
        )
        return response


_UNKNOWN: dict[int, int] = {ErrorCode.unknown_topic_id: 1, ErrorCode.unknown_topic_or_partition: 2}
_ISOLATIONS = (0, 1)
_WRONG_LEADER = (ErrorCode.not_leader_or_follower, ErrorCode.fenced_leader_epoch)


def _refused(context: Context, request: FetchRequest, code: ErrorCode) -> FetchResponse:
    """A whole request refused; old versions have a place for it in each partition only."""
    topics = [] if context.version >= _FIRST_WITH_IDS else request.topics
    refused: FetchResponse = FETCH.response(
        error_code=code,
        session_id=request.session_id,
        responses=[
            FETCH.response.FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    FETCH.response.PartitionData(
                        partition_index=one.partition,
                        error_code=code,
                        high_watermark=-1,
                        aborted_transactions=[],
                        records=b"",
                    )
                    for one in topic.partitions
                ],
            )
            for topic in topics
        ],
    )
    return refused


def _may_have_more(reader: Reader, partitions: Sequence[Partition]) -> Callable[[], bool]:
    """Says whether anything has changed, since now, that somebody who reads them would notice."""
    seen = [(one, _shows(reader, one)) for one in partitions]
    return lambda: any(_shows(reader, one) != before for one, before in seen)


def _shows(reader: Reader, partition: Partition) -> tuple[PartitionState, int, int]:
    log = partition.log
    upto = readable_upto(reader, log.log_end_offset, log.high_watermark, log.last_stable_offset)
    return partition.state, upto, log.log_start_offset


def _enough(answers: dict[Place, FetchResponse.PartitionData], min_bytes: int) -> bool:
    """Whether there is something to say by now."""
    bytes_read = 0
    for data in answers.values():
        if data.error_code or data.diverging_epoch.epoch >= 0 or data.preferred_read_replica >= 0:
            return True
        bytes_read += len(data.records or b"")
    return bytes_read >= min_bytes


def _diverging(
    partition: Partition, request: FetchRequest.FetchPartition, answer: FetchResponse.PartitionData
) -> bool:
    """Whether the reader's log and this one part before its fetch offset; says where."""
    epoch, offset = request.last_fetched_epoch, request.fetch_offset
    if epoch < 0:
        return False
    log = partition.log
    known_epoch, end_offset = log.epochs.end_offset_for(epoch, log.log_end_offset)
    if known_epoch < 0 or end_offset < 0 or offset < log.log_start_offset:
        raise KafkaError(ErrorCode.offset_out_of_range)
    ours = EpochEnd(epoch=known_epoch, end_offset=end_offset)
    if not logs_diverge(EpochEnd(epoch=epoch, end_offset=offset), ours):
        return False
    answer.diverging_epoch = FETCH.response.EpochEndOffset(epoch=known_epoch, end_offset=end_offset)
    return True


def _places(
    topics: list[FetchRequest.FetchTopic], uses_ids: bool
) -> dict[Place, FetchRequest.FetchPartition]:
    return {
        Place(topic.topic_id, None if uses_ids else topic.topic, one.partition): one
        for topic in topics
        for one in topic.partitions
    }


def _forgotten(topics: list[FetchRequest.ForgottenTopic], uses_ids: bool) -> list[Place]:
    return [
        Place(topic.topic_id, None if uses_ids else topic.topic, index)
        for topic in topics or ()
        for index in topic.partitions
    ]

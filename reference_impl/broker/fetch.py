"""Fetch: what consumers and followers read, at once or as soon as there is enough.

A follower's fetch also says how far it is. A consumer reads what is committed, from the leader or,
since version 11, from any replica; it may be sent to a replica in its own rack (KIP-392).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.broker.fetch_reads import UNKNOWN, Asked, FetchReads, PartitionRead, refused
from reference_impl.broker.fetch_sessions import Fetching, FetchSessions, Place
from reference_impl.broker.leaders import Leaders
from reference_impl.broker.node import Node
from reference_impl.broker.preferred_replicas import chooses_replicas, preferred_replica
from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.views import FetchReader
from reference_impl.replication.decisions import Reader

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

NO_ID = UUID(int=0)
FUTURE_REPLICA = -3  # a broker that copies a log to another of its disks; others below 0 consume
_FIRST_WITH_IDS = 13
_FIRST_FROM_FOLLOWERS = 11
_FIRST_WITH_LEADERS = 16
_FIRST_WITH_STATE = 15


class Fetches:
    """Answers Fetch requests of one broker."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._limits_at = (-2, 0, 0.0)  # by the image's offset
        self._sessions = FetchSessions(
            node.ports.clock,
            node.ports.rng,
            slots=node.layers.number("max.incremental.fetch.session.cache.slots"),
        )

    async def __call__(self, context: Context, request: FetchRequest) -> FetchResponse:
        """Answer a Fetch request."""
        asked = self._asked(context, request)
        try:
            fetching = self._begin(context, request, asked)
            if request.isolation_level not in _ISOLATIONS and await self._knows_any(fetching):
                raise KafkaError(ErrorCode.unknown_server_error)
        except KafkaError as error:
            return _refused(context, request, error.code)
        answers = await self._read(asked, fetching)
        return self._answer(context, request, fetching, answers, asked)

    def _begin(self, context: Context, request: FetchRequest, asked: Asked) -> Fetching:
        uses_ids = context.version >= _FIRST_WITH_IDS
        return self._sessions.begin(
            session_id=request.session_id,
            epoch=request.session_epoch,
            uses_ids=uses_ids,
            privileged=asked.follower,
            partitions=_places(request.topics, uses_ids),
            forgotten=_forgotten(request.forgotten_topics_data, uses_ids),
        )

    def _asked(self, context: Context, request: FetchRequest) -> Asked:
        replica, epoch = request.replica_id, -1
        if context.version >= _FIRST_WITH_STATE:
            replica = request.replica_state.replica_id
            epoch = request.replica_state.replica_epoch
        consumer = Reader.COMMITTED if request.isolation_level == 1 else Reader.CONSUMER
        most_bytes, store_wait_s = self._limits()
        largest = min(request.max_bytes, most_bytes)
        return Asked(
            replica_id=replica,
            replica_epoch=epoch,
            version=context.version,
            kind=Reader.FOLLOWER if replica >= 0 or replica == FUTURE_REPLICA else consumer,
            only_leader=replica >= 0
            or (replica != FUTURE_REPLICA and context.version < _FIRST_FROM_FOLLOWERS),
            rack=request.rack_id if context.version >= _FIRST_FROM_FOLLOWERS else "",
            max_bytes=largest,
            min_bytes=min(request.min_bytes, largest),
            wait_s=request.max_wait_ms / 1000,
            store_wait_s=store_wait_s,
        )

    def _limits(self) -> tuple[int, float]:
        """``fetch.max.bytes`` and, in seconds, ``remote.fetch.max.wait.ms``, which can change only
        with the image."""
        offset = self._node.image.offset
        if self._limits_at[0] != offset:
            layers = self._node.layers
            wait_ms = layers.number("remote.fetch.max.wait.ms")
            self._limits_at = offset, layers.number("fetch.max.bytes"), wait_ms / 1000
        return self._limits_at[1:]

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def _read(
        self, asked: Asked, fetching: Fetching
    ) -> dict[Place, FetchResponse.PartitionData]:
        answers: dict[Place, FetchResponse.PartitionData] = {}
        reads: dict[Place, PartitionRead] = {}
        chooses = bool(asked.rack) and not asked.follower and chooses_replicas(self._node)
        for place, request in fetching.partitions.items():
            try:
                partition = await self._find(place)
                reads[place] = self._planned(asked, partition, request, chooses)
            except KafkaError as error:
                answers[place] = refused(place.partition, error.code)
        some_failed = bool(answers)
        reading = FetchReads(
            self._node.partitions, asked, list(reads.values()), some_failed=some_failed
        )
        await reading.run()
        if not some_failed and len(reads) < 2:
            return {place: one.answer for place, one in reads.items()}
        answers |= {place: one.answer for place, one in reads.items()}
        # Those that Kafka never looks at come last, in the order in which it puts them aside.
        ordered = {place: answers[place] for place in fetching.partitions}
        return dict(sorted(ordered.items(), key=lambda one: UNKNOWN.get(one[1].error_code, 0)))

    def _planned(
        self,
        asked: Asked,
        partition: LogicalPartition,
        request: FetchRequest.FetchPartition,
        chooses: bool,
    ) -> PartitionRead:
        reader = FetchReader(
            asked.kind,
            asked.replica_id,
            asked.version,
            asked.only_leader,
            max(-1, request.current_leader_epoch),
            request.last_fetched_epoch,
            request.partition_max_bytes if asked.max_bytes >= 0 else asked.max_bytes,
        )
        if not chooses:
            return PartitionRead(partition, request, reader)
        offset = request.fetch_offset
        return PartitionRead(
            partition,
            request,
            reader,
            lambda: preferred_replica(self._node, partition, asked.rack, offset),
        )

    async def _knows_any(self, fetching: Fetching) -> bool:
        """Whether there is anything to read; Kafka looks at the rest of a request only then."""
        for place in fetching.partitions:
            with suppress(KafkaError):
                await self._find(place)
                return True
        return False

    async def _find(self, place: Place) -> LogicalPartition:
        name = place.topic
        if name is None:
            name = self._node.image.topic_ids.get(place.topic_id)
            if name is None:
                raise KafkaError(ErrorCode.unknown_topic_id)
        return await self._node.partitions.find(name, place.partition)

    # ── answering ────────────────────────────────────────────────────────────────────────────────

    def _answer(
        self,
        context: Context,
        request: FetchRequest,
        fetching: Fetching,
        answers: dict[Place, FetchResponse.PartitionData],
        asked: Asked,
    ) -> FetchResponse:
        error, session_id, told = self._sessions.end(fetching, answers, request.session_epoch)
        leaders = Leaders(self._node.image, FETCH.response)
        topics: list[FetchResponse.FetchableTopicResponse] = []
        if _loses_its_topic(told):
            return _refused(context, request, ErrorCode.unknown_server_error)
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


def _loses_its_topic(told: Iterable[Place]) -> bool:
    """Whether a partition of a topic without id and name is followed by any: Kafka fails there."""
    return any(one.topic is None and one.topic_id == NO_ID for one in list(told)[:-1])


_ISOLATIONS = (0, 1)
_WRONG_LEADER = (ErrorCode.not_leader_or_follower, ErrorCode.fenced_leader_epoch)


def _refused(context: Context, request: FetchRequest, code: ErrorCode) -> FetchResponse:
    """A whole request refused; old versions have a place for it in each partition only."""
    topics = [] if context.version >= _FIRST_WITH_IDS else request.topics
    whole: FetchResponse = FETCH.response(
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
    return whole


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

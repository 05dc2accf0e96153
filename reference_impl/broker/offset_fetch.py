"""OffsetFetch: how far groups are, in the partitions that are asked for or in all they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from uuid import UUID

from reference_impl.broker.answering import answering
from reference_impl.broker.node import Node
from reference_impl.coordinators.offset_records import NO_TOPIC_ID, OffsetKey
from reference_impl.coordinators.offset_state import Fetched, OffsetState, topic_is_gone
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context

if TYPE_CHECKING:
    from reference_impl.kafka.messages import OffsetFetchRequest, OffsetFetchResponse

Answer = TypeVar("Answer")
_FIRST_WITH_ERROR = 2
_FIRST_OF_MANY = 8
_FIRST_BY_ID = 10


class AskedTopic(NamedTuple):
    """A topic of which offsets are asked for; its name is empty if its id is unknown."""

    name: str
    topic_id: UUID
    indexes: tuple[int, ...]


class AskedGroup(NamedTuple):
    """A group; None: all topics."""

    group: str
    topics: tuple[AskedTopic, ...] | None


FetchedTopic = tuple[AskedTopic, list[tuple[int, Fetched]]]


class FetchedGroup(NamedTuple):
    """What is told of a group."""

    group: str
    topics: list[FetchedTopic]
    error: ErrorCode = ErrorCode.none


async def offset_fetch(
    node: Node, context: Context, request: OffsetFetchRequest
) -> OffsetFetchResponse:
    """Answer an OffsetFetch request."""
    response = apis.OFFSET_FETCH.response
    told = [
        await _fetched(node, context.version, asked, request.require_stable)
        for asked in _groups(node, context.version, request)
    ]
    if context.version >= _FIRST_OF_MANY:
        return response(groups=[_group_answer(one) for one in told])
    only = told[0]
    return response(
        error_code=only.error,
        topics=[
            response.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=_partitions(response.OffsetFetchResponsePartition, partitions),
            )
            for topic, partitions in only.topics
        ],
    )


def _groups(node: Node, version: int, request: OffsetFetchRequest) -> list[AskedGroup]:
    if version < _FIRST_OF_MANY:
        topics = None
        if request.topics is not None:
            topics = tuple(
                AskedTopic(one.name, NO_TOPIC_ID, tuple(one.partition_indexes))
                for one in request.topics
            )
        return [AskedGroup(request.group_id, topics)]
    by_id, names = version >= _FIRST_BY_ID, node.image.topic_ids
    groups = []
    for group in request.groups:
        topics = None
        if group.topics is not None:
            topics = tuple(
                AskedTopic(
                    names.get(one.topic_id, "") if by_id else one.name,
                    one.topic_id,
                    tuple(one.partition_indexes),
                )
                for one in group.topics
            )
        groups.append(AskedGroup(group.group_id, topics))
    return groups


async def _fetched(
    node: Node, version: int, asked: AskedGroup, require_stable: bool
) -> FetchedGroup:
    try:
        if require_stable:
            state = await node.offsets.settled(asked.group)
        else:
            state = node.offsets.state(asked.group)
    except KafkaError as error:
        return _refused(version, asked, error.code)
    if asked.topics is None:
        topics = _all_topics(node, version, asked.group, state)
    else:
        topics = list(asked.topics)
    known: list[FetchedTopic] = []
    unknown: list[FetchedTopic] = []
    for topic in topics:
        if version >= _FIRST_BY_ID and not topic.name:
            refused = Fetched(ErrorCode.unknown_topic_id)
            unknown.append((topic, [(index, refused) for index in topic.indexes]))
            continue
        found = [
            (
                index,
                _told(
                    node, state, OffsetKey(asked.group, topic.name, index), topic, require_stable
                ),
            )
            for index in topic.indexes
        ]
        known.append((topic, found))
    return FetchedGroup(asked.group, known + unknown)


def _told(
    node: Node, state: OffsetState, key: OffsetKey, topic: AskedTopic, require_stable: bool
) -> Fetched:
    found = state.fetch(key, require_stable=require_stable, topic_id=topic.topic_id)
    stored = found.value.topic_id
    return Fetched() if topic_is_gone(stored, stored in node.image.topic_ids) else found


def _all_topics(node: Node, version: int, group: str, state: OffsetState) -> list[AskedTopic]:
    indexes: dict[str, list[int]] = {}
    for key in sorted(state.of_group(group)):
        stored = state.committed[key].value.topic_id
        if not topic_is_gone(stored, stored in node.image.topic_ids):
            indexes.setdefault(key.topic, []).append(key.partition)
    found = []
    for name, partitions in indexes.items():
        topic = node.image.topics.get(name)
        # Where topics are named by their ids, one without is left out.
        if topic is not None or version < _FIRST_BY_ID:
            topic_id = NO_TOPIC_ID if topic is None else topic.topic_id
            found.append(AskedTopic(name, topic_id, tuple(partitions)))
    return found


def _refused(version: int, asked: AskedGroup, error: ErrorCode) -> FetchedGroup:
    """A group's error; in the first version there is none but that of each partition."""
    if version >= _FIRST_WITH_ERROR:
        return FetchedGroup(asked.group, [], error)
    refused = Fetched(error)
    topics = [(one, [(index, refused) for index in one.indexes]) for one in asked.topics or ()]
    return FetchedGroup(asked.group, topics)


def _partitions(made: Callable[..., Answer], told: list[tuple[int, Fetched]]) -> list[Answer]:
    return [
        made(
            partition_index=index,
            committed_offset=found.value.offset,
            committed_leader_epoch=found.value.leader_epoch,
            metadata=found.value.metadata,
            error_code=found.error,
        )
        for index, found in told
    ]


def _group_answer(told: FetchedGroup) -> OffsetFetchResponse.OffsetFetchResponseGroup:
    response = apis.OFFSET_FETCH.response
    return response.OffsetFetchResponseGroup(
        group_id=told.group,
        error_code=told.error,
        topics=[
            response.OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=_partitions(response.OffsetFetchResponsePartitions, partitions),
            )
            for topic, partitions in told.topics
        ],
    )


HANDLERS = (answering(apis.OFFSET_FETCH, offset_fetch),)

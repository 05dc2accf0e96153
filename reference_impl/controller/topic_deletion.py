"""Topics are deleted by name or by id, never by both.

Whatever is said twice, in whichever way, is refused: it is not clear what was meant.

The remote data of a tiered topic stays behind, under its id. It is removed by the brokers, once the
topic has left ``image.removing``: when every broker that had a replica has read of the deletion, so
that none copies another segment (C-30). Nothing waits for it, and its name is free at once (C-07).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.decisions import brokers_have_stopped
from reference_impl.kafka.apis import DELETE_TOPICS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.effective import is_tiered
from reference_impl.metadata.records import RemoteTopicStopped, ResourceType, TopicDeleted

if TYPE_CHECKING:
    from reference_impl.kafka.messages import DeleteTopicsRequest, DeleteTopicsResponse

NO_ID = UUID(int=0)
_UNKNOWN_NAME = "This server does not host this topic-partition."
_UNKNOWN_ID = "This server does not host this topic ID."


def delete_topics(cluster: Cluster, request: DeleteTopicsRequest) -> Outcome[DeleteTopicsResponse]:
    """DeleteTopics, all versions: old ones give names, new ones names or ids."""
    asked: list[tuple[str | None, UUID]]
    asked = [(name, NO_ID) for name in request.topic_names or ()]
    asked += [(topic.name, topic.topic_id) for topic in request.topics or ()]
    if cluster.layers().value("delete.topic.enable") is not True:
        disabled = KafkaError(ErrorCode.topic_deletion_disabled)
        return _outcome([_refused(name, id_, disabled) for name, id_ in asked], [])
    refused, names, ids = _sorted_out(asked)
    deleted: dict[UUID, str] = {}
    for topic_id in ids:
        known = cluster.image.topic_ids.get(topic_id)
        if known is None:
            error = KafkaError(ErrorCode.unknown_topic_id, _UNKNOWN_ID)
            refused.append(_refused(None, topic_id, error))
        else:
            deleted[topic_id] = known
    for name in names:
        topic = cluster.image.topics.get(name)
        if topic is None:
            error = KafkaError(ErrorCode.unknown_topic_or_partition, _UNKNOWN_NAME)
            refused.append(_refused(name, NO_ID, error))
        elif topic.topic_id in deleted:
            del deleted[topic.topic_id]
            both = "The provided topic name maps to an ID that was already supplied."
            error = KafkaError(ErrorCode.invalid_request, both)
            refused.append(_refused(name, topic.topic_id, error))
        else:
            deleted[topic.topic_id] = name
    records = [
        TopicDeleted(
            name=name,
            topic_id=topic_id,
            remote=is_tiered(cluster.image.config(ResourceType.TOPIC, name)),
        )
        for topic_id, name in deleted.items()
    ]
    return _outcome(refused, records)


def stopped_topics(cluster: Cluster, broker_id: int, reported: int) -> list[RemoteTopicStopped]:
    """Deleted topics that no broker writes any more, now that one has read so far."""

    def read(replica: int) -> int:
        return reported if replica == broker_id else cluster.session(replica).metadata_offset

    stopped = []
    for topic in cluster.image.removing.values():
        brokers = [cluster.image.brokers.get(one) for one in topic.replicas]
        running = [one.broker_id for one in brokers if one is not None and not one.fenced]
        if brokers_have_stopped(topic.offset, [read(one) for one in running]):
            stopped.append(RemoteTopicStopped(topic_id=topic.topic_id))
    return stopped


def _sorted_out(
    asked: list[tuple[str | None, UUID]],
) -> tuple[list[DeleteTopicsResponse.DeletableTopicResult], list[str], list[UUID]]:
    """What is refused at sight, then the names and the ids that were given once each."""
    refused: list[DeleteTopicsResponse.DeletableTopicResult] = []
    names: list[str] = []
    ids: list[UUID] = []
    for name, topic_id in asked:
        if name is None and topic_id == NO_ID:
            nothing = "Neither topic name nor id were specified."
            refused.append(_refused(None, NO_ID, KafkaError(ErrorCode.invalid_request, nothing)))
        elif name is None:
            ids.append(topic_id)
        elif topic_id == NO_ID:
            names.append(name)
        else:
            both = "You may not specify both topic name and topic id."
            refused.append(_refused(name, topic_id, KafkaError(ErrorCode.invalid_request, both)))
    name_times, id_times = Counter(names), Counter(ids)
    for name, times in name_times.items():
        if times > 1:
            error = KafkaError(ErrorCode.invalid_request, "Duplicate topic name.")
            refused.append(_refused(name, NO_ID, error))
    for topic_id, times in id_times.items():
        if times > 1:
            error = KafkaError(ErrorCode.invalid_request, "Duplicate topic id.")
            refused.append(_refused(None, topic_id, error))
    once = [name for name, times in name_times.items() if times == 1]
    return refused, once, [topic_id for topic_id, times in id_times.items() if times == 1]


def _refused(
    name: str | None, topic_id: UUID, error: KafkaError
) -> DeleteTopicsResponse.DeletableTopicResult:
    return DELETE_TOPICS.response.DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=error.code, error_message=error.message or None
    )


def _outcome(
    refused: list[DeleteTopicsResponse.DeletableTopicResult], records: list[TopicDeleted]
) -> Outcome[DeleteTopicsResponse]:
    result_of = DELETE_TOPICS.response.DeletableTopicResult
    done = [
        result_of(name=record.name, topic_id=record.topic_id, error_message=None)
        for record in records
    ]
    return Outcome(answer=DELETE_TOPICS.response(responses=[*refused, *done]), records=records)

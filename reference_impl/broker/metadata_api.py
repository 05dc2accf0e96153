"""Metadata and DescribeTopicPartitions: the image, as clients are shown it.

A topic that is not there may come into being by being asked for. The answer says
UNKNOWN_TOPIC_OR_PARTITION all the same, as Kafka's does, and clients ask again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.broker.answering import answering
from reference_impl.broker.decisions import tells_cluster_operations
from reference_impl.broker.node import Node
from reference_impl.kafka.apis import CREATE_TOPICS, DESCRIBE_TOPIC_PARTITIONS, METADATA
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.server import Context
from reference_impl.metadata.image import Image, PartitionState, Topic
from reference_impl.metadata.records import NO_LEADER
from reference_impl.metadata.topic_names import is_internal, problem_with
from reference_impl.metadata.visible import ANYWHERE, visible_brokers, visible_partition

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        CreateTopicsRequest,
        DescribeTopicPartitionsRequest,
        DescribeTopicPartitionsResponse,
        MetadataRequest,
        MetadataResponse,
    )

NO_ID = UUID(int=0)
CREATION_TIMEOUT_S = 5.0

# What somebody may do where nobody is authorized or not: everything there is.
UNSAID = -(1 << 31)
ALL_ON_A_TOPIC = 3576
ALL_ON_THE_CLUSTER = 8096

_Answer = METADATA.response
_Described = DESCRIBE_TOPIC_PARTITIONS.response


async def metadata(node: Node, context: Context, request: MetadataRequest) -> MetadataResponse:
    """Metadata: brokers, and the topics asked for, or all (null; in version 0 none)."""
    refused = _problem_with(request, context.version)
    if refused is not None:
        return _refused(request, refused)
    image = node.image
    asked = request.topics or []
    every = request.topics is None or (context.version == 0 and not asked)
    ids = [] if every else [t.topic_id for t in asked if t.topic_id != NO_ID]
    unknown_ids = [id_ for id_ in dict.fromkeys(ids) if id_ not in image.topic_ids]
    if every:
        names = list(image.topics)
    elif ids:
        names = [image.topic_ids[id_] for id_ in dict.fromkeys(ids) if id_ in image.topic_ids]
    else:
        names = list(dict.fromkeys(topic.name for topic in asked if topic.name is not None))
    may_create = request.allow_auto_topic_creation and not every
    shown = [
        _topic(image, image.topics[name], context.version) for name in names if name in image.topics
    ]
    missing = [name for name in names if name not in image.topics]
    shown += await _missing_topics(node, missing, may_create)
    if request.include_topic_authorized_operations and context.version >= 8:
        for topic in shown:
            topic.topic_authorized_operations = ALL_ON_A_TOPIC
    return _Answer(
        brokers=_brokers(image),
        cluster_id=node.settings.cluster_id,
        controller_id=some_broker(image),
        topics=[*(_error(ErrorCode.unknown_topic_id, None, id_) for id_ in unknown_ids), *shown],
        cluster_authorized_operations=_on_the_cluster(request, context.version),
    )


def _on_the_cluster(request: MetadataRequest, version: int) -> int:
    asked = bool(request.include_cluster_authorized_operations)
    return ALL_ON_THE_CLUSTER if tells_cluster_operations(version, asked) else UNSAID


def _problem_with(request: MetadataRequest, version: int) -> ErrorCode | None:
    for topic in request.topics or ():
        if version < 12 and (topic.name is None or topic.topic_id != NO_ID):
            return ErrorCode.invalid_request
        if topic.name is None and topic.topic_id == NO_ID:
            return ErrorCode.unknown_server_error
    return None


def _refused(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    """What Kafka answers where the request as a whole is wrong: nothing but errors."""
    topics = [_error(code, topic.name or "", topic.topic_id) for topic in request.topics or ()]
    return _Answer(
        cluster_id=None,
        controller_id=NO_LEADER,
        topics=topics,
        cluster_authorized_operations=UNSAID,
        error_code=code,
    )


def some_broker(image: Image) -> int:
    """A broker that is up, to be taken for the controller: brokers hand on what is not theirs."""
    return min((b.broker_id for b in visible_brokers(image.brokers.values())), default=NO_LEADER)


def _brokers(image: Image) -> list[MetadataResponse.MetadataResponseBroker]:
    return [
        _Answer.MetadataResponseBroker(
            node_id=broker.broker_id, host=broker.host, port=broker.port, rack=broker.rack
        )
        for broker in visible_brokers(image.brokers.values())
    ]


def _error(
    code: ErrorCode, name: str | None, topic_id: UUID = NO_ID
) -> MetadataResponse.MetadataResponseTopic:
    return _Answer.MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
        topic_authorized_operations=UNSAID,
    )


def _topic(image: Image, topic: Topic, version: int) -> MetadataResponse.MetadataResponseTopic:
    return _Answer.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=[
            _partition(image, index, state, version) for index, state in topic.partitions.items()
        ],
        topic_authorized_operations=UNSAID,
    )


def _partition(
    image: Image, index: int, state: PartitionState, version: int
) -> MetadataResponse.MetadataResponsePartition:
    seen = visible_partition(state, image.brokers, ANYWHERE)
    # The first version had no way to show replicas that are down, and left them out with an error.
    hidden = seen.offline if version == 0 else ()
    replicas = [replica for replica in seen.replicas if replica not in hidden]
    isr = [replica for replica in seen.isr if replica not in hidden]
    code = ErrorCode.none
    if not seen.has_leader:
        code = ErrorCode.leader_not_available
    elif len(replicas) < len(seen.replicas) or len(isr) < len(seen.isr):
        code = ErrorCode.replica_not_available
    return _Answer.MetadataResponsePartition(
        error_code=code,
        partition_index=index,
        leader_id=seen.leader,
        leader_epoch=seen.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=list(seen.offline),
    )


async def _missing_topics(
    node: Node, names: Sequence[str], may_create: bool
) -> list[MetadataResponse.MetadataResponseTopic]:
    """What to say about topics that are not there; they are created where that is allowed."""
    invalid = [name for name in names if problem_with(name) is not None]
    sound = [name for name in names if problem_with(name) is None]
    if sound and may_create and node.layers.value("auto.create.topics.enable") is True:
        await create_topics(node, sound)
    return [
        *(_error(ErrorCode.invalid_topic_exception, name) for name in invalid),
        *(_error(ErrorCode.unknown_topic_or_partition, name) for name in sound),
    ]


async def create_topics(node: Node, names: Sequence[str]) -> None:
    """Ask the controller; what becomes of it, the next Metadata request will see."""
    request = CREATE_TOPICS.request(
        topics=[_creatable(node, name) for name in names],
        timeout_ms=int(CREATION_TIMEOUT_S * 1000),
        validate_only=False,
    )
    version = CREATE_TOPICS.versions[-1]
    try:
        await node.controller.ask(CREATE_TOPICS, version, request, timeout_s=CREATION_TIMEOUT_S)
    except ConnectionError:
        return


_INTERNAL_CONFIGS = {
    "__consumer_offsets": (
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        {
            "cleanup.policy": "compact",
            "segment.bytes": "offsets.topic.segment.bytes",
            "compression.type": "producer",
        },
    ),
    "__transaction_state": (
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": "transaction.state.log.min.isr",
            "segment.bytes": "transaction.state.log.segment.bytes",
        },
    ),
}


def _creatable(node: Node, name: str) -> CreateTopicsRequest.CreatableTopic:
    """A topic as the broker's own properties want it; −1 leaves it to the controller."""
    topic_of = CREATE_TOPICS.request.CreatableTopic
    layers = node.layers
    if name in _INTERNAL_CONFIGS:
        count, factor, configs = _INTERNAL_CONFIGS[name]
        config_of = CREATE_TOPICS.request.CreatableTopicConfig
        said = {
            key: str(layers.number(value)) if "." in value else value
            for key, value in configs.items()
        }
        return topic_of(
            name=name,
            num_partitions=layers.number(count),
            replication_factor=layers.number(factor),
            configs=[config_of(name=key, value=value) for key, value in said.items()],
        )
    own = node.settings.properties
    return topic_of(
        name=name,
        num_partitions=layers.number("num.partitions") if "num.partitions" in own else -1,
        replication_factor=(
            layers.number("default.replication.factor")
            if "default.replication.factor" in own
            else -1
        ),
    )


async def describe_topic_partitions(
    node: Node, context: Context, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """DescribeTopicPartitions: topics by name, so many partitions, and where to go on."""
    image = node.image
    cursor = request.cursor
    start = "" if cursor is None else cursor.topic_name
    asked = [topic.name for topic in request.topics]
    names = sorted(name for name in dict.fromkeys(asked or image.topics) if name >= start)
    if cursor is not None and (cursor.partition_index < 0 or (asked and start not in names)):
        return _not_described(asked, ErrorCode.invalid_request)
    if "" in names:
        # Kafka trips over the empty name where it looks up what may be done with such a topic.
        return _not_described(asked, ErrorCode.unknown_server_error)
    most = node.layers.number("max.request.partition.size.limit")
    left = max(min(most, request.response_partition_limit), 1)
    answer = _Described(next_cursor=None)
    for name in names:
        if left <= 0:
            answer.next_cursor = _Described.Cursor(topic_name=name, partition_index=0)
            break
        first = cursor.partition_index if cursor is not None and name == start else 0
        described = _described(image, name, first, left)
        answer.topics.append(described)
        end = _int32(first + left)
        left -= len(described.partitions)
        if name in image.topics and end < len(image.topics[name].partitions):
            answer.next_cursor = _Described.Cursor(topic_name=name, partition_index=end)
            break
    return answer


def _int32(number: int) -> int:
    """A sum of Java's integers: a cursor near the largest one ends below the least."""
    return (number + 2**31) % 2**32 - 2**31


def _not_described(names: Iterable[str], code: ErrorCode) -> DescribeTopicPartitionsResponse:
    return _Described(
        topics=[
            _Described.DescribeTopicPartitionsResponseTopic(
                error_code=code,
                name=name,
                topic_authorized_operations=UNSAID,
            )
            for name in names
        ],
        next_cursor=None,
    )


def _described(
    image: Image, name: str, first: int, most: int
) -> DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic:
    topic = image.topics.get(name)
    code = ErrorCode.none
    partitions = []
    if topic is None:
        bad = problem_with(name) is not None
        code = ErrorCode.invalid_topic_exception if bad else ErrorCode.unknown_topic_or_partition
    else:
        indexes = range(first, min(len(topic.partitions), first + most))
        partitions = [_described_partition(image, i, topic.partitions[i]) for i in indexes]
    return _Described.DescribeTopicPartitionsResponseTopic(
        error_code=code,
        name=name,
        topic_id=NO_ID if topic is None else topic.topic_id,
        is_internal=is_internal(name),
        partitions=partitions,
        topic_authorized_operations=ALL_ON_A_TOPIC,
    )


def _described_partition(
    image: Image, index: int, state: PartitionState
) -> DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition:
    seen = visible_partition(state, image.brokers, ANYWHERE)
    return _Described.DescribeTopicPartitionsResponsePartition(
        partition_index=index,
        leader_id=seen.leader,
        leader_epoch=seen.leader_epoch,
        replica_nodes=list(seen.replicas),
        isr_nodes=list(seen.isr),
        eligible_leader_replicas=list(state.elr),
        last_known_elr=list(state.last_known_elr),
        offline_replicas=list(seen.offline),
    )


HANDLERS = (
    answering(METADATA, metadata),
    answering(DESCRIBE_TOPIC_PARTITIONS, describe_topic_partitions),
)

"""Topics: made, enlarged and taken away.

Each topic of a request stands for itself: one that is refused does not hold up the others. All that
are accepted come into being in one atomic change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.config_changes import new_topic_configs
from reference_impl.controller.decisions import place_replicas
from reference_impl.kafka.apis import CREATE_PARTITIONS, CREATE_TOPICS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.configs import TOPIC_CONFIGS, ConfigSource
from reference_impl.metadata.records import MetadataRecord, PartitionCreated, TopicCreated
from reference_impl.metadata.topic_names import (
    CLUSTER_METADATA,
    REMOTE_LOG_METADATA,
    check_name,
    similar_names,
)

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreateTopicsRequest,
        CreateTopicsResponse,
    )

MAX_PARTITIONS = 10_000  # of one request


def create_topics(cluster: Cluster, request: CreateTopicsRequest) -> Outcome[CreateTopicsResponse]:
    """CreateTopics, or with ``validate_only`` what it would say."""
    names = Counter(topic.name for topic in request.topics)
    duplicates = [name for name, times in names.items() if times > 1]
    mine = [t for t in request.topics if names[t.name] == 1 and t.name != CLUSTER_METADATA]
    if _partitions_asked_for(cluster, mine) > MAX_PARTITIONS:
        too_many = KafkaError(
            ErrorCode.policy_violation, "Excessively large number of partitions per request."
        )
        return Outcome(answer=_answer([_refused(name, too_many) for name in names]))
    results: list[CreateTopicsResponse.CreatableTopicResult] = []
    records: list[MetadataRecord] = []
    similar = {similar_names(name): name for name in reversed(cluster.image.topics)}
    for topic in mine:
        try:
            _check_new_name(cluster, topic.name, similar)
            result, made = _create_topic(cluster, topic)
        except KafkaError as error:
            result, made = _refused(topic.name, error), []
        results.append(result)
        records += made
    twice = KafkaError(ErrorCode.invalid_request, "Duplicate topic name.")
    results += [_refused(name, twice) for name in duplicates]
    if names[CLUSTER_METADATA] == 1:
        forbidden = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
        kept = KafkaError(ErrorCode.invalid_request, forbidden)
        results.append(_refused(CLUSTER_METADATA, kept))
    return Outcome(answer=_answer(results), records=() if request.validate_only else records)


def _answer(results: Sequence[CreateTopicsResponse.CreatableTopicResult]) -> CreateTopicsResponse:
    return CREATE_TOPICS.response(topics=list(results))


def _refused(name: str, error: KafkaError) -> CreateTopicsResponse.CreatableTopicResult:
    return CREATE_TOPICS.response.CreatableTopicResult(
        name=name,
        error_code=error.code,
        error_message=error.message or None,
        num_partitions=-1,
        replication_factor=-1,
        configs=[],
    )


def _partitions_asked_for(
    cluster: Cluster, topics: Sequence[CreateTopicsRequest.CreatableTopic]
) -> int:
    default = cluster.layers().number("num.partitions")
    return sum(
        len(topic.assignments)
        or (default if topic.num_partitions == -1 else max(0, topic.num_partitions))
        for topic in topics
    )


def _create_topic(
    cluster: Cluster, topic: CreateTopicsRequest.CreatableTopic
) -> tuple[CreateTopicsResponse.CreatableTopicResult, list[MetadataRecord]]:
    name: str = topic.name
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise KafkaError(
            ErrorCode.invalid_config,
            f"Null value not supported for topic configs: {','.join(nulls)}",
        )
    configs = {config.name: config.value or "" for config in topic.configs}
    config_records = new_topic_configs(cluster, name, configs)
    assignments = _manual(cluster, topic) if topic.assignments else _automatic(cluster, topic)
    topic_id = UUID(bytes=cluster.rng.randbytes(16), version=4)
    result = CREATE_TOPICS.response.CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(assignments),
        replication_factor=len(assignments[0][0]),
        configs=_shown(cluster, configs),
    )
    records: list[MetadataRecord] = [TopicCreated(name=name, topic_id=topic_id), *config_records]
    records += partitions_created(topic_id, 0, assignments)
    return result, records


def _check_new_name(cluster: Cluster, name: str, similar: Mapping[str, str]) -> None:
    if name in cluster.image.topics:
        raise KafkaError(ErrorCode.topic_already_exists, f"Topic '{name}' already exists.")
    other = similar.get(similar_names(name))
    if other is not None:
        raise KafkaError(
            ErrorCode.invalid_topic_exception,
            f"Topic '{name}' collides with existing topic: {other}",
        )
    check_name(name)


Assignment = tuple[tuple[int, ...], tuple[int, ...]]  # replicas and the ISR they begin with


def _manual(cluster: Cluster, topic: CreateTopicsRequest.CreatableTopic) -> list[Assignment]:
    for field, said in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if said != -1:
            raise KafkaError(
                ErrorCode.invalid_request,
                f"A manual partition assignment was specified, but {field} was not set to -1.",
            )
    placed: dict[int, Assignment] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in placed:
            raise KafkaError(
                ErrorCode.invalid_replica_assignment,
                f"Found multiple manual partition assignments for partition {index}",
            )
        placed[index] = manual_assignment(cluster, assignment.broker_ids, factor, index)
        factor = len(assignment.broker_ids)
    if sorted(placed) != list(range(len(placed))):
        raise KafkaError(
            ErrorCode.invalid_replica_assignment,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [placed[index] for index in range(len(placed))]


def manual_assignment(
    cluster: Cluster, broker_ids: Sequence[int], factor: int | None, partition: int
) -> Assignment:
    """Replicas as somebody wants them, if that can be, and the ISR of those that are up."""
    check_assignment(cluster, broker_ids, factor)
    isr = tuple(broker for broker in broker_ids if cluster.is_active(broker))
    if not isr:
        raise KafkaError(
            ErrorCode.invalid_replica_assignment,
            "All brokers specified in the manual partition assignment for partition "
            f"{partition} are fenced or in controlled shutdown.",
        )
    return tuple(broker_ids), isr


def check_assignment(cluster: Cluster, broker_ids: Sequence[int], factor: int | None) -> None:
    """INVALID_REPLICA_ASSIGNMENT for replicas that a partition cannot have."""
    problem = None
    ordered = sorted(broker_ids)
    if not ordered:
        problem = "an empty replica list."
    for place, broker in enumerate(ordered):
        if broker not in cluster.image.brokers:
            problem = f"broker {broker}, but no such broker is registered."
            break
        if place and ordered[place - 1] == broker:
            problem = f"the broker {broker} more than once."
            break
    if problem is None and factor is not None and len(ordered) != factor:
        problem = (
            f"a partition with {len(ordered)} replica(s), but this is not consistent with previous "
            f"partitions, which have {factor} replica(s)."
        )
    if problem is not None:
        raise KafkaError(
            ErrorCode.invalid_replica_assignment,
            f"The manual partition assignment includes {problem}",
        )


def _automatic(cluster: Cluster, topic: CreateTopicsRequest.CreatableTopic) -> list[Assignment]:
    factor, count = topic.replication_factor, topic.num_partitions
    if factor < -1 or factor == 0:
        raise KafkaError(
            ErrorCode.invalid_replication_factor,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if count < -1 or count == 0:
        raise KafkaError(
            ErrorCode.invalid_partitions,
            "Number of partitions was set to an invalid non-positive value.",
        )
    layers = cluster.layers()
    count = layers.number("num.partitions") if count == -1 else count
    factor = layers.number("default.replication.factor") if factor == -1 else factor
    try:
        return placed(cluster, count, factor)
    except KafkaError as error:
        why = f"Unable to replicate the partition {factor} time(s): {error.message}"
        raise KafkaError(error.code, why) from None


def placed(cluster: Cluster, count: int, factor: int) -> list[Assignment]:
    """That many partitions, placed by the controller."""
    found = place_replicas(cluster.usable_brokers(), count, factor, cluster.rng)
    return [
        (replicas, tuple(broker for broker in replicas if cluster.is_active(broker)))
        for replicas in found
    ]


def partitions_created(
    topic_id: UUID, first: int, assignments: Sequence[Assignment]
) -> list[PartitionCreated]:
    """The records of new partitions, led by the first replica that is up."""
    return [
        PartitionCreated(
            topic_id=topic_id,
            partition=first + index,
            replicas=replicas,
            isr=isr,
            leader=isr[0],
            leader_epoch=0,
            partition_epoch=0,
        )
        for index, (replicas, isr) in enumerate(assignments)
    ]


def _shown(
    cluster: Cluster, configs: dict[str, str]
) -> list[CreateTopicsResponse.CreatableTopicConfigs]:
    """The configurations a new topic has, as the answer tells them: by name, as they were given."""
    layers = cluster.layers()
    shown = []
    for name, key in sorted(TOPIC_CONFIGS.items()):
        if key.internal and name not in configs:
            continue
        own = (configs[name], ConfigSource.TOPIC) if name in configs else None
        value, source = own or layers.topic_text(name)
        shown.append(
            CREATE_TOPICS.response.CreatableTopicConfigs(
                name=name, value=value, read_only=False, config_source=source, is_sensitive=False
            )
        )
    return shown


def create_partitions(
    cluster: Cluster, request: CreatePartitionsRequest
) -> Outcome[CreatePartitionsResponse]:
    """CreatePartitions, or with ``validate_only`` what it would say."""
    names = Counter(topic.name for topic in request.topics)
    results: list[CreatePartitionsResponse.CreatePartitionsTopicResult] = []
    records: list[MetadataRecord] = []
    result_of = CREATE_PARTITIONS.response.CreatePartitionsTopicResult
    for name, times in names.items():
        if times > 1:
            twice = "Duplicate topic name."
            code = ErrorCode.invalid_request
            results.append(result_of(name=name, error_code=code, error_message=twice))
    for topic in request.topics:
        if names[topic.name] > 1:
            continue
        try:
            records += _enlarged(cluster, topic)
            results.append(result_of(name=topic.name, error_message=None))
        except KafkaError as error:
            said = error.message or None
            results.append(result_of(name=topic.name, error_code=error.code, error_message=said))
    answer = CREATE_PARTITIONS.response(results=results)
    return Outcome(answer=answer, records=() if request.validate_only else records)


def _enlarged(
    cluster: Cluster, topic: CreatePartitionsRequest.CreatePartitionsTopic
) -> list[PartitionCreated]:
    existing = cluster.image.topics.get(topic.name)
    if existing is None:
        raise KafkaError(ErrorCode.unknown_topic_or_partition)
    if topic.name == REMOTE_LOG_METADATA:
        raise KafkaError(
            ErrorCode.invalid_request,
            f"The number of partitions of {REMOTE_LOG_METADATA} cannot be changed: where the "
            "metadata of a partition is depends on it.",
        )
    have = len(existing.partitions)
    if topic.count == have:
        raise KafkaError(ErrorCode.invalid_partitions, f"Topic already has {have} partition(s).")
    if topic.count < have:
        raise KafkaError(
            ErrorCode.invalid_partitions,
            f"The topic {topic.name} currently has {have} partition(s); {topic.count} would not be "
            "an increase.",
        )
    more = topic.count - have
    if more > MAX_PARTITIONS:
        raise KafkaError(ErrorCode.unknown_server_error)
    factor = len(existing.partitions[0].replicas)
    if topic.assignments is None:
        return partitions_created(existing.topic_id, have, placed(cluster, more, factor))
    if len(topic.assignments) != more:
        raise KafkaError(
            ErrorCode.invalid_replica_assignment,
            f"Attempted to add {more} additional partition(s), but only {len(topic.assignments)} "
            "assignment(s) were specified.",
        )
    assignments = [
        manual_assignment(cluster, assignment.broker_ids, factor, have + index)
        for index, assignment in enumerate(topic.assignments)
    ]
    return partitions_created(existing.topic_id, have, assignments)

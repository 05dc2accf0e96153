"""Leaders: elected because somebody asks, and ISRs changed because a leader asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_impl.controller.changes import partition_change
from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.decisions import Election, ProposedIsr, accept_alter_partition
from reference_impl.kafka.apis import ALTER_PARTITION, ELECT_LEADERS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.image import Topic, changed
from reference_impl.metadata.records import MetadataRecord, PartitionChanged

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterPartitionRequest,
        AlterPartitionResponse,
        ElectLeadersRequest,
        ElectLeadersResponse,
    )

PREFERRED = 0
UNCLEAN = 1
_KINDS = {PREFERRED: Election.PREFERRED, UNCLEAN: Election.UNCLEAN}


def elect_leaders(cluster: Cluster, request: ElectLeadersRequest) -> Outcome[ElectLeadersResponse]:
    """ElectLeaders: for the partitions named, or for all that have not the leader asked for."""
    if request.election_type not in _KINDS and request.topic_partitions != []:
        why = f"Unknown election type {request.election_type}"
        return Outcome(answer=_all_refused(request, ErrorCode.invalid_request, why))
    every = request.topic_partitions is None
    asked = request.topic_partitions
    if asked is None:
        asked = _all_partitions(cluster)
    records: list[MetadataRecord] = []
    answer = ELECT_LEADERS.response()
    for name, partitions in [(entry.topic, entry.partitions) for entry in asked]:
        results = []
        for partition in partitions:
            code, said = _elect(cluster, name, partition, request.election_type, records)
            # Of all partitions, those that are led as they should be are passed over in silence.
            if not (every and code is ErrorCode.election_not_needed):
                results.append(_result(partition, code, said))
        answer.replica_election_results.append(
            ELECT_LEADERS.response.ReplicaElectionResult(topic=name, partition_result=results)
        )
    return Outcome(answer=answer, records=records)


def _all_partitions(cluster: Cluster) -> list[ElectLeadersRequest.TopicPartitions]:
    entry_of = ELECT_LEADERS.request.TopicPartitions
    return [
        entry_of(topic=topic.name, partitions=list(topic.partitions))
        for topic in cluster.image.topics.values()
    ]


def _all_refused(request: ElectLeadersRequest, code: ErrorCode, why: str) -> ElectLeadersResponse:
    answer = ELECT_LEADERS.response(error_code=code)
    for entry in request.topic_partitions or ():
        results = [_result(partition, code, why) for partition in entry.partitions]
        answer.replica_election_results.append(
            ELECT_LEADERS.response.ReplicaElectionResult(
                topic=entry.topic, partition_result=results
            )
        )
    return answer


def _result(
    partition: int, code: ErrorCode, said: str | None
) -> ElectLeadersResponse.PartitionResult:
    return ELECT_LEADERS.response.PartitionResult(
        partition_id=partition, error_code=code, error_message=said
    )


def _elect(
    cluster: Cluster, name: str, partition: int, kind: int, records: list[MetadataRecord]
) -> tuple[ErrorCode, str | None]:
    topic = cluster.image.topics.get(name)
    if topic is None:
        return ErrorCode.unknown_topic_or_partition, f"No such topic as {name}"
    state = topic.partitions.get(partition)
    if state is None:
        why = f"No such partition as {name}-{partition}"
        return ErrorCode.unknown_topic_or_partition, why
    if state.leader == state.replicas[0] if kind == PREFERRED else state.has_leader:
        return ErrorCode.election_not_needed, "Leader election not needed for topic partition."
    around = replace(cluster.around(name), election=_KINDS[kind])
    change = partition_change(topic.topic_id, partition, state, state, around)
    if change is not None:
        records.append(change)
        return ErrorCode.none, None
    if kind == PREFERRED:
        why = "The preferred leader was not available."
        return ErrorCode.preferred_leader_not_available, why
    why = "Eligible topic partition leaders are not available."
    return ErrorCode.eligible_leaders_not_available, why


def balanced(cluster: Cluster) -> list[PartitionChanged]:
    """Preferred elections wherever somebody else leads and the preferred replica could."""
    changes = []
    for topic, index, state in cluster.image.partitions():
        if state.leader != state.replicas[0]:
            around = replace(cluster.around(topic.name), election=Election.PREFERRED)
            changes.append(partition_change(topic.topic_id, index, state, state, around))
    return [change for change in changes if change is not None]


def unclean_elections(cluster: Cluster) -> list[PartitionChanged]:
    """Elections where nobody leads and the topic takes whoever is there."""
    changes = []
    for topic, index, state in cluster.image.partitions():
        if not state.has_leader and cluster.unclean(topic.name):
            around = cluster.around(topic.name)
            changes.append(partition_change(topic.topic_id, index, state, state, around))
    return [change for change in changes if change is not None]


def alter_partition(
    cluster: Cluster, request: AlterPartitionRequest
) -> Outcome[AlterPartitionResponse]:
    """AlterPartition: what leaders want their ISRs to be."""
    try:
        cluster.check_broker_epoch(request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Outcome(answer=ALTER_PARTITION.response(error_code=error.code))
    records: list[MetadataRecord] = []
    answer = ALTER_PARTITION.response()
    for entry in request.topics:
        topic = cluster.image.topic_by_id(entry.topic_id)
        results = [
            _altered(cluster, request.broker_id, topic, asked, records)
            for asked in entry.partitions
        ]
        answer.topics.append(
            ALTER_PARTITION.response.TopicData(topic_id=entry.topic_id, partitions=results)
        )
    return Outcome(answer=answer, records=records)


def _altered(
    cluster: Cluster,
    broker_id: int,
    topic: Topic | None,
    asked: AlterPartitionRequest.PartitionData,
    records: list[MetadataRecord],
) -> AlterPartitionResponse.PartitionData:
    partition = asked.partition_index
    if topic is None:
        return _not_altered(partition, ErrorCode.unknown_topic_id)
    state = topic.partitions.get(partition)
    if state is None:
        return _not_altered(partition, ErrorCode.unknown_topic_or_partition)
    proposed = ProposedIsr(
        broker_id=broker_id,
        leader_epoch=asked.leader_epoch,
        partition_epoch=asked.partition_epoch,
        isr=_members(asked),
    )
    code = accept_alter_partition(state, proposed, cluster.image.brokers)
    if code is not ErrorCode.none:
        return _not_altered(partition, code)
    wanted = replace(state, isr=tuple(member for member, _ in proposed.isr))
    around = cluster.around(topic.name)
    change = partition_change(topic.topic_id, partition, state, wanted, around)
    if change is not None:
        records.append(change)
        state = changed(state, change)
        if change.leader is not None and change.leader != broker_id:
            # The new ISR completed a reassignment that takes the leader away.
            return _not_altered(partition, ErrorCode.new_leader_elected)
    return ALTER_PARTITION.response.PartitionData(
        partition_index=partition,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        partition_epoch=state.partition_epoch,
    )


def _members(asked: AlterPartitionRequest.PartitionData) -> tuple[tuple[int, int], ...]:
    """Old versions name members without their epochs: −1 stands for any."""
    with_epochs = tuple((m.broker_id, m.broker_epoch) for m in asked.new_isr_with_epochs or ())
    return with_epochs or tuple((member, -1) for member in asked.new_isr or ())


def _not_altered(partition: int, code: ErrorCode) -> AlterPartitionResponse.PartitionData:
    return ALTER_PARTITION.response.PartitionData(partition_index=partition, error_code=code)

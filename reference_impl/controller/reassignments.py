"""Reassignments: replicas on their way in and out, begun, called off and listed.

A partition that is reassigned has all replicas, old and new, until the new ones are in its ISR; the
change of the ISR that brings this about completes it (``changes.partition_change``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_impl.controller.changes import partition_change
from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.decisions import Election
from reference_impl.controller.topics import check_assignment
from reference_impl.kafka.apis import (
    ALTER_PARTITION_REASSIGNMENTS,
    LIST_PARTITION_REASSIGNMENTS,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.image import PartitionState, Topic
from reference_impl.metadata.records import MetadataRecord, PartitionChanged

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        ListPartitionReassignmentsRequest,
        ListPartitionReassignmentsResponse,
    )


def alter_partition_reassignments(
    cluster: Cluster, request: AlterPartitionReassignmentsRequest
) -> Outcome[AlterPartitionReassignmentsResponse]:
    """AlterPartitionReassignments: replicas null calls a reassignment off."""
    response = ALTER_PARTITION_REASSIGNMENTS.response
    if not request.topics:
        return Outcome(answer=response(error_message=""))
    may_resize = request.allow_replication_factor_change
    answer = response(error_message=None, allow_replication_factor_change=may_resize)
    records: list[MetadataRecord] = []
    for entry in request.topics:
        results = []
        for asked in entry.partitions:
            code, said = ErrorCode.none, None
            try:
                change = _alter(cluster, entry.name, asked, may_resize)
                records += [] if change is None else [change]
            except KafkaError as error:
                code, said = error.code, error.message or None
            results.append(
                response.ReassignablePartitionResponse(
                    partition_index=asked.partition_index, error_code=code, error_message=said
                )
            )
        answer.responses.append(
            response.ReassignableTopicResponse(name=entry.name, partitions=results)
        )
    return Outcome(answer=answer, records=records)


def _alter(
    cluster: Cluster,
    name: str,
    asked: AlterPartitionReassignmentsRequest.ReassignablePartition,
    may_resize: bool,
) -> PartitionChanged | None:
    topic = cluster.image.topics.get(name)
    if topic is None:
        raise KafkaError(
            ErrorCode.unknown_topic_or_partition, f"Unable to find a topic named {name}."
        )
    state = topic.partitions.get(asked.partition_index)
    if state is None:
        raise KafkaError(
            ErrorCode.unknown_topic_or_partition,
            f"Unable to find partition {name}:{asked.partition_index}.",
        )
    if asked.replicas is None:
        return _called_off(cluster, topic, asked.partition_index, state)
    target = tuple(asked.replicas)
    check_assignment(cluster, target, None)
    if not may_resize:
        _check_size(state, target)
    removing = tuple(sorted(r for r in state.replicas if r not in target))
    adding = tuple(sorted(r for r in target if r not in state.replicas))
    wanted = replace(
        state,
        replicas=(*target, *removing),
        removing=removing or state.removing,
        adding=adding or state.adding,
    )
    around = replace(cluster.around(name), election=Election.ONLINE)
    return partition_change(topic.topic_id, asked.partition_index, state, wanted, around)


def _check_size(state: PartitionState, target: tuple[int, ...]) -> None:
    """Replicas on their way in count, those on their way out do not."""
    before = len([replica for replica in state.replicas if replica not in state.removing])
    if before != len(target):
        raise KafkaError(
            ErrorCode.invalid_replication_factor,
            f"The replication factor is changed from {before} to {len(target)}",
        )


def _called_off(
    cluster: Cluster, topic: Topic, partition: int, state: PartitionState
) -> PartitionChanged | None:
    if not state.reassigning:
        raise KafkaError(ErrorCode.no_reassignment_in_progress)
    replicas = tuple(replica for replica in state.replicas if replica not in state.adding)
    isr = tuple(replica for replica in state.isr if replica not in state.adding)
    if not isr:
        if not cluster.unclean(topic.name):
            raise KafkaError(
                ErrorCode.invalid_replica_assignment,
                f"Unable to revert partition assignment for {topic.name}:{partition} because it "
                "would require an unclean leader election.",
            )
        isr = replicas[:1]
    wanted = replace(state, replicas=replicas, isr=isr, adding=(), removing=())
    around = cluster.around(topic.name)
    return partition_change(topic.topic_id, partition, state, wanted, around)


def list_partition_reassignments(
    cluster: Cluster, request: ListPartitionReassignmentsRequest
) -> Outcome[ListPartitionReassignmentsResponse]:
    """ListPartitionReassignments: of the partitions named, or of all, those under way."""
    response = LIST_PARTITION_REASSIGNMENTS.response
    answer = response(error_message=None)
    if request.topics is None:
        asked = [(topic.name, list(topic.partitions)) for topic in cluster.image.topics.values()]
    else:
        asked = [(topic.name, topic.partition_indexes) for topic in request.topics]
    for name, indexes in asked:
        ongoing = [
            response.OngoingPartitionReassignment(
                partition_index=index,
                replicas=list(state.replicas),
                adding_replicas=list(state.adding),
                removing_replicas=list(state.removing),
            )
            for index in indexes
            if (state := cluster.image.partition(name, index)) is not None and state.reassigning
        ]
        if ongoing:
            answer.topics.append(response.OngoingTopicReassignment(name=name, partitions=ongoing))
    return Outcome(answer=answer)

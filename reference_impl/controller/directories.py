"""AssignReplicasToDirs: in which directory of a broker a replica is (KIP-858).

There is one directory to a broker here, so only one answer matters: LOST. A broker that says so of
a partition cannot lead it now: it leaves the ISR, and another replica is elected by the rules that
hold when a broker goes. It may be elected again later, in another leader epoch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_impl.controller.changes import partition_change
from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.decisions import (
    Election,
    accept_directory,
    directory_is_lost,
    isr_without,
)
from reference_impl.kafka.apis import ASSIGN_REPLICAS_TO_DIRS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.image import Topic
from reference_impl.metadata.records import MetadataRecord

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AssignReplicasToDirsRequest,
        AssignReplicasToDirsResponse,
    )


def assign_replicas_to_dirs(
    cluster: Cluster, request: AssignReplicasToDirsRequest
) -> Outcome[AssignReplicasToDirsResponse]:
    """AssignReplicasToDirs: of the partitions that are lost to the broker, it leads none."""
    response = ASSIGN_REPLICAS_TO_DIRS.response
    try:
        cluster.check_broker_epoch(request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Outcome(answer=response(error_code=error.code))
    broker_id: int = request.broker_id
    records: list[MetadataRecord] = []
    answer = response()
    for directory in request.directories:
        topics = []
        for entry in directory.topics:
            topic = cluster.image.topic_by_id(entry.topic_id)
            partitions = [
                response.PartitionData(
                    partition_index=asked.partition_index,
                    error_code=_assigned(cluster, broker_id, directory, topic, asked, records),
                )
                for asked in entry.partitions
            ]
            topics.append(response.TopicData(topic_id=entry.topic_id, partitions=partitions))
        answer.directories.append(response.DirectoryData(id_=directory.id_, topics=topics))
    return Outcome(answer=answer, records=records)


def _assigned(
    cluster: Cluster,
    broker_id: int,
    directory: AssignReplicasToDirsRequest.DirectoryData,
    topic: Topic | None,
    asked: AssignReplicasToDirsRequest.PartitionData,
    records: list[MetadataRecord],
) -> ErrorCode:
    if topic is None:
        return ErrorCode.unknown_topic_id
    partition: int = asked.partition_index
    state = topic.partitions.get(partition)
    code = accept_directory(broker_id, None if state is None else state.replicas)
    if state is None or code is not ErrorCode.none:
        return code
    if directory_is_lost(directory.id_):
        wanted = replace(state, isr=isr_without(broker_id, state.isr))
        around = cluster.around(topic.name, without=broker_id)
    else:
        wanted, around = state, replace(cluster.around(topic.name), election=Election.ONLINE)
    change = partition_change(topic.topic_id, partition, state, wanted, around)
    if change is not None:
        records.append(change)
    return ErrorCode.none

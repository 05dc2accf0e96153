"""Requests about topics, their replicas and brokers, as histories record them, each one raw.

An answer becomes an ``Outcome``, as in ``operations``. What is told about partitions and brokers
stays as it was told: leaders, epochs and members are for rules to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kio.schema.alter_partition_reassignments.v0 import request as reassign_v0
from kio.schema.create_partitions.v3 import request as create_partitions_v3
from kio.schema.create_topics.v7 import request as create_topics_v7
from kio.schema.delete_topics.v6 import request as delete_topics_v6
from kio.schema.describe_cluster.v2 import request as describe_cluster_v2
from kio.schema.describe_topic_partitions.v0 import request as describe_v0
from kio.schema.elect_leaders.v2 import request as elect_leaders_v2
from kio.schema.incremental_alter_configs.v1 import request as alter_configs_v1
from kio.schema.list_partition_reassignments.v0 import request as list_v0
from kio.static.primitive import i8, i16, i32, i32Timedelta

from harness.clients.answers import named
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.history import classify
from harness.history.outcome import Outcome

TIMEOUT_S = 10.0
ELECTIONS = {"preferred": 0, "unclean": 1}
_TIMEOUT = i32Timedelta.parse(timedelta(seconds=TIMEOUT_S))
_TOPIC, _SET, _BROKERS = 2, 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldPartition:
    """A partition as a broker describes it; -1: no leader. Replicas are in their order."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    offline: tuple[int, ...]
    error: int = 0

    def fields(self) -> dict[str, Any]:
        """What a history shows of it."""
        return {
            "error": self.error,
            "leader": self.leader,
            "leader_epoch": self.leader_epoch,
            "replicas": [*self.replicas],
            "isr": [*self.isr],
            "elr": [*self.elr],
            "last_known_elr": [*self.last_known_elr],
            "offline": [*self.offline],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTopic:
    """A topic as a broker describes it; one that is not there has an error and no partitions."""

    error: int
    topic_id: str
    partitions: Mapping[int, ToldPartition]


async def describe_topics(
    client: RawClient, names: Iterable[str], *, timeout_s: float
) -> dict[str, ToldTopic]:
    """DescribeTopicPartitions: what a broker says of all partitions of these topics."""
    topics = tuple(describe_v0.TopicRequest(name=name) for name in names)  # type: ignore[arg-type]
    answer = await client.ask(
        describe_v0.DescribeTopicPartitionsRequest(topics=topics), timeout_s=timeout_s
    )
    return {
        str(topic.name): ToldTopic(
            error=int(topic.error_code),
            topic_id=str(topic.topic_id or ""),
            partitions={int(one.partition_index): _told(one) for one in topic.partitions},
        )
        for topic in answer.topics
    }


def _told(one: Any) -> ToldPartition:
    return ToldPartition(
        leader=int(one.leader_id),
        leader_epoch=int(one.leader_epoch),
        replicas=_ids(one.replica_nodes),
        isr=_ids(one.isr_nodes),
        elr=_ids(one.eligible_leader_replicas),
        last_known_elr=_ids(one.last_known_elr),
        offline=_ids(one.offline_replicas),
        error=int(one.error_code),
    )


def _ids(listed: Iterable[int] | None) -> tuple[int, ...]:
    return tuple(int(one) for one in listed or ())


async def describe_cluster(client: RawClient, *, timeout_s: float) -> Outcome:
    """DescribeCluster: every broker that is registered, its rack, whether it is fenced."""
    request = describe_cluster_v2.DescribeClusterRequest(
        include_cluster_authorized_operations=False,
        endpoint_type=i8(_BROKERS),
        include_fenced_brokers=True,
    )
    answer = await client.ask(request, timeout_s=timeout_s)
    brokers = [[int(one.broker_id), one.rack, bool(one.is_fenced)] for one in answer.brokers]
    return _outcome("describe_cluster", answer.error_code, {"brokers": sorted(brokers)})


async def create_topic(
    client: RawClient,
    name: str,
    *,
    assignments: Sequence[Sequence[int]] = (),
    partitions: int = -1,
    replication_factor: int = -1,
    configs: Mapping[str, str],
) -> Outcome:
    """CreateTopics, with replicas as given or wherever the controller places them."""
    v = create_topics_v7
    topic = v.CreatableTopic(
        name=name,  # type: ignore[arg-type]
        num_partitions=i32(-1 if assignments else partitions),
        replication_factor=i16(-1 if assignments else replication_factor),
        assignments=tuple(
            v.CreatableReplicaAssignment(partition_index=i32(index), broker_ids=_replicas(one))
            for index, one in enumerate(assignments)
        ),
        configs=tuple(v.CreatableTopicConfig(name=key, value=configs[key]) for key in configs),
    )
    request = v.CreateTopicsRequest(topics=(topic,), timeout=_TIMEOUT, validate_only=False)
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    one = named(answer.topics, "name", name)
    told = {"topic_id": str(one.topic_id)} if one.topic_id else {}  # older versions have none
    return _outcome("create_topics", one.error_code, told)


async def delete_topic(client: RawClient, name: str) -> Outcome:
    """DeleteTopics."""
    topic = delete_topics_v6.DeleteTopicState(name=name, topic_id=None)  # type: ignore[arg-type]
    request = delete_topics_v6.DeleteTopicsRequest(topics=(topic,), timeout=_TIMEOUT)
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    return _outcome("delete_topics", named(answer.responses, "name", name).error_code, {})


async def add_partitions(client: RawClient, name: str, count: int) -> Outcome:
    """CreatePartitions: so many in all."""
    v = create_partitions_v3
    topic = v.CreatePartitionsTopic(name=name, count=i32(count), assignments=None)  # type: ignore[arg-type]
    request = v.CreatePartitionsRequest(topics=(topic,), timeout=_TIMEOUT, validate_only=False)
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    return _outcome("create_partitions", named(answer.results, "name", name).error_code, {})


async def alter_configs(client: RawClient, name: str, configs: Mapping[str, str]) -> Outcome:
    """IncrementalAlterConfigs of a topic: keys are set."""
    v = alter_configs_v1
    resource = v.AlterConfigsResource(
        resource_type=i8(_TOPIC),
        resource_name=name,
        configs=tuple(
            v.AlterableConfig(name=key, config_operation=i8(_SET), value=configs[key])
            for key in configs
        ),
    )
    request = v.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    one = named(answer.responses, "resource_name", name)
    return _outcome("incremental_alter_configs", one.error_code, {})


async def reassign(
    client: RawClient, tp: TopicPartition, replicas: Sequence[int] | None
) -> Outcome:
    """AlterPartitionReassignments: replicas as they are to be; None calls it off."""
    v = reassign_v0
    partition = v.ReassignablePartition(
        partition_index=i32(tp.partition),
        replicas=None if replicas is None else _replicas(replicas),
    )
    topic = v.ReassignableTopic(name=tp.topic, partitions=(partition,))  # type: ignore[arg-type]
    request = v.AlterPartitionReassignmentsRequest(timeout=_TIMEOUT, topics=(topic,))
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    if answer.error_code:
        return _outcome("alter_partition_reassignments", answer.error_code, {})
    partitions = named(answer.responses, "name", tp.topic).partitions
    one = named(partitions, "partition_index", tp.partition)
    return _outcome("alter_partition_reassignments", one.error_code, {})


async def list_reassignment(client: RawClient, tp: TopicPartition) -> Outcome:
    """ListPartitionReassignments of one partition: who comes and who goes, none if it rests."""
    asked = list_v0.ListPartitionReassignmentsTopics(
        name=tp.topic,  # type: ignore[arg-type]
        partition_indexes=(i32(tp.partition),),
    )
    request = list_v0.ListPartitionReassignmentsRequest(timeout=_TIMEOUT, topics=(asked,))
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    found = [
        partition
        for topic in answer.topics
        for partition in topic.partitions
        if (topic.name, partition.partition_index) == (tp.topic, tp.partition)
    ]
    adding = _ids(found[0].adding_replicas) if found else ()
    removing = _ids(found[0].removing_replicas) if found else ()
    fields = {"adding": sorted(adding), "removing": sorted(removing)}
    return _outcome("list_partition_reassignments", answer.error_code, fields)


async def elect_leader(client: RawClient, tp: TopicPartition, election: str) -> Outcome:
    """ElectLeaders of one partition."""
    v = elect_leaders_v2
    topic = v.TopicPartitions(topic=tp.topic, partitions=(i32(tp.partition),))  # type: ignore[arg-type]
    request = v.ElectLeadersRequest(
        election_type=i8(ELECTIONS[election]), topic_partitions=(topic,), timeout=_TIMEOUT
    )
    answer = await client.ask(request, timeout_s=TIMEOUT_S)
    if answer.error_code:
        return _outcome("elect_leaders", answer.error_code, {})
    partitions = named(answer.replica_election_results, "topic", tp.topic).partition_result
    one = named(partitions, "partition_id", tp.partition)
    return _outcome("elect_leaders", one.error_code, {})


def _replicas(listed: Sequence[int]) -> Any:
    return tuple(i32(one) for one in listed)


def _outcome(f: str, error: Any, fields: Mapping[str, Any]) -> Outcome:
    if not error:
        return Outcome("ok", {"error": 0, **fields})
    return Outcome(classify(f, int(error)), {"error": int(error)})

"""Admin requests that workloads need, raw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from kio.schema.api_versions.v0 import request as api_versions_v0
from kio.schema.create_topics.v7 import request as create_topics_v7
from kio.schema.delete_topics.v6 import request as delete_topics_v6
from kio.schema.describe_configs.v4 import request as describe_configs_v4
from kio.schema.elect_leaders.v2 import request as elect_leaders_v2
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12 import request as metadata_v12
from kio.static.primitive import i8, i16, i32, i32Timedelta

from harness.clients.answers import UnreadableAnswer, named
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from reference_impl.ports import Address

_UNKNOWN = int(ErrorCode.unknown_topic_or_partition)
_BROKER = 4  # the type of a resource
_TIMEOUT = i32Timedelta.parse(timedelta(seconds=10))


class Refused(Exception):
    """A broker refused an admin request."""


async def create_topic(
    client: RawClient,
    name: str,
    *,
    assignments: Sequence[Sequence[int]] = (),
    partitions: int = -1,
    replication_factor: int = -1,
    configs: Mapping[str, str] | None = None,
    timeout_s: float = 10.0,
) -> None:
    """Create a topic, with its replicas as given or wherever the controller likes.

    A broker that does not offer that makes the topics that are asked about, if it likes.
    """
    if not client.offers("create_topics", 7):
        await _mention(client, name, timeout_s=timeout_s)
        return
    v = create_topics_v7
    topic = v.CreatableTopic(
        name=name,  # type: ignore[arg-type]
        num_partitions=i32(-1 if assignments else partitions),
        replication_factor=i16(-1 if assignments else replication_factor),
        assignments=tuple(
            v.CreatableReplicaAssignment(
                partition_index=i32(index),
                broker_ids=tuple(i32(one) for one in replicas),  # type: ignore[misc]
            )
            for index, replicas in enumerate(assignments)
        ),
        configs=tuple(
            v.CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ),
    )
    request = v.CreateTopicsRequest(topics=(topic,), timeout=_TIMEOUT, validate_only=False)
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    one = named(answer.topics, "name", name)
    if one.error_code is not ErrorCode.none:
        raise Refused(f"creating {name}: {one.error_code.name}: {one.error_message}")


async def _mention(client: RawClient, name: str, *, timeout_s: float) -> None:
    v = metadata_v12
    request = v.MetadataRequest(
        topics=(v.MetadataRequestTopic(topic_id=None, name=name),),  # type: ignore[arg-type]
        allow_auto_topic_creation=True,
        include_topic_authorized_operations=False,
    )
    try:
        await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()


async def delete_topic(client: RawClient, name: str, *, timeout_s: float = 10.0) -> None:
    """Delete a topic."""
    v = delete_topics_v6
    topic = v.DeleteTopicState(name=name, topic_id=None)  # type: ignore[arg-type]
    request = v.DeleteTopicsRequest(topics=(topic,), timeout=_TIMEOUT)
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    one = named(answer.responses, "name", name)
    if one.error_code is not ErrorCode.none:
        raise Refused(f"deleting {name}: {one.error_code.name}: {one.error_message}")


async def broker_configs(
    client: RawClient, broker: int, names: Sequence[str], *, timeout_s: float = 10.0
) -> dict[str, str]:
    """What a broker says of its own configurations of these names."""
    v = describe_configs_v4
    resource = v.DescribeConfigsResource(
        resource_type=i8(_BROKER),
        resource_name=str(broker),
        configuration_keys=tuple(names),
    )
    request = v.DescribeConfigsRequest(
        resources=(resource,), include_synonyms=False, include_documentation=False
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    for one in answer.results:
        if one.error_code is not ErrorCode.none:
            raise Refused(f"describing broker {broker}: {one.error_code.name}")
    return {each.name: each.value for one in answer.results for each in one.configs if each.value}


async def versions_offered(
    client: RawClient, *, timeout_s: float = 10.0
) -> Mapping[int, tuple[int, int]]:
    """By the key of each request, the first and the last version that a broker answers."""
    try:
        answer = await client.ask(api_versions_v0.ApiVersionsRequest(), timeout_s=timeout_s)
    finally:
        client.abort()
    return {
        int(one.api_key): (int(one.min_version), int(one.max_version)) for one in answer.api_keys
    }


async def brokers_known(client: RawClient, *, timeout_s: float = 10.0) -> dict[int, Address]:
    """Every broker that a broker knows, and where clients find it."""
    v = metadata_v12
    request = v.MetadataRequest(
        topics=(), allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    for one in answer.brokers:
        if one.node_id < 0 or not one.host or not 0 < one.port < 1 << 16:
            raise UnreadableAnswer(f"it names a broker {one.node_id} at {one.host}:{one.port}")
    return {int(one.node_id): Address(one.host, int(one.port)) for one in answer.brokers}


async def racks_known(client: RawClient, *, timeout_s: float = 10.0) -> dict[int, str]:
    """The rack of every broker that a broker knows and that has one."""
    request = metadata_v12.MetadataRequest(
        topics=(), allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    return {int(one.node_id): str(one.rack) for one in answer.brokers if one.rack}


async def topics_known(client: RawClient, *, timeout_s: float = 10.0) -> tuple[str, ...]:
    """The names of all topics that a broker knows."""
    request = metadata_v12.MetadataRequest(
        topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    return tuple(str(one.name) for one in answer.topics if one.name)


@dataclass(frozen=True, slots=True)
class Leadership:
    """Who leads a partition in the eyes of a broker, and since which epoch; −1: no broker."""

    leader: int
    epoch: int
    isr: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()
    error: int = 0


async def leadership(client: RawClient, tp: TopicPartition, *, timeout_s: float) -> Leadership:
    """What a broker says about who leads."""
    v = metadata_v12
    request = v.MetadataRequest(
        topics=(v.MetadataRequestTopic(topic_id=None, name=tp.topic),),  # type: ignore[arg-type]
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    for topic in answer.topics:
        for partition in topic.partitions:
            if partition.partition_index == tp.partition:
                return Leadership(
                    int(partition.leader_id),
                    int(partition.leader_epoch),
                    tuple(int(one) for one in partition.isr_nodes),
                    tuple(int(one) for one in partition.replica_nodes),
                    int(partition.error_code),
                )
        return Leadership(-1, -1, error=int(topic.error_code) or _UNKNOWN)
    return Leadership(-1, -1, error=_UNKNOWN)


async def elect_preferred(client: RawClient, tp: TopicPartition, *, timeout_s: float) -> int:
    """Ask for the preferred leader; the error of the partition."""
    v = elect_leaders_v2
    topic = v.TopicPartitions(topic=tp.topic, partitions=(i32(tp.partition),))  # type: ignore[arg-type]
    request = v.ElectLeadersRequest(
        election_type=i8(0), topic_partitions=(topic,), timeout=_TIMEOUT
    )
    try:
        answer = await client.ask(request, timeout_s=timeout_s)
    finally:
        client.abort()
    for result in answer.replica_election_results:
        for one in result.partition_result:
            return int(one.error_code)
    return int(answer.error_code)

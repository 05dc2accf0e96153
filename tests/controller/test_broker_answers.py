"""What brokers answer from their image, and what they hand on to the controller."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from brokers_and_controller import Client, with_brokers

from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode

NO_ID = UUID(int=0)
UNSAID = -(1 << 31)
CREATE = apis.CREATE_TOPICS.request
NOT_FOR_ALL = "Cannot update these configs at default cluster level, broker id must be specified"
TOO_MANY = (
    "org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed "
    "for num.io.threads=100, value should not be greater than double the current value 8"
)


async def make(client: Client, name: str, count: int = 1, factor: int = 1, **configs: str) -> Any:
    """A topic that the client's broker knows of; its result."""
    wanted = CREATE.CreatableTopic(
        name=name,
        num_partitions=count,
        replication_factor=factor,
        configs=[
            CREATE.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )
    answer = await client.ask(apis.CREATE_TOPICS, topics=[wanted], timeout_ms=1000)
    await client.until(lambda seen: name in [topic.name for topic in seen.topics])
    return answer.topics[0]


def asked(*names: str | None, topic_id: UUID = NO_ID) -> list[Any]:
    topic_of = apis.METADATA.request.MetadataRequestTopic
    return [topic_of(name=name, topic_id=topic_id) for name in names]


def test_metadata_shows_brokers_and_partitions() -> None:
    async def scenario(client: Client) -> None:
        made = await make(client, "t", 2, 3)
        answer = await client.ask(
            apis.METADATA, topics=asked("t"), include_topic_authorized_operations=True
        )
        brokers = [(b.node_id, b.host, b.port, b.rack) for b in answer.brokers]
        assert sorted(brokers) == [(i, f"b{i}", 9092, "abc"[i - 1]) for i in (1, 2, 3)]
        assert answer.controller_id in (1, 2, 3)
        (topic,) = answer.topics
        assert (topic.error_code, topic.topic_id, topic.is_internal) == (0, made.topic_id, False)
        assert topic.topic_authorized_operations == 3576
        assert [p.partition_index for p in topic.partitions] == [0, 1]
        for partition in topic.partitions:
            assert sorted(partition.replica_nodes) == [1, 2, 3]
            assert partition.isr_nodes == partition.replica_nodes
            assert partition.leader_id == partition.replica_nodes[0]
            assert (partition.leader_epoch, partition.offline_replicas) == (0, [])

    with_brokers(3, scenario)


def test_metadata_tells_why_a_topic_is_not_there() -> None:
    async def scenario(client: Client) -> None:
        answer = await client.ask(
            apis.METADATA,
            topics=asked("a b", "none", "__consumer_offsets"),
            allow_auto_topic_creation=False,
        )
        told = {t.name: (t.error_code, t.is_internal) for t in answer.topics}
        assert told == {
            "a b": (ErrorCode.invalid_topic_exception, False),
            "none": (ErrorCode.unknown_topic_or_partition, False),
            "__consumer_offsets": (ErrorCode.unknown_topic_or_partition, True),
        }

    with_brokers(1, scenario)


def test_metadata_by_id_knows_only_ids() -> None:
    async def scenario(client: Client) -> None:
        made = await make(client, "t")
        by_id = asked(None, topic_id=made.topic_id)
        stranger = asked(None, topic_id=UUID(int=9))
        answer = await client.ask(apis.METADATA, topics=[*by_id, *stranger, *asked("t")])
        told = [(t.name, t.error_code) for t in answer.topics]
        assert told == [(None, ErrorCode.unknown_topic_id), ("t", 0)]

        for version in (10, 11):
            refused = await client.ask(apis.METADATA, version, topics=[*asked("t"), *by_id])
            codes = [topic.error_code for topic in refused.topics]
            assert (codes, refused.brokers) == ([ErrorCode.invalid_request] * 2, [])

    with_brokers(1, scenario)


def test_a_topic_that_is_asked_for_comes_into_being_if_that_is_allowed() -> None:
    async def scenario(client: Client) -> None:
        await client.ask(apis.METADATA, topics=asked("no"), allow_auto_topic_creation=False)
        first = await client.ask(apis.METADATA, topics=asked("yes"), allow_auto_topic_creation=True)
        assert first.topics[0].error_code == ErrorCode.unknown_topic_or_partition
        seen = await client.until(lambda answer: bool(answer.topics))
        assert [(t.name, len(t.partitions)) for t in seen.topics] == [("yes", 3)]

    with_brokers(1, scenario, num_partitions="3")


def test_no_topic_comes_into_being_where_the_broker_forbids_it() -> None:
    async def scenario(client: Client) -> None:
        await client.ask(apis.METADATA, topics=asked("t"), allow_auto_topic_creation=True)
        await make(client, "other")
        answer = await client.ask(apis.METADATA, topics=None)
        assert [t.name for t in answer.topics] == ["other"]

    with_brokers(1, scenario, auto_create_topics_enable="false")


def test_a_broker_that_died_is_shown_as_an_offline_replica() -> None:
    async def scenario(client: Client) -> None:
        await make(client, "t", 1, 2)
        client.sim.kill("b2")
        seen = await client.until(lambda answer: len(answer.brokers) == 1)
        (partition,) = seen.topics[0].partitions
        assert (partition.leader_id, partition.error_code) == (1, 0)
        assert (partition.offline_replicas, partition.isr_nodes) == ([2], [1])
        assert sorted(partition.replica_nodes) == [1, 2]

        oldest = await client.ask(apis.METADATA, 0, topics=asked("t"))
        (partition,) = oldest.topics[0].partitions
        assert partition.error_code == ErrorCode.replica_not_available
        assert partition.replica_nodes == [1]

        everyone = await client.ask(apis.DESCRIBE_CLUSTER, include_fenced_brokers=True)
        assert {b.broker_id: b.is_fenced for b in everyone.brokers} == {1: False, 2: True}

    with_brokers(2, scenario)


def test_partitions_are_described_page_by_page() -> None:
    async def scenario(client: Client) -> None:
        await make(client, "a", 2)
        await make(client, "b", 3)
        request = apis.DESCRIBE_TOPIC_PARTITIONS.request
        seen: list[tuple[str, int]] = []
        cursor = None
        pages = 0
        while pages == 0 or cursor is not None:
            answer = await client.ask(
                apis.DESCRIBE_TOPIC_PARTITIONS,
                topics=[],
                response_partition_limit=2,
                cursor=cursor,
            )
            seen += [(t.name, p.partition_index) for t in answer.topics for p in t.partitions]
            after = answer.next_cursor
            cursor = after and request.Cursor(
                topic_name=after.topic_name, partition_index=after.partition_index
            )
            pages += 1
        assert seen == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)]
        assert pages == 3

    with_brokers(1, scenario)


@pytest.mark.parametrize(("topic_name", "partition"), [("zzz", 0), ("t", -1)])
def test_a_cursor_that_points_nowhere_is_refused(topic_name: str, partition: int) -> None:
    async def scenario(client: Client) -> None:
        request = apis.DESCRIBE_TOPIC_PARTITIONS.request
        answer = await client.ask(
            apis.DESCRIBE_TOPIC_PARTITIONS,
            topics=[request.TopicRequest(name="t")],
            response_partition_limit=10,
            cursor=request.Cursor(topic_name=topic_name, partition_index=partition),
        )
        told = [(t.name, t.error_code) for t in answer.topics]
        assert told == [("t", ErrorCode.invalid_request)]

    with_brokers(1, scenario)


def resource(kind: int, name: str, *keys: str) -> Any:
    return apis.DESCRIBE_CONFIGS.request.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )


async def set_config(client: Client, kind: int, name: str, key: str, value: str) -> Any:
    request = apis.INCREMENTAL_ALTER_CONFIGS.request
    change = request.AlterableConfig(name=key, config_operation=0, value=value)
    wanted = request.AlterConfigsResource(resource_type=kind, resource_name=name, configs=[change])
    answer = await client.ask(apis.INCREMENTAL_ALTER_CONFIGS, resources=[wanted])
    return answer.responses[0]


def test_a_configuration_is_described_with_everything_beneath_it() -> None:
    async def scenario(client: Client) -> None:
        await make(client, "t", max_message_bytes="7")
        assert (await set_config(client, 4, "", "message.max.bytes", "8")).error_code == 0
        assert (await set_config(client, 4, "1", "message.max.bytes", "9")).error_code == 0
        await make(client, "later")  # by the time this is there, so are the changes before it
        answer = await client.ask(
            apis.DESCRIBE_CONFIGS,
            resources=[resource(2, "t", "max.message.bytes")],
            include_synonyms=True,
        )
        (config,) = answer.results[0].configs
        assert (config.value, config.config_source, config.config_type) == ("7", 1, 3)
        synonyms = [(s.name, s.value, s.source) for s in config.synonyms]
        assert synonyms == [
            ("max.message.bytes", "7", 1),
            ("message.max.bytes", "9", 2),
            ("message.max.bytes", "8", 3),
            ("message.max.bytes", "10", 4),
            ("message.max.bytes", "1048588", 5),
        ]

    with_brokers(1, scenario, message_max_bytes="10")


def test_all_configurations_of_topics_and_brokers_are_listed() -> None:
    async def scenario(client: Client) -> None:
        await make(client, "t")
        answer = await client.ask(
            apis.DESCRIBE_CONFIGS,
            resources=[resource(2, "t"), resource(4, "1"), resource(4, "")],
        )
        assert [len(result.configs) for result in answer.results] == [33, 340, 1]
        broker = {config.name: config for config in answer.results[1].configs}
        assert broker["node.id"].value == "1"
        assert broker["broker.rack"].value == "a"
        assert (broker["ssl.key.password"].value, broker["ssl.key.password"].is_sensitive) == (
            None,
            True,
        )
        assert broker["node.id"].read_only
        assert not broker["log.retention.ms"].read_only

    with_brokers(1, scenario)


@pytest.mark.parametrize(
    ("kind", "name", "code", "message"),
    [
        (2, "none", "unknown_topic_or_partition", ""),
        (
            4,
            "2",
            "invalid_request",
            "Unexpected broker id, expected 1 or empty string, but received 2",
        ),
        (4, "x", "invalid_request", "Broker id must be an integer, but it is: x"),
        (8, "", "invalid_request", "Broker id must not be empty"),
        (32, "", "invalid_request", "Group name must not be empty"),
    ],
)
def test_what_cannot_be_described_is_refused(kind: int, name: str, code: str, message: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.ask(apis.DESCRIBE_CONFIGS, resources=[resource(kind, name)])
        (result,) = answer.results
        assert (result.error_code, result.error_message) == (ErrorCode[code], message)

    with_brokers(1, scenario)


@pytest.mark.parametrize(
    ("kind", "name", "key", "value", "code", "message"),
    [
        (
            2,
            "none",
            "retention.ms",
            "1",
            "unknown_topic_or_partition",
            "The topic 'none' does not exist.",
        ),
        (2, "t", "nope", "1", "invalid_config", "Unknown topic config name: nope"),
        (
            4,
            "1",
            "log.dirs",
            "/x",
            "invalid_request",
            "Cannot update these configs dynamically: [log.dirs]",
        ),
        (
            4,
            "2",
            "log.retention.ms",
            "1",
            "invalid_request",
            "Unexpected broker id, expected 1, but received 2",
        ),
        (
            4,
            "",
            "listeners",
            "PLAINTEXT://:1",
            "invalid_request",
            f"{NOT_FOR_ALL}: [listeners]",
        ),
        (
            4,
            "1",
            "min.insync.replicas",
            "1",
            "invalid_config",
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        ),
        (
            4,
            "1",
            "num.io.threads",
            "100",
            "invalid_request",
            f"Invalid value {TOO_MANY} for configuration Invalid dynamic configuration",
        ),
        (1, "x", "a", "1", "invalid_request", "Unknown resource type 1"),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    kind: int, name: str, key: str, value: str, code: str, message: str
) -> None:
    async def scenario(client: Client) -> None:
        await make(client, "t")
        result = await set_config(client, kind, name, key, value)
        assert (result.error_code, result.error_message) == (ErrorCode[code], message)

    with_brokers(1, scenario)


def test_every_idempotent_producer_gets_an_id_of_its_own() -> None:
    async def scenario(client: Client) -> None:
        second = Client(client.sim, 2)
        answers = [
            await asking.ask(apis.INIT_PRODUCER_ID, transactional_id=None)
            for asking in (client, client, second, client)
        ]
        await second.peer.close()
        assert [a.producer_id for a in answers] == [0, 1, 1000, 2]
        assert [a.producer_epoch for a in answers] == [0] * 4

    with_brokers(2, scenario)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"transactional_id": ""}, "invalid_request"),
        ({"transactional_id": None, "producer_id": 5}, "invalid_request"),
        ({"transactional_id": None, "producer_epoch": 5}, "invalid_request"),
        ({"transactional_id": "tx"}, "invalid_transaction_timeout"),
        ({"transactional_id": "tx", "transaction_timeout_ms": 1000}, "not_coordinator"),
    ],
)
def test_a_producer_that_cannot_have_an_id_gets_none(fields: dict[str, Any], code: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.ask(apis.INIT_PRODUCER_ID, **fields)
        assert answer.error_code == ErrorCode[code]
        assert (answer.producer_id, answer.producer_epoch) == (-1, -1)

    with_brokers(1, scenario)


def test_a_broker_is_no_endpoint_of_controllers() -> None:
    async def scenario(client: Client) -> None:
        answer = await client.ask(apis.DESCRIBE_CLUSTER, endpoint_type=2)
        assert answer.error_code == ErrorCode.mismatched_endpoint_type
        answer = await client.ask(apis.DESCRIBE_CLUSTER, endpoint_type=7)
        assert answer.error_code == ErrorCode.unsupported_endpoint_type

    with_brokers(1, scenario)


def test_what_the_controller_does_not_answer_in_time_is_a_timeout() -> None:
    async def scenario(client: Client) -> None:
        client.sim.kill("controller")
        wanted = CREATE.CreatableTopic(name="t", num_partitions=1, replication_factor=1)
        answer = await client.ask(apis.CREATE_TOPICS, topics=[wanted], timeout_ms=2000)
        assert answer.topics[0].error_code == ErrorCode.request_timed_out

    with_brokers(1, scenario)

"""Topics made, enlarged and deleted; what is refused is refused as Apache Kafka 4.3.1 does."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from one_controller import Lab, played

from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode

CREATE = apis.CREATE_TOPICS.request
NO_ID = UUID(int=0)


def topic(name: str = "t", *, count: int = 1, factor: int = 1, **fields: Any) -> Any:
    return CREATE.CreatableTopic(
        name=name, num_partitions=count, replication_factor=factor, **fields
    )


def assigned(*replicas: tuple[int, list[int]], count: int = -1, factor: int = -1) -> Any:
    assignments = [
        CREATE.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in replicas
    ]
    return topic(count=count, factor=factor, assignments=assignments)


def configured(name: str, value: str | None) -> Any:
    return topic(configs=[CREATE.CreatableTopicConfig(name=name, value=value)])


async def create(lab: Lab, *topics: Any, validate_only: bool = False) -> list[Any]:
    answer = await lab.ask(
        apis.CREATE_TOPICS, topics=list(topics), timeout_ms=1000, validate_only=validate_only
    )
    results: list[Any] = answer.topics
    return results


MANUAL = "A manual partition assignment was specified, but"
INCLUDES = "The manual partition assignment includes"
ILLEGAL = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
NOT_REACHED = (
    "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be "
    "reached because only 1 broker(s) are registered or some brokers have all their log "
    "directories cordoned."
)


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (topic("x.y"), "topic_already_exists", "Topic 'x.y' already exists."),
        (
            topic("x_y"),
            "invalid_topic_exception",
            "Topic 'x_y' collides with existing topic: x.y",
        ),
        (
            topic(""),
            "invalid_topic_exception",
            "Topic name is invalid: the empty string is not allowed",
        ),
        (topic(".."), "invalid_topic_exception", "Topic name is invalid: '..' is not allowed"),
        (topic("a b"), "invalid_topic_exception", f"Topic name is invalid: 'a b' {ILLEGAL}"),
        (
            topic("__cluster_metadata"),
            "invalid_request",
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (
            topic(count=0),
            "invalid_partitions",
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            topic(factor=0),
            "invalid_replication_factor",
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (topic(factor=2), "invalid_replication_factor", NOT_REACHED),
        (
            topic(count=10_001),
            "policy_violation",
            "Excessively large number of partitions per request.",
        ),
        (configured("nope", "1"), "invalid_config", "Unknown topic config name: nope"),
        (
            configured("retention.ms", None),
            "invalid_config",
            "Null value not supported for topic configs: retention.ms",
        ),
        (
            assigned((0, [1]), factor=1),
            "invalid_request",
            f"{MANUAL} replication factor was not set to -1.",
        ),
        (
            assigned((0, [1]), count=1),
            "invalid_request",
            f"{MANUAL} numPartitions was not set to -1.",
        ),
        (
            assigned((0, [1]), (0, [1])),
            "invalid_replica_assignment",
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            assigned((1, [1])),
            "invalid_replica_assignment",
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            assigned((0, [9])),
            "invalid_replica_assignment",
            f"{INCLUDES} broker 9, but no such broker is registered.",
        ),
        (
            assigned((0, [1, 1])),
            "invalid_replica_assignment",
            f"{INCLUDES} the broker 1 more than once.",
        ),
        (
            assigned((0, [])),
            "invalid_replica_assignment",
            f"{INCLUDES} an empty replica list.",
        ),
    ],
)
def test_a_topic_that_cannot_be_is_refused(asked: Any, code: str, message: str) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("x.y", (1,))
        (result,) = await create(lab, asked)
        assert (result.error_code, result.error_message) == (ErrorCode[code], message)
        assert (result.num_partitions, result.replication_factor, result.configs) == (-1, -1, [])
        assert list((await lab.image()).topics) == ["x.y"]

    played(scenario)


def test_one_that_is_refused_does_not_hold_up_the_others() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        results = await create(lab, topic("twice"), topic("good"), topic("a b"), topic("twice"))
        told = [(result.name, result.error_code) for result in results]
        assert told == [
            ("good", ErrorCode.none),
            ("a b", ErrorCode.invalid_topic_exception),
            ("twice", ErrorCode.invalid_request),
        ]
        assert list((await lab.image()).topics) == ["good"]

    played(scenario)


def test_a_topic_begins_with_what_it_was_given_and_the_rest_from_its_broker() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2, 3)
        config = CREATE.CreatableTopicConfig(name="retention.ms", value=" 5 ")
        (result,) = await create(lab, topic(count=-1, factor=-1, configs=[config]))
        assert (result.num_partitions, result.replication_factor) == (4, 2)
        shown = {c.name: (c.value, c.config_source) for c in result.configs}
        assert list(shown) == sorted(shown)
        assert len(shown) == 33
        assert shown["retention.ms"] == (" 5 ", 1)
        assert shown["min.insync.replicas"] == ("1", 3)
        assert shown["segment.ms"] == ("3600000", 4)
        assert shown["cleanup.policy"] == ("delete", 5)

        image = await lab.image()
        assert image.topics["t"].topic_id == result.topic_id
        assert image.config(2, "t") == {"retention.ms": " 5 "}
        states = image.topics["t"].partitions.values()
        assert [state.leader for state in states] == [state.replicas[0] for state in states]
        assert all(len(state.isr) == 2 for state in states)

    played(scenario, num_partitions="4", default_replication_factor="2", log_roll_hours="1")


def test_looking_whether_a_topic_could_be_makes_none() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        (result,) = await create(lab, topic(), validate_only=True)
        assert (result.error_code, result.num_partitions) == (ErrorCode.none, 1)
        assert (await lab.image()).topics == {}

    played(scenario)


def test_a_replica_that_is_fenced_is_not_in_the_first_isr() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.register(2)
        await lab.create("t", (2, 1))
        state = await lab.state("t")
        assert (state.replicas, state.isr, state.leader) == ((2, 1), (1,), 1)
        refused = await lab.create("u", (2,))
        assert refused.error_code == ErrorCode.invalid_replica_assignment
        assert "are fenced or in controlled shutdown" in refused.error_message

    played(scenario)


def test_a_topic_of_the_same_name_is_another_topic() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        first = await lab.create("t", (1,), retention_ms="5")
        await lab.ask(apis.DELETE_TOPICS, topics=[_named("t")], timeout_ms=1000)
        second = await lab.create("t", (1,))
        assert first.topic_id != second.topic_id
        assert (await lab.image()).config(2, "t") == {}

    played(scenario)


def _named(name: str | None, topic_id: UUID = NO_ID) -> Any:
    return apis.DELETE_TOPICS.request.DeleteTopicState(name=name, topic_id=topic_id)


def test_topics_are_deleted_by_name_or_by_id() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        ids = {name: (await lab.create(name, (1,))).topic_id for name in ("a", "b", "c", "d")}
        stranger = UUID(int=5)
        answer = await lab.ask(
            apis.DELETE_TOPICS,
            topics=[
                _named("a"),
                _named(None, ids["b"]),
                _named("none"),
                _named(None, stranger),
                _named(None),
                _named("x", stranger),
                _named("c"),
                _named(None, ids["c"]),
                _named("d"),
                _named("d"),
            ],
            timeout_ms=1000,
        )
        told = {(r.name, r.topic_id): (r.error_code, r.error_message) for r in answer.responses}
        wrong = ErrorCode.invalid_request
        assert told == {
            ("a", ids["a"]): (0, None),
            ("b", ids["b"]): (0, None),
            ("none", NO_ID): (
                ErrorCode.unknown_topic_or_partition,
                "This server does not host this topic-partition.",
            ),
            (None, stranger): (
                ErrorCode.unknown_topic_id,
                "This server does not host this topic ID.",
            ),
            (None, NO_ID): (wrong, "Neither topic name nor id were specified."),
            ("x", stranger): (wrong, "You may not specify both topic name and topic id."),
            ("c", ids["c"]): (
                wrong,
                "The provided topic name maps to an ID that was already supplied.",
            ),
            ("d", NO_ID): (wrong, "Duplicate topic name."),
        }
        assert list((await lab.image()).topics) == ["c", "d"]

    played(scenario)


def test_old_versions_delete_by_name() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("a", (1,))
        answer = await lab.ask(apis.DELETE_TOPICS, 1, topic_names=["a", "none"], timeout_ms=1000)
        told = {r.name: r.error_code for r in answer.responses}
        assert told == {"a": 0, "none": ErrorCode.unknown_topic_or_partition}

    played(scenario)


def more(name: str, count: int, assignments: list[list[int]] | None = None) -> Any:
    request = apis.CREATE_PARTITIONS.request
    wanted = assignments and [
        request.CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments
    ]
    return request.CreatePartitionsTopic(name=name, count=count, assignments=wanted)


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (more("t", 2), "invalid_partitions", "Topic already has 2 partition(s)."),
        (
            more("t", 1),
            "invalid_partitions",
            "The topic t currently has 2 partition(s); 1 would not be an increase.",
        ),
        (more("none", 3), "unknown_topic_or_partition", None),
        (
            more("t", 3, [[1], [1]]),
            "invalid_replica_assignment",
            "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.",
        ),
        (
            more("t", 3, [[9]]),
            "invalid_replica_assignment",
            f"{INCLUDES} broker 9, but no such broker is registered.",
        ),
        (more("t", 3), "none", None),
        (more("t", 4, [[1], [2]]), "none", None),
    ],
)
def test_partitions_are_added_and_never_taken_away(
    asked: Any, code: str, message: str | None
) -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1, 2)
        await lab.create("t", (1,), (2,))
        answer = await lab.ask(apis.CREATE_PARTITIONS, topics=[asked], timeout_ms=1000)
        (result,) = answer.results
        assert (result.error_code, result.error_message) == (ErrorCode[code], message)
        wanted = asked.count if result.error_code == 0 else 2
        assert list((await lab.image()).topics["t"].partitions) == list(range(wanted))

    played(scenario)


def test_a_topic_named_twice_is_not_enlarged() -> None:
    async def scenario(lab: Lab) -> None:
        await lab.up(1)
        await lab.create("t", (1,))
        answer = await lab.ask(
            apis.CREATE_PARTITIONS, topics=[more("t", 2), more("t", 3)], timeout_ms=1000
        )
        told = [(r.name, r.error_code, r.error_message) for r in answer.results]
        assert told == [("t", ErrorCode.invalid_request, "Duplicate topic name.")]

    played(scenario)

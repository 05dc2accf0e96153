"""kafka-topics and kafka-configs."""

from __future__ import annotations

import re

import pytest

from harness.deployments.apache_kafka import JavaTools

pytestmark = pytest.mark.foreign

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"


def described(tools: JavaTools, topic: str) -> str:
    return tools.run(TOPICS, "--describe", "--topic", topic)


def configs(tools: JavaTools, *entity: str) -> dict[str, str]:
    """What `--describe` names, each with its value."""
    out = tools.run(CONFIGS, "--describe", *entity)
    return dict(re.findall(r"^  (\S+?)=(.*) sensitive=", out, re.MULTILINE))


def test_a_topic_is_created_described_grown_and_deleted(tools: JavaTools) -> None:
    shape = ("--partitions", "3", "--replication-factor", "2", "--config", "retention.ms=5000000")
    said = tools.run(TOPICS, "--create", "--topic", "whole-life", *shape)
    assert "Created topic whole-life." in said

    first = described(tools, "whole-life")
    assert "PartitionCount: 3\tReplicationFactor: 2" in first
    assert "retention.ms=5000000" in first
    leaders = re.findall(r"Partition: (\d+)\tLeader: (\d+)\tReplicas: (\d+),(\d+)\tIsr: \2,", first)
    assert [number for number, *_ in leaders] == ["0", "1", "2"]
    assert {preferred for _, _, preferred, _ in leaders} == {"1", "2", "3"}
    assert all(leader == preferred for _, leader, preferred, _ in leaders)

    tools.run(TOPICS, "--alter", "--topic", "whole-life", "--partitions", "5")
    assert "PartitionCount: 5" in described(tools, "whole-life")

    tools.run(TOPICS, "--delete", "--topic", "whole-life")
    assert "whole-life" not in tools.run(TOPICS, "--list").split()


def test_what_cannot_be_is_refused_in_words(tools: JavaTools, topic: str) -> None:
    again = tools.attempt(TOPICS, "--create", "--topic", topic)
    fewer = tools.attempt(TOPICS, "--alter", "--topic", topic, "--partitions", "1")

    assert again.code == 1
    assert f"Topic '{topic}' already exists" in again.out
    assert fewer.code == 1
    assert "would not be an increase" in fewer.out


def test_configs_of_a_topic_are_set_and_taken_back(tools: JavaTools, topic: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", topic)
    change = "max.message.bytes=2000,cleanup.policy=[compact,delete]"

    tools.run(CONFIGS, "--alter", *entity, "--add-config", change)
    before = configs(tools, *entity)
    tools.run(CONFIGS, "--alter", *entity, "--delete-config", "max.message.bytes")

    assert before == {"max.message.bytes": "2000", "cleanup.policy": "compact,delete"}
    assert configs(tools, *entity) == {"cleanup.policy": "compact,delete"}


def test_a_config_that_does_not_exist_is_refused(tools: JavaTools, topic: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", topic)

    told = tools.attempt(CONFIGS, "--alter", *entity, "--add-config", "no.such.config=1")

    assert told.code == 1
    assert "Unknown topic config name: no.such.config" in told.err


def test_configs_of_one_broker_are_its_own(tools: JavaTools) -> None:
    second = ("--entity-type", "brokers", "--entity-name", "2")
    third = ("--entity-type", "brokers", "--entity-name", "3")

    tools.run(CONFIGS, "--alter", *second, "--add-config", "log.cleaner.threads=2")

    assert configs(tools, *second)["log.cleaner.threads"] == "2"
    assert "log.cleaner.threads" not in configs(tools, *third)


def test_configs_of_all_brokers_reach_topics(tools: JavaTools, topic: str) -> None:
    everybody = ("--entity-type", "brokers", "--entity-default")
    entity = ("--entity-type", "topics", "--entity-name", topic)

    tools.run(CONFIGS, "--alter", *everybody, "--add-config", "log.flush.interval.messages=4321")
    on_brokers = configs(tools, *everybody)
    on_topic = configs(tools, *entity, "--all")
    tools.run(CONFIGS, "--alter", *everybody, "--delete-config", "log.flush.interval.messages")

    assert on_brokers["log.flush.interval.messages"] == "4321"
    assert on_topic["flush.messages"] == "4321"
    assert "log.flush.interval.messages" not in configs(tools, *everybody)

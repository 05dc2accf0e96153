"""Values of configurations, as Apache Kafka 4.3.1 takes and refuses them."""

from __future__ import annotations

import pytest

from reference_impl.metadata.configs import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    ConfigError,
    ConfigSource,
    default_of,
    parse,
    text_of,
)
from reference_impl.metadata.effective import (
    BrokerLayers,
    broker_synonyms,
    check_topic_configs,
    topic_texts,
)

AT_LEAST = "Value must be at least"
AT_MOST = "Value must be no more than"
THROTTLED = "leader.replication.throttled.replicas"
REPLICA_LIST = (
    "must be the literal '*' or a list of replicas in the following format: "
    "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
)
NO_TIERING = (
    "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with "
    "remote log storage."
)


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("retention.ms", " 5 ", "5"),
        ("retention.ms", "+5", "5"),
        ("retention.ms", "-1", "-1"),
        ("preallocate", "TRUE", "true"),
        ("min.cleanable.dirty.ratio", "0.70f", "0.7"),
        ("min.cleanable.dirty.ratio", "1e-4", "1.0E-4"),
        ("cleanup.policy", "", ""),
        ("cleanup.policy", "compact, delete", "compact,delete"),
        ("cleanup.policy", "compact, compact", "compact"),
        ("compression.gzip.level", "-1", "-1"),
        ("leader.replication.throttled.replicas", "*", "*"),
        ("leader.replication.throttled.replicas", "0:1,1:2", "0:1,1:2"),
    ],
)
def test_a_value_is_shown_in_one_way(name: str, text: str, shown: str) -> None:
    assert text_of(parse(TOPIC_CONFIGS[name], text)) == shown


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("retention.ms", "abc", "Not a number of type LONG"),
        ("retention.ms", "", "Not a number of type LONG"),
        ("retention.ms", "1.5", "Not a number of type LONG"),
        ("retention.ms", "0x10", "Not a number of type LONG"),
        ("retention.ms", "-5", f"{AT_LEAST} -1"),
        ("segment.bytes", "1", f"{AT_LEAST} 1048576"),
        ("segment.bytes", "99999999999", "Not a number of type INT"),
        ("compression.lz4.level", "18", f"{AT_MOST} 17"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("preallocate", "yes", "Expected value to be either true or false"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("message.timestamp.type", "foo", "String must be one of: CreateTime, LogAppendTime"),
        ("cleanup.policy", "foo", "String must be one of: compact, delete"),
        ("min.insync.replicas", "0", f"{AT_LEAST} 1"),
    ],
)
def test_a_value_that_will_not_do_is_refused_in_kafkas_words(
    name: str, text: str, why: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(TOPIC_CONFIGS[name], text)
    assert str(refused.value) == f"Invalid value {text} for configuration {name}: {why}"


@pytest.mark.parametrize(
    ("configs", "why"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        (
            {"cleanup.policy": "compact,"},
            "Configuration 'cleanup.policy' values must not be empty.",
        ),
        (
            {"min.cleanable.dirty.ratio": "2"},
            f"Invalid value 2.0 for configuration min.cleanable.dirty.ratio: {AT_MOST} 1",
        ),
        (
            {THROTTLED: "0:1,1:x"},
            f"Invalid value [0:1, 1:x] for configuration {THROTTLED}: {THROTTLED} {REPLICA_LIST}",
        ),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (
            {"remote.storage.enable": "true"},
            NO_TIERING,
        ),
    ],
)
def test_a_set_that_a_topic_cannot_have_is_refused(configs: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_topic_configs(configs, BrokerLayers())
    assert str(refused.value) == why


TIERED = BrokerLayers(static={"remote.log.storage.system.enable": "true"})


@pytest.mark.parametrize(
    ("configs", "why"),
    [
        ({"cleanup.policy": "compact"}, "only supports topics with cleanup.policy=delete"),
        ({"retention.ms": "5", "local.retention.ms": "6"}, "must not be more than retention.ms"),
        ({"retention.bytes": "5", "local.retention.bytes": "-1"}, "must not be -1"),
        ({"remote.log.copy.disable": "true", "local.retention.ms": "5"}, "identical value"),
    ],
)
def test_a_tiered_topic_keeps_no_more_here_than_there(configs: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        check_topic_configs({"remote.storage.enable": "true", **configs}, TIERED)


@pytest.mark.parametrize(
    "configs",
    [
        {"retention.ms": "6", "local.retention.ms": "6"},
        {"retention.ms": "6", "local.retention.ms": "-2"},
        {"retention.ms": "-1", "local.retention.ms": "-1"},
        {"retention.bytes": "-1", "local.retention.bytes": "99"},
        {"cleanup.policy": ""},
    ],
)
def test_a_tiered_topic_may_keep_as_much_here_as_there(configs: dict[str, str]) -> None:
    check_topic_configs({"remote.storage.enable": "true", **configs}, TIERED)


def test_what_a_broker_keeps_here_is_cut_and_never_refused() -> None:
    layers = BrokerLayers(static={**TIERED.static, "log.local.retention.ms": "99"})
    check_topic_configs({"remote.storage.enable": "true", "retention.ms": "5"}, layers)


def test_a_topic_that_is_not_tiered_may_say_anything_about_its_local_retention() -> None:
    check_topic_configs({"retention.ms": "5", "local.retention.ms": "6"}, TIERED)


BEFORE = {"remote.storage.enable": "true"}


@pytest.mark.parametrize(
    "after",
    [
        {},
        {"remote.storage.enable": "false"},
        {"remote.storage.enable": "false", "remote.log.delete.on.disable": "true"},
    ],
)
@pytest.mark.parametrize("layers", [TIERED, BrokerLayers()])
def test_tiering_never_ends(after: dict[str, str], layers: BrokerLayers) -> None:
    with pytest.raises(ConfigError, match=r"remote\.storage\.enable cannot be disabled"):
        check_topic_configs(after, layers, BEFORE)


def test_without_the_system_a_topic_that_is_tiered_may_be_changed_otherwise() -> None:
    check_topic_configs({**BEFORE, "retention.ms": "5"}, BrokerLayers(), BEFORE)
    with pytest.raises(ConfigError, match=r"cleanup\.policy"):
        check_topic_configs({**BEFORE, "cleanup.policy": "compact"}, BrokerLayers(), BEFORE)


def test_the_tables_are_those_of_kafka() -> None:
    listed = [key for key in TOPIC_CONFIGS.values() if not key.internal]
    assert (len(listed), len(BROKER_CONFIGS)) == (33, 360)
    assert len([key for key in BROKER_CONFIGS.values() if key.dynamic]) == 99
    for key in (*TOPIC_CONFIGS.values(), *BROKER_CONFIGS.values()):
        assert text_of(default_of(key)) == key.default


@pytest.mark.parametrize(
    ("static", "name", "text", "source"),
    [
        ({}, "retention.ms", "604800000", ConfigSource.DEFAULT),
        ({"log.retention.hours": "1"}, "retention.ms", "3600000", ConfigSource.STATIC_BROKER),
        (
            {"log.retention.hours": "1", "log.retention.minutes": "2"},
            "retention.ms",
            "120000",
            ConfigSource.STATIC_BROKER,
        ),
        ({"log.roll.hours": "2"}, "segment.ms", "7200000", ConfigSource.STATIC_BROKER),
        ({"message.max.bytes": "9"}, "max.message.bytes", "9", ConfigSource.STATIC_BROKER),
        (
            {"log.cleaner.min.cleanable.ratio": "0.1"},
            "min.cleanable.dirty.ratio",
            "0.1",
            ConfigSource.STATIC_BROKER,
        ),
    ],
)
def test_a_topic_takes_what_its_broker_says_under_another_name(
    static: dict[str, str], name: str, text: str, source: ConfigSource
) -> None:
    assert BrokerLayers(static=static).topic_text(name) == (text, source)


def test_the_nearest_layer_counts() -> None:
    layers = BrokerLayers(
        dynamic={"message.max.bytes": "1"},
        cluster={"message.max.bytes": "2", "log.segment.bytes": "2000000"},
        static={"message.max.bytes": "3", "log.segment.bytes": "3000000", "num.partitions": "4"},
    )
    assert layers.number("message.max.bytes") == 1
    assert layers.number("log.segment.bytes") == 2_000_000
    assert layers.number("num.partitions") == 4
    assert layers.number("log.retention.hours") == 168
    assert topic_texts({"max.message.bytes": " 7 "}, layers)["max.message.bytes"] == "7"
    assert topic_texts({}, layers)["max.message.bytes"] == "1"


def test_configurations_of_one_family_are_synonyms_of_each_other() -> None:
    family = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    assert [broker_synonyms(name) for name in family] == [family] * 3
    assert broker_synonyms("num.partitions") == ("num.partitions",)

"""Configurations of tiered topics: what is refused, when they are created and when they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    config_is,
    config_resource,
    described,
    made,
)
from harness.differential.sequences.configs import APPEND, DELETE, SET, SUBTRACT, altered, changes
from harness.differential.sequences.tiered import altered_to, remote, story, tiered


def created(name: str, configs: Mapping[str, str], **more: Any) -> Step:
    """A topic, or the refusal to make it."""
    said = [{"name": key, "value": value} for key, value in configs.items()]
    topic = {"name": f"$topic:{name}", "num_partitions": 1, "replication_factor": 1}
    fields = {"topics": [{**topic, "configs": said}], "timeout": TIMEOUT_MS, **more}
    return Step(api="create_topics", version=7, fields=fields)


ENABLE, STOP, DELETE_ALL = (
    "remote.storage.enable",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
)
MS, BYTES = "local.retention.ms", "local.retention.bytes"
TIERED_KEYS = (ENABLE, STOP, DELETE_ALL, MS, BYTES, "retention.ms", "retention.bytes")
BROKER = 4
BROKER_KEYS = (
    "log.local.retention.bytes",
    "log.local.retention.ms",
    "remote.fetch.max.wait.ms",
    "remote.list.offsets.request.timeout.ms",
    "remote.log.index.file.cache.total.size.bytes",
    "remote.log.reader.max.pending.tasks",
    "remote.log.reader.threads",
    "remote.log.storage.system.enable",
)


def _each_refused(*configs: Mapping[str, str]) -> tuple[Step, ...]:
    """Topics with each of these, or what is said against them."""
    return tuple(created("a", one, validate_only=True) for one in configs)


def _replaced(**configs: str) -> Step:
    """AlterConfigs: these, and no others."""
    said = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
    resource = config_resource("a", configs=said)
    return Step(
        api="alter_configs", version=2, fields={"resources": [resource], "validate_only": False}
    )


def _of_broker(key: str, value: str | None, operation: int = SET) -> Step:
    """Whether a broker may be told that."""
    said = [{"name": key, "config_operation": operation, "value": value}]
    resource = {"resource_type": BROKER, "resource_name": "$broker:0", "configs": said}
    return altered(resource, validate_only=True)


SEQUENCES = (
    story(
        "create_compacted",
        "compacted topics cannot be tiered",
        *(
            created("a", {"remote.storage.enable": "true", "cleanup.policy": policy})
            for policy in ("compact", "compact,delete", "delete,compact")
        ),
        created("a", {"cleanup.policy": "compact"}),
        altered_to(("remote.storage.enable", SET, "true")),
    ),
    story(
        "create_with_local_retention",
        "local retention is no more than retention",
        *(
            created("a", {"remote.storage.enable": "true", **configs}, validate_only=True)
            for configs in (
                {"local.retention.ms": "1000", "retention.ms": "1000"},
                {"local.retention.ms": "1001", "retention.ms": "1000"},
                {"local.retention.ms": "-1", "retention.ms": "1000"},
                {"local.retention.ms": "-2", "retention.ms": "1000"},
                {"local.retention.ms": "-3", "retention.ms": "1000"},
                {"local.retention.ms": "1000", "retention.ms": "-1"},
                {"local.retention.bytes": "1000", "retention.bytes": "1000"},
                {"local.retention.bytes": "1001", "retention.bytes": "1000"},
                {"local.retention.bytes": "-1", "retention.bytes": "1000"},
                {"local.retention.bytes": "-2", "retention.bytes": "1000"},
                {"local.retention.bytes": "-3", "retention.bytes": "1000"},
                {"local.retention.bytes": "1000", "retention.bytes": "-1"},
            )
        ),
        created("a", {"remote.storage.enable": "perhaps"}, validate_only=True),
    ),
    story(
        "alter_local_retention",
        "neither side of the comparison can be moved past the other",
        tiered(local_retention_ms="1000", retention_ms="2000"),
        altered_to(("local.retention.ms", SET, "2001")),
        altered_to(("retention.ms", SET, "999")),
        altered_to(("retention.ms", SET, "500"), ("local.retention.ms", SET, "500")),
        altered_to(("local.retention.ms", DELETE, None)),
        config_is("a", "local.retention.ms", "-2"),
        described("a", "retention.ms", "local.retention.ms", "local.retention.bytes"),
    ),
    story(
        "alter_to_compacted",
        "a tiered topic cannot become compacted",
        tiered(),
        altered_to(("cleanup.policy", SET, "compact")),
        altered_to(("cleanup.policy", SET, "compact,delete")),
        described("a", "cleanup.policy", "remote.storage.enable"),
    ),
    story(
        "disable",
        "what is tiered stays so, unless its remote part is given up by name",
        tiered(),
        altered_to(("remote.storage.enable", SET, "false")),
        altered_to(("remote.storage.enable", DELETE, None)),
        altered_to(("remote.log.delete.on.disable", SET, "false")),
        altered_to(("remote.storage.enable", SET, "false")),
        described("a", "remote.storage.enable"),
    ),
    story(
        "disable_and_delete",
        "the remote part is given up by name",
        tiered(),
        *remote(),
        altered_to(
            ("remote.storage.enable", SET, "false"), ("remote.log.delete.on.disable", SET, "true")
        ),
        described("a", "remote.storage.enable"),
    ),
    story(
        "described",
        "the settings of a tiered topic, and what they are unless told",
        made("a", configs={"remote.storage.enable": "true"}),
        described("a", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
        made("b"),
        described("b", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
    ),
    story(
        "create_with_each_switch",
        "the switches of tiered storage, alone and together",
        *_each_refused(
            *({ENABLE: value} for value in ("true", "false", "", "TRUE", "1")),
            *({STOP: "true", **more} for more in ({}, {ENABLE: "false"}, {ENABLE: "true"})),
            {STOP: "maybe"},
            *({DELETE_ALL: "true", **more} for more in ({}, {ENABLE: "false"}, {ENABLE: "true"})),
            {ENABLE: "true", STOP: "true", DELETE_ALL: "true"},
            {ENABLE: "true", STOP: "true", MS: "-2", BYTES: "-2"},
            {ENABLE: "true", STOP: "true", MS: "1000", "retention.ms": "1000"},
            {ENABLE: "true", STOP: "true", MS: "500", "retention.ms": "1000"},
            {ENABLE: "true", STOP: "true", BYTES: "500", "retention.bytes": "1000"},
        ),
    ),
    story(
        "create_at_the_ends_of_ranges",
        "local retention at and beyond the ends of what it may be, and of what retention is",
        *_each_refused(
            *({MS: value} for value in ("-3", "x", "", "9223372036854775808", "604800001")),
            *({BYTES: value} for value in ("-3", "x", "9223372036854775808")),
            {MS: "1001", "retention.ms": "1000"},
            {BYTES: "1001", "retention.bytes": "1000"},
            *(
                {ENABLE: "true", MS: value}
                for value in ("9223372036854775807", "604800000", "604800001", "-1", "0")
            ),
            *({ENABLE: "true", BYTES: value} for value in ("-1", "0", "5")),
            {ENABLE: "true", "retention.ms": "-1", MS: "9223372036854775807"},
            {ENABLE: "true", "retention.bytes": "5", BYTES: "-1"},
            {ENABLE: "true", "retention.ms": "-2"},
            {ENABLE: "true", "retention.bytes": "-2"},
        ),
    ),
    story(
        "create_with_each_policy",
        "every way to say how a tiered topic is cleaned up",
        *_each_refused(
            *(
                {ENABLE: "true", "cleanup.policy": policy}
                for policy in ("", "delete", "delete,delete", "compact", "none")
            ),
            {ENABLE: "false", "cleanup.policy": "compact"},
        ),
    ),
    story(
        "alter_what_is_refused",
        "changes that a tiered topic does not take; it stays as it was",
        tiered(),
        *(
            altered_to(change)
            for change in (
                (ENABLE, SET, None),
                (ENABLE, APPEND, "x"),
                (ENABLE, SET, "perhaps"),
                (MS, SET, "-3"),
                (BYTES, SET, "x"),
                ("cleanup.policy", APPEND, "compact"),
            )
        ),
        altered_to((STOP, SET, "true"), (ENABLE, SET, "false")),
        altered_to((MS, SET, "5"), ("retention.ms", SET, "4")),
        altered(changes((ENABLE, SET, "false")), validate_only=True),
        described("a", *TIERED_KEYS, "cleanup.policy"),
    ),
    story(
        "alter_what_is_taken",
        "changes that a tiered topic takes, one after the other",
        tiered(),
        altered_to((STOP, DELETE, None)),
        altered_to((DELETE_ALL, SET, "true")),
        altered_to((STOP, SET, "true"), (MS, SET, "-2"), (BYTES, SET, "-2")),
        config_is("a", STOP, "true"),
        described("a", *TIERED_KEYS),
        altered_to((STOP, SET, "false"), (MS, SET, "5"), ("retention.ms", SET, "5")),
        config_is("a", MS, "5"),
        described("a", *TIERED_KEYS),
        altered_to(("cleanup.policy", SUBTRACT, "delete")),
    ),
    story(
        "replace",
        "AlterConfigs with and without the switch that a tiered topic has on",
        tiered(),
        _replaced(retention_ms="-1"),
        _replaced(remote_storage_enable="false"),
        described("a", ENABLE, "retention.ms", "segment.index.bytes"),
        _replaced(remote_storage_enable="true", local_retention_bytes="7"),
        config_is("a", BYTES, "7"),
        described("a", ENABLE, BYTES, "segment.index.bytes"),
    ),
    story(
        "become_tiered",
        "topics that become tiered, or compacted, in either order",
        made("a", configs={"cleanup.policy": "compact"}),
        altered_to((MS, SET, "-3")),
        altered_to((ENABLE, SET, "false")),
        altered_to((STOP, SET, "true")),
        altered_to((ENABLE, SET, "true"), ("cleanup.policy", SET, "delete")),
        config_is("a", ENABLE, "true"),
        altered_to(("cleanup.policy", SET, "compact")),
        described("a", ENABLE, "cleanup.policy"),
    ),
    *(
        story(
            f"describe_version_{version}",
            "the settings of a tiered topic, with synonyms where the version has them",
            tiered(),
            described("a", ENABLE, MS, BYTES, version=version, include_synonyms=version >= 1),
        )
        for version in (1, 3, 4)
    ),
    story(
        "described_of_brokers",
        "settings of tiered storage of a broker",
        *(
            Step(
                api="describe_configs",
                version=4,
                fields={
                    "resources": [
                        {
                            "resource_type": BROKER,
                            "resource_name": "$broker:0",
                            "configuration_keys": [key],
                        }
                    ]
                },
            )
            for key in BROKER_KEYS
        ),
    ),
    story(
        "alter_brokers",
        "which settings of tiered storage a running broker takes, and which values",
        *(
            step
            for key in BROKER_KEYS
            for step in (
                *(_of_broker(key, value) for value in ("7", "-3", "x")),
                _of_broker(key, None, DELETE),
            )
        ),
    ),
)

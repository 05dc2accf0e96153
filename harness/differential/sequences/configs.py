"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    config_is,
    config_resource,
    described,
    made,
)

SET, DELETE, APPEND, SUBTRACT = range(4)
UNKNOWN = 9

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32

ALL_TOPIC_CONFIGS_ARE_ABOUT = "every config of a topic, its value, source and type"


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"configs/{name}", about=about, steps=steps)


def _describe(*resources: dict[str, Any], version: int = 4, **more: Any) -> Step:
    return Step(
        api="describe_configs", version=version, fields={"resources": list(resources), **more}
    )


def _resource(kind: int, name: Any, keys: list[str] | None) -> dict[str, Any]:
    return {"resource_type": kind, "resource_name": name, "configuration_keys": keys}


def altered(*resources: dict[str, Any], version: int = 1, **more: Any) -> Step:
    return Step(
        api="incremental_alter_configs",
        version=version,
        fields={"resources": list(resources), **more},
    )


def changes(*said: tuple[str, int, str | None], topic: str = "a") -> dict[str, Any]:
    configs = [
        {"name": name, "config_operation": operation, "value": value}
        for name, operation, value in said
    ]
    return config_resource(topic, configs=configs)


def _replace(*resources: dict[str, Any], version: int = 2, **more: Any) -> Step:
    return Step(api="alter_configs", version=version, fields={"resources": list(resources), **more})


def _values(topic: str = "a", **configs: str | None) -> dict[str, Any]:
    said = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
    return config_resource(topic, configs=said)


BROKER_KEYS = ["log.retention.hours", "log.retention.ms", "message.max.bytes", "num.partitions"]
DESCRIBING = (
    *(
        _story(
            f"describe_version_{version}",
            ALL_TOPIC_CONFIGS_ARE_ABOUT,
            made("a", configs={"cleanup.policy": "compact"}),
            described("a", version=version),
            described("a", "retention.ms", "cleanup.policy", version=version),
        )
        for version in (1, 2, 3, 4)
    ),
    _story(
        "describe_synonyms",
        "where a value comes from, and what it would be without that",
        made("a", configs={"max.message.bytes": "12345"}),
        described(
            "a",
            "max.message.bytes",
            "retention.ms",
            "segment.bytes",
            "min.insync.replicas",
            "compression.type",
            "message.timestamp.type",
            "unclean.leader.election.enable",
            include_synonyms=True,
        ),
        described("a", "max.message.bytes", "retention.ms", version=1, include_synonyms=True),
    ),
    _story(
        "describe_some_keys",
        "keys that are there, keys that are not, none at all",
        made("a"),
        described("a", "retention.ms", "no.such.config"),
        described("a", "no.such.config"),
        described("a", "retention.ms", "retention.ms"),
        _describe(_resource(TOPIC, "$topic:a", [])),
    ),
    _story(
        "describe_wrongly",
        "resources that are not there or not known",
        made("a"),
        _describe(_resource(TOPIC, "$topic:missing", None)),
        _describe(_resource(TOPIC, "", None)),
        _describe(_resource(TOPIC, "a b", None)),
        _describe(_resource(BROKER, "99", ["log.retention.ms"])),
        _describe(_resource(BROKER, "one", ["log.retention.ms"])),
        _describe(_resource(0, "$topic:a", None)),
        _describe(_resource(1, "$topic:a", None)),
        _describe(_resource(77, "$topic:a", None)),
        _describe(_resource(GROUP, "", None)),
        _describe(_resource(CLIENT_METRICS, "", None)),
        _describe(),
        _describe(
            _resource(TOPIC, "$topic:a", ["retention.ms"]),
            _resource(TOPIC, "$topic:a", ["segment.ms"]),
        ),
        _describe(
            _resource(TOPIC, "$topic:a", ["retention.ms"]),
            _resource(TOPIC, "$topic:missing", ["segment.ms"]),
        ),
    ),
    _story(
        "describe_broker",
        "configs of a broker, and those of all brokers together",
        _describe(_resource(BROKER, "$broker:0", BROKER_KEYS)),
        _describe(_resource(BROKER, "$broker:0", BROKER_KEYS), include_synonyms=True),
        _describe(_resource(BROKER, "$broker:0", ["compression.type", "log.segment.bytes"])),
        _describe(_resource(BROKER, "", BROKER_KEYS)),
        _describe(_resource(BROKER, "$broker:0", BROKER_KEYS), version=1),
    ),
)


CHANGING = (
    *(
        _story(
            f"set_and_delete_version_{version}",
            "set, set again, delete, delete again",
            made("a"),
            altered(changes(("retention.ms", SET, "5000")), version=version),
            config_is("a", "retention.ms", "5000"),
            described("a", "retention.ms", include_synonyms=True),
            altered(changes(("retention.ms", SET, "6000")), version=version),
            config_is("a", "retention.ms", "6000"),
            altered(changes(("retention.ms", DELETE, None)), version=version),
            config_is("a", "retention.ms", "604800000"),
            described("a", "retention.ms", include_synonyms=True),
            altered(changes(("retention.ms", DELETE, None)), version=version),
        )
        for version in (0, 1)
    ),
    _story(
        "append_and_subtract",
        "lists grow and shrink",
        made("a"),
        altered(changes(("cleanup.policy", APPEND, "compact"))),
        config_is("a", "cleanup.policy", "delete,compact"),
        described("a", "cleanup.policy"),
        altered(changes(("cleanup.policy", APPEND, "compact"))),
        altered(changes(("cleanup.policy", SUBTRACT, "delete"))),
        config_is("a", "cleanup.policy", "compact"),
        described("a", "cleanup.policy"),
        altered(changes(("cleanup.policy", SUBTRACT, "delete"))),
        altered(changes(("cleanup.policy", SUBTRACT, "compact"))),
        altered(changes(("retention.ms", APPEND, "5"))),
        altered(changes(("retention.ms", SUBTRACT, "5"))),
    ),
    _story(
        "append_throttled_replicas",
        "a list without a default",
        made("a"),
        altered(changes(("leader.replication.throttled.replicas", APPEND, "0:1"))),
        config_is("a", "leader.replication.throttled.replicas", "0:1"),
        altered(changes(("leader.replication.throttled.replicas", APPEND, "1:1,2:1"))),
        config_is("a", "leader.replication.throttled.replicas", "0:1,1:1,2:1"),
        altered(changes(("leader.replication.throttled.replicas", SUBTRACT, "1:1"))),
        config_is("a", "leader.replication.throttled.replicas", "0:1,2:1"),
        described("a", "leader.replication.throttled.replicas"),
        altered(changes(("leader.replication.throttled.replicas", SET, "nonsense"))),
    ),
    _story(
        "validate_only",
        "checked and not changed",
        made("a"),
        altered(changes(("segment.ms", SET, "5000")), validate_only=True),
        altered(changes(("segment.ms", SET, "soon")), validate_only=True),
        described("a", "segment.ms"),
    ),
    _story(
        "several_at_once",
        "each resource for itself, all changes of one together",
        made("a", "b"),
        altered(
            changes(("segment.ms", SET, "5000"), ("flush.ms", SET, "7"), topic="a"),
            changes(("segment.ms", SET, "soon"), ("flush.ms", SET, "7"), topic="b"),
        ),
        config_is("a", "segment.ms", "5000"),
        described("a", "segment.ms", "flush.ms"),
        described("b", "segment.ms", "flush.ms"),
    ),
)


TRIED_VALUES = {
    "max.message.bytes": ("-1", "abc", "", "99999999999"),
    "retention.ms": ("-2", "1.5", " 5000 "),
    "retention.bytes": ("-2", "x"),
    "segment.bytes": ("0", "1000", "1048576"),
    "segment.ms": ("0", "1"),
    "min.insync.replicas": ("0", "3"),
    "cleanup.policy": ("none", "compact,delete", "delete,delete", "", " compact "),
    "compression.type": ("brotli", "zstd", "GZIP"),
    "compression.gzip.level": ("0", "10", "9"),
    "message.timestamp.type": ("logappendtime", "CreateTime"),
    "message.timestamp.before.max.ms": ("-1", "5"),
    "min.cleanable.dirty.ratio": ("2", "0.25", "x"),
    "preallocate": ("yes", "TRUE"),
    "unclean.leader.election.enable": ("1", "true"),
    "local.retention.ms": ("-3", "999999999999"),
    "remote.storage.enable": ("perhaps",),
    "index.interval.bytes": ("-1", "0"),
    "segment.index.bytes": ("3", "4"),
    "file.delete.delay.ms": ("-1",),
    "delete.retention.ms": ("-1",),
    "max.compaction.lag.ms": ("0",),
    "message.format.version": ("3.0",),
    "message.downconversion.enable": ("true",),
    "no.such.config": ("1",),
    "follower.replication.throttled.replicas": ("*", "1:2,3:4", "x"),
}
OTHER_CHANGES = (
    ("segment.ms", SET, "5000"),
    ("segment.ms", SET, "soon"),
    ("segment.ms", DELETE, None),
    ("another.such.config", SET, "5"),
)
NODE_ID_CHANGE = {"name": "node.id", "config_operation": SET, "value": "7"}
CHANGING_WRONGLY = (
    _story(
        "values_of_every_kind",
        "values at and beyond what each config takes, checked only",
        made("a"),
        *(
            altered(changes((name, SET, value)), validate_only=True)
            for name, some in TRIED_VALUES.items()
            for value in some
        ),
    ),
    _story(
        "change_wrongly",
        "operations, names and resources that cannot be",
        made("a"),
        altered(changes(("retention.ms", 9, "5"))),
        altered(changes(("", SET, "5"))),
        altered(changes(("retention.ms", SET, "5"), ("retention.ms", SET, "6"))),
        altered(changes(("retention.ms", SET, "5"), ("retention.ms", DELETE, None))),
        altered(changes(("retention.ms", SET, "5"), topic="missing")),
        altered(changes(("no.such.config", DELETE, None))),
        altered(changes()),
        altered(),
        altered(
            changes(("retention.ms", SET, "5")),
            changes(("retention.ms", SET, "5")),
        ),
        altered({"resource_type": TOPIC, "resource_name": "", "configs": []}),
        altered({"resource_type": 0, "resource_name": "x", "configs": []}),
        altered({"resource_type": 99, "resource_name": "x", "configs": []}),
        altered({"resource_type": BROKER, "resource_name": "99", "configs": []}),
        altered({"resource_type": BROKER, "resource_name": "one", "configs": []}),
        described("a", "retention.ms"),
    ),
    _story(
        "unknown_operation_among_others",
        "an operation that is not known spoils the whole request",
        made("a", "b"),
        *(altered(changes(("retention.ms", UNKNOWN, "5"), other)) for other in OTHER_CHANGES),
        *(altered(changes(other, ("retention.ms", UNKNOWN, "5"))) for other in OTHER_CHANGES),
        altered(changes(("no.such.config", UNKNOWN, "5"))),
        altered(changes(("retention.ms", UNKNOWN, None))),
        altered(changes(("retention.ms", UNKNOWN, "5"), ("retention.ms", SET, "5"))),
        altered(changes(("retention.ms", UNKNOWN, "5"), topic="missing")),
        altered(changes(("retention.ms", UNKNOWN, "5")), validate_only=True),
        altered(
            changes(("retention.ms", UNKNOWN, "5"), topic="a"),
            changes(("retention.ms", SET, "5"), topic="b"),
        ),
        altered(
            changes(("retention.ms", SET, "soon"), topic="a"),
            changes(("retention.ms", UNKNOWN, "5"), topic="b"),
        ),
        described("a", "retention.ms"),
        described("b", "retention.ms"),
    ),
    _story(
        "change_read_only_broker_config",
        "what a running broker cannot change",
        altered(
            {"resource_type": BROKER, "resource_name": "$broker:0", "configs": [NODE_ID_CHANGE]},
            validate_only=True,
        ),
        altered(
            {"resource_type": BROKER, "resource_name": "", "configs": [NODE_ID_CHANGE]},
            validate_only=True,
        ),
        altered(
            {
                "resource_type": BROKER,
                "resource_name": "$broker:0",
                "configs": [
                    {"name": "log.retention.ms", "config_operation": SET, "value": "86400000"}
                ],
            },
            validate_only=True,
        ),
    ),
)


REPLACING = (
    *(
        _story(
            f"replace_version_{version}",
            "what is not named goes back to its default",
            made("a"),
            _replace(_values(segment_ms="5000", flush_ms="7"), version=version),
            config_is("a", "segment.ms", "5000"),
            described("a", "segment.ms", "flush.ms", "retention.ms"),
            _replace(_values(segment_ms="6000"), version=version),
            config_is("a", "segment.ms", "6000"),
            described("a", "segment.ms", "flush.ms"),
            _replace(_values(), version=version),
            config_is("a", "segment.ms", "604800000"),
            described("a", "segment.ms"),
        )
        for version in (0, 1, 2)
    ),
    _story(
        "replace_wrongly",
        "names, values and resources that cannot be",
        made("a"),
        _replace(_values(no_such_config="1")),
        _replace(_values(segment_ms="soon")),
        _replace(_values(segment_ms=None)),
        _replace(_values("missing", segment_ms="5")),
        _replace(),
        _replace(_values(segment_ms="5000"), validate_only=True),
        _replace(_values(segment_ms="soon"), validate_only=True),
        _replace(
            config_resource(
                "a",
                configs=[
                    {"name": "segment.ms", "value": "5"},
                    {"name": "segment.ms", "value": "6"},
                ],
            )
        ),
        _replace(_values(segment_ms="5"), _values(segment_ms="5")),
        described("a", "segment.ms"),
    ),
)


SEQUENCES = (*DESCRIBING, *CHANGING, *CHANGING_WRONGLY, *REPLACING)

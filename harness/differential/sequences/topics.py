"""CreateTopics, CreatePartitions, DeleteTopics: names, counts, assignments, and doing it twice."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    described,
    made,
    metadata,
)


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"topics/{name}", about=about, steps=steps)


def _create(*topics: dict[str, Any], version: int = 7, **more: Any) -> Step:
    return Step(
        api="create_topics",
        version=version,
        fields={"topics": list(topics), "timeout": TIMEOUT_MS, **more},
    )


def _topic(name: str = "$topic:a", partitions: int = 1, copies: int = 1, **more: Any) -> Any:
    return {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": copies,
        **more,
    }


def _assigned(*brokers: list[Any], name: str = "$topic:a", first: int = 0, **more: Any) -> Any:
    assignments = [
        {"partition_index": first + at, "broker_ids": ids} for at, ids in enumerate(brokers)
    ]
    return _topic(name, -1, -1, assignments=assignments, **more)


def _configured(name: str, **configs: str | None) -> Any:
    return _topic(
        name,
        configs=[{"name": key.replace("_", "."), "value": value} for key, value in configs.items()],
    )


def _grow(*topics: dict[str, Any], version: int = 3, **more: Any) -> Step:
    said = [{"assignments": None, **one} for one in topics]
    return Step(
        api="create_partitions",
        version=version,
        fields={"topics": said, "timeout": TIMEOUT_MS, **more},
    )


def _delete(*names: str, version: int = 5) -> Step:
    return Step(
        api="delete_topics",
        version=version,
        fields={"topic_names": list(names), "timeout": TIMEOUT_MS},
    )


def _delete_by(*topics: dict[str, Any]) -> Step:
    said = [{"name": None, **one} for one in topics]
    return Step(api="delete_topics", version=6, fields={"topics": said, "timeout": TIMEOUT_MS})


CREATING = (
    *(
        _story(
            f"create_version_{version}",
            "one topic, then the same again",
            _create(_topic(partitions=2), version=version),
            _create(_topic(partitions=2), version=version),
            metadata("a"),
        )
        for version in range(2, 8)
    ),
    _story(
        "create_with_defaults",
        "the broker's own counts in place of the asker's",
        _create(_topic(partitions=-1, copies=-1)),
        _create(_topic("$topic:b", partitions=-1, copies=1), version=4),
        _create(_topic("$topic:c", partitions=3, copies=-1)),
        _create(_topic("$topic:d", partitions=-1), version=3),
        metadata("a", "b", "c"),
    ),
    _story(
        "create_validate_only",
        "everything is checked and nothing is made",
        _create(_topic(partitions=2), validate_only=True),
        _create(_topic(partitions=0), validate_only=True),
        metadata("a"),
        made("a"),
        _create(_topic(), validate_only=True),
    ),
    _story(
        "create_several",
        "each topic has its own answer",
        _create(_topic(), _topic("$topic:b", partitions=0), _topic("$topic:c", copies=5)),
        metadata("a", "b", "c"),
    ),
    _story(
        "create_same_twice_in_one_request",
        "one name, two wishes",
        _create(_topic(), _topic(partitions=2), _topic("$topic:b")),
        metadata("a", "b"),
    ),
    _story("create_nothing", "an empty request", _create()),
    _story(
        "create_with_assignments",
        "replicas where the asker wants them",
        _create(_assigned(["$broker:0"], ["$broker:0"])),
        metadata("a"),
    ),
    _story(
        "create_with_configs",
        "configs given at birth",
        _create(_configured("$topic:a", retention_ms="1234", cleanup_policy="compact")),
        described("a", "retention.ms", "cleanup.policy"),
        _create(_configured("$topic:b", max_message_bytes="1000"), version=4),
        described("b", "max.message.bytes"),
    ),
)


BAD_NAMES = {
    "empty": "",
    "dot": ".",
    "two_dots": "..",
    "space": "a b",
    "slash": "a/b",
    "umlaut": "tür",
    "too_long": "x" * 250,
    "colon": "a:b",
}
WRONGLY = (
    _story(
        "create_with_bad_names",
        "names that no topic may have",
        *(_create(_topic(name)) for name in BAD_NAMES.values()),
        *(_create(_topic(name), version=2) for name in ("", "a b", "x" * 250)),
        _create(_topic("x" * 249), validate_only=True),
        _create(_topic("a.b_c-D9"), validate_only=True),
    ),
    _story(
        "create_with_colliding_names",
        "dots and underscores are the same to a metric",
        _create(_topic("$topic:x.y")),
        _create(_topic("$topic:x_y")),
        _create(_topic("$topic:x.y")),
        _delete("$topic:x.y"),
    ),
    _story(
        "create_internal_topics",
        "the names of Kafka's own topics",
        _create(_topic("__cluster_metadata"), validate_only=True),
        _create(_topic("__transaction_state_of_mine"), validate_only=True),
    ),
    _story(
        "create_with_bad_counts",
        "partitions and replicas that cannot be",
        *(_create(_topic(partitions=count)) for count in (0, -2, -100)),
        *(_create(_topic(copies=count)) for count in (0, -2, 2, 100)),
        _create(_topic(partitions=0, copies=0)),
        _create(_topic(partitions=0), version=2),
        _create(_topic(copies=7), version=2),
        metadata("a"),
    ),
    _story(
        "create_with_bad_assignments",
        "assignments that do not fit together",
        _create(_assigned(["$broker:0"], first=1)),
        _create(_assigned([])),
        _create(_assigned(["$broker:0", "$broker:0"])),
        _create(_assigned([99])),
        _create(_assigned(["$broker:0", 99])),
        _create(_assigned([-1])),
        _create(_assigned(["$broker:0"], ["$broker:0", 99])),
        _create({**_assigned(["$broker:0"]), "num_partitions": 1}),
        _create({**_assigned(["$broker:0"]), "replication_factor": 1}),
        _create(
            _topic(
                "$topic:a",
                -1,
                -1,
                assignments=[
                    {"partition_index": 0, "broker_ids": ["$broker:0"]},
                    {"partition_index": 0, "broker_ids": ["$broker:0"]},
                ],
            )
        ),
        _create(
            _topic(
                "$topic:a",
                -1,
                -1,
                assignments=[
                    {"partition_index": 0, "broker_ids": ["$broker:0"]},
                    {"partition_index": 2, "broker_ids": ["$broker:0"]},
                ],
            )
        ),
        metadata("a"),
    ),
    _story(
        "create_with_bad_configs",
        "names and values that no topic knows",
        _create(_configured("$topic:a", no_such_config="1")),
        _create(_configured("$topic:a", retention_ms="soon")),
        _create(_configured("$topic:a", retention_ms="-2")),
        _create(_configured("$topic:a", retention_ms=None)),
        _create(_configured("$topic:a", cleanup_policy="burn")),
        _create(_configured("$topic:a", cleanup_policy="")),
        _create(_configured("$topic:a", segment_bytes="10")),
        _create(_configured("$topic:a", max_message_bytes="-1")),
        _create(_configured("$topic:a", min_insync_replicas="0")),
        _create(_configured("$topic:a", compression_type="rar")),
        _create(_configured("$topic:a", message_timestamp_type="Sundial")),
        _create(_configured("$topic:a", preallocate="maybe")),
        _create(_configured("$topic:a", min_cleanable_dirty_ratio="1.5")),
        _create(_configured("$topic:a", no_such_config="1"), version=2),
        _create(_configured("$topic:a", local_retention_ms="10", retention_ms="5")),
        metadata("a"),
    ),
)


GROWING = (
    *(
        _story(
            f"grow_version_{version}",
            "from one partition to three, and no way back",
            made("a"),
            _grow({"name": "$topic:a", "count": 3}, version=version),
            metadata("a"),
            _grow({"name": "$topic:a", "count": 3}, version=version),
            _grow({"name": "$topic:a", "count": 2}, version=version),
        )
        for version in range(4)
    ),
    _story(
        "grow_wrongly",
        "counts that cannot be, topics that are not there",
        made("a"),
        *(_grow({"name": "$topic:a", "count": count}) for count in (0, -1, 1)),
        _grow({"name": "$topic:missing", "count": 2}),
        _grow({"name": "", "count": 2}),
        _grow({"name": "$topic:a", "count": 2}, {"name": "$topic:a", "count": 3}),
        _grow(),
        _grow({"name": "$topic:a", "count": 3}, validate_only=True),
        _grow({"name": "$topic:a", "count": 1}, validate_only=True),
        metadata("a"),
    ),
    _story(
        "grow_with_assignments",
        "where the new partitions go",
        made("a"),
        _grow({"name": "$topic:a", "count": 2, "assignments": [{"broker_ids": ["$broker:0"]}]}),
        _grow({"name": "$topic:a", "count": 3, "assignments": []}),
        _grow({"name": "$topic:a", "count": 3, "assignments": [{"broker_ids": []}]}),
        _grow({"name": "$topic:a", "count": 3, "assignments": [{"broker_ids": [99]}]}),
        _grow(
            {
                "name": "$topic:a",
                "count": 3,
                "assignments": [{"broker_ids": ["$broker:0", "$broker:0"]}],
            }
        ),
        _grow(
            {
                "name": "$topic:a",
                "count": 3,
                "assignments": [{"broker_ids": ["$broker:0"]}, {"broker_ids": ["$broker:0"]}],
            }
        ),
        metadata("a"),
    ),
)


DELETING = (
    *(
        _story(
            f"delete_version_{version}",
            "a topic, then the same again",
            made("a"),
            _delete("$topic:a", version=version),
            _delete("$topic:a", version=version),
            metadata("a"),
        )
        for version in range(1, 6)
    ),
    _story(
        "delete_by_id",
        "version 6 takes names and ids",
        made("a", "b"),
        _delete_by({"topic_id": "$topic_id:a"}),
        _delete_by({"topic_id": "$topic_id:a"}),
        _delete_by({"name": "$topic:b"}),
        _delete_by({"name": "$topic:b"}),
        metadata("a", "b"),
    ),
    _story(
        "delete_wrongly",
        "names and ids that lead nowhere, or both at once",
        made("a"),
        _delete("$topic:missing"),
        _delete(""),
        _delete("a b"),
        _delete(),
        _delete_by({"topic_id": "11111111-2222-3333-4444-555555555555"}),
        _delete_by({"topic_id": "00000000-0000-0000-0000-000000000000"}),
        _delete_by({"name": "$topic:a", "topic_id": "$topic_id:a"}),
        _delete_by({"name": "$topic:a"}, {"topic_id": "$topic_id:a"}),
        metadata("a"),
        _delete("$topic:a", "$topic:a"),
        _delete("$topic:a", "$topic:missing"),
    ),
    _story(
        "delete_and_make_again",
        "the same name has another id",
        made("a"),
        metadata("a"),
        _delete("$topic:a"),
        _create(_topic(partitions=3)),
        metadata("a"),
    ),
)


SEQUENCES = (*CREATING, *WRONGLY, *GROWING, *DELETING)

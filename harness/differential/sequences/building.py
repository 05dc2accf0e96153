"""Short ways to say the requests that sequences are made of.

Timestamps are fixed and old, so that answers do not depend on the day; topics therefore keep their
records for ever unless a sequence says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.differential.sequence import Step

T0 = 1_700_000_000_000
"""The timestamp of a record that says nothing else."""

TIMEOUT_MS = 5_000
MEGABYTE = 1 << 20
FIRST_WITH_TOPIC_IDS = {"produce": 13, "fetch": 13}

Said = Mapping[str, Any]


def made(*names: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> Step:
    """Topics to work with, ready when the step is over."""
    settings = {"retention.ms": "-1", **(configs or {})}
    return Step(
        api="create_topics",
        version=7,
        fields={
            "topics": [
                {
                    "name": f"$topic:{name}",
                    "num_partitions": partitions,
                    "replication_factor": 1,
                    "configs": [{"name": key, "value": value} for key, value in settings.items()],
                }
                for name in names
            ],
            "timeout": TIMEOUT_MS,
        },
        compared=False,
    )


def record(value: Any = "v", at: int = 0, **more: Any) -> dict[str, Any]:
    """A record `at` milliseconds after T0."""
    return {"value": value, "timestamp": T0 + at, **more}


def batch(*values: Any, **more: Any) -> dict[str, Any]:
    """A batch of these values (or whole records), one millisecond apart."""
    records = [one if isinstance(one, Mapping) and "value" in one else record(one, at)
               for at, one in enumerate(values)]  # fmt: skip
    return {"records": records, **more}


def idempotent(sequence: int, *values: Any, epoch: Any = 0, pid: Any = "$ref:pid") -> Said:
    """A batch of an idempotent producer."""
    patch = {"producer_id": pid, "producer_epoch": epoch, "base_sequence": sequence}
    return batch(*values, patch=patch)


def producer_id(name: str = "pid", version: int = 4) -> Step:
    """A producer id, kept under a name; a new broker has to get some from the controller first."""
    return Step(
        api="init_producer_id",
        version=version,
        fields={"transactional_id": None, "transaction_timeout": 60_000},
        save={name: "producer_id"},
        until={"error_code": "NONE"},
    )


def produce(
    *batches: Said | None,
    topic: str = "a",
    partition: int = 0,
    acks: int = -1,
    version: int = 9,
    note: str = "",
    **more: Any,
) -> Step:
    """These batches in one Records field."""
    records: Any = None if batches == (None,) else list(batches)
    return Step(
        api="produce",
        version=version,
        fields={
            "acks": acks,
            "timeout": TIMEOUT_MS,
            "topic_data": [
                _produce_topic(topic, version)
                | {"partition_data": [{"index": partition, "records": records}]}
            ],
            **more,
        },
        note=note,
    )


def _produce_topic(topic: str, version: int) -> dict[str, str]:
    if version >= FIRST_WITH_TOPIC_IDS["produce"]:
        return {"topic_id": topic if "-" in topic else f"$topic_id:{topic}"}
    return {"name": topic if topic.startswith("nowhere") else f"$topic:{topic}"}


def fetched(partition: int = 0, offset: int = 0, **more: Any) -> dict[str, Any]:
    """One partition of a fetch request."""
    return {
        "partition": partition,
        "fetch_offset": offset,
        "partition_max_bytes": MEGABYTE,
        **more,
    }


def fetch_topic(topic: str, version: int, partitions: Sequence[Said]) -> dict[str, Any]:
    """One topic of a fetch request, by name or by id as the version wants it."""
    if version >= FIRST_WITH_TOPIC_IDS["fetch"]:
        named = {"topic_id": topic if "-" in topic else f"$topic_id:{topic}"}
    else:
        named = {"topic": f"$topic:{topic}"}
    return {**named, "partitions": list(partitions)}


def fetch(
    *partitions: Said,
    topic: str = "a",
    version: int = 12,
    topics: Sequence[Said] | None = None,
    save: Mapping[str, str] | None = None,
    note: str = "",
    on: str = "main",
    **more: Any,
) -> Step:
    """A fetch that never waits."""
    chosen = [fetch_topic(topic, version, partitions or [fetched()])] if topics is None else topics
    return Step(
        api="fetch",
        version=version,
        fields={
            "max_wait": 0,
            "min_bytes": 0,
            "max_bytes": 50 * MEGABYTE,
            "topics": chosen,
            **more,
        },
        save=save or {},
        note=note,
        on=on,
    )


def list_offsets(
    *timestamps: int,
    topic: str = "a",
    partition: int = 0,
    version: int = 10,
    isolation_level: int = 0,
    note: str = "",
    **more: Any,
) -> tuple[Step, ...]:
    """One request for each timestamp, special or real."""
    return tuple(
        Step(
            api="list_offsets",
            version=version,
            fields={
                "replica_id": -1,
                "topics": [
                    {
                        "name": f"$topic:{topic}",
                        "partitions": [
                            {"partition_index": partition, "timestamp": timestamp, **more}
                        ],
                    }
                ],
            }
            | ({"timeout": TIMEOUT_MS} if version >= 10 else {})
            | ({"isolation_level": isolation_level} if version >= 2 else {}),
            note=note,
        )
        for timestamp in timestamps
    )


def metadata(*names: str, version: int = 13, **more: Any) -> Step:
    """Metadata of this play's topics."""
    topics = [{"name": f"$topic:{name}"} for name in names]
    fields = {"topics": topics, "allow_auto_topic_creation": False, **more}
    return Step(api="metadata", version=version, fields=fields)


def describe_producers(*partitions: int, topic: str = "a") -> Step:
    """The producers of partitions of a topic; of no play's if it has another name."""
    name = topic if not topic or topic.startswith("nowhere") else f"$topic:{topic}"
    asked = {"name": name, "partition_indexes": list(partitions)}
    return Step(api="describe_producers", version=0, fields={"topics": [asked]})


def config_resource(topic: str, **more: Any) -> dict[str, Any]:
    """A topic as a resource of the config requests."""
    return {"resource_type": 2, "resource_name": f"$topic:{topic}", **more}


def described(topic: str, *keys: str, version: int = 4, **more: Any) -> Step:
    """Some configs of a topic."""
    resource = config_resource(topic, configuration_keys=list(keys) or None)
    return Step(api="describe_configs", version=version, fields={"resources": [resource], **more})


def config_is(topic: str, key: str, value: str) -> Step:
    """Wait until a config has reached the broker."""
    resource = config_resource(topic, configuration_keys=[key])
    return Step(
        api="describe_configs",
        version=4,
        fields={"resources": [resource]},
        until={"results.0.configs.0.value": value},
        compared=False,
    )

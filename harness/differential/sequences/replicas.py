"""Short ways to say what is asked of clusters of three.

Every topic says which brokers have it, the first of them leads. What a follower answers depends on
how far it is, so a step waits first until it has everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    fetch,
    fetched,
    metadata,
)

LEADER, FOLLOWER, STRANGER = "broker:0", "broker:1", "broker:2"
PREFERRED, UNCLEAN = 0, 1


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"replicated/{name}", about=about, steps=steps, brokers=3)


def brokers(*indexes: int) -> list[str]:
    return [f"$broker:{index}" for index in indexes]


def made(name: str, *replicas: Sequence[int], configs: Mapping[str, str] | None = None) -> Step:
    settings = {"retention.ms": "-1", **(configs or {})}
    return Step(
        api="create_topics",
        version=7,
        fields={"topics": [topic_on(name, *replicas, configs=settings)], "timeout": TIMEOUT_MS},
        compared=False,
    )


def topic_on(name: str, *replicas: Sequence[int], **more: Any) -> dict[str, Any]:
    settings = more.pop("configs", {})
    return {
        "name": f"$topic:{name}",
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [
            {"partition_index": index, "broker_ids": brokers(*some)}
            for index, some in enumerate(replicas)
        ],
        "configs": [{"name": key, "value": value} for key, value in settings.items()],
        **more,
    }


def at(broker: str, *steps: Step) -> tuple[Step, ...]:
    return tuple(replace(step, on=broker) for step in steps)


def caught_up(broker: str, offset: int, topic: str = "a") -> Step:
    """Wait until a follower serves everything below an offset."""
    asked = fetch(fetched(0, 0), topic=topic, on=broker)
    until = {"responses.0.partitions.0.high_watermark": offset}
    return replace(asked, until=until, compared=False)


def in_sync(count: int, topic: str = "a", on: str = LEADER) -> Step:
    """Wait until so many replicas are in sync, in the eyes of a broker."""
    last = f"topics.0.partitions.0.isr_nodes.{count - 1}"
    return replace(metadata(topic), until={last: f"$broker:{count - 1}"}, compared=False, on=on)


def epoch_end(epoch: int, *, current: int = -1, version: int = 4, replica_id: int = -1) -> Step:
    partition = {"partition": 0, "current_leader_epoch": current, "leader_epoch": epoch}
    return Step(
        api="offset_for_leader_epoch",
        version=version,
        fields={
            "topics": [{"topic": "$topic:a", "partitions": [partition]}],
            **({"replica_id": replica_id} if version >= 3 else {}),
        },
    )


def delete(offset: int) -> Step:
    return Step(
        api="delete_records",
        version=2,
        fields={
            "topics": [
                {
                    "name": "$topic:a",
                    "partitions": [{"partition_index": 0, "offset": offset}],
                }
            ],
            "timeout": TIMEOUT_MS,
        },
    )


def reassign(replicas: list[str] | None, version: int = 1) -> Step:
    partition = {"partition_index": 0, "replicas": replicas}
    topic = {"name": "$topic:a", "partitions": [partition]}
    fields = {"timeout": TIMEOUT_MS, "topics": [topic]}
    return Step(api="alter_partition_reassignments", version=version, fields=fields)


def moved(*replicas: int) -> Step:
    """Wait until the replicas, and those in sync, are these."""
    until = {
        f"topics.0.partitions.0.{name}.{at}": f"$broker:{one}"
        for at, one in enumerate(replicas)
        for name in ("replica_nodes", "isr_nodes")
    }
    return replace(metadata("a"), until=until, compared=False)


def led_by(broker: int, on: str) -> Step:
    until = {"topics.0.partitions.0.leader_id": f"$broker:{broker}"}
    return replace(metadata("a"), until=until, compared=False, on=on)


def elect(kind: int, *partitions: int) -> Step:
    topics = [{"topic": "$topic:a", "partitions": list(partitions)}]
    fields = {"election_type": kind, "topic_partitions": topics, "timeout": TIMEOUT_MS}
    return Step(api="elect_leaders", version=2, fields=fields)

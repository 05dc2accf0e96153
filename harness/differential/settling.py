"""Waiting until a cluster has done what it acknowledged.

CreateTopics is answered when the controller has decided; a broker serves the partitions a moment
later. What comes next in a sequence is about something else, so the player waits here. A topic is
there when every broker's Metadata says so and ListOffsets is answered for each of its partitions by
its leader; it is gone when no broker's Metadata knows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.clients.connection import Connection

SETTLE_S = 10.0
PAUSE_S = 0.02
AFTER_DELETING_S = 0.03
"""A broker closes a partition a moment after it has forgotten its name."""

METADATA_VERSION = 12
LIST_OFFSETS_VERSION = 7

Answer = Mapping[str, Any]


class NotPrepared(RuntimeError):
    """A topic that a sequence needs could not be made: nothing after it would mean anything."""


def waited(condition: Callable[[], bool]) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + SETTLE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_S)
    return True


def brokers(connection: Connection, *, at_least: int = 1) -> Answer:
    """Metadata without topics, once the broker that is asked knows so many of them."""
    answers: list[Answer] = []

    def some() -> bool:
        answers.append(connection.ask("metadata", METADATA_VERSION, {"topics": []}))
        return len(answers[-1].get("brokers", ())) >= at_least

    if not waited(some):
        raise NotPrepared(f"the cluster does not name {at_least} brokers")
    return answers[-1]


def metadata(connection: Connection, topics: Sequence[str]) -> list[Answer]:
    """What the cluster says of these topics, without making them."""
    fields = {"topics": [{"name": one} for one in topics], "allow_auto_topic_creation": False}
    answer = connection.ask("metadata", METADATA_VERSION, fields)
    found: list[Answer] = answer["topics"]
    return found


def await_there(connections: Mapping[int, Connection], counts: Mapping[str, int]) -> None:
    """Return when each topic has as many partitions as wanted, at every broker, and is served."""
    names = list(counts)

    def known() -> bool:
        return all(
            _is_there(topic, counts)
            for one in connections.values()
            for topic in metadata(one, names)
        )

    waited(known)
    waited(lambda: all(_is_served(*one, names) for one in connections.items()))


def await_gone(connections: Mapping[int, Connection], names: Sequence[str]) -> None:
    """Return when no topic has one of these names."""

    def unknown() -> bool:
        return all(
            topic["error_code"] == "UNKNOWN_TOPIC_OR_PARTITION"
            for one in connections.values()
            for topic in metadata(one, names)
        )

    waited(unknown)
    time.sleep(AFTER_DELETING_S)


def _is_there(topic: Answer, counts: Mapping[str, int]) -> bool:
    return (
        topic["error_code"] == "NONE"
        and len(topic["partitions"]) >= counts[topic["name"]]
        and all(one["error_code"] == "NONE" for one in topic["partitions"])
    )


def _is_served(broker: int, connection: Connection, names: Sequence[str]) -> bool:
    """Whether a broker answers for every partition that it leads."""
    asked = [
        {
            "name": topic["name"],
            "partitions": [
                {"partition_index": one["partition_index"], "timestamp": -1}
                for one in topic["partitions"]
                if one["leader_id"] == broker
            ],
        }
        for topic in metadata(connection, names)
    ]
    fields = {"replica_id": -1, "topics": asked}
    answer = connection.ask("list_offsets", LIST_OFFSETS_VERSION, fields)
    return all(
        one["error_code"] == "NONE" for topic in answer["topics"] for one in topic["partitions"]
    )

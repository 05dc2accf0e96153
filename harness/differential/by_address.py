"""Which recorded sequences can be played on a cluster that the lab did not start.

Such a cluster has settings, topics and users of its own. Sequences whose answers rest on settings
of brokers are left out, and those that change more than their own topics. All others agree with
Apache Kafka's recordings on Apache Kafka clusters of three as of one, once their topics are placed
on the broker that is asked (`placement.py`) and say what else brokers would decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.differential.allowed import Allowed
from harness.differential.answers import Recording

CHANGES_THE_CLUSTER: Mapping[str, str] = {
    "cluster/elect_odd": "it elects leaders of all partitions",
    "cluster/unregister_nobody": "it unregisters brokers that there might be",
    "configs/change_read_only_broker_config": "it changes configurations of a broker",
    "configs/change_wrongly": "Apache Kafka's controller resigns over an unknown operation",
    "configs/unknown_operation_among_others": "Apache Kafka's controller resigns over it",
    "produce/internal_topic": "it makes the topic of committed offsets",
}
RESTS_ON_SETTINGS: Mapping[str, str] = {
    "cluster/metadata_makes_topics": "brokers may be told not to make topics by themselves",
    "topics/create_with_bad_counts": "it counts on one broker",
}
COORDINATED = ("transactions/", "group_offsets/")
"""Coordinators are where a cluster has put them, and count their epochs since it was made."""
TIERED = "tiered/"
_BROKERS_DECIDED = (4, 5)  # sources of a config: told to the broker, or the default

CONFIGS: Mapping[str, str] = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
}
"""Kafka's defaults that brokers often replace; topics of such a play say them themselves."""

ALLOWED = (
    Allowed(
        sequence="*",
        api="api_versions",
        paths=["api_keys*", "supported_features*", "finalized_features*"],
        reason="A system says itself which requests and features it offers, and in which versions.",
    ),
    Allowed(
        sequence="*",
        paths=["*.rack", "*authorized_operations"],
        reason="Brokers need not be told their racks, and an authorizer decides on operations.",
    ),
    Allowed(
        sequence="*",
        api="describe_log_dirs",
        paths=["results*"],
        reason="A broker may have several log directories.",
    ),
)
"""Where the answers of a cluster that the lab did not start may differ besides."""


def left_out(recording: Recording) -> str | None:
    """Why a sequence is not played by address, if it is not."""
    name = recording.sequence.name
    told = CHANGES_THE_CLUSTER.get(name) or RESTS_ON_SETTINGS.get(name)
    if name.startswith(TIERED):
        return "it needs a broker with tiered storage and retention checks that are quick"
    if told is None and name.startswith(COORDINATED):
        return "its answers rest on where coordinators are, and since when"
    if told is None and any(map(_decided_by_brokers, _entries(recording.answers))):
        return "its answers name settings of brokers"
    return told


def _decided_by_brokers(entry: Mapping[str, Any]) -> bool:
    return entry.get("config_source") in _BROKERS_DECIDED or entry.get("is_default") is True


def _entries(answer: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(answer, Mapping):
        yield answer
        for value in answer.values():
            yield from _entries(value)
    elif isinstance(answer, list):
        for one in answer:
            yield from _entries(one)

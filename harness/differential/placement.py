"""Sequences for one broker on a cluster of several: their topics are on the broker that is asked.

Such a play sees the cluster as if that broker were alone. Where a request leaves the placement of
partitions to the cluster, it is given; what answers say of other brokers is left out. Topics that
only prepare for a sequence are told, too, what brokers of other clusters might decide otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]


class Placement:
    """Puts the partitions of one play on one broker, if one is given."""

    def __init__(self, broker: int | None, configs: Mapping[str, str]) -> None:
        self._broker = broker
        self._configs = configs
        self._counts: dict[str, int] = {}

    def place(self, api: str, fields: Fields, *, compared: bool) -> Fields:
        """The fields of a request, with the placement of what it makes."""
        topics = fields.get("topics")
        if api == "create_topics" and topics and not compared and self._configs:
            topics = [self._configured(one) for one in topics]
        if api == "create_topics" and topics and self._broker is not None:
            topics = [self._topic(one) for one in topics]
        elif api == "create_partitions" and topics and self._broker is not None:
            topics = [self._more(one) for one in topics]
        return fields if topics is fields.get("topics") else {**fields, "topics": topics}

    def _configured(self, topic: Fields) -> Fields:
        told = {one["name"]: one for one in topic.get("configs") or ()}
        more = {name: {"name": name, "value": value} for name, value in self._configs.items()}
        return {**topic, "configs": list((more | told).values())}

    def _topic(self, topic: Fields) -> Fields:
        count = topic.get("num_partitions", 0)
        replicas = topic.get("replication_factor", 0)
        if topic.get("assignments") or replicas not in (1, -1) or not (count > 0 or count == -1):
            return topic
        self._counts[topic["name"]] = max(count, 1)
        assigned = [
            {"partition_index": index, "broker_ids": [self._broker]}
            for index in range(max(count, 1))
        ]
        return {**topic, "num_partitions": -1, "replication_factor": -1, "assignments": assigned}

    def _more(self, topic: Fields) -> Fields:
        known = self._counts.get(topic["name"])
        count = topic.get("count", 0)
        if known is None or topic.get("assignments") is not None or count <= known:
            return topic
        self._counts[topic["name"]] = count
        assigned = [{"broker_ids": [self._broker]}] * (count - known)
        return {**topic, "assignments": assigned}

"""What the symbols of one play stand for, in both directions.

Into a request: each symbol becomes the value of this cluster. Out of an answer: each value that
this cluster or this moment chose becomes its symbol again, so that the answers of two clusters can
be laid side by side. Which fields hold what is a table; a value in any other field is left alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from harness.clients.batches import encode_batches
from harness.clients.messages import NO_UUID

SYMBOL = re.compile(r"\$(topic|topic_id|ref|now|broker|cluster_id)(?::([\w.]+))?([+-]\d+)?")

BROKER_FIELDS = frozenset(
    {
        "adding_replicas",
        "broker_id",
        "controller_id",
        "eligible_leader_replicas",
        "isr_nodes",
        "last_known_elr",
        "leader",
        "leader_id",
        "node_id",
        "offline_replicas",
        "preferred_read_replica",
        "removing_replicas",
        "replica_nodes",
        "replicas",
    }
)
LEAST_REFERENCE = {"producer_id": 0, "session_id": 1}
"""Fields that hold what the cluster gave out, and from which value on it did."""

TIME_FIELDS = frozenset(
    {
        "timestamp",
        "base_timestamp",
        "max_timestamp",
        "last_timestamp",
        "log_append_time",
        "transaction_start_time",
    }
)
CLUSTER_FIELDS: Mapping[str, str] = {
    "cluster_id": "$cluster_id",
    "host": "$host",
    "port": "$port",
    "rack": "$rack",
    "log_dir": "$log_dir",
    "total_bytes": "$bytes",
    "usable_bytes": "$bytes",
    "finalized_features_epoch": "$epoch",
}
ANY_BROKER = "$any_broker"
NUMBER_SETS = frozenset({"partitions"})
"""Fields whose plain numbers have no order: Kafka keeps them by hash."""
DROPPED_FIELDS = frozenset({"throttle_time"})
BROKER_RESOURCES = frozenset({4, 8})
"""Resource types whose name is a broker's id: the broker and its loggers."""

TOPIC_ENTRY = frozenset({"partitions", "partition_result", "topic_id"})
"""What an entry about a topic holds besides its name."""

A_DAY_MS = 86_400_000
LEAST_LONG = -(2**63)
LONG_NUMBER = re.compile(r"-?\b\d{13,19}\b")
NEARLY_NOW_MS = 600_000


class UnknownSymbol(LookupError):
    """A request needs what no earlier answer said."""


class Symbols:
    """The values of one play against one cluster."""

    def __init__(
        self,
        *,
        token: str,
        now_ms: int,
        brokers: list[int],
        cluster_id: str,
        left_out: frozenset[int] = frozenset(),
    ) -> None:
        """Brokers that are `left_out` are not there, as far as this play is concerned."""
        self.token = token
        self.now_ms = now_ms
        self.brokers = brokers
        self.left_out = left_out
        self.cluster_id = cluster_id
        self.references: dict[str, Any] = {}
        self.topics: dict[str, None] = {}  # every name that a request of this play had
        self.topic_ids: dict[str, str] = {}
        self._strangers: dict[str, str] = {}
        self._times = {now_ms: "$now"}

    # Into a request.

    def resolve(self, said: Any) -> Any:
        """A request's fields with every symbol replaced."""
        if isinstance(said, Mapping):
            return {name: self._resolve_field(said, name) for name in said}
        if isinstance(said, list | tuple):
            return [self.resolve(one) for one in said]
        if isinstance(said, str) and (found := SYMBOL.fullmatch(said)):
            return self._value(*found.groups())
        return said

    def _resolve_field(self, entry: Mapping[str, Any], name: str) -> Any:
        resolved = self.resolve(entry[name])
        if name == "records" and "index" in entry and resolved is not None:
            return encode_batches(resolved)
        return resolved

    def _value(self, kind: str, name: str | None, plus: str | None) -> Any:
        more = int(plus or 0)
        if kind == "now":
            self._times[self.now_ms + more] = f"$now{plus or ''}"
            return self.now_ms + more
        if kind == "cluster_id":
            return self.cluster_id
        assert name is not None
        if kind == "topic":
            return self.topic(name)
        if kind == "broker":
            return self.brokers[int(name)]
        known: Mapping[str, Any] = self.topic_ids if kind == "topic_id" else self.references
        if name not in known:
            raise UnknownSymbol(f"${kind}:{name} was never answered")
        return known[name] + more if more else known[name]

    def topic(self, name: str) -> str:
        named = f"{self.token}-{name}"
        self.topics[named] = None
        return named

    # Out of an answer.

    def learn_topic_ids(self, answer: Any) -> None:
        """Keep the ids of this play's topics wherever an answer names both."""
        if isinstance(answer, list):
            for one in answer:
                self.learn_topic_ids(one)
        if not isinstance(answer, Mapping):
            return
        name = answer.get("name") or answer.get("topic")
        topic_id = answer.get("topic_id", NO_UUID)
        if self._is_own(name) and topic_id != NO_UUID:
            self.topic_ids[str(name).removeprefix(f"{self.token}-")] = str(topic_id)
        for value in answer.values():
            self.learn_topic_ids(value)

    def _is_own(self, name: Any) -> bool:
        return isinstance(name, str) and name.startswith(f"{self.token}-")

    def only_own_topics(self, answer: Any) -> Any:
        """An answer without the entries of topics that are not this play's."""
        if isinstance(answer, Mapping):
            return {name: self.only_own_topics(value) for name, value in answer.items()}
        if isinstance(answer, list):
            return [self.only_own_topics(one) for one in answer if not self._is_foreign(one)]
        return answer

    def _is_foreign(self, entry: Any) -> bool:
        if not isinstance(entry, Mapping) or not TOPIC_ENTRY & set(entry):
            return False
        name = entry.get("name") or entry.get("topic")
        return isinstance(name, str) and not self._is_own(name)

    def normalise(self, answer: Any, field: str = "") -> Any:
        """An answer with this cluster's own values replaced by their symbols."""
        if isinstance(answer, Mapping):
            return self._normalise_entry(answer)
        if isinstance(answer, list):
            said = [self.normalise(one, field) for one in answer if not self._is_left_out(one)]
            a_set = field in NUMBER_SETS and all(isinstance(one, int) for one in said)
            return sorted(said) if a_set else said
        if isinstance(answer, bool) or answer is None:
            return answer
        if field in CLUSTER_FIELDS and answer != -1:
            return CLUSTER_FIELDS[field]
        if isinstance(answer, str):
            return self._text(answer)
        return self._number(field, answer)

    def _normalise_entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        said = {
            name: self.normalise(value, name)
            for name, value in entry.items()
            if name not in DROPPED_FIELDS
        }
        if entry.get("resource_type") in BROKER_RESOURCES:
            name = str(entry.get("resource_name"))
            if name.isdigit() and int(name) in self.brokers:
                said["resource_name"] = self._broker(int(name))
        return said

    def _is_left_out(self, entry: Any) -> bool:
        """Whether an entry names a broker that is not there."""
        if not self.left_out or not isinstance(entry, Mapping) or "host" not in entry:
            return False
        return entry.get("node_id", entry.get("broker_id")) in self.left_out

    def _number(self, field: str, value: Any) -> Any:
        if field == "controller_id" and value in self.left_out:
            return self._broker(self.brokers[0])
        if field in BROKER_FIELDS and value in self.brokers:
            return ANY_BROKER if self._any_will_do(field) else self._broker(value)
        if field in LEAST_REFERENCE and value >= LEAST_REFERENCE[field]:
            return self._reference(field, value)
        if field in TIME_FIELDS:
            if value in self._times:
                return self._times[value]
            if abs(value - self.now_ms) < NEARLY_NOW_MS:
                return "$about_now"
        return value

    def _any_will_do(self, field: str) -> bool:
        """Brokers name one of them at random when they are asked for the controller."""
        return field == "controller_id" and len(self.brokers) > 1

    def _broker(self, number: int) -> str:
        return f"$broker:{self.brokers.index(number)}"

    def _reference(self, field: str, value: int) -> str:
        for name, known in self.references.items():
            if known == value:
                return f"$ref:{name}"
        return f"${field}"

    def _text(self, text: str) -> str:
        for name, topic_id in self.topic_ids.items():
            for form in (topic_id, short_form(topic_id)):
                text = text.replace(form, f"$topic_id:{name}")
        text = re.sub(rf"{self.token}-([\w.]+)", r"$topic:\1", text)
        if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text) and text != NO_UUID:
            return self._strangers.setdefault(text, f"$uuid:{len(self._strangers)}")
        text = LONG_NUMBER.sub(self._time_in_text, text)
        for name, known in self.references.items():
            if isinstance(known, int) and known > 999:
                text = re.sub(rf"\b{known}\b", f"$ref:{name}", text)
        return text

    def _time_in_text(self, found: re.Match[str]) -> str:
        """Kafka counts bounds from now, and where there is no lower one, from the least number."""
        number = int(found[0])
        near = min(abs(number - self.now_ms), abs(number - self.now_ms - LEAST_LONG))
        return "$about_now" if near < A_DAY_MS else found[0]


def short_form(topic_id: str) -> str:
    """A UUID as Kafka prints it in its messages."""
    return base64.urlsafe_b64encode(UUID(topic_id).bytes).decode().rstrip("=")

"""Which value is in force: a topic's own, a broker's, the cluster's, the file's, or the default.

A broker has four layers: what was set for it while it ran, what was set for all brokers, its
properties file, and Kafka's defaults. A topic takes what was set for it, and else what its broker
says under the configuration's *synonym* (``retention.ms`` is ``log.retention.ms`` of the broker, or
``log.retention.minutes``, or ``log.retention.hours``, in milliseconds).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference_impl.decisions import decision
from reference_impl.metadata.configs import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    ConfigError,
    ConfigKey,
    ConfigSource,
    Value,
    default_of,
    invalid,
    parse,
    text_of,
)
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import ResourceType

_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000

# Broker configurations that say one thing in several units; the first that is set counts.
_FAMILIES: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = (
    ("segment.ms", (("log.roll.ms", 1), ("log.roll.hours", _HOUR_MS))),
    ("segment.jitter.ms", (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR_MS))),
    ("flush.ms", (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1))),
    (
        "retention.ms",
        (
            ("log.retention.ms", 1),
            ("log.retention.minutes", _MINUTE_MS),
            ("log.retention.hours", _HOUR_MS),
        ),
    ),
)

_RENAMED = {
    "segment.index.bytes": "log.index.size.max.bytes",
    "flush.messages": "log.flush.interval.messages",
    "max.message.bytes": "message.max.bytes",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
}


def _synonyms() -> dict[str, tuple[tuple[str, int], ...]]:
    """Topic configuration → broker configurations with the factor that makes them its unit."""
    found = dict(_FAMILIES)
    for name in TOPIC_CONFIGS:
        for candidate in (_RENAMED.get(name, name), f"log.{name}", f"log.cleaner.{name}"):
            if name not in found and candidate in BROKER_CONFIGS:
                found[name] = ((candidate, 1),)
    return found


SYNONYMS: Mapping[str, tuple[tuple[str, int], ...]] = _synonyms()


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The broker configurations that stand for the same as this one, itself included."""
    for _, family in _FAMILIES:
        names = tuple(member for member, _ in family)
        # log.flush.scheduler.interval.ms serves as a default and is otherwise on its own.
        if name in names and name != "log.flush.scheduler.interval.ms":
            return names
    return (name,)


@decision("default-of-topic", rules=("TS-074",))
def default_of_topic(name: str) -> str | None:
    """What a topic takes where no one says anything; that local retention is not set (−2) is one
    of these values, and not what it comes to (C-09)."""
    return TOPIC_CONFIGS[name].default


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLayers:
    """What was set for a broker, layer by layer, as text."""

    dynamic: Mapping[str, str] = field(default_factory=dict)
    cluster: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, image: Image, node_id: int, properties: Mapping[str, str]) -> BrokerLayers:
        """The layers of a broker with these properties, as the image has them now."""
        return cls(
            dynamic=image.config(ResourceType.BROKER, str(node_id)),
            cluster=image.config(ResourceType.BROKER, ""),
            static=properties,
        )

    def set_layers(self) -> tuple[tuple[ConfigSource, Mapping[str, str]], ...]:
        """The layers in the order in which they count, without the defaults."""
        return (
            (ConfigSource.DYNAMIC_BROKER, self.dynamic),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.cluster),
            (ConfigSource.STATIC_BROKER, self.static),
        )

    def value(self, name: str) -> Value:
        """The value in force of a broker configuration."""
        key = BROKER_CONFIGS[name]
        for _, layer in self.set_layers():
            if name in layer:
                return parse(key, layer[name])
        return default_of(key)

    def number(self, name: str) -> int:
        """The value in force of a configuration that is a whole number."""
        value = self.value(name)
        if not isinstance(value, int):
            raise ConfigError(f"{name} is no whole number: {value!r}")
        return value

    def topic_text(self, name: str) -> tuple[str | None, ConfigSource]:
        """What a topic takes that says nothing itself, as text, and from where."""
        synonyms = SYNONYMS.get(name, ())
        for source, layer in self.set_layers():
            for synonym, factor in synonyms:
                if synonym in layer:
                    text = layer[synonym]
                    return (text if factor == 1 else str(int(text) * factor)), source
        return default_of_topic(name), ConfigSource.DEFAULT

    def topic_value(self, name: str) -> Value:
        """What a topic takes that says nothing itself."""
        text, _ = self.topic_text(name)
        return None if text is None else parse(TOPIC_CONFIGS[name], text)


def topic_value(image: Image, layers: BrokerLayers, topic: str, name: str) -> Value:
    """The value in force of one configuration of a topic."""
    own = image.config(ResourceType.TOPIC, topic).get(name)
    return layers.topic_value(name) if own is None else parse(TOPIC_CONFIGS[name], own)


def topic_values(own: Mapping[str, str], layers: BrokerLayers) -> dict[str, Value]:
    """Every configuration of a topic with these of its own, by its value in force."""
    return {
        name: parse(key, own[name]) if name in own else layers.topic_value(name)
        for name, key in TOPIC_CONFIGS.items()
    }


def topic_texts(own: Mapping[str, str], layers: BrokerLayers) -> dict[str, str]:
    """The same as text, one way to write each value; what is null is left out."""
    texts = {name: text_of(value) for name, value in topic_values(own, layers).items()}
    return {name: text for name, text in texts.items() if text is not None}


def known(name: str) -> ConfigKey:
    """The topic configuration of that name, or Kafka's refusal."""
    key = TOPIC_CONFIGS.get(name)
    if key is None:
        raise ConfigError(f"Unknown topic config name: {name}")
    return key


_NO_REMOTE = (
    "Tiered Storage functionality is disabled in the broker. "
    "Topic cannot be configured with remote log storage."
)
_NO_WAY_BACK = "remote.storage.enable cannot be disabled once it was enabled: remote data remains."


def check_topic_configs(
    new: Mapping[str, str], layers: BrokerLayers, before: Mapping[str, str] | None = None
) -> None:
    """Refuse, as Kafka does, a set of configurations that a topic cannot have.

    Of tiering, ``before`` counts: only what was not tiered needs the tiering system to become so,
    and what was tiered stays so, also where Kafka would let go of it together with its data.
    """
    for name in new:
        known(name)
    values = topic_values(new, layers)
    shortest, longest = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if isinstance(shortest, int) and isinstance(longest, int) and shortest > longest:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({shortest}) > "
            f"max.compaction.lag.ms ({longest})"
        )
    if values["remote.storage.enable"] is True:
        on = layers.value("remote.log.storage.system.enable") is True
        if not on and not is_tiered(before or {}):
            raise ConfigError(_NO_REMOTE)
        _check_remote(new, values)
    elif not tiering_may_become(is_tiered(before or {}), after=False):
        raise ConfigError(_NO_WAY_BACK)


@decision("tiering-may-become", rules=("TS-070",))
def tiering_may_become(before: bool, after: bool) -> bool:
    """What was tiered stays so: its beginning is in the remote tier alone (C-08)."""
    return after or not before


@decision("policy-of-tiered", rules=("TS-071",))
def policy_of_tiered(policy: Value) -> bool:
    """A log whose records go one by one has no segments to be copied for good."""
    return policy in ((), ("delete",))


@decision("local-retention-fits", rules=("TS-072", "TS-073"))
def local_retention_fits(local: int, whole: int) -> bool:
    """What is kept on disks is not more than what is kept at all; -1 is all, -2 not set (C-09)."""
    return whole == -1 or local == -2 or -1 < local <= whole


def is_tiered(own: Mapping[str, str]) -> bool:
    """Whether a topic with these configurations of its own has remote storage."""
    return own.get("remote.storage.enable", "false").strip().lower() == "true"


def _check_remote(own: Mapping[str, str], values: Mapping[str, Value]) -> None:
    if not policy_of_tiered(values["cleanup.policy"]):
        raise ConfigError(
            "Remote log storage only supports topics with cleanup.policy=delete or "
            "cleanup.policy being an empty list."
        )
    for unit in ("bytes", "ms"):
        if f"local.retention.{unit}" in own:  # what the broker says is cut to fit, never refused
            _check_local_retention(values, unit)
    if values["remote.log.copy.disable"] is True:
        for unit in ("bytes", "ms"):
            if values[f"local.retention.{unit}"] not in (-2, values[f"retention.{unit}"]):
                raise ConfigError(
                    "When `remote.log.copy.disable` is set to true, the "
                    f"`local.retention.{unit}` and `retention.{unit}` must be set to the identical "
                    "value because there will be no more logs copied to the remote storage."
                )


def _check_local_retention(values: Mapping[str, Value], unit: str) -> None:
    """What is kept here cannot be more than what is kept at all."""
    name, whole_name = f"local.retention.{unit}", f"retention.{unit}"
    whole, local = values[whole_name], values[name]
    if not isinstance(whole, int) or not isinstance(local, int):
        return
    if not local_retention_fits(local, whole):
        why = f"Value must not be more than {whole_name} property value: {whole}"
        if local == -1:
            why = f"Value must not be -1 as {whole_name} value is set as {whole}."
        raise invalid(name, str(local), why)

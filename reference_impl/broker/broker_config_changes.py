"""Whether a running broker can take a new value of one of its own configurations.

Kafka answers INVALID_REQUEST where a value will not do, and INVALID_CONFIG where an operation does
not suit the configuration. Names it does not know it lets pass: they may be a plug-in's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reference_impl.broker.reconfiguration import check_reconfiguration
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.configs import BROKER_CONFIGS, ConfigError, ConfigType, parse
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import ResourceType

SET, DELETE, APPEND, SUBTRACT = range(4)
_WORDS = {APPEND: "append", SUBTRACT: "subtract"}
_ONLY_PER_LISTENER = ("ssl.keystore.", "ssl.truststore.", "ssl.key.password")


class ConfigChange(NamedTuple):
    """What a request says about one configuration. Only a deletion may have no value."""

    name: str
    value: str | None
    operation: int = SET


def check_node_id(own: int, name: str, what: str = "broker id, expected") -> None:
    """A broker's configurations are changed at that broker."""
    try:
        given = int(name)
    except ValueError:
        why = f"Node id must be an integer, but it is: {name}"
        raise KafkaError(ErrorCode.invalid_request, why) from None
    if given != own:
        why = f"Unexpected {what} {own}, but received {name}"
        raise KafkaError(ErrorCode.invalid_request, why)


def check_broker_change(
    image: Image,
    layers: BrokerLayers,
    name: str,
    changes: Iterable[ConfigChange],
    *,
    incremental: bool,
) -> None:
    """Refuse, as Kafka does, what this broker or all brokers cannot take while they run."""
    if incremental:
        configs = image.config(ResourceType.BROKER, name)
        for change in changes:
            _operate(configs, change)
    else:
        configs = {change.name: change.value or "" for change in changes}
    _check(configs, per_broker=bool(name))
    known = {name: value for name, value in configs.items() if name in BROKER_CONFIGS}
    check_reconfiguration(known, layers)


def _operate(configs: dict[str, str], config: ConfigChange) -> None:
    operation, value = config.operation, config.value or ""
    if operation not in range(4):
        raise KafkaError(ErrorCode.invalid_request, f"Unknown operations type {operation}")
    if operation == SET:
        configs[config.name] = value
        return
    if operation == DELETE:
        configs.pop(config.name, None)
        return
    key = BROKER_CONFIGS.get(config.name)
    if key is None:
        raise KafkaError(ErrorCode.invalid_config, f"Unknown config name: {config.name}")
    if key.type is not ConfigType.LIST:
        raise KafkaError(
            ErrorCode.invalid_config,
            f"Config value {_WORDS[operation]} is not allowed for config key: {config.name}",
        )
    old = configs.get(config.name, key.default) or ""
    parts = [part for part in old.split(",") if part]
    given = value.split(",")
    if operation == APPEND:
        parts += [part for part in given if part not in parts]
    else:
        parts = [part for part in parts if part not in given]
    configs[config.name] = ",".join(parts)


def _check(configs: Mapping[str, str], *, per_broker: bool) -> None:
    known = {name: BROKER_CONFIGS[name] for name in configs if name in BROKER_CONFIGS}
    _none_of(
        [name for name, key in known.items() if not key.dynamic],
        "Cannot update these configs dynamically",
    )
    _none_of(
        [name for name in known if name.startswith(_ONLY_PER_LISTENER)],
        "These security configs can be dynamically updated only per-listener using the listener "
        "prefix",
    )
    for name, key in known.items():
        try:
            parse(key, configs[name])
        except ConfigError as error:
            raise KafkaError(ErrorCode.invalid_request, str(error)) from None
    if not per_broker:
        _none_of(
            [name for name, key in known.items() if key.update == "per-broker"],
            "Cannot update these configs at default cluster level, broker id must be specified",
        )


def _none_of(names: list[str], why: str) -> None:
    if names:
        raise KafkaError(ErrorCode.invalid_request, f"{why}: [{', '.join(names)}]")

"""Configurations of groups and of client metrics: which there are, and which values they take.

The reference has no groups yet and collects no metrics of clients, but keeps what is configured for
them, as Kafka does. A group's value lies between two of the broker's; its default is the broker's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.configs import (
    BROKER_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    ConfigError,
    invalid,
    parse,
)

INTERVAL_MS, MATCH = "interval.ms", "match"
LEAST_INTERVAL_MS, LARGEST_INTERVAL_MS = 100, 3_600_000
MATCHED = (
    *("client_id", "client_instance_id", "client_software_name", "client_software_version"),
    *("client_source_address", "client_source_port"),
)
OFFSET_RESET = "share.auto.offset.reset"
_RESET = re.compile(r"earliest|latest|by_duration:P.+")


def default_name(name: str) -> str:
    """The configuration of brokers that a group's own takes its default from; itself if none."""
    named = f"group.{name}"
    return named if named in BROKER_CONFIGS else name


def check_group_configs(configs: Mapping[str, str], brokers: Mapping[str, str]) -> None:
    """Raise unless a group may have these; ``brokers`` has what was set for brokers."""
    for name, text in configs.items():
        if name not in GROUP_CONFIGS:
            raise KafkaError(ErrorCode.invalid_config, f"Unknown group config name: {name}")
        try:
            value = parse(GROUP_CONFIGS[name], text)
            if name == OFFSET_RESET and not _RESET.fullmatch(text):
                raise invalid(name, text, "it is neither earliest nor latest nor by_duration:")
        except ConfigError as error:
            raise KafkaError(ErrorCode.invalid_config, str(error)) from None
        if isinstance(value, int):
            _check_bounds(name, value, brokers)


def _check_bounds(name: str, value: int, brokers: Mapping[str, str]) -> None:
    kind, _, rest = name.partition(".")
    for bound, words in (("min", "greater"), ("max", "less")):
        by = f"group.{kind}.{bound}.{rest.removeprefix('num.')}"
        if by not in BROKER_CONFIGS:
            continue
        limit = int(brokers.get(by, BROKER_CONFIGS[by].default or 0))
        if value < limit if bound == "min" else value > limit:
            why = f"{name} must be {words} than or equal to {by}"
            raise KafkaError(ErrorCode.invalid_config, why)


def check_client_metrics(subscription: str, configs: Mapping[str, str]) -> None:
    """Raise unless a subscription of client metrics may have these."""
    if not subscription:
        raise KafkaError(ErrorCode.invalid_request, "Subscription name can't be empty")
    for name, text in configs.items():
        if name not in CLIENT_METRICS_CONFIGS:
            why = f"Unknown client metrics configuration: {name}"
            raise KafkaError(ErrorCode.invalid_request, why)
        try:
            value = parse(CLIENT_METRICS_CONFIGS[name], text)
        except ConfigError as error:
            raise KafkaError(ErrorCode.invalid_config, str(error)) from None
        if isinstance(value, int) and not LEAST_INTERVAL_MS <= value <= LARGEST_INTERVAL_MS:
            why = (
                f"Invalid value {value} for {INTERVAL_MS}, interval must be between "
                f"{LEAST_INTERVAL_MS} and {LARGEST_INTERVAL_MS} (1 hour)"
            )
            raise KafkaError(ErrorCode.invalid_request, why)
        if name == MATCH and isinstance(value, tuple):
            for pattern in value:
                _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    name, equals, expression = pattern.partition("=")
    try:
        re.compile(expression)
    except re.error:
        equals = ""
    if not equals or name.strip() not in MATCHED:
        raise KafkaError(ErrorCode.invalid_config, f"Illegal client matching pattern: {pattern}")

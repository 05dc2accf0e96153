"""The table of configurations, and what a value of one of them may be.

``topic_configs.tsv``, ``broker_configs.tsv``, ``group_configs.tsv`` and
``client_metrics_configs.tsv`` hold what Apache Kafka 4.3 lists, in the order in which it does:
name, type, default (``\\N``: null, ``\\R``: has to be given), what values are valid, and how it can
be changed. Values arrive as text; ``parse`` turns them into numbers, truth values, lists or text,
and refuses what Kafka refuses with the words that Kafka uses.

    ValueError
    └── ConfigError    a name or a value that Kafka would not take
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from importlib.resources import files
from types import MappingProxyType

Value = bool | int | float | str | tuple[str, ...] | None


class ConfigError(ValueError):
    """A name or a value that Kafka would not take; the text is Kafka's."""


class ConfigType(IntEnum):
    """The type of a configuration, with the numbers of DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value comes from, with the numbers of DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One configuration: its type, its default as text, which values it takes."""

    name: str
    type: ConfigType
    default: str | None
    valid: str
    update: str

    @property
    def internal(self) -> bool:
        """It can be set, but is not listed unless it was."""
        return self.update == "internal"

    @property
    def sensitive(self) -> bool:
        """Its value is never shown."""
        return self.type is ConfigType.PASSWORD

    @property
    def dynamic(self) -> bool:
        """A running broker takes a new value."""
        return self.update in ("cluster-wide", "per-broker")


def _read(table: str) -> Mapping[str, ConfigKey]:
    text = files("reference_impl.metadata").joinpath(table).read_text("utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return MappingProxyType(
        {
            name: ConfigKey(
                name=name,
                type=ConfigType[kind],
                default=None if default in ("\\N", "\\R") else default,
                valid=valid,
                update=update,
            )
            for name, kind, default, valid, update in rows
        }
    )


TOPIC_CONFIGS = _read("topic_configs.tsv")
BROKER_CONFIGS = _read("broker_configs.tsv")
GROUP_CONFIGS = _read("group_configs.tsv")
CLIENT_METRICS_CONFIGS = _read("client_metrics_configs.tsv")

_WHOLE = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
_COMMA = re.compile(r"\s*,\s*")
_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def invalid(name: str, value: str, why: str) -> ConfigError:
    """What Kafka says about a value that does not fit."""
    return ConfigError(f"Invalid value {value} for configuration {name}: {why}")


def parse(key: ConfigKey, text: str) -> Value:
    """The value that a text stands for, if the configuration takes it."""
    value = _typed(key, text)
    _ensure_valid(key, value)
    return value


def default_of(key: ConfigKey) -> Value:
    """The default as a value."""
    return None if key.default is None else _typed(key, key.default)


def text_of(value: Value) -> str | None:
    """A value as Kafka writes it in an answer."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return _real_text(value)
    return None if value is None else str(value)


def _real_text(value: float) -> str:
    """As Java writes it: far from one with an exponent, and always with a digit after the point."""
    if not math.isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = len(text) - 1 + int(exponent)
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def _typed(key: ConfigKey, text: str) -> Value:
    trimmed = text.strip()
    match key.type:
        case ConfigType.BOOLEAN:
            if trimmed.lower() not in ("true", "false"):
                raise invalid(key.name, text, "Expected value to be either true or false")
            return trimmed.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            return _whole(key, text, trimmed)
        case ConfigType.DOUBLE:
            if not _REAL.fullmatch(trimmed):
                raise invalid(key.name, text, "Not a number of type DOUBLE")
            return float(trimmed.rstrip("fFdD"))
        case ConfigType.LIST:
            # Kafka drops what is said twice, as dict.fromkeys does.
            return tuple(dict.fromkeys(_COMMA.split(trimmed))) if trimmed else ()
        case _:
            return trimmed


def _whole(key: ConfigKey, text: str, trimmed: str) -> int:
    limit = 1 << (_BITS[key.type] - 1)
    if not _WHOLE.fullmatch(trimmed) or not -limit <= int(trimmed) < limit:
        raise invalid(key.name, text, f"Not a number of type {key.type.name}")
    return int(trimmed)


_RANGE = re.compile(r"\[([^,]+),\.\.\.(?:,([^\]]+))?\](?: or (-?[0-9]+))?")
_REPLICA = re.compile(r"[0-9]+:[0-9]+")


def _ensure_valid(key: ConfigKey, value: Value) -> None:
    if isinstance(value, tuple):
        _ensure_list(key, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _ensure_range(key, value)
    elif isinstance(value, str) and key.valid.startswith("["):
        _ensure_one_of(key, value)


def _ensure_range(key: ConfigKey, value: int | float) -> None:
    found = _RANGE.fullmatch(key.valid)
    if found is None:
        return
    low, high, otherwise = found.groups()
    if otherwise is not None:
        if not float(low) <= value <= float(high) and value != int(otherwise):
            why = f"Value must be between {low} and {high} or equal to {otherwise}"
            raise invalid(key.name, str(value), why)
    elif value < float(low):
        raise invalid(key.name, str(value), f"Value must be at least {low}")
    elif high is not None and value > float(high):
        raise invalid(key.name, str(value), f"Value must be no more than {high}")


def _ensure_list(key: ConfigKey, value: tuple[str, ...]) -> None:
    if key.valid.startswith("[partitionId]"):
        if value != ("*",) and not all(_REPLICA.fullmatch(part) for part in value):
            why = "must be the literal '*' or a list of replicas in the following format:"
            raise invalid(key.name, f"[{', '.join(value)}]", f"{key.name} {why} {key.valid}")
        return
    if "" in value:
        raise ConfigError(f"Configuration '{key.name}' values must not be empty.")
    if key.valid.startswith("["):
        for part in value:
            _ensure_one_of(key, part)


def _ensure_one_of(key: ConfigKey, value: str) -> None:
    choices = key.valid[1:-1]
    if value not in choices.split(", "):
        raise invalid(key.name, value, f"String must be one of: {choices}")

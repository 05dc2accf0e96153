"""Configurations as DescribeConfigs shows them: the value in force and everything beneath it.

A configuration's *synonyms* are all places where it is set, the one that counts first. Which value
counts is ``metadata.effective``'s business; here it is only laid out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reference_impl.broker.settings import BrokerSettings
from reference_impl.kafka.apis import DESCRIBE_CONFIGS
from reference_impl.metadata.configs import (
    BROKER_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
    ConfigKey,
    ConfigSource,
    ConfigType,
    parse,
    text_of,
)
from reference_impl.metadata.effective import SYNONYMS, BrokerLayers, broker_synonyms, topic_values
from reference_impl.metadata.group_configs import default_name

if TYPE_CHECKING:
    from reference_impl.kafka.messages import DescribeConfigsResponse

_Result = DESCRIBE_CONFIGS.response.DescribeConfigsResourceResult
_Synonym = DESCRIBE_CONFIGS.response.DescribeConfigsSynonym


def static_configs(settings: BrokerSettings) -> dict[str, str]:
    """What a properties file of this broker would say."""
    listeners = f"PLAINTEXT://{settings.listen}"
    said = {
        "process.roles": "broker",
        "node.id": str(settings.node_id),
        "broker.id": str(settings.node_id),
        "listeners": listeners,
        "advertised.listeners": f"PLAINTEXT://{settings.advertised or settings.listen}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": settings.log_dir,
    }
    if settings.rack is not None:
        said["broker.rack"] = settings.rack
    return {**said, **settings.properties}


def topic_configs(
    own: Mapping[str, str], layers: BrokerLayers, *, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    """Every configuration of a topic with these of its own."""
    values = topic_values(own, layers)
    shown = []
    for name, key in TOPIC_CONFIGS.items():
        if key.internal and name not in own:
            continue
        text = text_of(values[name])
        synonyms = []
        if name in own:
            synonyms.append(_Synonym(name=name, value=text, source=ConfigSource.TOPIC))
        if name in SYNONYMS:
            synonyms += _broker_synonyms(SYNONYMS[name][0][0], layers)
        shown.append(_entry(key, text, synonyms, read_only=False, with_synonyms=with_synonyms))
    return shown


def broker_configs(
    layers: BrokerLayers, *, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    """Every configuration of a broker; what was set and is no configuration of Kafka's, first."""
    shown = []
    others = [name for name in layers.static if name not in BROKER_CONFIGS]
    set_ = [n for n, key in BROKER_CONFIGS.items() if key.internal and n in layers.static]
    listed = [name for name, key in BROKER_CONFIGS.items() if not key.internal]
    for name in [*others, *set_, *listed]:
        key = BROKER_CONFIGS.get(name) or _unknown(name)
        synonyms = _broker_synonyms(name, layers)
        text = None if _hidden(key) else _in_force(key, layers)
        shown.append(
            _entry(key, text, synonyms, read_only=not key.dynamic, with_synonyms=with_synonyms)
        )
    return shown


def cluster_configs(
    layers: BrokerLayers, *, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    """What was set for all brokers while they ran, and nothing else."""
    shown = []
    for name, value in layers.cluster.items():
        key = BROKER_CONFIGS.get(name) or _unknown(name)
        text = None if _hidden(key) else value
        synonyms = [_Synonym(name=name, value=text, source=ConfigSource.DYNAMIC_DEFAULT_BROKER)]
        shown.append(
            _entry(key, text, synonyms, read_only=not key.dynamic, with_synonyms=with_synonyms)
        )
    return shown


def group_configs(
    own: Mapping[str, str], layers: BrokerLayers, *, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    """Every configuration of a group with these of its own."""
    shown = []
    for name, key in GROUP_CONFIGS.items():
        under = default_name(name)
        synonyms = _own(name, own, ConfigSource.GROUP)
        if under == name:
            default = _Synonym(name=name, value=key.default, source=ConfigSource.DEFAULT)
            synonyms.append(default)
        else:
            synonyms += _broker_synonyms(under, layers)
        text = synonyms[0].value
        shown.append(_entry(key, text, synonyms, read_only=False, with_synonyms=with_synonyms))
    return shown


def client_metrics_configs(
    own: Mapping[str, str], *, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    """Every configuration of a subscription of client metrics with these of its own."""
    return [
        _entry(
            key,
            own.get(name, key.default),
            _own(name, own, ConfigSource.CLIENT_METRICS),
            read_only=False,
            with_synonyms=with_synonyms,
        )
        for name, key in CLIENT_METRICS_CONFIGS.items()
    ]


def _own(
    name: str, own: Mapping[str, str], source: ConfigSource
) -> list[DescribeConfigsResponse.DescribeConfigsSynonym]:
    return [_Synonym(name=name, value=own[name], source=source)] if name in own else []


def _unknown(name: str) -> ConfigKey:
    return ConfigKey(name=name, type=ConfigType.UNKNOWN, default=None, valid="", update="read-only")


def _hidden(key: ConfigKey) -> bool:
    """Passwords, and what nobody here knows: it might be one."""
    return key.sensitive or key.type is ConfigType.UNKNOWN


def _in_force(key: ConfigKey, layers: BrokerLayers) -> str | None:
    for _, layer in layers.set_layers():
        if key.name in layer:
            return text_of(parse(key, layer[key.name]))
    return key.default


def _broker_synonyms(
    name: str, layers: BrokerLayers
) -> list[DescribeConfigsResponse.DescribeConfigsSynonym]:
    """Where a broker configuration is set, under whichever of its names, from itself on."""
    names = broker_synonyms(name)
    found = []
    for source, layer in layers.set_layers():
        for synonym in names:
            if synonym in layer:
                key = BROKER_CONFIGS.get(synonym) or _unknown(synonym)
                text = None if _hidden(key) else layer[synonym]
                found.append(_Synonym(name=synonym, value=text, source=source))
    for synonym in names:
        default = BROKER_CONFIGS[synonym].default if synonym in BROKER_CONFIGS else None
        if default is not None:
            found.append(_Synonym(name=synonym, value=default, source=ConfigSource.DEFAULT))
    while found and found[0].name != name:
        del found[0]
    return found


def _entry(
    key: ConfigKey,
    text: str | None,
    synonyms: list[DescribeConfigsResponse.DescribeConfigsSynonym],
    *,
    read_only: bool,
    with_synonyms: bool,
) -> DescribeConfigsResponse.DescribeConfigsResourceResult:
    return _Result(
        name=key.name,
        value=text,
        read_only=read_only,
        config_source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        is_sensitive=_hidden(key),
        synonyms=synonyms if with_synonyms else [],
        config_type=key.type,
        documentation=None,
    )

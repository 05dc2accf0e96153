"""Configurations of groups, of client metrics and of loggers."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step

LOGGER, CLIENT_METRICS, GROUP = 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"configs/{name}", about=about, steps=steps)


def _described(kind: int, name: str, *keys: str, version: int = 4, **more: Any) -> Step:
    wanted = list(keys) or None
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": wanted}
    fields = {"resources": [resource], **more}
    return Step(api="describe_configs", version=version, fields=fields)


def _is(kind: int, name: str, key: str, value: str) -> Step:
    """Wait until a configuration has reached the broker, and look at it with all beneath it."""
    step = _described(kind, name, key, include_synonyms=True)
    until = {"results.0.configs.0.value": value}
    return Step(api=step.api, version=step.version, fields=step.fields, until=until)


def _changed(
    kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> Step:
    configs = [
        {"name": key, "config_operation": operation, "value": value}
        for key, operation, value in changes
    ]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    fields = {"resources": [resource], "validate_only": validate_only}
    return Step(api="incremental_alter_configs", version=1, fields=fields)


def _replaced(kind: int, name: str, **configs: str) -> Step:
    told = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
    resource = {"resource_type": kind, "resource_name": name, "configs": told}
    return Step(api="alter_configs", version=2, fields={"resources": [resource]})


TIMEOUT = "consumer.session.timeout.ms"
OF_A_GROUP = (
    (TIMEOUT, SET, "1"),
    (TIMEOUT, SET, "x"),
    (TIMEOUT, APPEND, "1"),
    ("consumer.heartbeat.interval.ms", SET, "1"),
    ("consumer.heartbeat.interval.ms", SET, "99999999"),
    ("share.auto.offset.reset", SET, "x"),
    ("share.isolation.level", SET, "x"),
    ("share.record.lock.duration.ms", SET, "1"),
    ("streams.num.standby.replicas", SET, "-1"),
    ("streams.num.standby.replicas", SET, "100"),
    ("nope", SET, "1"),
    ("nope", APPEND, "1"),
)
OF_METRICS = (
    ("interval.ms", SET, "99"),
    ("interval.ms", SET, "3600001"),
    ("interval.ms", SET, "x"),
    ("interval.ms", APPEND, "5"),
    ("metrics", APPEND, "c"),
    ("metrics", SUBTRACT, "a"),
    ("match", SET, "nope=x"),
    ("match", SET, "client_id"),
    ("match", SET, "client_id=["),
    ("nope", SET, "1"),
)
OF_LOGGERS = (
    ("root", SET, "INFO"),
    ("root", SET, "info"),
    ("root", SET, "LOUD"),
    ("root", DELETE, None),
    ("root", SUBTRACT, "INFO"),
    ("no.such.logger", SET, "INFO"),
    ("no.such.logger", DELETE, None),
    ("no.such.logger", APPEND, "INFO"),
)

SEQUENCES = (
    _story(
        "of_a_group",
        "defaults of the brokers, its own, and bounds",
        _described(GROUP, "$topic:g"),
        _described(GROUP, "$topic:g", include_synonyms=True),
        _described(GROUP, "$topic:g", TIMEOUT, "nope"),
        _described(GROUP, ""),
        *(_changed(GROUP, "$topic:g", one) for one in OF_A_GROUP),
        _changed(GROUP, "", (TIMEOUT, SET, "50000")),
        _changed(GROUP, "$topic:g", (TIMEOUT, SET, "50000"), validate_only=True),
        _changed(GROUP, "$topic:g", (TIMEOUT, SET, "50000")),
        _is(GROUP, "$topic:g", TIMEOUT, "50000"),
        _described(GROUP, "$topic:g", version=1),
        _changed(GROUP, "$topic:g", (TIMEOUT, DELETE, None)),
        _is(GROUP, "$topic:g", TIMEOUT, "45000"),
        _replaced(GROUP, "$topic:g", nope="1"),
    ),
    _story(
        "of_client_metrics",
        "a subscription, its values and what it matches",
        _described(CLIENT_METRICS, "$topic:m"),
        _described(CLIENT_METRICS, "$topic:m", "interval.ms"),
        _described(CLIENT_METRICS, ""),
        *(_changed(CLIENT_METRICS, "$topic:m", one) for one in OF_METRICS),
        _changed(CLIENT_METRICS, "", ("interval.ms", SET, "5000")),
        _changed(
            CLIENT_METRICS,
            "$topic:m",
            ("match", SET, "client_id=a.*"),
            ("metrics", SET, "a,b"),
            ("interval.ms", SET, "5000"),
        ),
        _is(CLIENT_METRICS, "$topic:m", "interval.ms", "5000"),
        _described(CLIENT_METRICS, "$topic:m"),
        _described(CLIENT_METRICS, "$topic:m", version=1, include_synonyms=True),
        _replaced(CLIENT_METRICS, "$topic:m", nope="1"),
        _replaced(CLIENT_METRICS, "$topic:m", interval_ms="6000"),
        _is(CLIENT_METRICS, "$topic:m", "interval.ms", "6000"),
        _described(CLIENT_METRICS, "$topic:m", "match"),
    ),
    _story(
        "of_loggers",
        "which changes of loggers are refused",
        *(_changed(LOGGER, "$broker:0", one, validate_only=True) for one in OF_LOGGERS),
        _changed(LOGGER, "$broker:0", validate_only=True),
        _described(LOGGER, "$broker:0", "no.such.logger"),
        _replaced(LOGGER, "$broker:0", root="INFO"),
    ),
)

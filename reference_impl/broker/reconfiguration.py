"""Values that are sound in themselves, and too far from the present ones for a running broker.

Kafka lets a pool of threads grow or shrink by a factor of two at most, and keeps what is retained
here within what is retained at all. Its words are kept, odd as they are: the reason stands where
the value should.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.configs import BROKER_CONFIGS, Value, parse
from reference_impl.metadata.effective import BrokerLayers

_POOLS = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
_CLEANERS = "log.cleaner.threads"
_DEDUPE_BYTES = "log.cleaner.dedupe.buffer.size"
_MIB = 1 << 20


def check_reconfiguration(configs: Mapping[str, str], layers: BrokerLayers) -> None:
    """Refuse what a broker with these layers cannot go over to at once."""
    new = {name: parse(BROKER_CONFIGS[name], text) for name, text in configs.items()}
    _check_cleaners(new, layers)
    for name in _POOLS:
        value = new.get(name)
        if isinstance(value, int):
            _check_pool(name, value, layers.number(name))
    for unit in ("ms", "bytes"):
        _check_local_retention(new, layers, unit)
    if new.get("max.connections") == 0:
        raise _invalid("Invalid max.connections 0")


def _invalid(why: str) -> KafkaError:
    return KafkaError(
        ErrorCode.invalid_request,
        f"Invalid value org.apache.kafka.common.config.ConfigException: {why} for configuration "
        "Invalid dynamic configuration",
    )


def _check_pool(name: str, new: int, old: int) -> None:
    failed = f"Dynamic thread count update validation failed for {name}={new}, value should"
    if new < old // 2:
        raise _invalid(f"{failed} be at least half the current value {old}")
    if new > old * 2:
        raise _invalid(f"{failed} not be greater than double the current value {old}")


def _check_cleaners(new: Mapping[str, Value], layers: BrokerLayers) -> None:
    old = layers.number(_CLEANERS)
    threads = new.get(_CLEANERS, old)
    buffer = new.get(_DEDUPE_BYTES, layers.value(_DEDUPE_BYTES))
    if not isinstance(threads, int) or not isinstance(buffer, int):
        return
    if threads == 0:
        raise KafkaError(ErrorCode.invalid_request, "/ by zero")
    if buffer // threads < _MIB:
        why = f"requirement failed: {_DEDUPE_BYTES} must be at least 1MB per cleaner thread."
        raise KafkaError(ErrorCode.invalid_request, why)
    if threads < old // 2:
        why = f"Log cleaner threads cannot be reduced to less than half the current value {old}"
        raise _invalid(why)
    if threads > old * 2:
        raise _invalid(
            f"Log cleaner threads cannot be increased to more than double the current value {old}"
        )


def _check_local_retention(new: Mapping[str, Value], layers: BrokerLayers, unit: str) -> None:
    name, whole_name = f"log.local.retention.{unit}", f"log.retention.{unit}"
    local = new.get(name)
    whole = new.get(whole_name, layers.topic_value(f"retention.{unit}"))
    if not isinstance(local, int) or not isinstance(whole, int) or whole == -1 or local == -2:
        return
    wrong = f"Invalid value {local} for configuration {name}: Value must not be"
    if local == -1:
        raise _invalid(f"{wrong} -1 as {whole_name} value is set as {whole}.")
    if local > whole:
        raise _invalid(f"{wrong} more than {whole_name} property value: {whole}")

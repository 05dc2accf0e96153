"""The configurations of tiered storage, by the names and with the defaults of the document.

Kafka's table of broker configurations has other defaults for some of them (C-37): there, what a
client is shown. What counts here is what was set, and else the document's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.metadata.configs import ConfigError
from reference_impl.metadata.effective import BrokerLayers, topic_value
from reference_impl.metadata.image import Image
from reference_impl.tiered.decisions import effective_local_retention

SYSTEM_ENABLE = "remote.log.storage.system.enable"
STORAGE_ENABLE = "remote.storage.enable"
LISTENER_NAME = "remote.log.metadata.manager.listener.name"
STORAGE_CLASS = "remote.log.storage.manager.class.name"
STORAGE_PATH = "remote.log.storage.manager.class.path"
METADATA_CLASS = "remote.log.metadata.manager.class.name"
METADATA_PATH = "remote.log.metadata.manager.class.path"
LOG_DIRS = "log.dirs"
METADATA_TOPIC = "__remote_log_metadata"
RENAMED = {"remote.log.manager.task.retry.interval.ms": "remote.log.manager.task.retry.backoff.ms"}
"""Names of an older text of the document (C-05): a warning, and no effect."""

_MIB = 1 << 20
_CACHE_MB = "remote.log.index.file.cache.total.size.mb"
_CACHE_BYTES = "remote.log.index.file.cache.total.size.bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredSettings:
    """What a broker's remote log manager goes by."""

    thread_pool_size: int = 4
    task_interval_ms: int = 30_000
    retry_backoff_ms: int = 500
    retry_backoff_max_ms: int = 30_000
    retry_jitter: float = 0.2
    reader_threads: int = 5
    reader_max_pending_tasks: int = 100
    index_cache_bytes: int = 1024 * _MIB
    fetch_max_wait_ms: int = 500
    list_offsets_timeout_ms: int = 30_000
    remover_interval_ms: int = 3_600_000
    local_check_interval_ms: int = 30_000

    @classmethod
    def of(cls, layers: BrokerLayers) -> TieredSettings:
        """What was set, the rest at the document's defaults; ConfigError for what cannot be."""
        given: dict[str, int | float] = {
            name: _number(key, text)
            for name, key in _NAMES.items()
            if (text := set_text(layers, key)) is not None
        }
        jitter = set_text(layers, "remote.log.manager.task.retry.jitter")
        if jitter is not None:
            given["retry_jitter"] = _jitter(jitter)
        given["index_cache_bytes"] = index_cache_size(
            _if_set(layers, _CACHE_BYTES), _if_set(layers, _CACHE_MB), 1024 * _MIB
        )
        made = cls(**given)  # type: ignore[arg-type]
        check_ms = layers.number("log.retention.check.interval.ms")
        interval_ms = min(made.task_interval_ms, check_ms)
        return cls(**{**given, "local_check_interval_ms": interval_ms})  # type: ignore[arg-type]


_NAMES: Mapping[str, str] = {
    "thread_pool_size": "remote.log.manager.thread.pool.size",
    "task_interval_ms": "remote.log.manager.task.interval.ms",
    "retry_backoff_ms": "remote.log.manager.task.retry.backoff.ms",
    "retry_backoff_max_ms": "remote.log.manager.task.retry.backoff.max.ms",
    "reader_threads": "remote.log.reader.threads",
    "reader_max_pending_tasks": "remote.log.reader.max.pending.tasks",
    "fetch_max_wait_ms": "remote.fetch.max.wait.ms",
    "list_offsets_timeout_ms": "remote.list.offsets.request.timeout.ms",
    "remover_interval_ms": "remote.partition.remover.task.interval.ms",
}


@decision("index-cache-size", rules=("TS-140",))
def index_cache_size(in_bytes: int | None, in_mb: int | None, usual: int) -> int:
    """Bytes, by the name that Kafka has for them, or the document's megabytes."""
    if in_bytes is not None:
        return in_bytes
    return usual if in_mb is None else in_mb * _MIB


@decision("jitter-allowed", rules=("TS-140",))
def jitter_allowed(jitter: float) -> bool:
    """Up to a half: a retry is never sooner than half of what it waits."""
    return 0 <= jitter <= 0.5


@decision("copies-topic", rules=("TS-099",))
def copies_topic(enabled: bool) -> bool:
    """A topic is tiered if it says so itself."""
    return enabled


@decision("one-log-dir", rules=("TS-142",))
def one_log_dir(dirs: int) -> bool:
    """Tiered storage goes with one directory, or the default one (C-38)."""
    return dirs <= 1


def set_text(layers: BrokerLayers, name: str) -> str | None:
    """What was set for a broker under a name, whether or not Kafka knows the name."""
    return next((layer[name] for _, layer in layers.set_layers() if name in layer), None)


def all_set(layers: BrokerLayers) -> dict[str, str]:
    """Everything that was set for a broker; what was set while it runs counts more."""
    found: dict[str, str] = {}
    for _, layer in reversed(layers.set_layers()):
        found.update(layer)
    return found


def _if_set(layers: BrokerLayers, name: str) -> int | None:
    text = set_text(layers, name)
    return None if text is None else _number(name, text)


def _number(name: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ConfigError(f"Invalid value {text} for configuration {name}: at least 1 is needed")
    return value


def _jitter(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not jitter_allowed(value):
        name = "remote.log.manager.task.retry.jitter"
        raise ConfigError(f"Invalid value {text} for configuration {name}: 0 to 0.5 is allowed")
    return value


def is_enabled(layers: BrokerLayers) -> bool:
    """Whether a broker has tiered storage at all."""
    return layers.value(SYSTEM_ENABLE) is True


def check_broker(layers: BrokerLayers) -> None:
    """Refuse what tiered storage does not support (C-38), before the broker starts."""
    dirs = [one for one in (set_text(layers, LOG_DIRS) or "").split(",") if one.strip()]
    if not one_log_dir(len(dirs)):
        raise ConfigError(
            f"{SYSTEM_ENABLE}=true is not supported with more than one directory in {LOG_DIRS}: "
            f"{','.join(dirs)}"
        )


class TopicRetention(NamedTuple):
    """What is kept of a topic, at all and on each disk; −1 is without limit."""

    ms: int
    bytes: int
    local_ms: int
    local_bytes: int


class TopicSettings:
    """What the configurations of topics come to on one broker, as they are now."""

    def __init__(self, image: Image, layers: BrokerLayers) -> None:
        self._image = image
        self._layers = layers

    def tiered(self, topic: str) -> bool:
        """Whether a topic's segments are copied; the metadata topic's never are."""
        if topic == METADATA_TOPIC:
            return False
        return copies_topic(topic_value(self._image, self._layers, topic, STORAGE_ENABLE) is True)

    def retention(self, topic: str) -> TopicRetention:
        """Its retention in both units, and that of its local segments (C-09)."""
        return TopicRetention(
            self._of(topic, "retention.ms"),
            self._of(topic, "retention.bytes"),
            self._local(topic, "ms"),
            self._local(topic, "bytes"),
        )

    def _local(self, topic: str, unit: str) -> int:
        own = self._image_value(topic, f"local.retention.{unit}")
        log_retention = self._layers.topic_value(f"retention.{unit}")
        return effective_local_retention(
            own,
            self._layers.number(f"log.local.retention.{unit}"),
            _whole(log_retention),
            self._of(topic, f"retention.{unit}"),
        )

    def _image_value(self, topic: str, name: str) -> int:
        """What the topic says itself; −2 where it says nothing."""
        return _whole(topic_value(self._image, BrokerLayers(), topic, name))

    def _of(self, topic: str, name: str) -> int:
        return _whole(topic_value(self._image, self._layers, topic, name))


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise ConfigError(f"{value!r} is no whole number")
    return value

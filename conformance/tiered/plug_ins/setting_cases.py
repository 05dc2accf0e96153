"""What settings come to: names and defaults, constraints, plug-ins and what they are given.

What was set is said as `name=value`; a name of its own is asked for, as the broker goes by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import Bench, Case
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.ports import Address
from reference_impl.tiered.plug_ins import (
    load_class,
    metadata_class_name,
    metadata_configs,
    storage_class_name,
    storage_configs,
)
from reference_impl.tiered.settings import TieredSettings, check_broker, is_enabled
from reference_impl.tiered.topic_settings import TopicMetadataSettings

# What the broker goes by, for each name of the document.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "remote.log.index.file.cache.total.size.mb": "index_cache_bytes",
        "remote.log.manager.thread.pool.size": "thread_pool_size",
        "remote.log.manager.task.interval.ms": "task_interval_ms",
        "remote.log.manager.task.retry.backoff.ms": "retry_backoff_ms",
        "remote.log.manager.task.retry.backoff.max.ms": "retry_backoff_max_ms",
        "remote.log.manager.task.retry.jitter": "retry_jitter",
        "remote.log.reader.threads": "reader_threads",
        "remote.log.reader.max.pending.tasks": "reader_max_pending_tasks",
    }
)
_STORAGE = "remote.log.storage.manager.class.name"
_METADATA = "remote.log.metadata.manager.class.name"
_LISTENER = "remote.log.metadata.manager.listener.name"
_KAFKAS = "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"


def _layers(*said: str) -> BrokerLayers:
    return BrokerLayers(static=dict(one.split("=", 1) for one in said))


def _setting(name: str, *said: str) -> Case:
    async def case(bench: Bench) -> str:
        return str(getattr(TieredSettings.of(_layers(*said)), FIELDS[name]))

    return case


def _enabled(*said: str) -> Case:
    async def case(bench: Bench) -> str:
        return str(is_enabled(_layers(*said))).lower()

    return case


def _dirs(dirs: str) -> Case:
    async def case(bench: Bench) -> str:
        check_broker(_layers(*([f"log.dirs={dirs}"] if dirs else [])))
        return "accepted"

    return case


def _storage_class(*said: str) -> Case:
    async def case(bench: Bench) -> str:
        return storage_class_name(_layers(*said))

    return case


def _metadata_class(*said: str) -> Case:
    async def case(bench: Bench) -> str:
        return metadata_class_name(_layers(*said)).rpartition(".")[2]

    return case


def _given(family: str, *said: str) -> Case:
    async def case(bench: Bench) -> str:
        layers = _layers(*said)
        if family == "storage":
            found = storage_configs(layers, cluster_id="c", broker_id=7)
        else:
            at = Address("host", 9092)
            found = metadata_configs(layers, cluster_id="c", broker_id=7, log_dir="/d", listener=at)
        return " ".join(f"{name}={found[name]}" for name in sorted(found))

    return case


def _topic(name: str, *said: str) -> Case:
    async def case(bench: Bench) -> str:
        given = dict(one.split("=", 1) for one in said)
        return str(getattr(TopicMetadataSettings.of(given), name))

    return case


def _client(kind: str, *said: str) -> Case:
    async def case(bench: Bench) -> str:
        given = dict(f"remote.log.metadata.{one}".split("=", 1) for one in said)
        told = getattr(TopicMetadataSettings.of(given), kind)
        return f"{told.request_timeout_ms} {told.max_partition_fetch_bytes}"

    return case


async def _class_path(bench: Bench) -> str:
    """A class that only its own path has; nothing of the path is left for others."""
    (bench.folder / "a_plug_in.py").write_text("class Store:\n    kind = 'from the path'\n")
    found = load_class("a_plug_in.Store", str(bench.folder))
    try:
        load_class("a_plug_in.Store")
    except ValueError:
        return f"{found.kind}, and nowhere else"
    return f"{found.kind}, and elsewhere"


async def _no_class(bench: Bench) -> str:
    load_class("no.such.Plug")
    return "loaded"


_OF_STORAGE = (
    "remote.log.storage.retries=3",
    "rsm.config.remote.log.storage.retries=4",
    "rsm.config.key.prefix=tier",
    "rlmm.config.key.prefix=other",
    "rsm.config.cluster.id=mine",
)
_OF_METADATA = (
    "remote.log.metadata.topic.num.partitions=50",
    "rlmm.config.remote.log.metadata.topic.num.partitions=5",
    "rsm.config.key.prefix=tier",
    "rlmm.config.bootstrap.servers=elsewhere:1",
)
_OF_CLIENTS = (
    "producer.request.timeout.ms=7",
    "common.client.request.timeout.ms=5",
    "consumer.max.partition.fetch.bytes=9",
    "common.client.max.partition.fetch.bytes=3",
)

SETTING_CASES: Mapping[str, Case] = MappingProxyType(
    {
        **{f"default/{name}": _setting(name) for name in FIELDS},
        **{
            f"set/{name}": _setting(name, f"{name}=0.5" if "jitter" in name else f"{name}=7")
            for name in FIELDS
        },
        **{f"below/{name}": _setting(name, f"{name}=-1") for name in FIELDS},
        "beyond/remote.log.manager.task.retry.jitter": _setting(
            "remote.log.manager.task.retry.jitter", "remote.log.manager.task.retry.jitter=0.51"
        ),
        "set/in-bytes": _setting(
            "remote.log.index.file.cache.total.size.mb",
            "remote.log.index.file.cache.total.size.bytes=4096",
            "remote.log.index.file.cache.total.size.mb=7",
        ),
        "system/default": _enabled(),
        "system/on": _enabled("remote.log.storage.system.enable=true"),
        "log-dirs/default": _dirs(""),
        "log-dirs/one": _dirs("/data"),
        "log-dirs/two": _dirs("/data,/more"),
        "class/storage-missing": _storage_class(),
        "class/storage": _storage_class(f"{_STORAGE}=a.B"),
        "class/metadata-default": _metadata_class(f"{_LISTENER}=PLAINTEXT"),
        "class/metadata-kafkas": _metadata_class(f"{_METADATA}={_KAFKAS}", f"{_LISTENER}=P"),
        "class/metadata-own": _metadata_class(f"{_METADATA}=a.B"),
        "class/listener-missing": _metadata_class(),
        "class/path": _class_path,
        "class/none": _no_class,
        "given/storage": _given("storage", *_OF_STORAGE),
        "given/metadata": _given("metadata", *_OF_METADATA),
        "clients/untold": _client("producer"),
        "clients/producer": _client("producer", *_OF_CLIENTS),
        "clients/consumer": _client("consumer", *_OF_CLIENTS),
        "clients/no-number": _client("consumer", "common.client.request.timeout.ms=soon"),
        "topic/partitions": _topic("partitions"),
        "topic/replicas": _topic("replication_factor"),
        "topic/retention": _topic("retention_ms"),
        "topic/partitions-set": _topic("partitions", "remote.log.metadata.topic.num.partitions=5"),
    }
)

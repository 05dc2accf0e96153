"""Names and defaults of the document; retention of topics; what a broker refuses to start with."""

from __future__ import annotations

import pytest

from reference_impl.metadata.configs import ConfigError
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import ConfigSet, ResourceType
from reference_impl.tiered.settings import (
    TieredSettings,
    TopicRetention,
    TopicSettings,
    check_broker,
    is_enabled,
)

DAY_MS = 24 * 3600 * 1000


def set_to(**values: str) -> BrokerLayers:
    return BrokerLayers(static={name.replace("_", "."): value for name, value in values.items()})


def test_unset_the_documents_defaults_count_and_not_kafkas() -> None:
    assert TieredSettings.of(BrokerLayers()) == TieredSettings(
        thread_pool_size=4,
        task_interval_ms=30_000,
        retry_backoff_ms=500,
        retry_backoff_max_ms=30_000,
        retry_jitter=0.2,
        reader_threads=5,
        reader_max_pending_tasks=100,
        index_cache_bytes=1024 << 20,
        fetch_max_wait_ms=500,
        list_offsets_timeout_ms=30_000,
        remover_interval_ms=3_600_000,
    )


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("remote.log.manager.thread.pool.size", "2", "thread_pool_size", 2),
        ("remote.log.manager.task.interval.ms", "100", "task_interval_ms", 100),
        ("remote.log.manager.task.retry.backoff.ms", "7", "retry_backoff_ms", 7),
        ("remote.log.manager.task.retry.interval.ms", "7", "retry_backoff_ms", 500),  # C-05
        ("remote.log.manager.task.retry.backoff.max.ms", "9", "retry_backoff_max_ms", 9),
        ("remote.log.manager.task.retry.jitter", "0.5", "retry_jitter", 0.5),
        ("remote.log.reader.threads", "10", "reader_threads", 10),
        ("remote.log.reader.max.pending.tasks", "3", "reader_max_pending_tasks", 3),
        ("remote.log.index.file.cache.total.size.mb", "2", "index_cache_bytes", 2 << 20),
        ("remote.log.index.file.cache.total.size.bytes", "2", "index_cache_bytes", 2),
        ("remote.partition.remover.task.interval.ms", "5", "remover_interval_ms", 5),
        ("log.retention.check.interval.ms", "5", "local_check_interval_ms", 5),
    ],
)
def test_what_was_set_counts(name: str, text: str, field: str, value: float) -> None:
    assert getattr(TieredSettings.of(BrokerLayers(static={name: text})), field) == value


def test_the_size_in_bytes_wins_over_the_one_in_megabytes() -> None:
    both = set_to(
        remote_log_index_file_cache_total_size_mb="2",
        remote_log_index_file_cache_total_size_bytes="77",
    )
    assert TieredSettings.of(both).index_cache_bytes == 77


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("remote.log.manager.thread.pool.size", "0"),
        ("remote.log.manager.task.interval.ms", "soon"),
        ("remote.log.manager.task.retry.jitter", "0.6"),
        ("remote.log.manager.task.retry.jitter", "-0.1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        TieredSettings.of(BrokerLayers(static={name: text}))


def topics(layers: BrokerLayers, **configs: str) -> TopicSettings:
    image = Image()
    for name, value in configs.items():
        image.apply(
            ConfigSet(
                resource_type=ResourceType.TOPIC,
                resource_name="orders",
                key=name.replace("_", "."),
                value=value,
            )
        )
    return TopicSettings(image, layers)


@pytest.mark.parametrize(
    ("layers", "configs", "kept"),
    [
        (set_to(), {}, (7 * DAY_MS, -1, 7 * DAY_MS, -1)),
        (set_to(), {"retention_ms": str(30 * DAY_MS)}, (30 * DAY_MS, -1, 7 * DAY_MS, -1)),
        (set_to(), {"retention_ms": "3600000"}, (3_600_000, -1, 3_600_000, -1)),
        (set_to(log_retention_hours="1"), {"retention_ms": "-1"}, (-1, -1, 3_600_000, -1)),
        (set_to(log_local_retention_ms="5"), {}, (7 * DAY_MS, -1, 5, -1)),
        (set_to(log_local_retention_ms="5"), {"local_retention_ms": "9"}, (7 * DAY_MS, -1, 9, -1)),
        (
            set_to(log_retention_bytes="50"),
            {"retention_bytes": "80"},
            (7 * DAY_MS, 80, 7 * DAY_MS, 50),
        ),
    ],
)
def test_local_retention_comes_from_the_topic_the_broker_or_retention(
    layers: BrokerLayers, configs: dict[str, str], kept: tuple[int, ...]
) -> None:
    assert topics(layers, **configs).retention("orders") == TopicRetention(*kept)


def test_only_topics_that_ask_for_it_are_tiered_and_never_the_metadata_topic() -> None:
    asked = topics(set_to(), remote_storage_enable="true")
    assert (asked.tiered("orders"), asked.tiered("other")) == (True, False)
    assert not asked.tiered("__remote_log_metadata")


def test_a_broker_with_several_directories_does_not_start() -> None:
    check_broker(set_to(log_dirs="/a"))
    with pytest.raises(ConfigError, match=r"system\.enable.*log\.dirs"):
        check_broker(set_to(log_dirs="/a, /b"))


def test_tiered_storage_is_off_unless_it_is_enabled() -> None:
    assert not is_enabled(set_to())
    assert is_enabled(set_to(remote_log_storage_system_enable="true"))

"""Tiered storage of a broker, put together from its configuration.

A broker has it if `remote.log.storage.system.enable` is true. The plug-ins are those that are
configured; a simulation may bring a metadata manager of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference_impl.metadata.effective import BrokerLayers
from reference_impl.partitions.catalog import Storage, StorageContext, StorageFactory
from reference_impl.partitions.views import RegionKind
from reference_impl.ports.log_lines import Lines
from reference_impl.tiered.aux_state import AuxiliaryState
from reference_impl.tiered.index_cache import IndexCache
from reference_impl.tiered.manager import RemoteLogManager
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.metered_storage import MeteredStorage
from reference_impl.tiered.meters import READER_IDLE, READER_QUEUE, TieredMeters
from reference_impl.tiered.plug_ins import (
    load_class,
    metadata_class_name,
    metadata_configs,
    storage_class_name,
    storage_configs,
)
from reference_impl.tiered.reader_pool import ReaderPool
from reference_impl.tiered.reading import TieredStore
from reference_impl.tiered.remote_indexes import RemoteIndexes
from reference_impl.tiered.remover import RemotePartitionRemover
from reference_impl.tiered.settings import (
    METADATA_PATH,
    RENAMED,
    STORAGE_PATH,
    TieredSettings,
    TopicSettings,
    check_broker,
    is_enabled,
    set_text,
)
from reference_impl.tiered.storage import RemoteStorageManager
from reference_impl.tiered.tier import Tier

MakeMetadata = Callable[[StorageContext], RemoteLogMetadataManager]


def configured_storages(properties: Mapping[str, str]) -> Sequence[StorageFactory]:
    """What a broker with these properties keeps beside its logs."""
    return [tiered_storage] if is_enabled(BrokerLayers(static=properties)) else []


def tiered_storage(
    context: StorageContext, *, make_metadata: MakeMetadata | None = None
) -> Storage:
    """The remote log manager; ConfigError if its configuration is not one it can start with."""

    def settings() -> TieredSettings:
        return TieredSettings.of(context.layers())

    layers = context.layers()
    check_broker(layers)
    for name, known in RENAMED.items():
        if set_text(layers, name) is not None:
            context.ports.log(Lines.UNKNOWN_SETTING, name=name, known=known)
    meters = TieredMeters(context.metrics)
    storage = MeteredStorage(_storage(context, layers), meters)
    metadata = (make_metadata or _metadata)(context)
    cache = IndexCache(context.ports.disk, "", lambda: settings().index_cache_bytes)
    indexes = RemoteIndexes(storage, cache)
    tier = Tier(
        ports=context.ports,
        storage=storage,
        metadata=metadata,
        meters=meters,
        settings=settings,
        topics=lambda: TopicSettings(context.image, context.layers()),
        checkpoint=context.checkpoint,
        forget_indexes=indexes.drop,
    )
    pool = _reader_pool(tier)
    return RemoteLogManager(
        tier,
        stores={RegionKind.TIERED: TieredStore(tier, indexes, pool)},
        remote_aux=AuxiliaryState(tier, pool),
        services=[RemotePartitionRemover(tier, context.image)],
        configure=lambda: _configure_metadata(context, metadata),
    )


def _reader_pool(tier: Tier) -> ReaderPool:
    """The readers of remote segments, and their two metrics."""
    now_ns = tier.ports.clock.monotonic_ns
    pool = ReaderPool(
        lambda: tier.settings().reader_threads,
        lambda: tier.settings().reader_max_pending_tasks,
        now_ns,
    )
    tier.meters.gauge(READER_QUEUE, lambda: pool.task_queue_size)
    tier.meters.idle(READER_IDLE, pool, lambda: tier.settings().reader_threads, now_ns)
    return pool


def _storage(context: StorageContext, layers: BrokerLayers) -> RemoteStorageManager:
    plug_in = load_class(storage_class_name(layers), set_text(layers, STORAGE_PATH))
    storage: RemoteStorageManager = plug_in(context.ports)
    storage.configure(
        storage_configs(layers, cluster_id=context.cluster_id, broker_id=context.broker_id)
    )
    return storage


def _metadata(context: StorageContext) -> RemoteLogMetadataManager:
    layers = context.layers()
    plug_in = load_class(metadata_class_name(layers), set_text(layers, METADATA_PATH))
    metadata: RemoteLogMetadataManager = plug_in(context)
    return metadata


def _configure_metadata(context: StorageContext, metadata: RemoteLogMetadataManager) -> None:
    """Once the broker listens: only then it is known where."""
    metadata.configure(
        metadata_configs(
            context.layers(),
            cluster_id=context.cluster_id,
            broker_id=context.broker_id,
            log_dir=context.log_dir,
            listener=context.listening(),
        )
    )

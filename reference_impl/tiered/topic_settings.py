"""What the metadata manager on the topic is configured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reference_impl.ports import Address
from reference_impl.tiered.partitioner import PARTITIONERS, Partitioner

NUM_PARTITIONS: Final = "remote.log.metadata.topic.num.partitions"
REPLICATION_FACTOR: Final = "remote.log.metadata.topic.replication.factor"
RETENTION_MS: Final = "remote.log.metadata.topic.retention.ms"
PARTITIONER: Final = "remote.log.metadata.topic.partitioner"
BOOTSTRAP: Final = "bootstrap.servers"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadataSettings:
    """The topic as it is created (C-37), how events are spread over it (C-32), and waits."""

    partitions: int = 50
    replication_factor: int = 3
    retention_ms: int = -1
    partitioner: Partitioner = PARTITIONERS["name"]
    bootstrap: Address | None = None
    publish_timeout_s: float = 30.0
    retry_s: float = 0.5
    save_interval_ns: int = 60 * 10**9

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> TopicMetadataSettings:
        """As ``configure`` gets them (C-21); a ValueError for what is none of the known values."""
        partitioner = configs.get(PARTITIONER, "name")
        if partitioner not in PARTITIONERS:
            raise ValueError(f"{PARTITIONER} is {' or '.join(PARTITIONERS)}, not {partitioner}")
        usual = cls()
        host, _, port = configs.get(BOOTSTRAP, "").rpartition(":")
        return cls(
            partitions=int(configs.get(NUM_PARTITIONS, usual.partitions)),
            replication_factor=int(configs.get(REPLICATION_FACTOR, usual.replication_factor)),
            retention_ms=int(configs.get(RETENTION_MS, usual.retention_ms)),
            partitioner=PARTITIONERS[partitioner],
            bootstrap=Address(host, int(port)) if host else None,
        )

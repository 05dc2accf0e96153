"""What the metadata manager on the topic is configured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from reference_impl.decisions import decision
from reference_impl.ports import Address
from reference_impl.tiered.partitioner import PARTITIONERS, Partitioner

NUM_PARTITIONS: Final = "remote.log.metadata.topic.num.partitions"
REPLICATION_FACTOR: Final = "remote.log.metadata.topic.replication.factor"
RETENTION_MS: Final = "remote.log.metadata.topic.retention.ms"
PARTITIONER: Final = "remote.log.metadata.topic.partitioner"
BOOTSTRAP: Final = "bootstrap.servers"
OF_ALL_CLIENTS: Final = "remote.log.metadata.common.client."
OF_PRODUCER: Final = "remote.log.metadata.producer."
OF_CONSUMER: Final = "remote.log.metadata.consumer."


@decision("metadata-client-settings", rules=("TS-141",))
def client_settings(configs: Mapping[str, str], prefix: str) -> dict[str, str]:
    """What a client of the manager is told, without prefixes: its own settings win over those of
    all clients."""
    return {
        name.removeprefix(one): value
        for one in (OF_ALL_CLIENTS, prefix)
        for name, value in configs.items()
        if name.startswith(one)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Of the clients' settings of Kafka those that make a difference here; others have none."""

    request_timeout_ms: int = 10_000
    max_partition_fetch_bytes: int = 1 << 20
    fetch_max_bytes: int = 10 << 20

    @classmethod
    def of(cls, configs: Mapping[str, str], prefix: str) -> ClientSettings:
        """As they are among the configs of the manager; a ValueError for what is no number."""
        told = client_settings(configs, prefix)
        known = {one.name: told.get(one.name.replace("_", ".")) for one in fields(cls)}
        return cls(**{name: int(value) for name, value in known.items() if value is not None})

    @property
    def timeout_s(self) -> float:
        """How long an answer is waited for."""
        return self.request_timeout_ms / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMetadataSettings:
    """The topic as it is created (C-37), how events are spread over it (C-32), and waits."""

    partitions: int = 50
    replication_factor: int = 3
    retention_ms: int = -1
    partitioner: Partitioner = PARTITIONERS["name"]
    bootstrap: Address | None = None
    producer: ClientSettings = ClientSettings()
    consumer: ClientSettings = ClientSettings()
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
            producer=ClientSettings.of(configs, OF_PRODUCER),
            consumer=ClientSettings.of(configs, OF_CONSUMER),
        )

"""What a broker is told when it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reference_impl.metrics.endpoint import MetricsSettings
from reference_impl.ports import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Who it is, where it listens, whom it obeys; everything else by Kafka's property names.

    ``room`` gives the bytes of the disk and those still free, where somebody knows them. Setting
    ``stop`` is a controlled shutdown; a broker whose task is cancelled has crashed. ``announce`` is
    told once where clients find it and where it really listens, as soon as they may come.
    """

    node_id: int
    cluster_id: str
    listen: Address
    controller: Address
    advertised: Address | None = None
    rack: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    log_dir: str = "/tmp/kafka-logs"
    room: Callable[[], tuple[int, int]] | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    announce: Callable[[Address, Address], None] | None = None
    metrics: MetricsSettings = field(default_factory=MetricsSettings)

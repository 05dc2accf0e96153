"""What each deployment offers at most, as data for tests and tables.

The control plane is PostgreSQL and the store an S3 server where they are processes. A cluster by
address offers what its hooks do; clients are the lab's own, killed and paused everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.deployments.deployment import Role

_NODES = frozenset({"kill", "stop", "wipe", "pause"})
_CUTS = frozenset({"cut"})
_PACKETS = _CUTS | {"lose_packets"}
_LINKS = _CUTS | {"delay"}
_CALLS = frozenset(
    {
        "refuse",
        "slow",
        "fail",
        "disturb",
        "lose_replies",
        "drop_requests",
        "hold",
        "damage",
        "fail_writes",
        "kill_service",
    }
)
_FOLDER = frozenset({"fail"})  # that Apache Kafka tiers to, which is out of reach for a while
_DISKS = frozenset({"disk_full", "disk_slow", "disk_failing", "sync_failing"})
_SIMULATED = frozenset({"lose_power", "shift_clock", "drift_clock", "at_effect"})
_STORE = frozenset({Role.OBJECT_STORE})
_SERVICES = _STORE | {Role.CONTROL_PLANE}


@dataclass(frozen=True, slots=True)
class Offer:
    """Levers, and the services that they act on."""

    levers: frozenset[str]
    services: frozenset[Role] = frozenset()


OFFERS: Mapping[tuple[str, str], Offer] = MappingProxyType(
    {
        ("sim", "reference"): Offer(_NODES | _LINKS | _CALLS | _DISKS | _SIMULATED, _SERVICES),
        ("process", "reference"): Offer(_NODES | _LINKS | _CALLS, _SERVICES),
        ("process", "Apache Kafka"): Offer(_NODES | _LINKS | _FOLDER, _STORE),
        ("docker", "reference"): Offer(_NODES | _PACKETS | _CALLS | {"disk_full"}, _SERVICES),
        ("docker", "Apache Kafka"): Offer(_NODES | _PACKETS | _FOLDER, _STORE),
        ("external", "with hooks"): Offer(
            frozenset({"kill", "wipe", "pause", "lose_replies"}) | _LINKS,
            frozenset({Role.CONTROL_PLANE}),
        ),
        ("external", "by address"): Offer(frozenset()),
    }
)

"""Which levers each deployment offers, as data: the tests of a deployment compare it with what acts.

The control plane is PostgreSQL and the store an S3 server where they are processes. A cluster by
address offers what its hooks do; `kill` and `pause` of clients are offered everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NODES = frozenset({"kill", "stop", "wipe", "pause"})
_LINKS = frozenset({"cut", "delay"})
_CALLS = frozenset({"refuse", "slow", "fail", "lose_replies", "drop_requests", "hold"})
_SIMULATED = frozenset(
    {
        "lose_power",
        "conflicts",
        "disk_full",
        "disk_slow",
        "disk_failing",
        "sync_failing",
        "shift_clock",
        "drift_clock",
    }
)

OFFERS: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        ("sim", "reference"): _NODES | _LINKS | _CALLS | {"damage"} | _SIMULATED,
        ("process", "reference"): _NODES | _LINKS | _CALLS | {"kill_service", "damage"},
        ("process", "Apache Kafka"): _NODES | {"cut"},
        ("docker", "Apache Kafka"): _NODES,
        ("external", "hooks"): _NODES - {"stop"} | {"lose_replies"},
        ("external", "address"): frozenset(),
    }
)

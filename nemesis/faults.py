"""The table of all faults."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nemesis import clocks, control_plane, disks, effects, links, nodes, object_store
from nemesis.fault import Fault

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.name: fault
        for role in (nodes, links, object_store, control_plane, disks, clocks, effects)
        for fault in role.FAULTS
    }
)

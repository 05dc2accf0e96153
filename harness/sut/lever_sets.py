"""Fixed sets of levers: how far the lab can reach into a system.

What a run detects depends on what it may do. Systems that the lab starts itself offer all levers;
one of a SUT file offers those of its hooks. The reference can be limited to a set, to measure what
a run detects with so much and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

ALL = "all"
ADDRESS = "address"
PROCESS_HOOK = "process-hook"
PROCESS_HOOK_AND_CUTS = "process-hook-and-cuts"

_HOOK = frozenset({"kill", "wipe", "pause"})

LEVER_SETS: Mapping[str, frozenset[str] | None] = MappingProxyType(
    {
        ADDRESS: frozenset(),
        PROCESS_HOOK: _HOOK,
        PROCESS_HOOK_AND_CUTS: _HOOK | {"cut", "delay"},
        ALL: None,
    }
)
"""From the least to the most; None stands for whatever a deployment offers."""

SAID: Mapping[str, str] = MappingProxyType(
    {
        ADDRESS: "by address alone",
        PROCESS_HOOK: "with a process hook",
        PROCESS_HOOK_AND_CUTS: "with a process hook and cuts",
        ALL: "with all levers",
    }
)


def reach(offered: Iterable[str], *, started: bool) -> str:
    """The largest set that is offered whole; all of them only where the lab starts the system."""
    there = frozenset(offered)
    found = [name for name, has in LEVER_SETS.items() if has is not None and has <= there]
    return ALL if started and found[-1] == PROCESS_HOOK_AND_CUTS else found[-1]

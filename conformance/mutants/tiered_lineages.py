"""Tiered storage that mixes up lineages, which shows when elections were unclean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.log.decisions import EpochEntry
from reference_impl.replication.decisions import EpochEnd
from reference_impl.tiered.segment_cache import EpochRange

STAGE = "divergence"
SHOWN: Mapping[str, str] = MappingProxyType({})
OTHERWISE = ""


def _to_the_end(
    start_offset: int, end_offset: int, epochs: tuple[EpochEntry, ...]
) -> tuple[EpochRange, ...]:
    return tuple(
        EpochRange(one.epoch, max(one.start_offset, start_offset), end_offset) for one in epochs
    )


def _ends_with_the_log(
    entries: Sequence[EpochEntry], epoch: int, log_end_offset: int
) -> tuple[int, int]:
    if not entries or not entries[0].epoch <= epoch <= entries[-1].epoch:
        return -1, -1
    return epoch, log_end_offset


def _parts_where_it_is_longer(fetched: EpochEnd, ours: EpochEnd, log_start_offset: int) -> Any:
    found = original("route-diverging")(fetched, ours, log_start_offset)
    return found if ours.end_offset < fetched.end_offset else None


MUTANTS = (
    Mutant(
        name="positions-have-no-epoch",
        decision="route-diverging",
        replace=lambda fetched, ours, log_start_offset: None,
        rules=("TS-039",),
        why="an offset that the log has is given what stands there",
    ),
    Mutant(
        name="longer-logs-have-no-end",
        decision="route-diverging",
        replace=_parts_where_it_is_longer,
        rules=("TS-039",),
        why="logs part where the shorter one ends",
    ),
    Mutant(
        name="epochs-end-with-the-log",
        decision="end-offset-for-epoch",
        replace=_ends_with_the_log,
        rules=("TS-034", "TS-044"),
        why="an epoch is asked about by its leader",
    ),
    Mutant(
        name="segments-are-served-whole",
        decision="batch-of-lineage",
        replace=lambda batch_epoch, cached_epoch: True,
        rules=("TS-034",),
        why="the segment was found by offset and epoch, so all of it is meant",
    ),
    Mutant(
        name="epochs-reach-to-the-end",
        decision="tiered-epoch-ranges",
        replace=_to_the_end,
        rules=("TS-037",),
        why="an epoch that begins in a segment is taken to end with it",
    ),
)

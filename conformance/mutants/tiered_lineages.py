"""Tiered storage that mixes up lineages, which shows when elections were unclean."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reference_impl.decisions import Mutant
from reference_impl.log.decisions import EpochEntry
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


MUTANTS = (
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

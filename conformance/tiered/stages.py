"""The stages of the profile `tiered`: one entry each, with a deployment of its own."""

from __future__ import annotations

from conformance.classic.stages import Stage, StagePlayed, StageRun
from conformance.tiered import divergence, faults, tiers


def _tiers(given: StageRun) -> StagePlayed:
    """Clients of tiered logs while nothing goes wrong."""
    from conformance.tiered.lab import record_tiers

    return record_tiers(given)


def _faults(given: StageRun) -> StagePlayed:
    """The store fails, leaders fall, followers lose their disks."""
    from conformance.tiered.lab import record_faults

    return record_faults(given)


def _divergence(given: StageRun) -> StagePlayed:
    """Unclean elections leave segments of several lineages."""
    from conformance.tiered.lab import record_divergence

    return record_divergence(given)


STAGES: tuple[Stage, ...] = (
    Stage(name=tiers.STAGE, parts=tuple, record=_tiers),
    Stage(name=faults.STAGE, parts=faults.planned_parts, record=_faults),
    Stage(name=divergence.STAGE, parts=tuple, record=_divergence),
)

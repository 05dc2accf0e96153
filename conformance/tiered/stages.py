"""The stages of the profile `tiered`: one entry each, with a deployment of its own."""

from __future__ import annotations

from conformance.classic.stages import Stage, StagePlayed, StageRun
from conformance.tiered import tiers


def _tiers(given: StageRun) -> StagePlayed:
    """Clients of tiered logs while nothing goes wrong."""
    from conformance.tiered.lab import record_tiers

    return record_tiers(given)


STAGES: tuple[Stage, ...] = (Stage(name=tiers.STAGE, parts=tuple, record=_tiers),)

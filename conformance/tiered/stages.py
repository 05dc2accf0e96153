"""The stages of the profile `tiered`: one entry each, with a deployment of its own."""

from __future__ import annotations

from conformance.classic.stages import Stage, StagePlayed, StageRun
from conformance.tiered import divergence, faults, store_faults, tiers, transactions, wire

PLUG_INS = "plug-ins"


def _plug_ins(given: StageRun) -> StagePlayed:
    """Both plug-ins by themselves, case by case."""
    from conformance.tiered.plug_ins.lab import record_plug_ins

    return record_plug_ins(given)


def _tiers(given: StageRun) -> StagePlayed:
    """Clients of tiered logs while nothing goes wrong."""
    from conformance.tiered.lab import record_tiers

    return record_tiers(given)


def _store_faults(given: StageRun) -> StagePlayed:
    """The store fails."""
    from conformance.tiered.lab import record_faults

    return record_faults(given, store_faults.STAGE)


def _faults(given: StageRun) -> StagePlayed:
    """Leaders fall, followers lose their disks."""
    from conformance.tiered.lab import record_faults

    return record_faults(given, faults.STAGE)


def _divergence(given: StageRun) -> StagePlayed:
    """Unclean elections leave segments of several lineages."""
    from conformance.tiered.lab import record_divergence

    return record_divergence(given)


def _transactions(given: StageRun) -> StagePlayed:
    """Transactions in both tiers."""
    from conformance.tiered.lab import record_transactions

    return record_transactions(given)


def _wire(given: StageRun) -> StagePlayed:
    """What Apache Kafka answered about tiered topics."""
    from conformance.tiered.lab import record_wire

    return record_wire(given)


STAGES: tuple[Stage, ...] = (
    Stage(name=PLUG_INS, parts=tuple, record=_plug_ins, deploys=False, takes_s=5),
    Stage(name=tiers.STAGE, parts=tuple, record=_tiers, takes_s=40),
    Stage(
        name=store_faults.STAGE.name,
        parts=store_faults.STAGE.parts,
        record=_store_faults,
        takes_s=75,
    ),
    Stage(name=faults.STAGE.name, parts=faults.STAGE.parts, record=_faults, takes_s=50),
    Stage(name=transactions.STAGE, parts=tuple, record=_transactions, takes_s=45),
    Stage(name=divergence.STAGE, parts=tuple, record=_divergence, takes_s=35),
    Stage(name=wire.STAGE, parts=wire.planned_parts, record=_wire, takes_s=20),
)

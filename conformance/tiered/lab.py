"""Recording the stages of `tiered` into a run."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from conformance.catalogue.kip_405.sequences import FAMILY
from conformance.classic.playing import play_steps
from conformance.classic.stages import StagePlayed, StageRun
from conformance.classic.wire_lab import Asked, coordinators, play_recordings
from conformance.tiered import divergence, faults, store_faults, tiers, transactions, wire
from conformance.tiered.fault_stage import FaultStage
from conformance.tiered.plug_ins.lab import STAGE as PLUG_INS
from conformance.tiered.plug_ins.lab import record_plug_ins
from conformance.tiered.topics import TOPICS, plan_of
from harness.clients.remote_metadata import DOCUMENT, KAFKA4
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.differential.answers import ANSWERS, read_recordings
from harness.steps.step import Step
from harness.sut import Sut
from harness.sut.lever_sets import reach
from nemesis import faults as nemesis
from nemesis.offered import not_offered
from nemesis.schedule import Strike

# In which a segment is copied, dropped, expired: seconds of the world.
BOUND_S = {"sim": 20.0}
LIVE_BOUND_S = 30.0


def form_of(sut: Sut) -> str:
    """The format of the metadata topic that a system claims."""
    return KAFKA4 if KAFKA4 in sut.variants else DOCUMENT


def record_tiers(given: StageRun, only: Sequence[str] = tiers.SITUATIONS) -> StagePlayed:
    """Play the stage `tiers`, or some of its situations."""

    def steps(on: Deployment, bound_ms: int) -> list[Step]:
        form = form_of(given.sut)
        return tiers.tier_steps(given.seed, form=form, bound_ms=bound_ms, only=only)

    given.progress("clients of tiered logs")
    return _played(given, tiers.STAGE, [*TOPICS], steps)


def record_faults(given: StageRun, stage: FaultStage, only: Sequence[str] = ()) -> StagePlayed:
    """Play a stage with faults, or some of them, as far as the system offers what that takes."""
    skipped: dict[str, str] = {}

    def steps(on: Deployment, bound_ms: int) -> list[Step]:
        skipped.update(_not_offered(on, stage.faults))
        return stage.steps(
            given.seed,
            [one for one in only or stage.faults if one not in skipped],
            form=form_of(given.sut),
            bound_ms=bound_ms,
            pace=on.pace,
        )

    given.progress(f"tiered logs, {stage.name}")
    done = _played(given, stage.name, [*stage.topics, *stage.made_later], steps)
    return replace(done, skipped={stage.part_name(one): why for one, why in skipped.items()})


def record_divergence(given: StageRun) -> StagePlayed:
    """Play the stage `divergence`, if nodes can be killed and emptied."""

    def steps(on: Deployment, bound_ms: int) -> list[Step]:
        if not on.levers.offered.issuperset({"kill", "wipe"}):
            return []
        return divergence.divergence_steps(
            form=form_of(given.sut),
            bound_ms=bound_ms,
            lasts_ms=int(1000 * faults.LASTS_S / on.pace),
        )

    given.progress("tiered logs that diverge")
    return _played(given, divergence.STAGE, [divergence.TOPIC], steps)


def record_transactions(given: StageRun) -> StagePlayed:
    """Play the stage `tier-transactions`, if nodes can be killed and emptied."""

    def steps(on: Deployment, bound_ms: int) -> list[Step]:
        if not on.levers.offered.issuperset({"kill", "wipe"}):
            return []
        return transactions.transaction_steps(
            form=form_of(given.sut),
            bound_ms=bound_ms,
            lasts_ms=int(1000 * faults.LASTS_S / on.pace),
        )

    given.progress("transactions on tiered logs")
    more = transactions.PROPERTIES
    return _played(given, transactions.STAGE, [*transactions.TOPICS], steps, more)


def record_wire(given: StageRun) -> StagePlayed:
    """Ask one broker that the lab starts what Apache Kafka was asked about tiered topics."""
    sut, seed = given.sut, given.seed
    if not sut.started:
        return StagePlayed(skipped={wire.STAGE: wire.ONLY_STARTED})
    given.progress("asking what Apache Kafka was asked about tiered topics")
    plan = plan_of(sut, given.world)
    properties = {**plan.properties, **coordinators(1), **wire.ONE_COPY}
    plan = replace(plan, brokers=1, properties=properties)
    asked = Asked(first_is_enough=given.first_is_enough)
    with deploy(sut, plan, run=given.run, world=given.world, seed=seed, shard=wire.STAGE) as on:
        play_recordings(on, sut, seed, [*read_recordings(ANSWERS / FAMILY)], asked)
    # Which brokers there are the other stages say: this one has another cluster.
    return StagePlayed(lacks=asked.lacks, counted={"sequence": asked.played.total()})


def record_situation(given: StageRun, stage: str, situation: str) -> StagePlayed:
    """Play one situation of a stage, or the whole stage if it has none of that name."""
    if stage == tiers.STAGE:
        return record_tiers(given, (situation,) if situation else tiers.SITUATIONS)
    if stage == wire.STAGE:
        return record_wire(given)
    if stage == PLUG_INS:
        return record_plug_ins(given)
    if stage == transactions.STAGE:
        return record_transactions(given)
    if stage == divergence.STAGE:
        return record_divergence(given)
    # A situation is known by its fault, whichever of the two stages plays it.
    found = next(
        one
        for one in (faults.STAGE, store_faults.STAGE)
        if (situation in one.faults if situation else stage == one.name)
    )
    return record_faults(given, found, (situation,) if situation else ())


def _played(
    given: StageRun,
    stage: str,
    topics: Sequence[str],
    steps: Callable[[Deployment, int], list[Step]],
    properties: Mapping[str, str] = MappingProxyType({}),
) -> StagePlayed:
    sut, world, seed = given.sut, given.world, given.seed
    bound_s = BOUND_S.get(world, LIVE_BOUND_S)
    plan = plan_of(sut, world)
    plan = replace(plan, properties={**plan.properties, **properties})
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=stage) as on:
        chance = random.Random(f"{seed}/{stage}/targets")
        played = steps(on, int(1000 * bound_s))
        play_steps(on, sut, played, topics=[stage, *topics], bound_s=bound_s, chance=chance)
        levers = reach(on.levers.offered, started=sut.started)
        return StagePlayed(brokers=on.known, levers=levers, counted={"tier script": 1})


def _not_offered(on: Deployment, asked: Mapping[str, Strike]) -> dict[str, str]:
    found = {
        name: not_offered(on, nemesis.FAULTS[strike.fault], strike.target)
        for name, strike in asked.items()
    }
    return {name: why for name, why in found.items() if why is not None}

"""Recording the stages of `tiered` into a run."""

from __future__ import annotations

import random

from conformance.classic.playing import play_steps
from conformance.classic.stages import StagePlayed, StageRun
from conformance.tiered import tiers
from conformance.tiered.topics import AGAIN, TOPICS, plan_of
from harness.clients.remote_metadata import DOCUMENT, KAFKA4
from harness.deployments.deploy import deploy
from harness.sut import Sut

# In which a segment is copied, dropped, expired: seconds of the world.
BOUND_S = {"sim": 20.0}
LIVE_BOUND_S = 30.0


def form_of(sut: Sut) -> str:
    """The format of the metadata topic that a system claims."""
    return KAFKA4 if KAFKA4 in sut.variants else DOCUMENT


def record_tiers(given: StageRun) -> StagePlayed:
    """Play the stage `tiers`."""
    sut, world, seed = given.sut, given.world, given.seed
    bound_s = BOUND_S.get(world, LIVE_BOUND_S)
    given.progress("clients of tiered logs")
    plan = plan_of(sut, world)
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=tiers.STAGE) as on:
        steps = tiers.tier_steps(seed, form=form_of(sut), bound_ms=int(1000 * bound_s))
        topics = [tiers.STAGE, *TOPICS, AGAIN.partition("#")[0]]
        chance = random.Random(f"{seed}/tiers/targets")
        play_steps(on, sut, steps, topics=topics, bound_s=bound_s, chance=chance)
        return StagePlayed(brokers=on.known, counted={"tier script": 1})

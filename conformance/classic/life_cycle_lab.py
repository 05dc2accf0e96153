"""Recording the stage `life-cycle` of the profile `classic` into a run."""

from __future__ import annotations

import random

from conformance.classic import life_cycle
from conformance.classic.lab import TEMPO, Tempo
from conformance.classic.playing import play_steps
from conformance.classic.stages import StagePlayed, StageRun
from harness.clients.asked import first_lacking
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.sut.lever_sets import reach
from harness.workloads.measured import METRICS
from nemesis import faults as nemesis
from nemesis.offered import not_offered

SHARD = life_cycle.LIFE_CYCLE
BROKERS = 3
NEEDED = ("create_topics", "describe_topic_partitions", "describe_cluster")


def record_life_cycle(given: StageRun) -> StagePlayed:
    """Play the stage on a system, as far as it offers what that takes."""
    sut, world, seed = given.sut, given.world, given.seed
    tempo = TEMPO.get(world, Tempo())
    plan = life_cycle.plan_of(sut.mutants)
    given.progress("topics come and go")
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=SHARD) as on:
        levers = reach(on.levers.offered, started=sut.started)
        not_played = out_of_reach(on)
        if life_cycle.TOPICS not in not_played:
            situations = tuple(one for one in life_cycle.SITUATIONS if one not in not_played)
            steps = life_cycle.life_cycle_steps(seed, on.brokers, situations)
            chance = random.Random(f"{seed}/targets")
            play_steps(
                on,
                sut,
                steps,
                topics=[SHARD, *life_cycle.topics_of(steps)],
                bound_s=tempo.bound_s,
                chance=chance,
                probes=given.probes,
                progress=given.progress,
            )
        return StagePlayed(
            brokers=on.known,
            levers=levers,
            lacks=on.lacks,
            counted={"life cycle": 1},
            skipped={life_cycle.part_name(name): why for name, why in not_played.items()},
        )


def out_of_reach(on: Deployment) -> dict[str, str]:
    """What of the stage cannot be played on a deployment, with the reason."""
    reason = _no_topics(on)
    if reason is not None:
        parts = (life_cycle.TOPICS, life_cycle.MEASURED, *life_cycle.SITUATIONS)
        return dict.fromkeys(parts, reason)
    asked = {
        name: why
        for some in (life_cycle.SITUATIONS, life_cycle.ALSO)
        for name, strike in some.items()
        if (why := not_offered(on, nemesis.FAULTS[strike.fault], strike.target)) is not None
    }
    if METRICS not in on.probes:
        asked[life_cycle.MEASURED] = "its nodes have no page of metrics"
    steered = {} if on.world == "sim" else life_cycle.STEERED
    return asked | steered


def _no_topics(on: Deployment) -> str | None:
    if len(on.brokers) < BROKERS:
        return f"it has fewer than {BROKERS} brokers"
    return first_lacking(NEEDED, on.lacks)

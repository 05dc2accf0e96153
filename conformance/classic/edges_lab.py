"""Recording the stage `edges` into a run."""

from __future__ import annotations

import random
from collections.abc import Sequence

from conformance.classic.edge_topics import LONE
from conformance.classic.edges import (
    BOUNDS,
    EDGES,
    EXPIRY,
    FAULTS,
    LASTS_S,
    NEAREST,
    RETAINED,
    RETENTION,
    TOPICS,
    edge_steps,
    part_name,
    plan_of,
)
from conformance.classic.playing import play_steps
from conformance.classic.stages import StagePlayed, StageRun
from harness.deployments.deploy import deploy
from nemesis import faults as nemesis
from nemesis.offered import not_offered

# In which a cluster comes to rest, and what is too old goes: in a simulation retries cost time.
BOUND_S = {"sim": 10.0}
LIVE_BOUND_S = 30.0
NOT_STARTED_LASTS_S = 15.0  # Kafka's own settings take nine seconds to notice that one is gone
NOT_STARTED = "the lab has not started its brokers, and its settings are not those of this stage"


def record_edges(given: StageRun, faults: Sequence[str] = tuple(FAULTS)) -> StagePlayed:
    """Play the stage on a system, as far as it offers what that takes."""
    sut, world, seed = given.sut, given.world, given.seed
    bound_s = BOUND_S.get(world, LIVE_BOUND_S)
    plan = plan_of(sut.mutants)
    given.progress("clients at the edges of logs")
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=EDGES) as on:
        if "create_topics" in on.lacks:
            parts = (BOUNDS, RETENTION, EXPIRY, NEAREST, *FAULTS)
            return StagePlayed(
                brokers=on.known,
                lacks=on.lacks,
                skipped={part_name(part): on.lacks["create_topics"] for part in parts},
            )
        skipped = {
            name: why
            for name, strike in FAULTS.items()
            if (why := not_offered(on, nemesis.FAULTS[strike.fault], strike.target)) is not None
        }
        steps = edge_steps(
            seed,
            [one for one in faults if one not in skipped],
            settled=sut.started,
            bound_ms=int(1000 * bound_s),
            pace=on.pace,
            lasts_s=LASTS_S if sut.adapter.started else NOT_STARTED_LASTS_S,
        )
        if not sut.started:
            skipped |= dict.fromkeys((RETENTION, EXPIRY, NEAREST), NOT_STARTED)
        chance = random.Random(f"{seed}/edges/targets")
        play_steps(
            on, sut, steps, topics=[EDGES, *TOPICS, *RETAINED, LONE], bound_s=bound_s, chance=chance
        )
        return StagePlayed(
            brokers=on.known,
            lacks=on.lacks,
            counted={"edge script": 1},
            skipped={part_name(part): why for part, why in skipped.items()},
        )

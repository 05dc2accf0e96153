"""Recording the stage `transactions` into a run."""

from __future__ import annotations

import random
from collections.abc import Sequence

from conformance.classic.playing import play_steps
from conformance.classic.stages import StagePlayed, StageRun
from conformance.classic.transactions import (
    FAULTS,
    LASTS_S,
    PRODUCERS,
    SOLO,
    TOPICS,
    TRANSACTIONS,
    part_name,
    plan_of,
    transaction_steps,
)
from harness.clients.asked import OF_TRANSACTIONS, first_lacking
from harness.deployments.deploy import deploy
from nemesis import faults as nemesis
from nemesis.offered import not_offered

# In which a cluster comes to rest and what is left behind is aborted.
BOUND_S = {"sim": 10.0}
LIVE_BOUND_S = 40.0
NOT_STARTED_LASTS_S = 12.0  # Kafka's own settings take nine seconds to notice that one is gone


def record_transactions(given: StageRun, faults: Sequence[str] = tuple(FAULTS)) -> StagePlayed:
    """Play the stage on a system, as far as it offers what that takes."""
    sut, world, seed = given.sut, given.world, given.seed
    bound_s = BOUND_S.get(world, LIVE_BOUND_S)
    given.progress("transactions")
    plan = plan_of(sut.mutants)
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=TRANSACTIONS) as on:
        lacking = first_lacking(OF_TRANSACTIONS, on.lacks)
        if lacking is not None:
            return StagePlayed(
                brokers=on.known,
                lacks=on.lacks,
                skipped={part_name(part): lacking for part in (PRODUCERS, *FAULTS)},
            )
        skipped = {
            name: why
            for name, strike in FAULTS.items()
            if (why := not_offered(on, nemesis.FAULTS[strike.fault], strike.target)) is not None
        }
        steps = transaction_steps(
            seed,
            [one for one in faults if one not in skipped],
            bound_ms=int(1000 * bound_s),
            pace=on.pace,
            lasts_s=LASTS_S if sut.adapter.started else NOT_STARTED_LASTS_S,
        )
        chance = random.Random(f"{seed}/transactions/targets")
        play_steps(
            on, sut, steps, topics=[TRANSACTIONS, *TOPICS, SOLO], bound_s=bound_s, chance=chance
        )
        return StagePlayed(
            brokers=on.known,
            lacks=on.lacks,
            counted={"transaction script": 1},
            skipped={part_name(part): why for part, why in skipped.items()},
        )

"""Recording the stage `edges` into a run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress

from conformance.classic.edges import (
    EDGES,
    EXPIRY,
    FAULTS,
    LASTS_S,
    RETENTION,
    TOPICS,
    edge_steps,
    part_name,
    plan_of,
)
from conformance.driver import Driver
from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.sim import SimDeployment
from harness.errors import CannotConnect, LabBroken
from harness.history import Run
from harness.sut import Sut
from nemesis import faults as nemesis
from nemesis.offered import not_offered

# In which a cluster comes to rest, and what is too old goes: in a simulation retries cost time.
BOUND_S = {"sim": 10.0}
LIVE_BOUND_S = 30.0
NOT_STARTED_LASTS_S = 15.0  # Kafka's own settings take nine seconds to notice that one is gone
NOT_STARTED = "the lab has not started its brokers, and its settings are not those of this stage"


def record_edges(
    run: Run, *, world: str, seed: int, sut: Sut, faults: Sequence[str] = tuple(FAULTS)
) -> tuple[tuple[int, ...], dict[str, str]]:
    """Play the stage; the brokers that were found, and which parts were not played, and why."""
    started = sut.adapter.started
    bound_s = BOUND_S.get(world, LIVE_BOUND_S)
    with deploy(sut, plan_of(sut.mutants), run=run, world=world, seed=seed, shard=EDGES) as on:
        skipped = {
            name: why
            for name, strike in FAULTS.items()
            if (why := not_offered(on, nemesis.FAULTS[strike.fault], strike.target)) is not None
        }
        steps = edge_steps(
            seed,
            [one for one in faults if one not in skipped],
            settled=started,
            bound_ms=int(1000 * bound_s),
            pace=on.pace,
            lasts_s=LASTS_S if started else NOT_STARTED_LASTS_S,
        )
        if not started:
            skipped |= {RETENTION: NOT_STARTED, EXPIRY: NOT_STARTED}
        chance = random.Random(f"{seed}/edges/targets")
        with Driver(on, topic=EDGES, bound_s=bound_s, chance=chance) as driver:
            try:
                driver.play(steps)
            except Refused as reason:
                raise CannotConnect(f"the stage {EDGES} cannot be played: {reason}") from None
        if not started:
            on.run(_tidy_up(on))
        if isinstance(on, SimDeployment) and on.sim.uncaught and not sut.mutants:
            raise LabBroken(f"a node of the reference left an error uncaught: {on.sim.uncaught[0]}")
        return on.known, {part_name(part): why for part, why in skipped.items()}


async def _tidy_up(on: Deployment) -> None:
    """On a cluster that stays, the topics do not."""
    for topic in (EDGES, *TOPICS):
        client = RawClient(on.network, on.address(on.brokers[0]))
        with suppress(Refused, OSError, TimeoutError):
            await delete_topic(client, on.recorder.topic(topic))

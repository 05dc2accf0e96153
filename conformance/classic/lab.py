"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from conformance.classic.campaign import CLASSIC, FAULTS, LASTS_S, campaign_steps
from conformance.classic.cluster import plan_of
from conformance.classic.offers import faults_offered, not_offered
from conformance.partition_lab import PartitionLab
from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.sim import SimDeployment
from harness.errors import CannotConnect, LabBroken
from harness.history import Run
from harness.sut import Sut, reference_sut

Progress = Callable[[str], None]
SHARD = "classic"
# In which a healed cluster has to come to rest, and a request to succeed.
BOUND_S = {"sim": 30.0, "external": 120.0}
LIVE_BOUND_S = 60.0
SIMULATED_RESTS = 2.5  # every request costs as much here as in earnest, and time costs nothing
EXTERNAL_LASTS_S = 15.0  # Kafka's own settings take nine to notice that a broker is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaigned:
    """The brokers that were found, and which faults were not played, with the reason."""

    brokers: tuple[int, ...]
    not_played: Mapping[str, str] = field(default_factory=dict)


def record_classic(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut | None = None,
    faults: Sequence[str] = tuple(FAULTS),
    lasts_s: float | None = None,
    progress: Progress = lambda text: None,
) -> Campaigned:
    """Play a campaign on a system in that world, and record it.

    Of the ``faults`` only those can be that the system offers.
    """
    sut = sut or reference_sut()
    progress("starting a cluster" if sut.adapter.started else "looking for its brokers")
    plan = plan_of(sut.mutants)
    with deploy(sut, plan, run=run, world=world, seed=seed, shard=SHARD) as on:
        offered = faults_offered(sut, world, on.brokers)
        steps = campaign_steps(
            seed,
            tuple(one for one in offered if one in faults),
            lasts_s=lasts_s or (LASTS_S if sut.adapter.started else EXTERNAL_LASTS_S),
            rests=SIMULATED_RESTS if world == "sim" else 1.0,
            pace=on.pace,
        )
        lab = PartitionLab(
            on,
            topic=CLASSIC,
            campaign=CLASSIC,
            bound_s=BOUND_S.get(world, LIVE_BOUND_S),
            chance=random.Random(f"{seed}/targets"),
        )
        try:
            on.run(lab.play(steps, progress))
        except Refused as reason:
            raise CannotConnect(f"no campaign can be played: {reason}") from None
        if not sut.adapter.started:
            on.run(_tidy_up(on, lab.clients.tp.topic))
        if isinstance(on, SimDeployment) and on.sim.uncaught and not sut.mutants:
            raise LabBroken(f"a node of the reference left an error uncaught: {on.sim.uncaught[0]}")
        return Campaigned(brokers=on.known, not_played=not_offered(sut, world, on.brokers))


async def _tidy_up(on: Deployment, topic: str) -> None:
    """On a cluster that stays, the topic does not."""
    client = RawClient(on.network, on.address(on.brokers[0]))
    with suppress(Refused, OSError, TimeoutError):
        await delete_topic(client, topic)

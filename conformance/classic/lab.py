"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field

from conformance.classic.campaign import CLASSIC, FAULTS, LASTS_S, campaign_steps
from conformance.classic.offers import faults_offered, not_offered
from conformance.partition_lab import PartitionLab
from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.apache_kafka.deployed import kafka_from_image, kafka_from_jars
from harness.deployments.deployment import Deployment
from harness.deployments.external import external_deployment
from harness.deployments.plan import DeploymentPlan
from harness.deployments.process import open_process
from harness.deployments.sim import SimDeployment, open_sim
from harness.errors import CannotConnect, LabBroken, UsageError
from harness.history import Run
from harness.sut import Sut, reference_sut

Progress = Callable[[str], None]
PROPERTIES = {
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "1200",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1500",
}
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


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the campaign plays on, where the lab starts it."""
    return DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=PROPERTIES, mutants=mutants)


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
    progress("starting a cluster" if sut.startable else "looking for its brokers")
    with _deployed(run, sut, world, seed) as on:
        offered = faults_offered(sut, world, on.brokers)
        steps = campaign_steps(
            seed,
            tuple(one for one in offered if one in faults),
            lasts_s=lasts_s or (LASTS_S if sut.startable else EXTERNAL_LASTS_S),
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
        if not sut.startable:
            on.run(_tidy_up(on, lab.clients.tp.topic))
        if isinstance(on, SimDeployment) and on.sim.uncaught and not on.plan.mutants:
            raise LabBroken(f"a node of the reference left an error uncaught: {on.sim.uncaught[0]}")
        return Campaigned(brokers=on.brokers, not_played=not_offered(sut, world, on.brokers))


@contextmanager
def _deployed(run: Run, sut: Sut, world: str, seed: int) -> Iterator[Deployment]:
    """The system of a campaign, where it can be."""
    plan = plan_of(sut.reference.mutants if sut.reference else ())
    opened: AbstractContextManager[Deployment]
    if world == "sim" and sut.reference:
        opened = open_sim(run, plan, seed=seed, shard=SHARD, forgiving=True)
    elif world == "process" and sut.reference:
        opened = open_process(run, plan, shard=SHARD)
    elif world == "process" and sut.apache_kafka:
        opened = kafka_from_jars(run, plan, shard=SHARD)
    elif world == "docker" and sut.apache_kafka:
        opened = kafka_from_image(run, plan, shard=SHARD)
    elif world == "external" and not sut.startable:
        opened = external_deployment(run, sut, shard=SHARD)
    else:
        raise UsageError(f"the profile classic cannot be played on {sut.name} in {world}")
    with opened as on:
        yield on


async def _tidy_up(on: Deployment, topic: str) -> None:
    """On a cluster that stays, the topic does not."""
    client = RawClient(on.network, on.address(on.brokers[0]))
    with suppress(Refused, OSError, TimeoutError):
        await delete_topic(client, topic)

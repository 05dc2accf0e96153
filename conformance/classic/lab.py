"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field

from conformance.classic.arena import SHARD, plan_of
from conformance.classic.campaign import BOUND_S, FAULTS, LASTS_S, Campaign
from conformance.classic.live_arena import LiveArena
from conformance.classic.offers import PROCESS, faults_offered, not_offered
from conformance.classic.simulated_arena import SimArena
from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.apache_kafka.containers import ContainerKafka
from harness.deployments.apache_kafka.isolated import IsolatedKafka
from harness.deployments.external_nodes import ExternalNodes, find_brokers
from harness.deployments.process_cluster import linked_cluster
from harness.errors import CannotConnect, LabBroken, UsageError
from harness.history import Run
from harness.history.recorder import Recorder
from harness.history.run_slot import take_slot
from harness.scratch import ScratchFolder
from harness.simulation.observer import FaultsOnly
from harness.simulation.simulation import Simulation
from harness.sut import Sut, reference_sut
from harness.sut.process_hook import ProcessHook
from reference_impl.decisions import Mutant, load_mutant, mutated
from reference_impl.ports import Address

Progress = Callable[[str], None]
SIMULATED_BOUND_S = 30.0  # of simulated time
EXTERNAL_BOUND_S = 120.0
SIMULATED_PACE = 2.5  # every request costs as much here as in earnest, and time costs nothing
EXTERNAL_LASTS_S = 15.0  # Kafka's own settings take nine to notice that a broker is gone
MOST_BROKERS = 3  # of a system that the lab has not started
KAFKA_LOGS = "nodes"  # in the run folder


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
    faults: tuple[str, ...] = FAULTS,
    lasts_s: float | None = None,
    progress: Progress = lambda text: None,
) -> Campaigned:
    """Play a campaign on a system in that world, and record it.

    Of the ``faults`` only those can be that the system offers.
    """
    sut = sut or reference_sut()
    mutants = sut.reference.mutants if sut.reference else ()
    if world == "sim" and sut.reference:
        _in_simulation(run, seed, mutants, faults, progress)
        return Campaigned(brokers=plan_of().broker_ids)
    if world not in _worlds_of(sut):
        raise UsageError(f"the profile classic cannot be played on {sut.name} in {world}")
    progress("starting a cluster" if sut.startable else "looking for its brokers")
    found = {} if sut.startable else find_brokers(sut)
    with _opened(run, sut, world, mutants, found) as arena:
        offered = faults_offered(sut, world, arena.brokers)
        played = tuple(one for one in offered if one in faults)
        lasts = lasts_s or (LASTS_S if sut.startable else EXTERNAL_LASTS_S)
        campaign = Campaign(
            arena=arena,
            seed=seed,
            faults=played,
            lasts_s=lasts,
            bound_s=BOUND_S if sut.startable else EXTERNAL_BOUND_S,
            progress=progress,
        )
        asyncio.run(_play(campaign, tidy_up=not sut.startable))
        arena.writer.close()
        return Campaigned(
            brokers=tuple(found) or arena.brokers,
            not_played=not_offered(sut, world, arena.brokers),
        )


def _worlds_of(sut: Sut) -> tuple[str, ...]:
    """Where real nodes of a system can be."""
    if not sut.startable:
        return ("external",)
    return ("process", "docker") if sut.apache_kafka else ("process",)


async def _play(campaign: Campaign, *, tidy_up: bool) -> None:
    """On a cluster that stays, its topic does not."""
    try:
        await campaign.run()
    except Refused as reason:
        raise CannotConnect(f"no campaign can be played: {reason}") from None
    if tidy_up:
        arena = campaign.arena
        client = RawClient(arena.network, arena.address(arena.brokers[0]))
        with suppress(Refused, OSError, TimeoutError):
            await delete_topic(client, campaign.clients.tp.topic)


def _in_simulation(
    run: Run, seed: int, mutants: Sequence[str], faults: tuple[str, ...], progress: Progress
) -> None:
    slot = take_slot(run, world="sim", clock="sim-classic", part=0, shard=SHARD)
    found = [load_mutant(one) for one in mutants]
    python = [one for one in found if isinstance(one, Mutant)]
    sims: list[Simulation] = []
    recorder = Recorder(slot, now=lambda: sims[0].now_ns)
    observer = FaultsOnly(recorder)
    with mutated(*python), Simulation(seed, observer=observer, forgiving=True) as sim:
        sims.append(sim)
        arena = SimArena(sim, recorder)
        campaign = Campaign(
            arena=arena,
            seed=seed,
            faults=faults,
            pace=SIMULATED_PACE,
            bound_s=SIMULATED_BOUND_S,
            progress=progress,
        )
        sim.run(campaign.run())
        if sim.uncaught and not mutants:
            raise LabBroken(f"a node of the reference left an error uncaught: {sim.uncaught[0]}")
    slot.writer.close()


def _opened(
    run: Run, sut: Sut, world: str, mutants: tuple[str, ...], found: Mapping[int, Address]
) -> AbstractContextManager[LiveArena]:
    if sut.apache_kafka:
        return _in_containers(run) if world == "docker" else _apache_kafka(run)
    return _reference(run, mutants) if sut.reference else _external(run, sut, found)


@contextmanager
def _external(run: Run, sut: Sut, found: Mapping[int, Address]) -> Iterator[LiveArena]:
    """Somebody else's brokers, `MOST_BROKERS` of them; all run again when it is left."""
    hook = sut.hooks.get(PROCESS)
    played = dict(list(found.items())[:MOST_BROKERS])
    nodes = ExternalNodes(played, ProcessHook(hook.command, sut.folder) if hook else None)
    with nodes.mended():
        yield LiveArena(run, nodes, world="external", brokers=tuple(played))


@contextmanager
def _reference(run: Run, mutants: tuple[str, ...]) -> Iterator[LiveArena]:
    """The reference as processes, reached through a proxy, as everybody."""
    plan = plan_of(mutants)
    with linked_cluster(plan) as (cluster, links):
        yield LiveArena(run, cluster, world="process", brokers=plan.broker_ids, links=links)


@contextmanager
def _apache_kafka(run: Run) -> Iterator[LiveArena]:
    """Apache Kafka; what its nodes said stays in the run folder."""
    plan = plan_of()
    with (
        ScratchFolder("kafka") as folder,
        IsolatedKafka(plan, logs=run.folder / KAFKA_LOGS, data=folder) as kafka,
    ):
        yield LiveArena(run, kafka, world="process", brokers=plan.broker_ids, links=kafka.links)


@contextmanager
def _in_containers(run: Run) -> Iterator[LiveArena]:
    """Apache Kafka from its image; what its nodes said stays in the run folder, too."""
    plan = plan_of()
    with ContainerKafka(plan, logs=run.folder / KAFKA_LOGS) as kafka:
        yield LiveArena(run, kafka, world="docker", brokers=plan.broker_ids)

"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.classic.arena import SHARD, Arena, plan_of
from conformance.classic.campaign import BOUND_S, LASTS_S, Campaign
from conformance.classic.live_arena import LiveArena
from conformance.classic.offers import FAULTS, PROCESS, faults_offered, not_offered
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

Progress = Callable[[str], None]
MOST_BROKERS = 3  # of a system that the lab has not started
KAFKA_LOGS = "nodes"  # in the run folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """How long clients rest, how long faults last, how soon a healed cluster has to be at rest."""

    pace: float = 1.0
    lasts_s: float = LASTS_S
    bound_s: float = BOUND_S


TEMPO = {
    # Every request costs as much here as in earnest, and time costs nothing.
    "sim": Tempo(pace=2.5, bound_s=30.0),
    # Kafka's own settings take nine seconds to notice that a broker is gone.
    "external": Tempo(lasts_s=15.0, bound_s=120.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaigned:
    """The brokers that were found, and which faults were not played, with the reason."""

    brokers: tuple[int, ...]
    not_played: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An arena, how work is carried out in its loop, and every broker that is known there."""

    arena: Arena
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    known: tuple[int, ...]


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
    tempo = TEMPO.get(world, Tempo())
    progress("starting a cluster" if sut.adapter.started else "looking for its brokers")
    with opened(run, sut, world, seed, SHARD) as at:
        brokers = at.arena.brokers
        campaign = Campaign(
            arena=at.arena,
            seed=seed,
            faults=tuple(one for one in faults_offered(sut, world, brokers) if one in faults),
            pace=tempo.pace,
            lasts_s=lasts_s or tempo.lasts_s,
            bound_s=tempo.bound_s,
            progress=progress,
        )
        at.run(_play(campaign, tidy_up=not sut.adapter.started))
        return Campaigned(brokers=at.known, not_played=not_offered(sut, world, brokers))


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


def opened(run: Run, sut: Sut, world: str, seed: int, shard: str) -> AbstractContextManager[Opened]:
    """A system in a world, recorded into a shard of its own."""
    found = OPENERS.get((sut.adapter.name, world))
    if found is None:
        raise UsageError(f"the profile classic cannot be played on {sut.name} in {world}")
    return found(run, sut, seed, shard)


@contextmanager
def _simulated(run: Run, sut: Sut, seed: int, shard: str) -> Iterator[Opened]:
    slot = take_slot(run, world="sim", clock=f"sim-{shard}", part=0, shard=shard)
    found = [load_mutant(one) for one in sut.mutants]
    python = [one for one in found if isinstance(one, Mutant)]
    sims: list[Simulation] = []
    recorder = Recorder(slot, now=lambda: sims[0].now_ns)
    observer = FaultsOnly(recorder)
    with mutated(*python), Simulation(seed, observer=observer, forgiving=True) as sim:
        sims.append(sim)
        arena = SimArena(sim, recorder)
        yield Opened(arena=arena, run=sim.run, known=arena.brokers)
        if sim.uncaught and not sut.mutants:
            raise LabBroken(f"a node of the reference left an error uncaught: {sim.uncaught[0]}")
    slot.writer.close()


def _live(arena: LiveArena, known: Iterable[int] = ()) -> Iterator[Opened]:
    yield Opened(arena=arena, run=asyncio.run, known=tuple(known) or arena.brokers)
    arena.writer.close()


@contextmanager
def _external(run: Run, sut: Sut, seed: int, shard: str) -> Iterator[Opened]:
    """Brokers of others, `MOST_BROKERS` of them; all run again when it is left."""
    hook = sut.hooks.get(PROCESS)
    found = find_brokers(sut)
    played = dict(list(found.items())[:MOST_BROKERS])
    nodes = ExternalNodes(played, ProcessHook(hook.command, sut.folder) if hook else None)
    with nodes.mended():
        yield from _live(
            LiveArena(run, nodes, world="external", brokers=tuple(played), shard=shard), found
        )


@contextmanager
def _reference(run: Run, sut: Sut, seed: int, shard: str) -> Iterator[Opened]:
    """The reference as processes; they reach one another through a proxy."""
    plan = plan_of(sut.mutants)
    with linked_cluster(plan) as (cluster, links):
        yield from _live(
            LiveArena(
                run, cluster, world="process", brokers=plan.broker_ids, links=links, shard=shard
            )
        )


@contextmanager
def _apache_kafka(run: Run, sut: Sut, seed: int, shard: str) -> Iterator[Opened]:
    """Apache Kafka; what its nodes said stays in the run folder."""
    plan = plan_of()
    with (
        ScratchFolder("kafka") as folder,
        IsolatedKafka(plan, logs=_logs(run, shard), data=folder) as kafka,
    ):
        yield from _live(
            LiveArena(
                run,
                kafka,
                world="process",
                brokers=plan.broker_ids,
                links=kafka.links,
                shard=shard,
            )
        )


@contextmanager
def _in_containers(run: Run, sut: Sut, seed: int, shard: str) -> Iterator[Opened]:
    """Apache Kafka from its image; what its nodes said stays in the run folder, too."""
    plan = plan_of()
    with ContainerKafka(plan, logs=_logs(run, shard)) as kafka:
        yield from _live(
            LiveArena(run, kafka, world="docker", brokers=plan.broker_ids, shard=shard)
        )


def _logs(run: Run, shard: str) -> Path:
    return run.folder / KAFKA_LOGS / shard


OPENERS: Mapping[tuple[str, str], Callable[..., AbstractContextManager[Opened]]] = {
    ("reference", "sim"): _simulated,
    ("reference", "process"): _reference,
    ("apache-kafka", "process"): _apache_kafka,
    ("apache-kafka", "docker"): _in_containers,
    ("external", "external"): _external,
}
"""By the adapter of a system and its world."""

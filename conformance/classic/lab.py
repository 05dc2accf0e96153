"""Recording a campaign of the profile `classic` into a run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.classic.campaign import (
    CLASSIC,
    FAULTS,
    LASTS_S,
    NODES,
    campaign_steps,
    plan_of,
)
from conformance.classic.playing import play_steps
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.history import Run
from harness.sut import Sut, reference_sut
from harness.sut.lever_sets import reach
from nemesis import faults as nemesis
from nemesis.offered import not_offered

Progress = Callable[[str], None]
SHARD = "classic"
PAUSE_LEADER = "pause-leader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """How long clients rest, how long faults last, how soon a healed cluster has to be at rest."""

    rests: float = 1.0
    lasts_s: float = LASTS_S
    bound_s: float = 60.0


TEMPO = {
    # Every request costs as much here as in earnest, and time costs nothing.
    "sim": Tempo(rests=2.5, bound_s=30.0),
    # Kafka's own settings take nine seconds to notice that a broker is gone.
    "external": Tempo(lasts_s=15.0, bound_s=120.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaigned:
    """The brokers that were found, the set of levers, which faults were not played, and why not."""

    brokers: tuple[int, ...]
    levers: str
    not_played: Mapping[str, str] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)


def record_classic(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut | None = None,
    faults: Sequence[str] = tuple(FAULTS),
    lasts_s: float | None = None,
    probes: Iterable[str] = (),
    progress: Progress = lambda text: None,
) -> Campaigned:
    """Play a campaign on a system in that world, and record it.

    Of the ``faults`` only those can be that the system offers; so it is with the ``probes`` that
    look in the end.
    """
    sut = sut or reference_sut()
    tempo = TEMPO.get(world, Tempo())
    progress("starting a cluster" if sut.adapter.started else "looking for its brokers")
    with deploy(sut, plan_of(sut.mutants), run=run, world=world, seed=seed, shard=SHARD) as on:
        not_played = out_of_reach(on)
        steps = campaign_steps(
            seed,
            tuple(one for one in _offered(not_played) if one in faults),
            lasts_s=lasts_s or tempo.lasts_s,
            rests=tempo.rests,
            pace=on.pace,
        )
        chance = random.Random(f"{seed}/targets")
        play_steps(
            on,
            sut,
            steps,
            topics=[CLASSIC],
            bound_s=tempo.bound_s,
            chance=chance,
            probes=probes,
            progress=progress,
        )
        levers = reach(on.levers.offered, started=sut.started)
        return Campaigned(brokers=on.known, levers=levers, not_played=not_played, lacks=on.lacks)


def out_of_reach(on: Deployment) -> dict[str, str]:
    """What of the campaign cannot be done to a deployment, or seen of it, with the reason."""
    asked = {
        name: not_offered(on, nemesis.FAULTS[strike.fault], strike.target)
        for name, strike in FAULTS.items()
    }
    if "nodes" not in on.probes:
        asked[NODES] = "the lab has not started its nodes, and cannot see them end"
    return {name: why for name, why in asked.items() if why is not None}


def _offered(not_played: Mapping[str, str]) -> tuple[str, ...]:
    """Every other fault. Where links cannot be cut, leaders are paused twice: in any order some
    leader epoch is spared both a kill and an emptied disk, and KFK-049 is judged in such epochs."""
    offered = tuple(one for one in FAULTS if one not in not_played)
    again = PAUSE_LEADER in offered and "cut-off-leader" in not_played
    return (*offered, PAUSE_LEADER) if again else offered

"""The stages of the profile `classic`: what certifies a cluster, one after the other.

A stage has a deployment and shards of its own, so it can be played alone: what a stage shows of a
system, the whole run shows. What could not be played of it is told by the name of the part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from conformance.classic import campaign, life_cycle
from harness.history import Run
from harness.history.plan import Part
from harness.sut import Sut

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlayed:
    """The brokers that were found, what was played, which parts were not, with the reason.

    `levers` is the set that the lab had (`harness.sut.lever_sets`), told by one of the stages.
    """

    brokers: tuple[int, ...] = ()
    levers: str = ""
    counted: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


class PlaysStage(Protocol):
    """Plays a stage on a system in a world, and records it; `probes` look in the end."""

    def __call__(
        self,
        run: Run,
        *,
        world: str,
        seed: int,
        sut: Sut,
        probes: frozenset[str],
        progress: Progress,
    ) -> StagePlayed: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A name, what of it stands in the plan of a run, and who plays it.

    In a `scripted` one nothing is drawn: it is a list of requests or steps.
    """

    name: str
    parts: Callable[[], tuple[Part, ...]]
    record: PlaysStage
    scripted: bool = True


def _faults(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut,
    probes: frozenset[str],
    progress: Progress,
) -> StagePlayed:
    """Load while brokers are killed, frozen, cut off and emptied."""
    from conformance.classic.lab import record_classic  # loads the Kafka protocol

    done = record_classic(run, world=world, seed=seed, sut=sut, probes=probes, progress=progress)
    return StagePlayed(
        brokers=done.brokers,
        levers=done.levers,
        counted={"campaign": 1},
        skipped={campaign.part_name(fault): why for fault, why in done.not_played.items()},
    )


def _races(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut,
    probes: frozenset[str],
    progress: Progress,
) -> StagePlayed:
    """Short programs of how replication is known to go wrong."""
    from conformance.classic.races import record_races
    from conformance.mutants import ONLY_SIMULATED

    done = record_races(
        run,
        campaign.RACES,
        world=world,
        seed=seed,
        sut=sut,
        simulated_only=frozenset(ONLY_SIMULATED),
        progress=progress,
    )
    skipped = {campaign.race_name(race): why for race, why in done.skipped.items()}
    return replace(done, skipped=skipped)


def _life_cycle(
    run: Run,
    *,
    world: str,
    seed: int,
    sut: Sut,
    probes: frozenset[str],
    progress: Progress,
) -> StagePlayed:
    """Topics created, reassigned and deleted while brokers come and go."""
    from conformance.classic.life_cycle_lab import record_life_cycle  # loads the Kafka protocol

    done = record_life_cycle(run, world=world, seed=seed, sut=sut, probes=probes, progress=progress)
    return StagePlayed(
        brokers=done.brokers,
        levers=done.levers,
        counted={"stage": 1},
        skipped={life_cycle.part_name(name): why for name, why in done.not_played.items()},
    )


STAGES: tuple[Stage, ...] = (
    Stage(name="races", parts=campaign.race_parts, record=_races),
    Stage(name=life_cycle.LIFE_CYCLE, parts=life_cycle.planned_parts, record=_life_cycle),
    Stage(name="faults", parts=campaign.planned_parts, record=_faults, scripted=False),
)

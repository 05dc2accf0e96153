"""The stages of the profile `classic`: what certifies a cluster, one after the other.

A stage has a deployment and shards of its own, so it can be played alone: what a stage shows of a
system, the whole run shows. What could not be played of it is told by the name of the part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conformance.classic import campaign, edges, life_cycle, transactions, wire
from harness.history import Run
from harness.history.plan import Part
from harness.sut import Sut

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    """What a stage is played on and recorded into; `probes` look in the end.

    Where the `first_is_enough`, it may end with the first thing that breaks a rule for certain.
    """

    run: Run
    world: str
    seed: int
    sut: Sut
    probes: frozenset[str] = frozenset()
    first_is_enough: bool = False
    progress: Progress = lambda text: None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlayed:
    """The brokers that were found, what was played, which parts were not, with the reason.

    `levers` is the set that the lab had (`harness.sut.lever_sets`), told by one of the stages;
    `lacks` are the requests that its brokers do not offer, with the reason.
    """

    brokers: tuple[int, ...] = ()
    levers: str = ""
    lacks: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A name, what of it stands in the plan of a run, and who plays it.

    In a `scripted` one nothing but an order is drawn: it is a list of requests or steps. One that
    `deploys` nothing is played in the lab's own process, with its threads, in every world. On
    processes a stage takes about so long; the longest begins first.
    """

    name: str
    parts: Callable[[], tuple[Part, ...]]
    record: Callable[[StageRun], StagePlayed]
    scripted: bool = True
    deploys: bool = True
    takes_s: float = 60.0


# What plays a stage loads the Kafka protocol: it is imported when it is played.


def _wire(given: StageRun) -> StagePlayed:
    """The requests that Apache Kafka was asked once, and its answers."""
    from conformance.classic.wire_lab import record_wire

    given.progress("asking what Apache Kafka was asked")
    done = record_wire(
        given.run,
        world=given.world,
        seed=given.seed,
        sut=given.sut,
        first_is_enough=given.first_is_enough,
    )
    return StagePlayed(
        brokers=done.brokers,
        lacks=done.lacks,
        counted={"sequence": done.played.total()},
        skipped={wire.part_name(family): why for family, why in done.not_played.items()},
    )


def _races(given: StageRun) -> StagePlayed:
    """Short programs of how replication is known to go wrong."""
    from conformance.classic.races import record_races

    return record_races(given)


def _life_cycle(given: StageRun) -> StagePlayed:
    """Topics created, reassigned and deleted while brokers come and go."""
    from conformance.classic.life_cycle_lab import record_life_cycle

    return record_life_cycle(given)


def _faults(given: StageRun) -> StagePlayed:
    """Load while brokers are killed, frozen, cut off and emptied."""
    from conformance.classic.lab import record_classic

    done = record_classic(
        given.run,
        world=given.world,
        seed=given.seed,
        sut=given.sut,
        probes=given.probes,
        progress=given.progress,
    )
    return StagePlayed(
        brokers=done.brokers,
        levers=done.levers,
        lacks=done.lacks,
        counted={"campaign": 1},
        skipped={campaign.part_name(fault): why for fault, why in done.not_played.items()},
    )


def _edges(given: StageRun) -> StagePlayed:
    """Clients at every bound of logs."""
    from conformance.classic.edges_lab import record_edges

    return record_edges(given)


def _transactions(given: StageRun) -> StagePlayed:
    """Transactional producers, their coordinators and those who read."""
    from conformance.classic.transactions_lab import record_transactions

    return record_transactions(given)


STAGES: tuple[Stage, ...] = (
    Stage(name=wire.WIRE, parts=wire.planned_parts, record=_wire, takes_s=50),
    Stage(name=edges.EDGES, parts=edges.planned_parts, record=_edges, takes_s=60),
    Stage(name="races", parts=campaign.race_parts, record=_races, takes_s=150),
    Stage(
        name=transactions.TRANSACTIONS,
        parts=transactions.planned_parts,
        record=_transactions,
        takes_s=40,
    ),
    Stage(
        name=life_cycle.LIFE_CYCLE, parts=life_cycle.planned_parts, record=_life_cycle, takes_s=80
    ),
    Stage(name="faults", parts=campaign.planned_parts, record=_faults, scripted=False, takes_s=45),
)

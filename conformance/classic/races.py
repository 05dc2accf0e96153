"""The stage `races`: short programs of the ways in which replication is known to go wrong.

Each takes a leader, its followers and two or three faults into one situation: a leader that is cut
off and goes on, a follower that lags and is all that is left, two elections in a row. They are
programs of `conformance/programs`, played one after the other on one cluster, each on a topic of
its own. Once the cluster does not recover the rest is left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from conformance.classic.campaign import RACES, race_name
from conformance.classic.playing import tidy_up
from conformance.classic.stages import StagePlayed, StageRun
from conformance.mutants import ONLY_SIMULATED
from conformance.programs import plan_of, play_program, recorded_programs
from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.steps.step import NEMESIS, Step
from harness.workloads.partition_phases import UNSOUND
from nemesis.faults import FAULTS
from nemesis.offered import not_offered
from nemesis.steps import SHORT

SHARD = "races"
FIRST = ("fenced-brokers-join",)  # its leader leads nothing else: it speaks of one ISR at a time
NOT_RELIABLE = "which of two comes first cannot be steered outside of a simulation"


def record_races(given: StageRun) -> StagePlayed:
    """Play those that the deployment can do, in the order that the seed gives."""
    sut, world, seed = given.sut, given.world, given.seed
    programs, order = recorded_programs(), list(RACES)
    random.Random(f"{seed}/races").shuffle(order)
    order.sort(key=lambda one: one not in FIRST)
    skipped: dict[str, str] = {}
    plan = plan_of(world, sut.mutants)
    with deploy(sut, plan, run=given.run, world=world, seed=seed, shard=SHARD) as on:
        recovered = True
        for number, race in enumerate(order):
            why = None if recovered else UNSOUND
            if why is None and world != "sim" and race in ONLY_SIMULATED:
                why = NOT_RELIABLE
            why = why or _missing(on, programs[race])
            if why is not None:
                skipped[race_name(race)] = why
                continue
            given.progress(f"race {number + 1} of {len(order)}: {race}")
            recovered = play_program(on, programs[race], topic=topic_of(number))
        tidy_up(on, sut, [topic_of(number) for number in range(len(order))])
        return StagePlayed(
            brokers=on.known,
            lacks=on.lacks,
            counted={"race": len(order) - len(skipped)},
            skipped=skipped,
        )


def topic_of(number: int) -> str:
    """The topic of the race of that number."""
    return f"race{number}"


def _missing(on: Deployment, program: Iterable[Step]) -> str | None:
    """Why a program cannot be played, if it cannot."""
    for step in program:
        fault = FAULTS.get(SHORT.get(step.verb, step.verb)) if step.actor == NEMESIS else None
        if fault is not None and (why := not_offered(on, fault)) is not None:
            return why
    return None

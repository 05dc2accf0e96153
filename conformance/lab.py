"""The lab: take a system, a world and a plan; record a run.

One run folder holds everything: the header says what was asked for, so that the run can be repeated
from it; the history says what was planned, what of it was skipped and what happened. What that is
worth is said by `spark_checkers.judge`, from the folder alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from conformance.catalogue import CATALOGUE
from conformance.classic.campaign import part_name
from conformance.classic.lab import plan_of, record_classic
from conformance.classic.offers import planned_parts
from conformance.scenario import Scenario, on_topic
from conformance.scenarios import SCENARIOS
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.history.plan import LabShard, Part, PlannedWaiver, RunPlan, Skip
from harness.steps.step import Step
from harness.steps.text import parse
from harness.sut import Sut
from harness.workloads.boundary import generate
from harness.worlds import World, open_world
from harness.worlds.player import FAULTS

CLASSIC, MIGRATION = "classic", "migration"
PLAINTEXT = "PLAINTEXT"
OLDER_SCHEMA = 2
SMOKE = """
    a  call  create t=smoke
    a  call  get t=smoke
    a  call  initialize b0=10 epoch=1 seeds=none t=smoke
    a  call  get t=smoke
"""
# Without these a register is not certified; the lab can do them to its clients in every world.
PROMISED = frozenset({"lose-reply", "kill-client", "pause-client"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does: which scenarios, and how many rounds of seeded concurrent work.

    It is judged by `rules`, by default all that its profiles have. `whole` says that nothing of
    what the profiles ask is left out; `day` is the day by which waivers are judged.
    """

    world: str
    seed: int
    profiles: tuple[str, ...] = (MIGRATION,)
    scenarios: tuple[Scenario, ...] = SCENARIOS
    rules: tuple[str, ...] = ()
    whole: bool = False
    day: datetime.date | None = None
    rounds: int = 2
    round_operations: int = 60
    clients: int = 3
    partitions: int = 2

    @property
    def judged_by(self) -> tuple[str, ...]:
        """The ids of the rules."""
        of_profiles = CATALOGUE.of_profiles(self.profiles).played()
        return self.rules or tuple(rule.id for rule in of_profiles)


@dataclass(slots=True, kw_only=True)
class Recorded:
    """What was played, and what could not be, with the reason."""

    folder: Path
    played: list[Scenario] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    campaigns: list[str] = field(default_factory=list)
    brokers: tuple[int, ...] = ()


Progress = Callable[[str], None]


def unplayable(sut: Sut, profile: str) -> str | None:
    """Why the lab cannot play a profile on a system, if it cannot."""
    if profile == CLASSIC and not sut.startable:
        protocol = str(sut.client.get("security.protocol", PLAINTEXT))
        if sut.bootstrap is None:
            return "it has no bootstrap address"
        if protocol.upper() != PLAINTEXT:
            return f"the raw client speaks {PLAINTEXT} only, and its clients need {protocol}"
    if profile == MIGRATION and sut.reference is None and "control_plane" not in sut.hooks:
        return "it has no hook control_plane"
    return None


def run_plan(sut: Sut, plan: Plan) -> RunPlan:
    """The plan as it stands in the history."""
    parts = planned_parts() if CLASSIC in plan.profiles else ()
    if MIGRATION in plan.profiles:
        parts += tuple(scenario_part(scenario) for scenario in plan.scenarios)
    mutants = sut.reference.mutants if sut.reference else ()
    return RunPlan(
        rules=plan.judged_by,
        parts=parts,
        claimed=sut.profiles,
        examined=plan.profiles,
        whole=plan.whole,
        reference=sut.reference is not None,
        mutants=mutants,
        brokers=_brokers_expected(sut) if CLASSIC in plan.profiles else None,
        day=None if plan.day is None else plan.day.isoformat(),
        waivers=tuple(
            PlannedWaiver(
                rule=CATALOGUE[one.rule].id, reason=one.reason, until=one.until.isoformat()
            )
            for one in sut.waivers
        ),
    )


def scenario_part(scenario: Scenario) -> Part:
    """A scenario as a part of a plan: the rules it exercises, the faults that must land."""
    faults = tuple(FAULTS[verb][0] for verb in sorted(scenario.verbs()) if verb in FAULTS)
    return Part(
        name=scenario.slug,
        profile=MIGRATION,
        rules=scenario.rules,
        faults=faults,
        promised=bool(faults) and PROMISED.issuperset(faults),
    )


def _brokers_expected(sut: Sut) -> int | None:
    """As many as the lab starts, or as the SUT file lists addresses; one may stand for many."""
    if sut.startable:
        return len(plan_of().broker_ids)
    listed = len((sut.bootstrap or "").split(","))
    return listed if listed > 1 else None


def record(run: Run, sut: Sut, plan: Plan, *, progress: Progress = lambda text: None) -> Recorded:
    """Play the plan, seal the history. What was recorded stays, whatever happens."""
    recorded = Recorded(folder=run.folder)
    lab = LabShard(run)
    try:
        lab.plan(run_plan(sut, plan))
        if CLASSIC in plan.profiles:
            _record_classic(run, sut, plan, recorded, progress)
        if MIGRATION in plan.profiles:
            _record_migration(run, sut, plan, recorded, progress)
        for name, reason in recorded.skipped.items():
            lab.skip(Skip(what="part", name=name, reason=reason))
        for profile in sut.profiles:
            if profile not in plan.profiles:
                lab.skip(Skip(what="profile", name=profile, reason=_not_examined(sut, profile)))
        if recorded.brokers:
            lab.found("brokers", [{"id": broker} for broker in recorded.brokers])
        lab.close(at=now())
    except BaseException:
        lab.abandon()
        raise
    finally:
        run.seal()
    return recorded


def now() -> str:
    """The time of day, as headers and footers say it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_examined(sut: Sut, profile: str) -> str:
    if not len(CATALOGUE.of_profiles([profile]).played()):
        return "there are no rules for it yet"
    return unplayable(sut, profile) or "it was not asked for"


def _record_classic(run: Run, sut: Sut, plan: Plan, recorded: Recorded, progress: Progress) -> None:
    played = record_classic(run, world=plan.world, seed=plan.seed, sut=sut, progress=progress)
    recorded.campaigns.append(CLASSIC)
    recorded.brokers = played.brokers
    recorded.skipped |= {part_name(fault): why for fault, why in played.not_played.items()}


def _record_migration(
    run: Run, sut: Sut, plan: Plan, recorded: Recorded, progress: Progress
) -> None:
    older = [s for s in plan.scenarios if s.older_schema]
    with open_world(plan.world, run=run, sut=sut, seed=plan.seed) as world:
        for scenario in plan.scenarios:
            if not scenario.older_schema:
                play_scenario(world, scenario, recorded, progress)
        for number in range(plan.rounds):
            progress(f"round {number + 1} of {plan.rounds}")
            world.play(_round(plan, number, world.supports))
    for part, scenario in enumerate(older, start=1):
        _play_from_older_schema(run, sut, plan, scenario, part, recorded, progress)


def smoke(run: Run, sut: Sut, plan: Plan) -> int:
    """Four calls that any register answers; otherwise nothing can be judged."""
    with open_world(plan.world, run=run, sut=sut, seed=plan.seed, shard="smoke") as world:
        world.play(parse(SMOKE))
        if world.unanswered:
            raise LabBroken(
                f"{sut.name} left {world.unanswered} of 4 plain calls without a definite answer;"
                " no rule can be judged"
            )
    return 4


def play_scenario(
    world: World,
    scenario: Scenario,
    recorded: Recorded,
    progress: Progress = lambda text: None,
) -> None:
    """Play a scenario if the world can, else remember why not."""
    missing = sorted(scenario.verbs() - world.supports)
    if missing:
        recorded.skipped[scenario.slug] = f"this world cannot {', '.join(missing)}"
        return
    progress(scenario.name)
    world.play(scenario.steps(), part=scenario.slug)
    recorded.played.append(scenario)


def _play_from_older_schema(
    run: Run,
    sut: Sut,
    plan: Plan,
    scenario: Scenario,
    part: int,
    recorded: Recorded,
    progress: Progress,
) -> None:
    try:
        world = open_world(
            plan.world, run=run, sut=sut, seed=plan.seed, schema_upto=OLDER_SCHEMA, part=part
        )
    except UsageError as reason:
        recorded.skipped[scenario.slug] = str(reason)
        return
    with world:
        play_scenario(world, scenario, recorded, progress)


def _round(plan: Plan, number: int, verbs: frozenset[str]) -> list[Step]:
    steps = generate(
        plan.seed * 1000 + number,
        clients=plan.clients,
        partitions=plan.partitions,
        operations=plan.round_operations,
        verbs=verbs,
    )
    return [on_topic(step, f"round-{number + 1}") for step in steps]

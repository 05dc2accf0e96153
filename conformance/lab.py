"""The lab: take a system, a world and a plan; record a run; have it judged.

One run folder holds everything: the header says what was asked for, so that the run can be repeated
from it; the history says what happened; the verdicts say what it is worth. A scenario that a world
cannot play is skipped with the reason, and the rules it alone would have exercised become *not
observable* there, never *pass*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.classic.campaign import FAULTS
from conformance.classic.lab import record_classic
from conformance.classic.offers import unseen_without
from conformance.scenario import Scenario, on_topic
from conformance.scenarios import SCENARIOS
from harness.history import Run
from harness.rules import Judged, Judgement, Rule, Verdict
from harness.sut import Sut
from harness.sut.errors import LabBroken, UsageError
from harness.workloads.boundary import generate
from harness.workloads.script import Step, parse
from harness.worlds import World, open_world
from nemesis.cluster_faults import CLUSTER_FAULTS
from nemesis.faults import fault_of_verb
from spark_checkers.engine import Engine
from spark_checkers.judge import judge_run, write_results

CLASSIC, MIGRATION = "classic", "migration"
PLAINTEXT = "PLAINTEXT"
OLDER_SCHEMA = 2
SMOKE = """
    a  call  create t=smoke
    a  call  get t=smoke
    a  call  initialize b0=10 epoch=1 seeds=none t=smoke
    a  call  get t=smoke
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does: which scenarios, and how many rounds of seeded concurrent work."""

    world: str
    seed: int
    profiles: tuple[str, ...] = (MIGRATION,)
    scenarios: tuple[Scenario, ...] = SCENARIOS
    rounds: int = 2
    round_operations: int = 60
    clients: int = 3
    partitions: int = 2


@dataclass(slots=True, kw_only=True)
class Recorded:
    """What was played, and which scenarios could not be, with the reason."""

    folder: Path
    played: list[Scenario] = field(default_factory=list)
    skipped: dict[Scenario, str] = field(default_factory=dict)
    campaigns: list[str] = field(default_factory=list)
    unoffered: tuple[str, ...] = ()  # faults of campaigns that this system has no way to suffer


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


def record(run: Run, sut: Sut, plan: Plan, *, progress: Progress = lambda text: None) -> Recorded:
    """Play the plan, seal the history. What was recorded stays, whatever happens."""
    recorded = Recorded(folder=run.folder)
    try:
        if CLASSIC in plan.profiles:
            played = record_classic(
                run, world=plan.world, seed=plan.seed, sut=sut, progress=progress
            )
            recorded.campaigns.append(CLASSIC)
            recorded.unoffered = tuple(one for one in FAULTS if one not in played)
        if MIGRATION in plan.profiles:
            _record_migration(run, sut, plan, recorded, progress)
    finally:
        run.seal()
    return recorded


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
        recorded.skipped[scenario] = f"this world cannot {', '.join(missing)}"
        return
    progress(scenario.name)
    world.play(scenario.steps())
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
        recorded.skipped[scenario] = str(reason)
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


def judge(
    recorded: Recorded,
    rules: Iterable[Rule],
    engine: Engine,
    *,
    reference: bool,
    progress: Progress = lambda text: None,
) -> Judgement:
    """Judge the run.

    Rules that nothing here could exercise are not observable; rules whose scenario rests on a fault
    that never landed have no proof.
    """
    rules = tuple(rules)
    judgement = judge_run(recorded.folder, rules, engine, reference=reference, progress=progress)
    unseen = {**_unplayable(recorded), **_unoffered(recorded)}
    toothless = {**_toothless(recorded, engine), **_toothless_campaigns(recorded, rules, engine)}
    if not unseen and not toothless:
        return judgement
    judged = tuple(_observable(_proven(j, toothless), unseen) for j in judgement.judged)
    judgement = replace(judgement, judged=judged)
    write_results(recorded.folder, judgement)
    return judgement


# Faults that began while the operations on a topic lasted, and how often each landed.
_FAULTS_OF_TOPICS = """
    SELECT o.topic, w.fault, sum(CASE WHEN w.landed THEN 1 ELSE 0 END) AS landed
    FROM (SELECT topic, clock, min(began) AS since, max(coalesce(answered, began)) AS until
          FROM boundary_ops GROUP BY topic, clock) o
    JOIN fault_windows w ON w.clock = o.clock AND w.since BETWEEN o.since AND o.until
    GROUP BY o.topic, w.fault
"""


# Each of them has its place in a campaign: that another of its kind has bitten is no excuse.
_MISSED = "SELECT DISTINCT fault FROM fault_windows WHERE NOT landed ORDER BY fault"
_OF_CLUSTERS = frozenset(fault.name for fault in CLUSTER_FAULTS)


def _toothless(recorded: Recorded, engine: Engine) -> Mapping[str, str]:
    """Rules with a scenario in which a fault was tried and never bit, with the fault."""
    landed: dict[str, set[str]] = {}
    if not recorded.played:
        return {}
    for row in engine.rows(_FAULTS_OF_TOPICS):
        if row["landed"]:
            landed.setdefault(row["topic"], set()).add(row["fault"])
    missing: dict[str, str] = {}
    for scenario in recorded.played:
        seen = {
            fault for topic, faults in landed.items() if scenario.owns(topic) for fault in faults
        }
        for verb in sorted(scenario.verbs()):
            fault = fault_of_verb(verb)
            if fault is not None and fault.name not in seen:
                missing |= dict.fromkeys(scenario.rules, fault.name)
    return missing


def _toothless_campaigns(
    recorded: Recorded, rules: Iterable[Rule], engine: Engine
) -> Mapping[str, str]:
    """Rules of the profiles of campaigns in which a fault of the cluster did not bite."""
    if not recorded.campaigns:
        return {}
    missed = [str(row["fault"]) for row in engine.rows(_MISSED) if row["fault"] in _OF_CLUSTERS]
    if not missed:
        return {}
    return {rule.id: missed[0] for rule in rules if rule.profile in recorded.campaigns}


def _proven(judged: Judged, toothless: Mapping[str, str]) -> Judged:
    fault = toothless.get(judged.rule.id)
    if fault is None or judged.verdict not in (Verdict.PASS, Verdict.WEAK):
        return judged
    return replace(judged, verdict=Verdict.NO_PROOF, reason=f"the fault {fault} did not land")


def _unplayable(recorded: Recorded) -> Mapping[str, str]:
    """Rules all of whose scenarios were skipped, with the reason of the last one."""
    played = {rule for scenario in recorded.played for rule in scenario.rules}
    return {
        rule: reason
        for scenario, reason in recorded.skipped.items()
        for rule in scenario.rules
        if rule not in played
    }


def _unoffered(recorded: Recorded) -> Mapping[str, str]:
    """Rules of campaigns that rest on faults which the system does not offer."""
    played = [one for one in FAULTS if one not in recorded.unoffered]
    return unseen_without(played) if CLASSIC in recorded.campaigns else {}


def _observable(judged: Judged, unseen: Mapping[str, str]) -> Judged:
    reason = unseen.get(judged.rule.id)
    if reason is None or judged.verdict is not Verdict.NO_PROOF or judged.result.exercised:
        return judged
    return replace(judged, verdict=Verdict.NOT_OBSERVABLE, reason=reason)

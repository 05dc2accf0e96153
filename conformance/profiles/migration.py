"""The profile `migration`: scenarios and rounds on the boundary register of a control plane."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.profiles.profile import AnyMutant, Plan, Played, Profile, Progress, broken
from conformance.scenario import Scenario, on_topic
from conformance.scenarios import SCENARIOS
from harness.deployments.plan import DeploymentPlan
from harness.errors import UsageError
from harness.history import REGISTER_CALLS, Run
from harness.steps.step import Step
from harness.steps.text import parse
from harness.sut import Sut
from harness.sut.adapter import CONTROL_PLANE
from harness.workloads.boundary import generate
from harness.worlds import World, open_world
from harness.worlds.player import FAULTS
from reference_impl.decisions import SqlMutant

OLDER_SCHEMA = 2
ROUND_OPERATIONS, CLIENTS, PARTITIONS = 60, 3, 2
SMOKE = """
    a  call  create t=smoke
    a  call  get t=smoke
    a  call  initialize b0=10 epoch=1 seeds=none t=smoke
    a  call  get t=smoke
"""


class Migration(Profile):
    """A control plane and its clients; no broker takes part yet."""

    name = "migration"
    needs = (CONTROL_PLANE,)
    operations = frozenset(REGISTER_CALLS)
    scenarios = SCENARIOS
    # Without these a register is not certified; the lab can do them to its clients in every world.
    promised = frozenset({"lose-reply", "kill-client", "pause-client"})
    decided_in = ("reference_impl.control_plane",)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """A control plane alone."""
        kind = sut.reference.control_plane if sut.reference else None
        kind = kind or self.control_plane(None, world)
        return DeploymentPlan(brokers=0, control_plane=kind, mutants=sut.mutants)

    def smoke(self, run: Run, sut: Sut, plan: Plan) -> int:
        """Four calls that any register answers."""
        steps = parse(SMOKE)
        with open_world(
            plan.world, run=run, sut=sut, seed=plan.seed, shard=self.smoke_shard
        ) as world:
            world.play(steps)
            if world.unanswered:
                raise broken(sut, world.unanswered, len(steps))
        return len(steps)

    def record(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Played:
        """Scenarios, then rounds, then the scenarios that start from an older schema."""
        played = Played(counted={"scenario": 0, "round": plan.rounds})
        scenarios = self.chosen(plan)
        with open_world(plan.world, run=run, sut=sut, seed=plan.seed) as world:
            for scenario in scenarios:
                if not scenario.older_schema:
                    play_scenario(world, scenario, played, progress)
            for number in range(plan.rounds):
                progress(f"round {number + 1} of {plan.rounds}")
                world.play(_round(plan, number, world.supports))
        older = [scenario for scenario in scenarios if scenario.older_schema]
        for part, scenario in enumerate(older, start=1):
            _play_from_older_schema(run, sut, plan, scenario, part, played, progress)
        return played

    def faults_of(self, scenario: Scenario) -> tuple[str, ...]:
        """Those of its verbs that are faults."""
        return tuple(FAULTS[verb][0] for verb in sorted(scenario.verbs()) if verb in FAULTS)

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """Those of the register."""
        from conformance.mutants import of_the_register

        return of_the_register(world)

    def control_plane(self, mutant: AnyMutant | None, world: str) -> str:
        """SQL mutants need the database; in `sim` everything else runs in memory."""
        if world == "sim" and not isinstance(mutant, SqlMutant):
            return "memory"
        return "postgres"


PROFILE = Migration()


def play_scenario(
    world: World,
    scenario: Scenario,
    played: Played,
    progress: Progress = lambda text: None,
) -> None:
    """Play a scenario if the world can, else remember why not."""
    missing = sorted(scenario.verbs() - world.supports)
    if missing:
        played.skipped[scenario.slug] = f"this world cannot {', '.join(missing)}"
        return
    progress(scenario.name)
    world.play(scenario.steps(), part=scenario.slug)
    played.count("scenario")


def _play_from_older_schema(
    run: Run,
    sut: Sut,
    plan: Plan,
    scenario: Scenario,
    part: int,
    played: Played,
    progress: Progress,
) -> None:
    try:
        world = open_world(
            plan.world, run=run, sut=sut, seed=plan.seed, schema_upto=OLDER_SCHEMA, part=part
        )
    except UsageError as reason:
        played.skipped[scenario.slug] = str(reason)
        return
    with world:
        play_scenario(world, scenario, played, progress)


def _round(plan: Plan, number: int, verbs: frozenset[str]) -> list[Step]:
    steps = generate(
        plan.seed * 1000 + number,
        clients=CLIENTS,
        partitions=PARTITIONS,
        operations=ROUND_OPERATIONS,
        verbs=verbs,
    )
    return [on_topic(step, f"round-{number + 1}") for step in steps]

"""The profile `migration`: scenarios and rounds on the boundary register of a control plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from conformance.profiles.profile import AnyMutant, Piece, Plan, Played, Profile, Progress, broken
from conformance.register import control_plane_alone, in_world, open_register
from conformance.scenario import Scenario, on_topic
from conformance.scenarios import SCENARIOS
from harness.deployments.plan import DeploymentPlan
from harness.errors import UsageError
from harness.history import REGISTER_CALLS, Run
from harness.steps.step import Step
from harness.steps.text import parse
from harness.sut import Sut
from harness.sut.adapter import CONTROL_PLANE
from harness.sut.lever_sets import ALL
from harness.workloads.boundary import generate
from harness.workloads.boundary_steps import FAULTS, BoundarySteps
from harness.workloads.look_steps import look_around
from reference_impl.decisions import SqlMutant

if TYPE_CHECKING:
    from conformance.driver import Driver

OLDER_SCHEMA = 2
TAKES_S = 10.0  # on processes
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
    promised = frozenset({"lose-reply", "kill", "pause"})
    decided_in = ("reference_impl.control_plane",)

    def deployment(self, sut: Sut, world: str) -> DeploymentPlan:
        """A control plane alone."""
        return control_plane_alone(sut, world)

    def smoke(self, run: Run, sut: Sut, plan: Plan) -> int:
        """Four calls that any register answers."""
        steps = parse(SMOKE, BoundarySteps)
        with open_register(
            plan.world, run=run, sut=sut, seed=plan.seed, shard=self.smoke_shard
        ) as register:
            register.play(steps)
            if register.unanswered:
                raise broken(sut, register.unanswered, len(steps))
            return len(steps) + look_around(register.deployment, self.probes)

    def pieces(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Sequence[Piece]:
        """All of it at once: a register is quick."""
        return [Piece(partial(self._record, run, sut, plan, progress), TAKES_S)]

    def _record(self, run: Run, sut: Sut, plan: Plan, progress: Progress) -> Played:
        """Scenarios, then rounds, then the scenarios that start from an older schema."""
        played = Played(counted={"scenario": 0, "round": plan.rounds})
        if sut.started:
            played.levers[self.name] = ALL
        scenarios = self.chosen(plan)
        with open_register(plan.world, run=run, sut=sut, seed=plan.seed) as register:
            for scenario in scenarios:
                if not scenario.older_schema:
                    play_scenario(register, scenario, played, progress)
            for number in range(plan.rounds):
                progress(f"round {number + 1} of {plan.rounds}")
                register.play(_round(plan, number, register.supports))
            look_around(register.deployment, self.probes | {"control_plane"})
        older = [scenario for scenario in scenarios if scenario.older_schema]
        for part, scenario in enumerate(older, start=1):
            _play_from_older_schema(run, sut, plan, scenario, part, played, progress)
        return played

    def faults_of(self, scenario: Scenario) -> tuple[str, ...]:
        """Those of its verbs that are faults."""
        return tuple(FAULTS[verb] for verb in sorted(scenario.verbs()) if verb in FAULTS)

    def mutants(self, world: str) -> Mapping[str, AnyMutant]:
        """Those of the register."""
        from conformance.mutants import of_the_register

        return of_the_register(world)

    def shows(self, mutant: AnyMutant, world: str) -> bool:
        """In processes the register is in PostgreSQL, where most choices are made in SQL."""
        from conformance.mutants import shows_in_processes

        return world == "sim" or shows_in_processes(mutant)

    def control_plane(self, mutant: AnyMutant | None, world: str) -> str:
        """SQL mutants need the database; in `sim` everything else runs in memory."""
        return "postgres" if isinstance(mutant, SqlMutant) else in_world(world)


PROFILE = Migration()


def play_scenario(
    register: Driver,
    scenario: Scenario,
    played: Played,
    progress: Progress = lambda text: None,
) -> None:
    """Play a scenario if that is possible here, else remember why not."""
    missing = sorted(scenario.verbs() - register.supports)
    if missing:
        played.skipped[scenario.slug] = f"this world cannot {', '.join(missing)}"
        return
    progress(scenario.name)
    register.play(scenario.steps(), part=scenario.slug)
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
    opened = open_register(
        plan.world, run=run, sut=sut, seed=plan.seed, schema_upto=OLDER_SCHEMA, part=part
    )
    with ExitStack() as stack:
        try:
            register = stack.enter_context(opened)
        except UsageError as reason:
            played.skipped[scenario.slug] = str(reason)
            return
        play_scenario(register, scenario, played, progress)


def _round(plan: Plan, number: int, verbs: frozenset[str]) -> list[Step]:
    steps = generate(
        plan.seed * 1000 + number,
        clients=CLIENTS,
        partitions=PARTITIONS,
        operations=ROUND_OPERATIONS,
        verbs=verbs,
    )
    return [on_topic(step, f"round-{number + 1}") for step in steps]

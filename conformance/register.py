"""The boundary register: a control plane and its clients in a world, and a player of their steps.

    with open_register("sim", run=run, sut=sut, seed=7) as register:
        register.play(parse(script, BoundarySteps))

Several may record into one run, each with its own `part` or its own `shard` name (`take_slot`).
If playing fails, the shard gets no end line and the run is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from harness.deployments.deploy import deploy
from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.errors import UsageError
from harness.history import Run
from harness.steps.player import Player
from harness.steps.step import Step
from harness.sut import Sut
from harness.sut.adapter import CONTROL_PLANE
from harness.workloads.boundary_steps import BoundarySteps


class Register:
    """Plays steps (several times, if one likes: what is open stays open)."""

    def __init__(self, deployment: Deployment) -> None:
        # Here and not above: commands start without the schemas of Kafka's requests.
        from nemesis.nemesis import Nemesis

        self.deployment = deployment
        self.steps = BoundarySteps(deployment, Nemesis(deployment))
        self._player = Player(deployment.recorder, [self.steps])

    @property
    def supports(self) -> frozenset[str]:
        """The verbs that can be played here; a list of steps with any other is refused whole."""
        return self.steps.able

    @property
    def unanswered(self) -> int:
        """How many operations so far ended without a definite answer."""
        return self.deployment.recorder.unanswered

    def play(self, steps: Iterable[Step], *, part: str | None = None) -> None:
        """Play steps in order; `part` of the plan they are, if any."""
        recorder = self.deployment.recorder
        recorder.plan_part = part
        try:
            self.deployment.run(self._player.play(steps))
        finally:
            recorder.plan_part = None


@contextmanager
def open_register(
    world: str,
    *,
    run: Run,
    sut: Sut,
    seed: int,
    schema_upto: int | None = None,
    part: int = 0,
    shard: str | None = None,
) -> Iterator[Register]:
    """A system's control plane in a world; leaving it ends everything that was started."""
    if lacking := sut.adapter.lacking(sut, CONTROL_PLANE):
        raise UsageError(f"the control plane of {sut.name} cannot be asked: {lacking}")
    plan = control_plane_alone(sut, world, schema_upto=schema_upto)
    opened = deploy(
        sut, plan, run=run, world=world, seed=seed, part=part, shard=shard, records_effects=True
    )
    with opened as deployment, playing(deployment) as register:
        yield register


@contextmanager
def playing(deployment: Deployment) -> Iterator[Register]:
    """A player on a deployment; in the end what is open is recorded as unknown."""
    register = Register(deployment)
    try:
        yield register
    finally:
        deployment.run(register.steps.finish())


def control_plane_alone(sut: Sut, world: str, *, schema_upto: int | None = None) -> DeploymentPlan:
    """A plan of a control plane without brokers: the one that a system names, or the world's."""
    named = sut.reference.control_plane if sut.reference else None
    return DeploymentPlan(
        brokers=0,
        control_plane=named or in_world(world),
        mutants=sut.mutants,
        schema_upto=schema_upto,
    )


def in_world(world: str) -> str:
    """In a simulation the control plane is in memory, unless a system says otherwise."""
    return "memory" if world == "sim" else "postgres"

"""The boundary register: a control plane and its clients in a world, and a player of their steps.

    with open_register("sim", run=run, sut=sut, seed=7) as register:
        register.play(parse(script, BoundarySteps))

Several may record into one run, each with its own `part` or its own `shard` name (`take_slot`).
If playing fails, the shard gets no end line and the run is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from harness.deployments.deployment import Deployment
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import open_sim
from harness.errors import UsageError
from harness.history import Run
from harness.steps.player import Player
from harness.steps.step import Step
from harness.sut import Sut
from harness.workloads.boundary_steps import BoundarySteps
from nemesis.nemesis import Nemesis


class Register:
    """Plays steps (several times, if one likes: what is open stays open)."""

    def __init__(self, deployment: Deployment) -> None:
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
    if world in ("process", "external"):
        from harness.worlds import open_world

        with open_world(
            world, run=run, sut=sut, seed=seed, schema_upto=schema_upto, part=part, shard=shard
        ) as other:
            yield other  # type: ignore[misc] # until there are deployments
        return
    opened = _deployment(
        world, run=run, sut=sut, seed=seed, schema_upto=schema_upto, part=part, shard=shard
    )
    with opened as deployment:
        register = Register(deployment)
        try:
            yield register
        finally:
            deployment.run(register.steps.finish())


def _deployment(
    world: str,
    *,
    run: Run,
    sut: Sut,
    seed: int,
    schema_upto: int | None,
    part: int,
    shard: str | None,
) -> AbstractContextManager[Deployment]:
    if world == "sim":
        if sut.reference is None:
            raise UsageError(f"{sut.name} cannot be simulated: only the reference can")
        plan = DeploymentPlan(
            brokers=0,
            control_plane=sut.reference.control_plane or "memory",
            mutants=sut.reference.mutants,
            schema_upto=schema_upto,
        )
        return open_sim(run, plan, seed=seed, part=part, shard=shard, records_effects=True)
    raise UsageError(f"there is no world {world!r}; known: sim, process, external")

"""The boundary register: a control plane alone, and what drives its clients.

    with open_register("sim", run=run, sut=sut, seed=7) as register:
        register.play(parse(script, BoundarySteps))

Several may record into one run, each with its own `part` or its own `shard` name (`take_slot`).
If playing fails, the shard gets no end line and the run is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.deployments.deploy import deploy
from harness.deployments.plan import DeploymentPlan
from harness.errors import UsageError
from harness.history import Run
from harness.sut import Sut
from harness.sut.adapter import CONTROL_PLANE

if TYPE_CHECKING:
    from conformance.driver import Driver


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
) -> Iterator[Driver]:
    """A system's control plane in a world; leaving it ends everything that was started."""
    from conformance.driver import Driver  # loads the Kafka protocol, and with it Hypothesis

    if lacking := sut.adapter.lacking(sut, CONTROL_PLANE):
        raise UsageError(f"the control plane of {sut.name} cannot be asked: {lacking}")
    plan = control_plane_alone(sut, world, schema_upto=schema_upto)
    opened = deploy(
        sut, plan, run=run, world=world, seed=seed, part=part, shard=shard, records_effects=True
    )
    with opened as deployment, Driver(deployment) as driver:
        yield driver


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

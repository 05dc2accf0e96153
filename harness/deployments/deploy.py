"""How systems come to run: for each adapter and each of its worlds, what opens a deployment.

Each is imported when it is wanted: a simulation needs no database driver, and Apache Kafka no
simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import CONTROLLER, DeploymentPlan
from harness.history import Run
from harness.sut import Sut
from harness.sut.lever_sets import LEVER_SETS

if TYPE_CHECKING:
    from harness.clients.versions import Offered

Opened = AbstractContextManager[Deployment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which system, which roles of it, and where it is recorded."""

    sut: Sut
    plan: DeploymentPlan
    run: Run
    seed: int
    part: int = 0
    shard: str | None = None
    records_effects: bool = False


Opener = Callable[[Asked], Opened]
OPENERS: dict[tuple[str, str], Opener] = {}
"""By the name of the adapter and the world."""


def opens(adapter: str, world: str) -> Callable[[Opener], Opener]:
    """Register what opens the systems of an adapter in a world."""

    def register(opener: Opener) -> Opener:
        OPENERS[adapter, world] = opener
        return opener

    return register


def deploy(
    sut: Sut,
    plan: DeploymentPlan,
    *,
    run: Run,
    world: str,
    seed: int,
    part: int = 0,
    shard: str | None = None,
    records_effects: bool = False,
) -> Opened:
    """A system with the roles of a plan in a world, recorded into a shard of its own.

    With `records_effects` a simulation records every effect of every node.
    """
    sut.adapter.check_world(sut, world)
    opened = OPENERS[sut.adapter.name, world](
        Asked(
            sut=sut,
            plan=plan,
            run=run,
            seed=seed,
            part=part,
            shard=shard,
            records_effects=records_effects,
        )
    )
    if sut.reference is None or not plan.brokers:
        return opened
    if sut.reference.offered is not None:
        opened = _offering(opened, sut.reference.offered)
    allowed = LEVER_SETS[sut.reference.levers]
    return opened if allowed is None else _limited(opened, allowed)


@contextmanager
def _offering(opened: Opened, offered: Offered) -> Iterator[Deployment]:
    """A cluster that is asked no more than what one offers which is not ours."""
    from harness.clients.asked import lacking
    from harness.clients.versions import OfferedAddress

    with opened as deployment:
        address = deployment.address
        deployment.address = lambda broker: OfferedAddress.of(address(broker), offered)  # type: ignore[method-assign]
        deployment.lacks = lacking(offered)
        yield deployment


@contextmanager
def _limited(opened: Opened, allowed: frozenset[str]) -> Iterator[Deployment]:
    """A cluster that offers and shows no more than one that the lab has not started."""
    with opened as deployment:
        levers = deployment.levers
        withheld = dict.fromkeys(sorted(levers.offered - allowed), "it is withheld")
        levers.not_offered = MappingProxyType({**levers.not_offered, **withheld})
        levers.offered &= allowed
        if CONTROLLER in deployment.nodes(Role.CONTROLLER) and deployment.world != "external":
            nodes = deployment.nodes
            deployment.nodes = lambda role: () if role is Role.CONTROLLER else nodes(role)  # type: ignore[method-assign]
            levers.further_ends = (CONTROLLER,)
        deployment.probes = frozenset()
        yield deployment


@opens("reference", "sim")
def _simulated(asked: Asked) -> Opened:
    from harness.deployments.sim import open_sim

    return open_sim(
        asked.run,
        asked.plan,
        seed=asked.seed,
        part=asked.part,
        shard=asked.shard,
        records_effects=asked.records_effects,
        forgiving=True,
    )


@opens("reference", "process")
def _as_processes(asked: Asked) -> Opened:
    from harness.deployments.process import open_process

    return open_process(asked.run, asked.plan, part=asked.part, shard=asked.shard)


@opens("reference", "docker")
def _as_containers(asked: Asked) -> Opened:
    from harness.deployments.docker.deployed import open_docker

    return open_docker(asked.run, asked.plan, part=asked.part, shard=asked.shard)


@opens("apache-kafka", "process")
def _from_jars(asked: Asked) -> Opened:
    from harness.deployments.apache_kafka.deployed import kafka_from_jars

    return kafka_from_jars(asked.run, asked.plan, part=asked.part, shard=asked.shard)


@opens("apache-kafka", "docker")
def _from_image(asked: Asked) -> Opened:
    from harness.deployments.apache_kafka.deployed import kafka_from_image

    return kafka_from_image(asked.run, asked.plan, part=asked.part, shard=asked.shard)


@opens("external", "external")
def _by_address(asked: Asked) -> Opened:
    from harness.deployments.external import external_deployment

    return external_deployment(
        asked.run,
        asked.sut,
        brokers=asked.plan.brokers > 0,
        part=asked.part,
        shard=asked.shard,
    )

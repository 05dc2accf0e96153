"""What stages share: steps on a deployment from beginning to end, and no topic left behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from conformance.driver import Driver
from harness.clients.admin import Refused, delete_topic
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import NodeState
from harness.deployments.sim import SimDeployment
from harness.errors import CannotConnect, DidNotStart, LabBroken, LabError
from harness.steps.step import Step
from harness.sut import Sut
from harness.workloads.look_steps import look_around
from reference_impl.decisions import in_force


def play_steps(
    on: Deployment,
    sut: Sut,
    steps: Sequence[Step],
    *,
    topics: Sequence[str],
    bound_s: float,
    chance: random.Random,
    probes: Iterable[str] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> None:
    """Play steps about the first of the topics, look around, tidy up."""
    with Driver(on, topic=topics[0], bound_s=bound_s, chance=chance) as driver:
        try:
            driver.play(steps, progress=progress)
        except Refused as reason:
            raise _without_topics(on, sut, reason) from None
    look_around(on, probes)
    tidy_up(on, sut, topics)
    if isinstance(on, SimDeployment) and on.sim.uncaught and not (sut.mutants or in_force()):
        raise LabBroken(f"a node of the reference left an error uncaught: {on.sim.uncaught[0]}")


def _without_topics(on: Deployment, sut: Sut, reason: Refused) -> LabError:
    """A cluster that creates no topic: if the lab has started it, its brokers are not ready."""
    what = f"no topic can be created: {reason}"
    if not sut.adapter.started:
        return CannotConnect(what)
    unready = NodeState(running=True, ready=False)
    return DidNotStart(what, [unready.row(one, on_purpose=False) for one in on.nodes(Role.BROKER)])


def tidy_up(on: Deployment, sut: Sut, topics: Iterable[str]) -> None:
    """Delete topics where the lab has not started the cluster, as far as it lets them go."""
    if not sut.adapter.started:
        on.run(_delete(on, [on.recorder.topic(topic) for topic in topics]))


async def _delete(on: Deployment, topics: Iterable[str]) -> None:
    client = RawClient(on.network, on.address(on.brokers[0]))
    for topic in topics:
        with suppress(Refused, OSError, TimeoutError):
            await delete_topic(client, topic)

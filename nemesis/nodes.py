"""What can be done to nodes: brokers, the controller and clients alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.deployments.at_rest import who_leads
from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import broker_id
from harness.errors import UsageError
from harness.levers import Counts, Lever
from nemesis.fault import (
    NODES,
    ONE_LEADER,
    REPLICA_UP,
    STOOD_STILL,
    Fault,
    Options,
    State,
)
from nemesis.targets import Takes, Target, partition_named
from nemesis.together import pull_all

ANOTHER_S = 30.0  # in which another leader has to be named
LOOK_AGAIN_S = 0.1
REPLICAS = 3  # with fewer brokers a cluster is not expected to survive the loss of one

# A broker that ends begins again at its checkpoints; without a controller news do not spread.
_ENDED = MappingProxyType({Role.BROKER: REPLICA_UP, Role.CONTROLLER: ONE_LEADER})
_STANDS = MappingProxyType({Role.BROKER: ONE_LEADER, Role.CONTROLLER: ONE_LEADER})
_LEADER = "leader of {partition}"
_FOLLOWER = "follower of {partition}"


async def _kill(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(on.levers.kill(node) for node in target.nodes)


async def _stop(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(on.levers.stop(node) for node in target.nodes)


async def _wipe(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(on.levers.wipe(node) for node in target.nodes)


async def _pause(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(on.levers.pause(node) for node in target.nodes)


async def _lose_power(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(on.levers.lose_power(node) for node in target.nodes)  # type: ignore[attr-defined]


async def _roll(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    """One after the other stops and starts; the last is started when the fault ends."""
    pulled: list[Lever] = []
    for node in target.nodes:
        if pulled:
            await pulled[-1].release()
            await asyncio.sleep(options["between_s"] * on.pace)
        pulled.append(await on.levers.stop(node))
    return pulled


@dataclass(slots=True)
class _AnotherLeads:
    """How many other brokers name another leader; nothing to release."""

    others_lead: int = 0

    @property
    def counts(self) -> Counts:
        return {"others_lead": self.others_lead}

    async def acted(self) -> None:
        """It was waited for already."""

    async def release(self) -> None:
        """There is nothing to end."""


async def _zombie(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    """Pause a leader, and wait until the other brokers name another one."""
    name, *more = target.nodes
    if more:
        raise UsageError(f"zombie on {target.label}: one leader at a time")
    named = options["partition"]
    tp = partition_named(on, named) if named else target.partition
    if tp is None:
        raise UsageError(f"zombie on {name}: of which partition it is to be the leader is not said")
    deposed = broker_id(name)
    others = [one for one in on.brokers if one != deposed]
    paused = await on.levers.pause(name)
    another = _AnotherLeads()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + options["within_s"] * on.pace
    while True:
        told = await asyncio.gather(*(who_leads(on, one, tp) for one in others))
        another.others_lead = sum(one is not None and one.leader in others for one in told)
        if another.others_lead or loop.time() >= deadline:
            return [paused, another]
        await asyncio.sleep(LOOK_AGAIN_S * on.pace)


FAULTS = (
    Fault(
        name="kill",
        roles=NODES,
        takes=Takes.NODES,
        does="ends a process at once; its machine keeps what it wrote and closes its connections",
        levers=("kill",),
        landed=(("processes_ended",),),
        shows="processes that ended",
        inject=_kill,
        suspends=_ENDED,
        state=State.DOWN,
        brokers=REPLICAS,
        targets=(_LEADER, _FOLLOWER, "controller", "client {client}"),
    ),
    Fault(
        name="restart",
        roles=NODES,
        takes=Takes.NODES,
        does="stops a process in good order; it starts again when the fault ends",
        levers=("stop",),
        landed=(("processes_ended",),),
        shows="processes that ended",
        inject=_stop,
        suspends=_ENDED,
        state=State.DOWN,
        brokers=REPLICAS,
        targets=(_LEADER, _FOLLOWER, "controller"),
    ),
    Fault(
        name="roll",
        roles=(Role.BROKER, Role.CONTROLLER),
        takes=Takes.NODES,
        does="stops and starts one process after the other; the last starts when the fault ends",
        levers=("stop",),
        landed=(("processes_ended",),),
        shows="processes that ended",
        inject=_roll,
        suspends=_ENDED,
        state=State.DOWN,
        brokers=REPLICAS,
        options={"between_s": 0.4},
        targets=("all brokers",),
    ),
    Fault(
        name="pause",
        roles=NODES,
        takes=Takes.NODES,
        does="lets a process stand still; resumed, it does not know that time has passed",
        levers=("pause",),
        landed=(STOOD_STILL,),
        shows="its threads that the kernel stopped, or what it would have done since",
        inject=_pause,
        suspends=_STANDS,
        state=State.STANDING,
        brokers=REPLICAS,
        targets=(_LEADER, _FOLLOWER, "controller", "client {client}"),
    ),
    Fault(
        name="zombie",
        roles=(Role.BROKER,),
        takes=Takes.NODES,
        does="lets a leader stand still until another leads; resumed, it takes itself for leader",
        levers=("pause",),
        landed=(STOOD_STILL, ("others_lead",)),
        shows="that it stood still, and how many other brokers named another leader",
        inject=_zombie,
        suspends=_STANDS,
        state=State.STANDING,
        brokers=REPLICAS,
        options={"partition": "", "within_s": ANOTHER_S},
        targets=(_LEADER,),
    ),
    Fault(
        name="reimage",
        roles=(Role.BROKER, Role.CONTROLLER),
        takes=Takes.NODES,
        does="ends a process and empties its disk",
        levers=("wipe",),
        landed=(("processes_ended",), ("bytes_wiped", "wipes_ordered")),
        shows="processes that ended, and what is gone from the disk (by hook: that it was told to)",
        inject=_wipe,
        suspends=_ENDED,
        state=State.DOWN,
        brokers=REPLICAS,
        targets=(_FOLLOWER,),
    ),
    Fault(
        name="lose-power",
        roles=(Role.BROKER, Role.CONTROLLER),
        takes=Takes.NODES,
        does="turns a machine off without a word; what was not synced may be gone",
        levers=("lose_power",),
        landed=(("processes_ended",),),
        shows="processes that ended (bytes_lost, writes_torn: what the disk forgot)",
        inject=_lose_power,
        suspends=_ENDED,
        state=State.DOWN,
        brokers=REPLICAS,
        targets=(_LEADER, _FOLLOWER),
    ),
)

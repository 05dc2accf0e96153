"""What can be done to nodes: brokers, the controller and clients alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from types import MappingProxyType

from harness.deployments.at_rest import who_leads
from harness.deployments.deployment import Deployment, Role
from harness.deployments.plan import broker_id
from harness.errors import UsageError
from harness.levers import Counted, Lever
from nemesis.fault import (
    NODES,
    ONE_LEADER,
    REPLICA_UP,
    STOOD_STILL,
    Fault,
    Options,
    State,
)
from nemesis.pulling import on_each_node
from nemesis.targets import Takes, Target, partition_named

ANOTHER_S = 30.0  # in which another leader has to be named
LOOK_AGAIN_S = 0.1
REPLICAS = 3  # with fewer brokers a cluster is not expected to survive the loss of one

# A broker that ends begins again at its checkpoints; without a controller news do not spread.
_ENDED = MappingProxyType({Role.BROKER: REPLICA_UP, Role.CONTROLLER: ONE_LEADER})
_STANDS = MappingProxyType({Role.BROKER: ONE_LEADER, Role.CONTROLLER: ONE_LEADER})
_LEADER = "leader of {partition}"
_FOLLOWER = "follower of {partition}"

_fault = partial(Fault, takes=Takes.NODES, brokers=REPLICAS)
_ends = partial(
    _fault,
    landed=(("processes_ended",),),
    suspends=_ENDED,
    state=State.DOWN,
)


async def _roll(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    """One after the other stops and starts; the last is started when the fault ends."""
    pulled: list[Lever] = []
    for node in target.nodes:
        if pulled:
            await pulled[-1].release()
            await asyncio.sleep(options["between_s"] * on.pace)
        pulled.append(await on.levers.stop(node))
    return pulled


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
    loop = asyncio.get_running_loop()
    deadline = loop.time() + options["within_s"] * on.pace
    while True:
        told = await asyncio.gather(*(who_leads(on, one, tp) for one in others))
        others_lead = sum(one is not None and one.leader in others for one in told)
        if others_lead or loop.time() >= deadline:
            return [paused, Counted({"others_lead": others_lead})]
        await asyncio.sleep(LOOK_AGAIN_S * on.pace)


FAULTS = (
    _ends(
        name="kill",
        roles=NODES,
        does="ends a process at once; its machine keeps what it wrote and closes its connections",
        levers=("kill",),
        inject=on_each_node(lambda levers, node, _: levers.kill(node)),
        targets=(_LEADER, _FOLLOWER, "controller", "client {client}"),
    ),
    _ends(
        name="restart",
        roles=NODES,
        does="stops a process in good order; it starts again when the fault ends",
        levers=("stop",),
        inject=on_each_node(lambda levers, node, _: levers.stop(node)),
        targets=(_LEADER, _FOLLOWER, "controller"),
    ),
    _ends(
        name="rolling-restart",
        roles=(Role.BROKER, Role.CONTROLLER),
        does="stops and starts one process after the other; the last starts when the fault ends",
        levers=("stop",),
        inject=_roll,
        options={"between_s": 0.4},
        targets=("all brokers",),
    ),
    _fault(
        name="pause",
        roles=NODES,
        does="lets a process stand still; resumed, it does not know that time has passed",
        levers=("pause",),
        landed=(STOOD_STILL,),
        inject=on_each_node(lambda levers, node, _: levers.pause(node)),
        suspends=_STANDS,
        state=State.STANDING,
        targets=(_LEADER, _FOLLOWER, "controller", "client {client}"),
    ),
    _fault(
        name="zombie",
        roles=(Role.BROKER,),
        does="lets a leader stand still until another leads; resumed, it takes itself for leader",
        levers=("pause",),
        landed=(STOOD_STILL, ("others_lead",)),
        inject=_zombie,
        suspends=_STANDS,
        state=State.STANDING,
        options={"partition": "", "within_s": ANOTHER_S},
        targets=(_LEADER,),
    ),
    _ends(
        name="reimage",
        roles=(Role.BROKER, Role.CONTROLLER),
        does="ends a process and empties its disk",
        levers=("wipe",),
        landed=(("processes_ended",), ("bytes_wiped", "wipes_ordered")),
        inject=on_each_node(lambda levers, node, _: levers.wipe(node)),
        targets=(_FOLLOWER,),
    ),
    _ends(
        name="lose-power",
        roles=(Role.BROKER, Role.CONTROLLER),
        does="turns a machine off without a word; what was not synced may be gone",
        levers=("lose_power",),
        inject=on_each_node(lambda levers, node, _: levers.lose_power(node)),
        targets=(_LEADER, _FOLLOWER),
    ),
)

"""What can be done to the control plane, and to single requests on their way to it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.deployments.deployment import Deployment, Role
from harness.levers import Counted, Lever
from nemesis.fault import Fault, OnHold, Options
from nemesis.pulling import on_calls
from nemesis.services import LOSE_REPLIES, outages
from nemesis.targets import Takes, Target

_ROLES = (Role.CONTROL_PLANE,)
_ONE = "client {client}"


async def _drop(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    """What is held, or else what comes next."""
    hold = options.get("hold")
    if hold is None:
        times = options["times"]
        return [await on.levers.drop_requests(target.service, target.caller, times=times)]
    await hold.drop()
    return [Counted({"requests_dropped": hold.counts.get("requests_dropped", 0)})]


async def _split(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return [Counted({"transactions_passed": await options["hold"].pass_one()})]


FAULTS = (
    *outages(Role.CONTROL_PLANE),
    Fault(
        name="control-plane-disturbed",
        roles=_ROLES,
        takes=Takes.CALLS,
        does="gives up on calls for reasons that pass (a conflict, a lock); nothing is done",
        levers=("disturb",),
        landed=(("calls_given_up",),),
        inject=on_calls(
            lambda levers, to, o: levers.disturb(to.service, to.caller, times=o["times"])
        ),
        options={"times": None},
        targets=("control-plane",),
    ),
    Fault(
        name="lose-reply",
        roles=_ROLES,
        takes=Takes.CALLS,
        does="has a call carried out and loses the reply after the commit",
        levers=("lose_replies",),
        landed=(("replies_dropped",),),
        inject=LOSE_REPLIES,
        options={"times": 1},
        targets=(_ONE, "control-plane"),
    ),
    Fault(
        name="drop-request",
        roles=_ROLES,
        takes=Takes.CALLS,
        does="loses a request, held or yet to come, before the control plane sees it",
        levers=("drop_requests",),
        landed=(("requests_dropped",),),
        inject=_drop,
        on_hold=OnHold.ENDS,
        options={"times": 1},
        targets=(_ONE,),
    ),
    Fault(
        name="hold-request",
        roles=_ROLES,
        takes=Takes.CALLER,
        does="keeps the requests of a node in the network",
        levers=("hold",),
        landed=(("requests_held",),),
        inject=on_calls(lambda levers, to, _: levers.hold(to.service, to.caller or "")),
        targets=(_ONE,),
    ),
    Fault(
        name="split-request",
        roles=_ROLES,
        takes=Takes.CALLER,
        does="lets one transaction of a held request through and keeps the rest",
        levers=("hold",),
        landed=(("transactions_passed",),),
        inject=_split,
        at_once=True,
        on_hold=OnHold.NEEDS,
        targets=(_ONE,),
    ),
)

"""What can be done to the control plane, and to single requests on their way to it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.deployments.deployment import Deployment, Role
from harness.levers import Lever
from nemesis.fault import Fault, OnHold, Options
from nemesis.services import outages, pulling
from nemesis.targets import Takes, Target
from nemesis.together import Counted

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
        name="control-plane-conflict",
        roles=_ROLES,
        takes=Takes.CALLS,
        does="gives up on calls in favour of others; nothing is done",
        levers=("conflicts",),
        landed=(("conflicts",),),
        shows="calls that were given up",
        inject=pulling(
            lambda levers, to, o: levers.conflicts(  # type: ignore[attr-defined]
                to.service, to.caller, times=o["times"]
            )
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
        shows="replies thrown away after the commit",
        inject=pulling(
            lambda levers, to, o: levers.lose_replies(to.service, to.caller, times=o["times"])
        ),
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
        shows="requests thrown away",
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
        shows="requests that were held",
        inject=pulling(lambda levers, to, _: levers.hold(to.service, to.caller or "")),
        targets=(_ONE,),
    ),
    Fault(
        name="split-request",
        roles=_ROLES,
        takes=Takes.CALLER,
        does="lets one transaction of a held request through and keeps the rest",
        levers=("hold",),
        landed=(("transactions_passed",),),
        shows="transactions that went through",
        inject=_split,
        at_once=True,
        on_hold=OnHold.NEEDS,
        targets=(_ONE,),
    ),
)

"""Faults that the control plane and the object store have in common, as each calls them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from harness.deployments.deployment import Deployment, Levers, Role
from harness.levers import Lever
from nemesis.fault import Fault, Inject, Options
from nemesis.targets import Takes, Target

Pull = Callable[[Levers, Target, Options], Awaitable[Lever]]


def pulling(pull: Pull) -> Inject:
    """A fault that pulls one lever."""

    async def inject(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
        scaled = {
            name: value * on.pace if name == "seconds" else value for name, value in options.items()
        }
        return [await pull(on.levers, target, scaled)]

    return inject


def outages(role: Role) -> tuple[Fault, ...]:
    """The service refuses, is slow, answers errors, or its server is killed."""
    return (
        Fault(
            name=f"{role}-refused",
            roles=(role,),
            takes=Takes.CALLS,
            does="refuses connections and calls, and does nothing",
            levers=("refuse",),
            landed=(("refusals",),),
            shows="connections and calls that were refused",
            inject=pulling(lambda levers, to, _: levers.refuse(to.service, to.caller)),
            targets=(role.value,),
        ),
        Fault(
            name=f"{role}-slow",
            roles=(role,),
            takes=Takes.CALLS,
            does="makes calls take longer before they are carried out",
            levers=("slow",),
            landed=(("calls_delayed",),),
            shows="calls that took longer",
            inject=pulling(lambda levers, to, o: levers.slow(to.service, o["seconds"], to.caller)),
            options={"seconds": 0.5},
            targets=(role.value,),
        ),
        Fault(
            name=f"{role}-broken",
            roles=(role,),
            takes=Takes.CALLS,
            does="answers calls with a hard error (503, an SQL error) and does nothing",
            levers=("fail",),
            landed=(("errors_answered",),),
            shows="errors that were answered",
            inject=pulling(lambda levers, to, _: levers.fail(to.service, to.caller)),
            targets=(role.value,),
        ),
        Fault(
            name=f"{role}-killed",
            roles=(role,),
            takes=Takes.CALLS,
            does="ends its server at once; it runs again when the fault ends",
            levers=("kill_service",),
            landed=(("processes_ended", "calls_broken"),),
            shows="processes that ended (simulation: calls that found it gone)",
            inject=pulling(lambda levers, to, _: levers.kill_service(to.service)),
            targets=(role.value,),
        ),
    )

"""Faults that the control plane and the object store have in common, as each calls them."""

from __future__ import annotations

from functools import partial

from harness.deployments.deployment import Role
from nemesis.fault import Fault
from nemesis.pulling import on_calls
from nemesis.targets import Takes

LOSE_REPLIES = on_calls(
    lambda levers, to, o: levers.lose_replies(to.service, to.caller, times=o["times"])
)


def outages(role: Role) -> tuple[Fault, ...]:
    """The service refuses, is slow, answers errors, or its server is killed."""
    fault = partial(Fault, roles=(role,), takes=Takes.CALLS, targets=(role.value,))
    return (
        fault(
            name=f"{role}-refused",
            does="refuses connections and calls, and does nothing",
            levers=("refuse",),
            landed=(("refusals",),),
            inject=on_calls(lambda levers, to, _: levers.refuse(to.service, to.caller)),
        ),
        fault(
            name=f"{role}-slow",
            does="makes calls take longer before they are carried out",
            levers=("slow",),
            landed=(("calls_delayed",),),
            inject=on_calls(lambda levers, to, o: levers.slow(to.service, o["seconds"], to.caller)),
            options={"seconds": 0.5},
        ),
        fault(
            name=f"{role}-broken",
            does="answers calls with a hard error (503, an SQL error) and does nothing",
            levers=("fail",),
            landed=(("errors_answered", "objects_hidden"),),
            inject=on_calls(lambda levers, to, _: levers.fail(to.service, to.caller)),
        ),
        fault(
            name=f"{role}-killed",
            does="ends its server at once; it runs again when the fault ends",
            levers=("kill_service",),
            landed=(("processes_ended", "calls_broken"),),
            inject=on_calls(lambda levers, to, _: levers.kill_service(to.service)),
        ),
    )

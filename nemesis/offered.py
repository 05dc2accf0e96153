"""Why a fault cannot be done to a deployment, if it cannot."""

from __future__ import annotations

from harness.deployments.deployment import Deployment, Role
from nemesis.fault import Fault
from nemesis.targets import SERVICES, Takes


def not_offered(on: Deployment, fault: Fault, target: str | None = None) -> str | None:
    """The reason, or None if it can be done, to a target if one is named."""
    for lever in fault.levers:
        if lever not in on.levers.offered:
            return f"nothing here can {lever.replace('_', ' ')}"
    if fault.takes is not Takes.NODES and fault.takes is not Takes.LINKS:
        if not on.nodes(fault.roles[0]):
            return f"it has no {fault.roles[0].replace('-', ' ')}"
        return None
    if target is None:
        return None
    if "controller" in target and not on.nodes(Role.CONTROLLER):
        return "which node is its controller is not known"
    for service in SERVICES:
        if service in target and not on.nodes(Role(service)):
            return f"it has no {service.replace('-', ' ')}"
    if not target.startswith(("client", "all clients")) and len(on.brokers) < fault.brokers:
        return f"it has fewer than {fault.brokers} brokers"
    return None

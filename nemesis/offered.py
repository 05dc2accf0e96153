"""Why a fault cannot be done to a deployment, if it cannot."""

from __future__ import annotations

from re import fullmatch

from harness.deployments.deployment import Deployment, Role
from nemesis.fault import Fault
from nemesis.targets import SERVICES, Takes

OF_CLIENTS = ("kill", "pause")


def not_offered(on: Deployment, fault: Fault, target: str | None = None) -> str | None:
    """The reason, or None if it can be done, to a target if one is named."""
    if (reason := levers_missing(on, fault, target or "")) is not None:
        return reason
    if fault.takes is not Takes.NODES and fault.takes is not Takes.LINKS:
        if not on.nodes(fault.roles[0]):
            return f"it has no {fault.roles[0].replace('-', ' ')}"
        return None
    if target is None:
        return None
    linked = fault.takes is Takes.LINKS and "controller" in on.levers.further_ends
    if "controller" in target and not on.nodes(Role.CONTROLLER) and not linked:
        return "which node is its controller is not known"
    for service in SERVICES:
        if service in target and not on.nodes(Role(service)):
            return f"it has no {service.replace('-', ' ')}"
    if not _is_client(target) and len(on.brokers) < fault.brokers:
        return f"it has fewer than {fault.brokers} brokers"
    return None


def levers_missing(on: Deployment, fault: Fault, target: str = "") -> str | None:
    """Which lever it needs that is not offered; those of clients are the lab's own."""
    for lever in fault.levers:
        if lever not in on.levers.offered and not (lever in OF_CLIENTS and _is_client(target)):
            said = on.levers.not_offered
            return said.get(lever, f"nothing here can {lever.replace('_', ' ')}")
    return None


def _is_client(target: str) -> bool:
    return fullmatch(r"all clients|client[ -][^,]*", target) is not None

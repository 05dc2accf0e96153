"""What a cluster looks like, wherever it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

CONTROLLER_ID = 3000
CONTROLLER = "controller"
# Failures are noticed soon, so that campaigns are short.
QUICK_TO_NOTICE = MappingProxyType(
    {
        "broker.session.timeout.ms": "1500",
        "broker.heartbeat.interval.ms": "300",
        "replica.lag.time.max.ms": "1200",
        "replica.fetch.wait.max.ms": "200",
        "replica.fetch.backoff.ms": "100",
        "replica.socket.timeout.ms": "1500",
    }
)
TIERED = "remote.log.storage.system.enable"
# Mandatory where tiered storage is on; a cluster that was not told which takes those that work.
TIERED_PLUG_INS = MappingProxyType(
    {
        "remote.log.storage.manager.class.name": (
            "reference_impl.tiered.object_storage.ObjectStorageManager"
        ),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """What the process table says of a node; the exit code where it ended and that is known.

    One that runs and has not become `ready` within the bound after its start serves nothing.
    """

    running: bool
    exit_code: int | None = None
    ready: bool = True

    def row(self, node: str, *, on_purpose: bool) -> dict[str, object]:
        """The node as a probe records it."""
        state = ("running" if self.ready else "not ready") if self.running else "ended"
        return {"node": node, "state": state, "exit_code": self.exit_code, "on_purpose": on_purpose}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentPlan:
    """Brokers are numbered from 1; racks go round them. Mutants are `module:name` references.

    Without brokers there is no controller either.
    """

    brokers: int = 3
    racks: tuple[str, ...] = ()
    cluster_id: str = "tidemark-reference-00"
    properties: Mapping[str, str] = field(default_factory=dict)
    mutants: tuple[str, ...] = ()
    control_plane: str | None = None  # memory, postgres
    object_store: str | None = None  # memory, folder, s3
    schema_upto: int | None = None  # of the control plane's tables, where an upgrade is to come
    own_database: bool = False  # a PostgreSQL that no other deployment uses, so it can be killed
    traced: tuple[str, ...] = ()  # ports of brokers and controller whose effects are recorded

    def __post_init__(self) -> None:
        if self.brokers < 0:
            raise ValueError(f"a deployment has no {self.brokers} brokers")

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """1, 2, 3…"""
        return tuple(range(1, self.brokers + 1))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the brokers, as faults and histories call them."""
        return tuple(broker_name(one) for one in self.broker_ids)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Of the controller and the brokers."""
        return (CONTROLLER, *self.names)

    @property
    def reference_properties(self) -> Mapping[str, str]:
        """The properties of nodes of the reference: with plug-ins, where they need some."""
        if self.properties.get(TIERED, "false").strip().lower() != "true":
            return self.properties
        return {**TIERED_PLUG_INS, **self.properties}

    def rack(self, broker_id: int) -> str | None:
        """Where a broker stands."""
        return self.racks[(broker_id - 1) % len(self.racks)] if self.racks else None


def broker_name(broker_id: int) -> str:
    """How broker 1 is called."""
    return f"broker-{broker_id}"


def broker_id(name: str) -> int:
    """The number of ``broker-1``."""
    return int(name.removeprefix("broker-"))

"""The ports: the only ways in which code of the reference touches the outside."""

from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.ports.clock import Clock, Rng
from reference_impl.ports.control_plane import ControlPlane
from reference_impl.ports.disk import Disk
from reference_impl.ports.effects import Gate
from reference_impl.ports.log_lines import NodeLog, discard
from reference_impl.ports.network import Address, Connection, EndOfStream, Listener, Network
from reference_impl.ports.object_store import ObjectStore
from reference_impl.ports.workers import Workers

__all__ = [
    "Address",
    "Clock",
    "Connection",
    "ControlPlane",
    "Disk",
    "EndOfStream",
    "Gate",
    "Listener",
    "Network",
    "ObjectStore",
    "Ports",
    "Rng",
    "Workers",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What a node is given when it starts; it cannot tell what is behind them."""

    name: str
    network: Network
    disk: Disk
    object_store: ObjectStore
    control_plane: ControlPlane
    clock: Clock
    rng: Rng
    workers: Workers
    write_log_line: Callable[[str], None] = discard

    @property
    def log(self) -> NodeLog:
        """The node's log; its lines carry the node's name and time."""
        return NodeLog(self.name, self.clock, self.write_log_line)

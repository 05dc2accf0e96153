"""Nodes that really run: processes, containers, or brokers behind a hook."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.deployments.plan import NodeState


class Nodes(Protocol):
    """Nodes by name. Every call blocks until it is done."""

    def address(self, name: str) -> str:
        """Where clients find a node: host:port."""
        ...

    def state(self, name: str) -> NodeState | None:
        """Whether a node runs; None if that cannot be seen."""
        ...

    def pid(self, name: str) -> int | None:
        """The leader of its process group; None if it is no process of this machine."""
        ...

    def data_folder(self, name: str) -> Path | None:
        """Its disk; None if that cannot be seen."""
        ...

    def start(self, name: str) -> None:
        """Start a node that is down."""
        ...

    def wait(self, name: str) -> None:
        """Return when it is ready."""
        ...

    def kill(self, name: str) -> None:
        """End it at once; return when it has ended."""
        ...

    def wipe(self, name: str) -> None:
        """Empty the disk of a node that is down."""
        ...

    def pause(self, name: str) -> None:
        """Stop all its threads; return when they stand still."""
        ...

    def resume(self, name: str) -> None:
        """Let it go on."""
        ...


@runtime_checkable
class ControlledNodes(Protocol):
    """Nodes that can also be shut down in good order."""

    def terminate(self, name: str) -> None:
        """Shut it down in good order; return when it has ended."""
        ...


@runtime_checkable
class MeasuredNodes(Protocol):
    """Nodes that have a page of metrics each."""

    def metrics_address(self, name: str) -> str:
        """``host:port``; empty if it is not known."""
        ...


@runtime_checkable
class LoggingNodes(Protocol):
    """Nodes whose log can be read."""

    def log_tail(self, name: str, most_bytes: int) -> bytes:
        """The end of what it logged."""
        ...

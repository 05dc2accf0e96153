"""The object store and the control plane of a node that is a process of its own, by their address.

    store           a folder, `file:…` or `s3://bucket?endpoint=…`
    control plane   a PostgreSQL database: `postgresql://…`, or `host=… port=…`

Neither is asked before the node first needs it. A node without one is told so when it asks: a call
of the control plane answers KAFKA_STORAGE_ERROR, the store raises ``StoreUnavailable``. `memory:`
is refused: nodes share these, and processes share no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from reference_impl.ports.control_plane import AnswerT, BoundaryError, ControlPlane, Request
from reference_impl.ports.effects import Gate
from reference_impl.ports.object_store import ObjectInfo, ObjectStore, StoreUnavailable

MEMORY = "memory:"


class BadService(ValueError):
    """No address of a service that a node can use; the sentence says which to use instead."""


def check_store(address: str) -> str:
    """The address, if nodes can share what is there."""
    if address == MEMORY:
        raise BadService(
            f"a store in {MEMORY} would be each process's own; use a folder or s3://… instead"
        )
    return address


def check_control_plane(address: str) -> str:
    """The address, if nodes can share what is there."""
    if address == MEMORY:
        raise BadService(
            f"a control plane in {MEMORY} would be each process's own; "
            "use a PostgreSQL database (postgresql://…) instead"
        )
    return address


def open_store(address: str | None) -> ObjectStore:
    """The store at that address."""
    if address is None:
        return NoObjectStore()
    from reference_impl.live.object_store import open_object_store  # not loaded where there is none

    return open_object_store(check_store(address))


def open_control_plane(address: str | None, gate: Gate) -> ControlPlane:
    """The control plane at that address, whose calls pass the gate."""
    if address is None:
        return NoControlPlane()
    from reference_impl.control_plane.postgres import PostgresControlPlane

    return PostgresControlPlane(check_control_plane(address), gate=gate)


class NoControlPlane:
    """What a node has that was started without a control plane."""

    async def call(self, request: Request[Any, AnswerT]) -> AnswerT:
        """Nothing is carried out, and nothing ever will be."""
        message = "this node has no control plane; start it with --control-plane"
        return request.unknown(BoundaryError.KAFKA_STORAGE_ERROR, message)

    async def close(self) -> None:
        """Nothing to let go of."""


class NoObjectStore:
    """What a node has that was started without a store."""

    async def put(self, key: str, data: bytes, *, if_absent: bool = False) -> None:
        """Not here."""
        _no_store()

    async def get(self, key: str) -> bytes:
        """Not here."""
        _no_store()

    async def get_range(self, key: str, start: int, count: int) -> bytes:
        """Not here."""
        _no_store()

    async def head(self, key: str) -> ObjectInfo:
        """Not here."""
        _no_store()

    async def list(self, prefix: str = "") -> tuple[ObjectInfo, ...]:
        """Not here."""
        _no_store()

    async def delete(self, keys: Sequence[str]) -> None:
        """Not here."""
        _no_store()

    async def close(self) -> None:
        """Nothing to let go of."""


def _no_store() -> NoReturn:
    raise StoreUnavailable("this node has no object store; start it with --store")

"""Appending in two phases: a writer takes the batches, a `Pending` says when they are acknowledged.

A local append knows its offset at once, and is acknowledged when enough replicas have it; a
diskless one learns its offset when it is committed. The writer owns the committed end.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from reference_impl.decisions import decision
from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.transactions import EndMarker
from reference_impl.partitions.routing import Refuse
from reference_impl.partitions.views import Role
from reference_impl.replication.watching import Watched, until


class Origin(StrEnum):
    """Who appends."""

    CLIENT = "client"
    MARKER = "marker"  # a coordinator that ends a transaction


class Boundary(StrEnum):
    """Where a partition is on its way from its local log to the WAL."""

    NONE = "none"  # it has a local log and nothing else
    MOVING = "moving"  # what was appended is all there will be in the local log
    UNKNOWN = "unknown"  # there is one, and this broker has not learned it yet
    SET = "set"


class WriterKind(StrEnum):
    """Who takes batches."""

    LOCAL = "local"
    WAL = "wal"


@decision("choose-writer", rules=("KFK-112",))
def choose_writer(boundary: Boundary, role: Role, origin: Origin) -> WriterKind | Refuse:
    """The local log of the leader, until the boundary is set; from then on the WAL, of any broker.

    While the boundary moves clients have to try again; transactions that are open are ended.
    """
    if boundary is Boundary.SET:
        return WriterKind.WAL
    if boundary is Boundary.UNKNOWN or role is not Role.LEADER:
        return Refuse(ErrorCode.not_leader_or_follower)
    if boundary is Boundary.MOVING and origin is Origin.CLIENT:
        return Refuse(ErrorCode.request_timed_out)
    return WriterKind.LOCAL


class Ended(NamedTuple):
    """What a producer is told about one of its appends."""

    error: ErrorCode
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1


class Pending(Protocol):
    """An append that was made, or is being made."""

    @property
    def watched(self) -> Sequence[Watched]:
        """What is woken when something may have been decided."""
        ...

    def decided(self) -> Ended | None:
        """What to tell the producer; None: not yet."""
        ...

    def out_of_time(self) -> Ended:
        """What to tell a producer that does not wait any longer."""
        ...


class Writer(Protocol):
    """Takes batches of one partition."""

    async def append(
        self, records: Bytes, *, acks: int, guard: int, sequenced: bool, leader_epoch: int | None
    ) -> Pending:
        """Append what a producer sent; a KafkaError says why not.

        ``guard``: under which it was verified to belong to a transaction. ``sequenced``: it is
        of the producer itself, and not of a coordinator on its behalf, which numbers no batches.
        ``leader_epoch``: the only one in which it is to be appended.
        """
        ...

    async def append_marker(
        self, producer_id: int, producer_epoch: int, marker: EndMarker, *, bumps: bool
    ) -> Pending:
        """End a producer's transaction; a KafkaError says why not."""
        ...


async def acknowledged(pending: Sequence[Pending], *, timeout_s: float) -> list[Ended]:
    """What to tell about each, once all are decided or time is up."""
    watched = [thing for one in pending for thing in one.watched]
    await until(
        lambda: all(one.decided() is not None for one in pending), watched, timeout_s=timeout_s
    )
    return [one.decided() or one.out_of_time() for one in pending]

"""Who takes the appends of a partition: chosen when they come, and again when it is their turn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.transactions import EndMarker
from reference_impl.partitions.local_writer import LocalWriter
from reference_impl.partitions.routing import Refuse
from reference_impl.partitions.writing import Origin, Pending, Writer, WriterKind, choose_writer

if TYPE_CHECKING:
    from reference_impl.partitions.logical import LogicalPartition


class Appends:
    """A writer that passes everything to the one that is chosen (`Writer`)."""

    def __init__(self, partition: LogicalPartition) -> None:
        self._partition = partition
        self._choice: tuple[tuple[object, ...], WriterKind] | None = None  # for which standing
        replica = partition.replica
        self._local = None if replica is None else LocalWriter(replica)

    async def append(
        self, records: Bytes, *, acks: int, guard: int, sequenced: bool, leader_epoch: int | None
    ) -> Pending:
        """Append what a producer sent; a KafkaError says why not."""
        if leader_epoch is not None:
            self._must_be_in(leader_epoch)
        standing = self._standing()
        if self._choice is None or self._choice[0] != standing:
            self._choice = (standing, self._chosen(Origin.CLIENT))
        kind = self._choice[1]
        if kind is WriterKind.LOCAL and self._local is not None:
            admit = partial(self._must_write, Origin.CLIENT, standing, leader_epoch)
            return await self._local.append(
                records, acks=acks, admit=admit, guard=guard, sequenced=sequenced
            )
        return await self._extending(kind).append(
            records, acks=acks, guard=guard, sequenced=sequenced, leader_epoch=leader_epoch
        )

    async def append_marker(
        self, producer_id: int, producer_epoch: int, marker: EndMarker, *, bumps: bool
    ) -> Pending:
        """End a producer's transaction; a KafkaError says why not."""
        admit = partial(self._must_write, Origin.MARKER, self._standing(), None)
        kind, producer = self._chosen(Origin.MARKER), (producer_id, producer_epoch)
        if kind is WriterKind.LOCAL and self._local is not None:
            return await self._local.append_marker(*producer, marker, admit=admit, bumps=bumps)
        return await self._extending(kind).append_marker(*producer, marker, bumps=bumps)

    def _chosen(self, origin: Origin) -> WriterKind:
        partition = self._partition
        chosen = choose_writer(partition.boundary, partition.role, origin)
        if isinstance(chosen, Refuse):
            said = f"{partition} takes no appends on broker {partition.broker_id}"
            raise KafkaError(chosen.error, said)
        return chosen

    def _extending(self, kind: WriterKind) -> Writer:
        """The writer that an extension brings."""
        partition = self._partition
        writers = [one.writer() for one in partition.extensions]
        writer = next((one for one in writers if one is not None), None)
        if writer is None:
            raise KafkaError(ErrorCode.kafka_storage_error, f"nothing writes {kind} of {partition}")
        return writer

    def _standing(self) -> tuple[object, ...]:
        """As long as it is the same, so is the choice of a writer."""
        one = self._partition
        return one.boundary, one.refused_epoch, one.replica, one.state

    def _must_be_in(self, leader_epoch: int) -> None:
        partition = self._partition
        if leader_epoch != partition.state.leader_epoch:
            said = f"{partition} is not in leader epoch {leader_epoch}"
            raise KafkaError(ErrorCode.not_leader_or_follower, said)

    def _must_write(
        self, origin: Origin, chosen_for: tuple[object, ...], leader_epoch: int | None
    ) -> None:
        """The local log must still be the one that is written."""
        if leader_epoch is not None:
            self._must_be_in(leader_epoch)
        if self._standing() == chosen_for:
            return
        if self._chosen(origin) is not WriterKind.LOCAL:
            said = f"the boundary of {self._partition} has moved"
            raise KafkaError(ErrorCode.request_timed_out, said)

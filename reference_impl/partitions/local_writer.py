"""The writer of classic partitions: the log of the leader, acknowledged by its replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.log import Appended
from reference_impl.log.transactions import EndMarker
from reference_impl.partitions.writing import Ended
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched

ALL = -1


class LocalPending:
    """An append to the local log: its offset is known, whether it is committed may not be."""

    __slots__ = ("_acks", "_appended", "_leader_epoch", "_replica")

    def __init__(self, replica: Partition, appended: Appended, leader_epoch: int, acks: int):
        self._replica = replica
        self._appended = appended
        self._leader_epoch = leader_epoch
        self._acks = acks

    @property
    def watched(self) -> Sequence[Watched]:
        """The replica, whose high watermark moves."""
        return (self._replica,)

    def decided(self) -> Ended | None:
        """Who asked for less than all replicas is answered at once."""
        if self._acks != ALL:
            return self._ended(ErrorCode.none)
        required = self._appended.last_offset + 1
        error = self._replica.acknowledgement(required, self._leader_epoch)
        return None if error is None else self._ended(error)

    def out_of_time(self) -> Ended:
        """It was appended, and may yet be committed."""
        return self._ended(self._replica.out_of_time())

    def _ended(self, error: ErrorCode) -> Ended:
        appended = self._appended
        return Ended(
            error, appended.base_offset, appended.log_append_time_ms, appended.log_start_offset
        )


class LocalWriter:
    """Appends to the log of the leader, in the epoch in which it leads."""

    def __init__(self, replica: Partition) -> None:
        self._replica = replica

    async def append(
        self,
        records: Bytes,
        *,
        acks: int,
        admit: Callable[[], None],
        guard: int,
        sequenced: bool,
    ) -> LocalPending:
        """Append what a producer sent; ``admit`` raises once the log is not to be written."""
        appended, leader_epoch = await self._replica.append(
            records, acks=acks, admit=admit, guard=guard, sequenced=sequenced
        )
        return LocalPending(self._replica, appended, leader_epoch, acks)

    async def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        marker: EndMarker,
        *,
        admit: Callable[[], None],
        bumps: bool,
    ) -> LocalPending:
        """End a producer's transaction, for all replicas; ``admit`` as for batches."""
        appended, leader_epoch = await self._replica.append_marker(
            producer_id, producer_epoch, marker, admit=admit, bumps=bumps
        )
        return LocalPending(self._replica, appended, leader_epoch, ALL)

"""Questions of a follower about its leader's log, beside the fetches, on a connection of its own.

They are asked in the leader epoch that the follower knows: a leader that was replaced answers with
an error. An answer that is an error, or says nothing, is a KafkaError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.kafka.apis import LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.partition import Partition

LIST_OFFSETS_VERSION = 9
EPOCHS_VERSION = 4
LATEST, EARLIEST, EARLIEST_LOCAL = -1, -2, -4


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadersStart:
    """Where a leader's log begins: at all, and on its disk, in the epoch of that offset."""

    log_start_offset: int
    local_log_start_offset: int
    local_log_start_epoch: int


class LeadersLog:
    """The log of one partition's leader; closed when nothing more is asked."""

    def __init__(
        self,
        connect: Callable[[], Peer],
        partition: Partition,
        *,
        leader_epoch: int,
        broker_id: int,
        timeout_s: float,
    ) -> None:
        self._peer = connect()
        self._partition = partition
        self._leader_epoch = leader_epoch
        self._broker_id = broker_id
        self._timeout_s = timeout_s

    def close(self) -> None:
        """Let go of the connection."""
        self._peer.abort()

    async def start(self, log_start_offset: int) -> LeadersStart:
        """Where it begins on the leader's disk now, given where it begins at all."""
        local, epoch = await self.offset(EARLIEST_LOCAL)
        return LeadersStart(
            log_start_offset=log_start_offset,
            local_log_start_offset=local,
            local_log_start_epoch=epoch,
        )

    async def offset(self, timestamp: int) -> tuple[int, int]:
        """The offset of one of the special timestamps, and its epoch."""
        of = LIST_OFFSETS.request
        one = of.ListOffsetsPartition(
            partition_index=self._partition.index,
            current_leader_epoch=self._leader_epoch,
            timestamp=timestamp,
        )
        topic = of.ListOffsetsTopic(name=self._partition.topic, partitions=[one])
        request = of(replica_id=self._broker_id, isolation_level=0, topics=[topic])
        answer = await self._peer.ask(
            LIST_OFFSETS, LIST_OFFSETS_VERSION, request, timeout_s=self._timeout_s
        )
        found = next((one for topic in answer.topics for one in topic.partitions), None)
        if found is None:
            raise KafkaError(ErrorCode.unknown_server_error, "an answer that says nothing")
        if found.error_code:
            raise KafkaError(ErrorCode(found.error_code))
        return found.offset, found.leader_epoch

    async def epoch_end(self, epoch: int) -> EpochEnd:
        """The largest epoch up to this one, and where it ends."""
        of = OFFSET_FOR_LEADER_EPOCH.request
        one = of.OffsetForLeaderPartition(
            partition=self._partition.index,
            current_leader_epoch=self._leader_epoch,
            leader_epoch=epoch,
        )
        topic = of.OffsetForLeaderTopic(topic=self._partition.topic, partitions=[one])
        request = of(replica_id=self._broker_id, topics=[topic])
        answer = await self._peer.ask(
            OFFSET_FOR_LEADER_EPOCH, EPOCHS_VERSION, request, timeout_s=self._timeout_s
        )
        found = next((one for topic in answer.topics for one in topic.partitions), None)
        if found is None:
            raise KafkaError(ErrorCode.unknown_server_error, "an answer that says nothing")
        if found.error_code:
            raise KafkaError(ErrorCode(found.error_code))
        return EpochEnd(epoch=found.leader_epoch, end_offset=found.end_offset)

"""Proposals of in-sync replicas on their way to the controller.

A leader may count on a smaller ISR, or on a larger one, only once the controller has written it
down. Proposals that come while a request is under way wait and travel together in the next. What
the controller refuses is dropped: the partition hears from the image what is so instead. Where the
controller cannot be reached the same proposal is sent again; until it answers, the partition counts
everybody who might be in sync.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from reference_impl.kafka.apis import ALTER_PARTITION
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import Broker
from reference_impl.ports import Clock
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched, until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import AlterPartitionRequest, AlterPartitionResponse

VERSION = 3
TIMEOUT_S = 30.0
BACKOFF_S = 0.05
FOREVER_S = 86_400.0

# The controller is not there, or busy: the same proposal may still be accepted.
_AGAIN = (
    ErrorCode.not_controller,
    ErrorCode.request_timed_out,
    ErrorCode.unknown_server_error,
    ErrorCode.stale_broker_epoch,
)


class IsrProposals(Watched):
    """Sends what partitions propose."""

    def __init__(
        self,
        *,
        controller: Peer,
        broker_id: int,
        broker_epoch: Callable[[], int],
        brokers: Mapping[int, Broker],
        clock: Clock,
    ) -> None:
        super().__init__()
        self._controller = controller
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._brokers = brokers
        self._clock = clock
        self._waiting: dict[tuple[UUID, int], Partition] = {}

    def propose(self, partition: Partition) -> None:
        """Send what ``partition.proposed_isr`` says, as soon as possible."""
        self._waiting[partition.topic_id, partition.index] = partition
        self.wake()

    async def run(self) -> None:
        """Send for ever."""
        while True:
            await until(lambda: bool(self._waiting), [self], timeout_s=FOREVER_S)
            batch = {
                key: (one, one.state.partition_epoch)
                for key, one in self._waiting.items()
                if one.leads and one.proposed_isr is not None
            }
            self._waiting.clear()
            if batch and not await self._send(batch):
                for key, (partition, _) in batch.items():
                    self._waiting.setdefault(key, partition)
                await self._clock.sleep(BACKOFF_S)

    async def _send(self, batch: dict[tuple[UUID, int], tuple[Partition, int]]) -> bool:
        try:
            answer = await self._controller.ask(
                ALTER_PARTITION, VERSION, self._request(batch), timeout_s=TIMEOUT_S
            )
        except (ConnectionError, TimeoutError):
            return False
        if answer.error_code in _AGAIN:
            return False
        told = {
            (topic.topic_id, data.partition_index): data
            for topic in answer.topics
            for data in topic.partitions
        }
        for key, (partition, sent_at) in batch.items():
            self._decided(partition, sent_at, told.get(key))
        return True

    def _request(
        self, batch: dict[tuple[UUID, int], tuple[Partition, int]]
    ) -> AlterPartitionRequest:
        topics: dict[UUID, list[AlterPartitionRequest.PartitionData]] = {}
        for (topic_id, index), (partition, partition_epoch) in batch.items():
            topics.setdefault(topic_id, []).append(
                ALTER_PARTITION.request.PartitionData(
                    partition_index=index,
                    leader_epoch=partition.state.leader_epoch,
                    new_isr_with_epochs=[
                        ALTER_PARTITION.request.BrokerState(
                            broker_id=one, broker_epoch=self._epoch_of(partition, one)
                        )
                        for one in partition.proposed_isr or ()
                    ],
                    leader_recovery_state=0,
                    partition_epoch=partition_epoch,
                )
            )
        request: AlterPartitionRequest = ALTER_PARTITION.request(
            broker_id=self._broker_id,
            broker_epoch=self._broker_epoch(),
            topics=[
                ALTER_PARTITION.request.TopicData(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in topics.items()
            ],
        )
        return request

    def _epoch_of(self, partition: Partition, replica_id: int) -> int:
        if replica_id == self._broker_id:
            return self._broker_epoch()
        follower = partition.followers.get(replica_id)
        if follower is not None and follower.broker_epoch is not None:
            return follower.broker_epoch
        broker = self._brokers.get(replica_id)
        return -1 if broker is None else broker.broker_epoch

    def _decided(
        self, partition: Partition, sent_at: int, data: AlterPartitionResponse.PartitionData | None
    ) -> None:
        if partition.state.partition_epoch != sent_at or not partition.leads:
            return  # the image was faster
        if data is None or data.error_code:
            partition.isr_decided(None)
            return
        partition.isr_decided(
            replace(
                partition.state,
                isr=tuple(data.isr),
                leader=data.leader_id,
                leader_epoch=data.leader_epoch,
                partition_epoch=data.partition_epoch,
            )
        )

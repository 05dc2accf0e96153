"""Refusals: a broker that was elected and cannot lead tells the controller, which elects another.

The words are Kafka's for a replica whose directory is gone: AssignReplicasToDirs with the reserved
id LOST. They name the broker and its epoch but no leader epoch, so nothing is said any more once
another has begun; one request that is on its way then may end the next epoch of this broker too,
which costs an election and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from reference_impl.kafka.apis import ASSIGN_REPLICAS_TO_DIRS
from reference_impl.kafka.client import Peer
from reference_impl.metadata.records import LOST_DIRECTORY
from reference_impl.ports import Clock
from reference_impl.replication.partition import Partition

VERSION = 0
TIMEOUT_S = 30.0
BACKOFF_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """In which leader epoch a broker did not lead, and why."""

    leader_epoch: int
    why: str


class LeadershipRefusals:
    """Tells the controller which partitions this broker cannot lead.

    ``last`` has the last refusal of each partition, for whoever looks.
    """

    def __init__(
        self, *, controller: Peer, broker_id: int, broker_epoch: Callable[[], int], clock: Clock
    ) -> None:
        self._controller = controller
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._clock = clock
        self.last: dict[tuple[UUID, int], Refusal] = {}
        self._telling: dict[tuple[UUID, int], tuple[int, asyncio.Task[bool]]] = {}

    async def refuse_to_lead(self, partition: Partition, leader_epoch: int, why: str) -> bool:
        """Say it until the controller has answered; False if another epoch began before."""
        key = partition.topic_id, partition.index
        self.last[key] = Refusal(leader_epoch=leader_epoch, why=why)
        while partition.leads and partition.state.leader_epoch == leader_epoch:
            if await self._tell(*key):
                return True
            await self._clock.sleep(BACKOFF_S)
        return False

    def hand_over(self, partition: Partition) -> None:
        """Refuse in the background, once in a leader epoch: the log is out of service."""
        key, epoch = (partition.topic_id, partition.index), partition.state.leader_epoch
        if key not in self._telling or self._telling[key][0] != epoch:
            telling = self.refuse_to_lead(partition, epoch, str(partition.log.failure))
            self._telling[key] = epoch, asyncio.get_running_loop().create_task(telling)

    def close(self) -> None:
        """Say nothing more."""
        for _, telling in self._telling.values():
            telling.cancel()

    async def _tell(self, topic_id: UUID, index: int) -> bool:
        request = ASSIGN_REPLICAS_TO_DIRS.request
        topic = request.TopicData(
            topic_id=topic_id, partitions=[request.PartitionData(partition_index=index)]
        )
        message = request(
            broker_id=self._broker_id,
            broker_epoch=self._broker_epoch(),
            directories=[request.DirectoryData(id_=LOST_DIRECTORY, topics=[topic])],
        )
        try:
            answer = await self._controller.ask(
                ASSIGN_REPLICAS_TO_DIRS, VERSION, message, timeout_s=TIMEOUT_S
            )
        except (ConnectionError, TimeoutError):
            return False
        return not answer.error_code

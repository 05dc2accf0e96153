"""Producer ids of one broker, out of blocks that the controller hands out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from reference_impl.kafka.apis import ALLOCATE_PRODUCER_IDS
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError

_TIMEOUT_S = 5.0


@dataclass(slots=True, kw_only=True)
class ProducerIds:
    """What is left of the broker's block; a broker that dies with a block leaves a gap."""

    next_id: int = 0
    left: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, controller: Peer, broker_id: int, broker_epoch: int) -> int:
        """An id that nobody ever had; COORDINATOR_LOAD_IN_PROGRESS while none can be got."""
        async with self.turn:
            if not self.left:
                await self._refill(controller, broker_id, broker_epoch)
            self.left -= 1
            self.next_id += 1
            return self.next_id - 1

    async def _refill(self, controller: Peer, broker_id: int, broker_epoch: int) -> None:
        request = ALLOCATE_PRODUCER_IDS.request(broker_id=broker_id, broker_epoch=broker_epoch)
        try:
            block = await controller.ask(ALLOCATE_PRODUCER_IDS, 0, request, timeout_s=_TIMEOUT_S)
        except ConnectionError:
            raise KafkaError(ErrorCode.coordinator_load_in_progress) from None
        if block.error_code:
            raise KafkaError(ErrorCode.coordinator_load_in_progress)
        self.next_id, self.left = block.producer_id_start, block.producer_id_len

"""Markers on their way: each partition of a decided transaction hears how it ended.

They are sent to the leaders of the partitions, again and again, until every one has been written;
a partition that is deleted needs none. A coordinator that was replaced stops: its successor reads
the decision from the log and sends them itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum

from reference_impl.coordinators.transactions import Partition, Transaction, TransactionState
from reference_impl.decisions import decision
from reference_impl.kafka.apis import WRITE_TXN_MARKERS
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import Image
from reference_impl.ports import Address, Clock, Network

VERSION = 2
_TIMEOUT_S = 30.0
_RETRY_S = 0.1


class AfterMarker(StrEnum):
    """What is done about a partition's answer."""

    DONE = "done"
    AGAIN = "again"
    GIVE_UP = "give up"


@decision("after-marker")
def after_marker(error: ErrorCode) -> AfterMarker:
    """Written; to be sent again, to whoever leads then; or refused, as another coordinator or
    another producer has come: then nothing more is sent."""
    if error is ErrorCode.none:
        return AfterMarker.DONE
    if error in (ErrorCode.invalid_producer_epoch, ErrorCode.transaction_coordinator_fenced):
        return AfterMarker.GIVE_UP
    return AfterMarker.AGAIN


class Markers:
    """Sends markers to the brokers of the image."""

    def __init__(self, *, network: Network, clock: Clock, image: Image, client_id: str) -> None:
        self._network = network
        self._clock = clock
        self._image = image
        self._client_id = client_id
        self._peers: dict[Address, Peer] = {}

    async def send(
        self,
        decided: Transaction,
        coordinator_epoch: int,
        still: Callable[[], bool],
        written: Callable[[Partition], None],
    ) -> bool:
        """Return once every partition has its marker, after each was said to be ``written``; False
        if it was given up on the way."""
        left, given_up = list(decided.partitions), False
        while left and still() and not given_up:
            by_leader, left = self._by_leader(left)
            answers = await asyncio.gather(
                *(
                    self._ask(address, decided, coordinator_epoch, partitions)
                    for address, partitions in by_leader.items()
                )
            )
            for answer in answers:
                for partition, error in answer.items():
                    then = after_marker(error)
                    given_up = given_up or then is AfterMarker.GIVE_UP
                    if then is AfterMarker.AGAIN:
                        left.append(partition)
                    elif then is AfterMarker.DONE:
                        written(partition)
            if left and not given_up:
                await self._clock.sleep(_RETRY_S)
        return still() and not given_up

    def _by_leader(
        self, partitions: list[Partition]
    ) -> tuple[dict[Address, list[Partition]], list[Partition]]:
        """Who has to hear of which; and those that nobody leads at the moment."""
        found: dict[Address, list[Partition]] = {}
        waiting: list[Partition] = []
        for topic, index in partitions:
            state = self._image.partition(topic, index)
            if state is None:
                continue  # deleted
            broker = self._image.brokers.get(state.leader)
            if broker is None or broker.fenced:
                waiting.append((topic, index))
            else:
                found.setdefault(Address(broker.host, broker.port), []).append((topic, index))
        return found, waiting

    async def _ask(
        self,
        address: Address,
        decided: Transaction,
        coordinator_epoch: int,
        partitions: list[Partition],
    ) -> dict[Partition, ErrorCode]:
        request = WRITE_TXN_MARKERS.request
        topics: dict[str, list[int]] = {}
        for topic, index in partitions:
            topics.setdefault(topic, []).append(index)
        marker = request.WritableTxnMarker(
            producer_id=decided.producer_id,
            producer_epoch=decided.epoch,
            transaction_result=decided.state is TransactionState.PREPARE_COMMIT,
            topics=[
                request.WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                for name, indexes in topics.items()
            ],
            coordinator_epoch=coordinator_epoch,
            transaction_version=decided.client_version,
        )
        peer = self._peers.get(address)
        if peer is None:
            peer = self._peers[address] = Peer(self._network, address, self._client_id)
        unknown = dict.fromkeys(partitions, ErrorCode.request_timed_out)
        try:
            answer = await peer.ask(
                WRITE_TXN_MARKERS, VERSION, request(markers=[marker]), timeout_s=_TIMEOUT_S
            )
        except ConnectionError:
            return unknown
        told = {
            (topic.name, one.partition_index): ErrorCode(one.error_code)
            for result in answer.markers
            for topic in result.topics
            for one in topic.partitions
        }
        return unknown | told

    def close(self) -> None:
        """Let go of all connections."""
        for peer in self._peers.values():
            peer.abort()

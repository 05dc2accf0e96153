"""Produce within transactions: the coordinator says that a partition belongs to one (KIP-890).

A batch that would begin a transaction in a log is appended only if its coordinator knows the
partition to be part of that transaction. Older clients have said so themselves, and it is verified;
for newer ones it is added now.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from reference_impl.broker.find_coordinator import coordinator_of
from reference_impl.broker.node import Node
from reference_impl.coordinators.transactions import BUMPS_EPOCHS, Partition, ProducerIdEpoch
from reference_impl.decisions import decision
from reference_impl.kafka.apis import ADD_PARTITIONS_TO_TXN
from reference_impl.kafka.batches import Batch
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.verification import NO_GUARD
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.ports import Address

if TYPE_CHECKING:
    from reference_impl.kafka.messages import AddPartitionsToTxnRequest

FIRST_THAT_ADDS = 12
_FIRST_ABORTABLE = 11
_TRANSACTION_KEY = 1
_TIMEOUT_S = 30.0
_NOT_VERIFIED = (
    "Unable to verify the partition has been added to the transaction. Underlying error: {}"
)


class Verified(NamedTuple):
    """What became of a request's partitions: how some are refused, and the guards of those that
    their coordinator was asked about."""

    refusals: dict[Partition, KafkaError]
    guards: dict[Partition, int]


@decision("unverified-produce")
def unverified_produce(error: ErrorCode, version: int) -> ErrorCode:
    """What a producer is told, in words that its version knows: what it may try again must be an
    error that it tries again."""
    adds = version >= FIRST_THAT_ADDS
    match error:
        case (
            ErrorCode.network_exception
            | ErrorCode.coordinator_load_in_progress
            | ErrorCode.coordinator_not_available
            | ErrorCode.not_coordinator
        ):
            return ErrorCode.not_enough_replicas
        case ErrorCode.concurrent_transactions:
            return error if adds else ErrorCode.not_enough_replicas
        case ErrorCode.producer_fenced:
            return ErrorCode.invalid_producer_epoch
        case ErrorCode.transaction_abortable if version < _FIRST_ABORTABLE:
            return ErrorCode.invalid_txn_state
        case _:
            return error


class TransactionVerifier:
    """Asks coordinators on behalf of producers; one connection to each."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._peers: dict[Address, Peer] = {}

    async def verify(
        self,
        transactional_id: str,
        batches: dict[Partition, tuple[LogicalPartition, Batch]],
        version: int,
    ) -> Verified:
        """Ask the coordinator about batches of one producer that would begin a transaction."""
        layers, loop = self._node.layers, asyncio.get_running_loop()
        ends = loop.time() + layers.number("add.partitions.to.txn.retry.backoff.max.ms") / 1000
        while True:
            adds = version >= FIRST_THAT_ADDS
            guards, refusals = _start(batches, bumps=adds)
            if not guards:
                return Verified(refusals, guards)
            _, batch = batches[next(iter(guards))]
            producer = ProducerIdEpoch(batch.producer_id, batch.producer_epoch)
            told = dict.fromkeys(guards, ErrorCode.invalid_request)
            if transactional_id:
                told = await self.ask(transactional_id, producer, list(guards), adds=adds)
            busy = ErrorCode.concurrent_transactions in told.values()
            if not adds or not busy or loop.time() >= ends:
                break
            pause_ms = layers.number("add.partitions.to.txn.retry.backoff.ms")
            await self._node.ports.clock.sleep(pause_ms / 1000)
        for place, error in told.items():
            if error is not ErrorCode.none:
                refusals[place] = _refusal(error, version)
        return Verified(refusals, guards)

    async def ask(
        self,
        transactional_id: str,
        producer: ProducerIdEpoch,
        partitions: list[Partition],
        *,
        adds: bool,
    ) -> dict[Partition, ErrorCode]:
        """What the coordinator says: whether they are part of the transaction, or are now."""
        node = self._node
        found = await coordinator_of(node, _TRANSACTION_KEY, transactional_id)
        if found.error is not ErrorCode.none:
            return dict.fromkeys(partitions, ErrorCode.coordinator_not_available)
        if found.node_id == node.settings.node_id:
            try:
                if not adds:
                    return node.transactions.verify(transactional_id, producer, partitions)
                await node.transactions.add(transactional_id, producer, partitions, BUMPS_EPOCHS)
                return dict.fromkeys(partitions, ErrorCode.none)
            except KafkaError as error:
                return dict.fromkeys(partitions, error.code)
        request = self._request(transactional_id, producer, partitions, adds=adds)
        address = Address(found.host, found.port)
        peer = self._peers.get(address)
        if peer is None:
            name = f"broker-{node.settings.node_id}-transactions"
            peer = self._peers[address] = Peer(node.ports.network, address, name)
        try:
            answer = await peer.ask(
                ADD_PARTITIONS_TO_TXN, 5 if adds else 4, request, timeout_s=_TIMEOUT_S
            )
        except ConnectionError:
            return dict.fromkeys(partitions, ErrorCode.network_exception)
        told = dict.fromkeys(partitions, ErrorCode.network_exception)
        for result in answer.results_by_transaction:
            for topic in result.topic_results:
                for one in topic.results_by_partition:
                    place = (topic.name, one.partition_index)
                    told[place] = ErrorCode(one.partition_error_code)
        return told

    def _request(
        self,
        transactional_id: str,
        producer: ProducerIdEpoch,
        partitions: list[Partition],
        *,
        adds: bool,
    ) -> AddPartitionsToTxnRequest:
        request = ADD_PARTITIONS_TO_TXN.request
        topics: dict[str, list[int]] = {}
        for topic, index in partitions:
            topics.setdefault(topic, []).append(index)
        return request(
            transactions=[
                request.AddPartitionsToTxnTransaction(
                    transactional_id=transactional_id,
                    producer_id=producer.producer_id,
                    producer_epoch=producer.epoch,
                    verify_only=not adds,
                    topics=[
                        request.AddPartitionsToTxnTopic(name=name, partitions=indexes)
                        for name, indexes in topics.items()
                    ],
                )
            ]
        )

    def close(self) -> None:
        """Let go of all connections."""
        for peer in self._peers.values():
            peer.abort()


def _start(
    batches: dict[Partition, tuple[LogicalPartition, Batch]], *, bumps: bool
) -> tuple[dict[Partition, int], dict[Partition, KafkaError]]:
    """Guards for the batches that their coordinator has to be asked about."""
    guards: dict[Partition, int] = {}
    refusals: dict[Partition, KafkaError] = {}
    for place, (partition, batch) in batches.items():
        try:
            guard = partition.start_verification(batch, bumps=bumps)
        except KafkaError as error:
            refusals[place] = KafkaError(error.code)
            continue
        if guard != NO_GUARD:
            guards[place] = guard
    return guards, refusals


class NotVerified(KafkaError):
    """A refusal whose words the producer is told."""


def _refusal(error: ErrorCode, version: int) -> KafkaError:
    told = unverified_produce(error, version)
    if told is ErrorCode.not_enough_replicas:
        return NotVerified(told, _NOT_VERIFIED.format(error.name.upper()))
    if told is ErrorCode.invalid_txn_state:
        return NotVerified(told, "Partition was not added to the transaction")
    return KafkaError(told)

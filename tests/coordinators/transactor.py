"""A transactional producer that does not give up soon, and keeps a ledger of what it was told.

It does what clients do: looks for coordinators and leaders, tries again what may be tried again
(the same batch with the same number, the same end), and stops where it is told that it was
replaced. What it gave up on is left open; a commit that it may have asked for is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reference_impl.kafka import apis
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.records import build_batch
from reference_impl.ports import Address, Network
from tests.coordinators.transaction_bench import TOPIC, Reader
from tests.coordinators.transaction_ledger import Fate, Ledger, Row, Transacted

ANSWER_S = 1.5
PAUSE_S = 0.1
AGAIN = (
    ErrorCode.concurrent_transactions,
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.coordinator_not_available,
    ErrorCode.not_coordinator,
    ErrorCode.not_leader_or_follower,
    ErrorCode.unknown_topic_or_partition,
    ErrorCode.not_enough_replicas,
    ErrorCode.not_enough_replicas_after_append,
    ErrorCode.request_timed_out,
    ErrorCode.kafka_storage_error,
    ErrorCode.network_exception,
)
NOTHING_DONE = (ErrorCode.concurrent_transactions, ErrorCode.coordinator_load_in_progress)
"""Answers to EndTxn after which nothing can have come of it."""
REPLACED = (
    ErrorCode.producer_fenced,
    ErrorCode.invalid_producer_epoch,
    ErrorCode.invalid_producer_id_mapping,
)


class Stopped(Exception):
    """It is out of patience (no code), or was told that it cannot go on."""

    def __init__(self, code: ErrorCode | None = None) -> None:
        super().__init__(code.name if code is not None else "out of patience")
        self.code = code


class Brokers:
    """Asks brokers; knows, until it is told otherwise, who leads and who coordinates."""

    def __init__(self, network: Network, addresses: Mapping[int, Address]) -> None:
        self._peers = {
            broker: Peer(network, address, "transactor") for broker, address in addresses.items()
        }
        self._found: dict[tuple[str, str], int] = {}
        self._next = 0

    def close(self) -> None:
        for peer in self._peers.values():
            peer.abort()

    async def ask(self, broker: int, api: Any, version: int, message: Any) -> Any:
        """An answer; a ConnectionError if there is none."""
        try:
            return await self._peers[broker].ask(api, version, message, timeout_s=ANSWER_S)
        except ConnectionError:
            raise
        except OSError as error:
            raise ConnectionError(str(error)) from error

    async def find(self, kind: str, name: str) -> int | None:
        """Who leads a partition, coordinates a transactional id or a group; None if none says."""
        known = self._found.get((kind, name))
        if known is not None:
            return known
        self._next = self._next % len(self._peers) + 1
        try:
            found = await self._search(self._next, kind, name)
        except ConnectionError:
            return None
        if found not in self._peers:
            return None
        self._found[kind, name] = found
        return found

    def forget(self, kind: str, name: str) -> None:
        self._found.pop((kind, name), None)

    async def _search(self, broker: int, kind: str, name: str) -> int:
        if kind == "leader":
            asked = apis.METADATA.request
            request = asked(topics=[asked.MetadataRequestTopic(name=TOPIC)])
            answer = await self.ask(broker, apis.METADATA, 9, request)
            parts = answer.topics[0].partitions
            return next((int(p.leader_id) for p in parts if p.partition_index == int(name)), -1)
        key_type = 1 if kind == "transactions" else 0
        request = apis.FIND_COORDINATOR.request(key_type=key_type, coordinator_keys=[name])
        answer = await self.ask(broker, apis.FIND_COORDINATOR, 4, request)
        return -1 if answer.coordinators[0].error_code else int(answer.coordinators[0].node_id)


class Transactor:
    """One producer of one transactional id; protocol 2 bumps its epoch with every transaction."""

    def __init__(
        self,
        transactional_id: str,
        ledger: Ledger,
        now_ms: Callable[[], int],
        *,
        protocol: int = 2,
        timeout_ms: int = 3000,
        patience_s: float = 8.0,
    ) -> None:
        self.id = transactional_id
        self.ledger = ledger
        self.now_ms = now_ms
        self.protocol = protocol
        self.timeout_ms = timeout_ms
        self.patience_s = patience_s
        self.ready = False
        self.errors: list[str] = []  # that no client should be told
        self._producer_id, self._epoch = -1, -1
        self._sequences: dict[int, int] = {}

    async def init(self, brokers: Brokers) -> None:
        """Begin; what a predecessor left open is aborted first."""

        def request() -> Any:
            return apis.INIT_PRODUCER_ID.request(
                transactional_id=self.id, transaction_timeout_ms=self.timeout_ms
            )

        def told(answer: Any) -> ErrorCode:
            return ErrorCode(answer.error_code)

        answer = await self._until_done(
            brokers, ("transactions", self.id), apis.INIT_PRODUCER_ID, 4, request, told
        )
        self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch
        self._sequences = {}
        self.ready = True

    async def transact(
        self, brokers: Brokers, writes: Sequence[int], *, offset: bool, end: str
    ) -> Transacted:
        """One transaction: a value to each of these partitions, its offset, and how it ends:
        `commit`, `abort` or `leave`."""
        if not self.ready:
            await self.init(brokers)
        one = self.ledger.begin(self.id)
        try:
            if self.protocol == 1:
                await self._add(brokers, sorted(set(writes)))
            for index in writes:
                await self._write(brokers, index, self.ledger.writes(one, index))
            if offset:
                await self._commit_offset(brokers, one.number)
                one.offset = one.number
            if end != "leave":
                await self._end(brokers, one, commit=end == "commit")
        except Stopped as stopped:
            self.ready = False  # whatever is open, the next one begins anew
            if one.fate is Fate.OPEN:
                one.fate = Fate.ABORTED
            if stopped.code is not None and stopped.code not in REPLACED:
                self.errors.append(stopped.code.name)
            raise
        if end == "leave":
            one.fate, self.ready = Fate.ABORTED, False
        return one

    async def _add(self, brokers: Brokers, indexes: Sequence[int]) -> None:
        asked = apis.ADD_PARTITIONS_TO_TXN.request

        def request() -> Any:
            return asked(
                v3_and_below_transactional_id=self.id,
                v3_and_below_producer_id=self._producer_id,
                v3_and_below_producer_epoch=self._epoch,
                v3_and_below_topics=[
                    asked.AddPartitionsToTxnTopic(name=TOPIC, partitions=list(indexes))
                ],
            )

        def told(answer: Any) -> ErrorCode:
            results = answer.results_by_topic_v3_and_below[0].results_by_partition
            return ErrorCode(results[0].partition_error_code)

        await self._until_done(
            brokers, ("transactions", self.id), apis.ADD_PARTITIONS_TO_TXN, 3, request, told
        )

    async def _write(self, brokers: Brokers, index: int, value: str) -> None:
        sequence = self._sequences.get(index, 0)
        data = build_batch(
            [(self.now_ms(), None, value.encode())],
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
            transactional=True,
        )

        def request() -> Any:
            asked = apis.PRODUCE.request
            part = asked.PartitionProduceData(index=index, records=data)
            return asked(
                transactional_id=self.id,
                acks=-1,
                timeout_ms=1000,
                topic_data=[asked.TopicProduceData(name=TOPIC, partition_data=[part])],
            )

        def told(answer: Any) -> ErrorCode:
            return ErrorCode(answer.responses[0].partition_responses[0].error_code)

        version = 12 if self.protocol == 2 else 9
        await self._until_done(
            brokers, ("leader", str(index)), apis.PRODUCE, version, request, told
        )
        self._sequences[index] = sequence + 1

    async def _commit_offset(self, brokers: Brokers, offset: int) -> None:
        if self.protocol == 1:

            def joins() -> Any:
                return apis.ADD_OFFSETS_TO_TXN.request(
                    transactional_id=self.id,
                    producer_id=self._producer_id,
                    producer_epoch=self._epoch,
                    group_id=self.id,
                )

            await self._until_done(
                brokers,
                ("transactions", self.id),
                apis.ADD_OFFSETS_TO_TXN,
                3,
                joins,
                lambda answer: ErrorCode(answer.error_code),
            )
        asked = apis.TXN_OFFSET_COMMIT.request

        def request() -> Any:
            one = asked.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            return asked(
                transactional_id=self.id,
                group_id=self.id,
                producer_id=self._producer_id,
                producer_epoch=self._epoch,
                topics=[asked.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[one])],
            )

        def told(answer: Any) -> ErrorCode:
            return ErrorCode(answer.topics[0].partitions[0].error_code)

        version = 5 if self.protocol == 2 else 3
        await self._until_done(
            brokers, ("group", self.id), apis.TXN_OFFSET_COMMIT, version, request, told
        )

    async def _end(self, brokers: Brokers, one: Transacted, *, commit: bool) -> None:
        maybe = False  # whether an attempt may have been carried out

        def request() -> Any:
            if commit:
                one.fate = Fate.ASKED
            return apis.END_TXN.request(
                transactional_id=self.id,
                producer_id=self._producer_id,
                producer_epoch=self._epoch,
                committed=commit,
            )

        def told(answer: Any) -> ErrorCode:
            nonlocal maybe
            code = ErrorCode.network_exception if answer is None else ErrorCode(answer.error_code)
            maybe = maybe or (code in AGAIN and code not in NOTHING_DONE)
            return code

        version = 5 if self.protocol == 2 else 3
        where = ("transactions", self.id)
        try:
            answer = await self._until_done(brokers, where, apis.END_TXN, version, request, told)
        except Stopped as stopped:
            if not maybe:
                one.fate = Fate.ABORTED
            # The coordinator has aborted it for its time or for a successor, as with Kafka.
            aborted = stopped.code is ErrorCode.invalid_txn_state and commit
            raise Stopped(ErrorCode.producer_fenced) if aborted else stopped from None
        one.fate = Fate.COMMITTED if commit else Fate.ABORTED
        if self.protocol == 2:
            self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch
            self._sequences = {}

    async def _until_done(
        self,
        brokers: Brokers,
        where: tuple[str, str],
        api: Any,
        version: int,
        request: Any,
        told: Any,
    ) -> Any:
        """Ask until it is done; Stopped if it cannot be, or not in time."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.patience_s
        while loop.time() < ends:
            broker = await brokers.find(*where)
            if broker is not None:
                code, answer = ErrorCode.network_exception, None
                asked = request()
                try:
                    answer = await brokers.ask(broker, api, version, asked)
                except ConnectionError:
                    if api is apis.END_TXN:
                        told(None)
                else:
                    code = told(answer)
                if code is ErrorCode.none:
                    return answer
                if code not in AGAIN:
                    raise Stopped(code)
                brokers.forget(*where)
            await asyncio.sleep(PAUSE_S)
        raise Stopped


async def read_committed(brokers: Brokers, at: int, index: int, *, start: int = 0) -> list[Row]:
    """What a broker hands out from there to where it is stable; a ConnectionError if it refuses."""
    reader, offset = Reader(committed=True), start
    while True:
        asked = apis.FETCH.request
        part = asked.FetchPartition(
            partition=index, fetch_offset=offset, partition_max_bytes=1 << 20
        )
        request = asked(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            isolation_level=1,
            topics=[asked.FetchTopic(topic=TOPIC, partitions=[part])],
        )
        answer = await brokers.ask(at, apis.FETCH, 11, request)
        data = answer.responses[0].partitions[0]
        if data.error_code:
            raise ConnectionError(ErrorCode(data.error_code).name)
        if not data.records:
            return reader.rows
        offset = reader.take(
            data.records,
            [(one.first_offset, one.producer_id) for one in data.aborted_transactions or ()],
        )

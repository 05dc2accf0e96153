"""Groups that commit, fetch and delete offsets on the simulated cluster, in Kafka's words."""

from __future__ import annotations

from typing import Any

from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode
from tests.coordinators.transaction_bench import RETRIABLE, TOPIC, Cluster, Producer

TRIES = 100


class Group:
    """A group without members; its offsets are those of ``TOPIC``."""

    def __init__(self, cluster: Cluster, name: str = "g") -> None:
        self.cluster = cluster
        self.name = name

    def coordinator(self) -> int:
        """The broker that keeps its offsets, once there is one."""
        return self.cluster.coordinator(self.name, key_type=0)

    def ask(self, api: Any, version: int, request: Any) -> Any:
        """Ask its coordinator once."""
        return self.cluster.ask(self.coordinator(), api, version, request)

    def commit(self, offset: int, *, index: int = 0, version: int = 9, **said: Any) -> str:
        """Commit outside of transactions, until there is an answer that is final."""
        asked = apis.OFFSET_COMMIT.request
        one = asked.OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        topic = asked.OffsetCommitRequestTopic(name=TOPIC, partitions=[one])
        request = asked(group_id=self.name, topics=[topic], **said)
        return self._until_final(apis.OFFSET_COMMIT, version, request)

    def commit_within(
        self, producer: Producer, offset: int, *, index: int = 0, version: int = 5, **said: Any
    ) -> str:
        """Commit within a producer's transaction, until there is an answer that is final."""
        asked = apis.TXN_OFFSET_COMMIT.request
        one = asked.TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        request = asked(
            transactional_id=producer.id,
            group_id=self.name,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            topics=[asked.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[one])],
            **said,
        )
        return self._until_final(apis.TXN_OFFSET_COMMIT, version, request)

    def _until_final(self, api: Any, version: int, request: Any) -> str:
        for _ in range(TRIES):
            try:
                answer = self.ask(api, version, request)
            except ConnectionError:
                continue
            code = ErrorCode(answer.topics[0].partitions[0].error_code)
            if code not in RETRIABLE:
                return code.name
            self.cluster.sim.advance(0.2)
        raise AssertionError(code.name)

    def add_to(self, producer: Producer) -> str:
        """Say that its offsets are part of a transaction, as the old protocol wants it."""
        request = apis.ADD_OFFSETS_TO_TXN.request(
            transactional_id=producer.id,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            group_id=self.name,
        )
        at = self.cluster.coordinator(producer.id)
        answer = self.cluster.ask(at, apis.ADD_OFFSETS_TO_TXN, 3, request)
        return ErrorCode(answer.error_code).name

    def fetch(self, *, index: int = 0, stable: bool = False, version: int = 9) -> int | str:
        """The committed offset, or the error."""
        asked = apis.OFFSET_FETCH.request
        topic = asked.OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[index])
        group = asked.OffsetFetchRequestGroup(group_id=self.name, topics=[topic])
        for _ in range(TRIES):
            request = asked(groups=[group], require_stable=stable)
            try:
                told = self.ask(apis.OFFSET_FETCH, version, request).groups[0]
            except ConnectionError:
                continue
            if ErrorCode(told.error_code) not in RETRIABLE:
                one = told.topics[0].partitions[0]
                code = ErrorCode(one.error_code)
                return one.committed_offset if code is ErrorCode.none else code.name
            self.cluster.sim.advance(0.2)
        raise AssertionError(ErrorCode(told.error_code).name)

"""Requests about the topic ``__remote_log_metadata``, to whichever broker leads the partition.

Brokers are found by asking this broker's own listener. One attempt is made for each call: those who
call know whether it may be repeated.

    ConnectionError    no answer; a request that changes something may have been carried out
    KafkaError         refused, with the code of the answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from reference_impl.decisions import decision
from reference_impl.kafka.apis import CREATE_TOPICS, FETCH, LIST_OFFSETS, METADATA, PRODUCE
from reference_impl.kafka.batches import batches
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch, records
from reference_impl.ports import Address, Ports
from reference_impl.tiered.topic_settings import ClientSettings

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchResponse

METADATA_TOPIC: Final = "__remote_log_metadata"

_METADATA_VERSION: Final = 12
_CREATE_VERSION: Final = 7
_PRODUCE_VERSION: Final = 13
_FETCH_VERSION: Final = 17
_LIST_OFFSETS_VERSION: Final = 9
_LATEST: Final = -1
_NO_SESSION, _FINAL_EPOCH = 0, -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLayout:
    """The topic as a broker knows it: leaders by partition, -1 where there is none."""

    topic_id: UUID
    leaders: Mapping[int, int]
    brokers: Mapping[int, Address]


class FetchedRecord(NamedTuple):
    """A record of a metadata partition."""

    offset: int
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPartition:
    """What a leader answered for one partition; ``next_offset`` is where to go on."""

    error: ErrorCode
    log_start_offset: int
    high_watermark: int
    next_offset: int
    records: Sequence[FetchedRecord]


@decision("key-of-event", rules=("TS-080", "TS-081", "TS-082"))
def key_of_event(value: bytes) -> bytes | None:
    """None: the topic is not compacted, and the value has all there is (C-12)."""
    return None


class MetadataTopicClient:
    """See the module. ``bootstrap`` says where this broker listens; ``producer`` and ``consumer``
    are the settings of what appends, and of what asks and reads."""

    def __init__(self, ports: Ports, bootstrap: Callable[[], Address], client_id: str) -> None:
        self._ports = ports
        self._bootstrap = bootstrap
        self._client_id = client_id
        self.producer = self.consumer = ClientSettings()
        self._layout: TopicLayout | None = None
        self._peers: dict[tuple[str, Address], Peer] = {}

    async def layout(self) -> TopicLayout | None:
        """The topic as this broker knows it now, None if there is none."""
        asked = METADATA.request(
            topics=[METADATA.request.MetadataRequestTopic(name=METADATA_TOPIC)],
            allow_auto_topic_creation=False,
        )
        peer = self._peer("metadata", self._bootstrap())
        answer = await peer.ask(
            METADATA, _METADATA_VERSION, asked, timeout_s=self.consumer.timeout_s
        )
        topic = answer.topics[0]
        if topic.error_code == ErrorCode.unknown_topic_or_partition:
            return None
        _check(topic.error_code)
        self._layout = TopicLayout(
            topic_id=topic.topic_id,
            leaders={one.partition_index: one.leader_id for one in topic.partitions},
            brokers={one.node_id: Address(one.host, one.port) for one in answer.brokers},
        )
        return self._layout

    def forget_layout(self) -> None:
        """Ask again who leads what before the next request."""
        self._layout = None

    async def leaders(self, partitions: Iterable[int]) -> dict[int, list[int]]:
        """Partitions by the broker that leads them; those without a leader are left out."""
        layout = await self._known_layout()
        led: dict[int, list[int]] = {}
        for partition in partitions:
            leader = layout.leaders.get(partition, -1)
            if leader in layout.brokers:
                led.setdefault(leader, []).append(partition)
        return led

    async def create(self, *, partitions: int, replication_factor: int, retention_ms: int) -> None:
        """Create the topic; that it exists already is no error."""
        configs = {"cleanup.policy": "delete", "retention.ms": str(retention_ms)}
        topic = CREATE_TOPICS.request.CreatableTopic(
            name=METADATA_TOPIC,
            num_partitions=partitions,
            replication_factor=replication_factor,
            configs=[
                CREATE_TOPICS.request.CreatableTopicConfig(name=name, value=value)
                for name, value in configs.items()
            ],
        )
        asked = CREATE_TOPICS.request(topics=[topic], timeout_ms=self.consumer.request_timeout_ms)
        peer = self._peer("metadata", self._bootstrap())
        answer = await peer.ask(
            CREATE_TOPICS, _CREATE_VERSION, asked, timeout_s=self.consumer.timeout_s
        )
        said = answer.topics[0]
        if said.error_code != ErrorCode.topic_already_exists:
            _check(said.error_code, said.error_message)

    async def produce(self, partition: int, value: bytes) -> int:
        """Append a record, with all replicas in sync; its offset."""
        layout = await self._known_layout()
        batch = build_batch([(self._ports.clock.now_ms(), key_of_event(value), value)])
        data = PRODUCE.request.PartitionProduceData(index=partition, records=batch)
        topic = PRODUCE.request.TopicProduceData(topic_id=layout.topic_id, partition_data=[data])
        asked = PRODUCE.request(
            acks=-1, timeout_ms=self.producer.request_timeout_ms, topic_data=[topic]
        )
        peer = self._leader("produce", layout, layout.leaders.get(partition, -1))
        answer = await peer.ask(
            PRODUCE, _PRODUCE_VERSION, asked, timeout_s=self.producer.timeout_s + 1
        )
        said = answer.responses[0].partition_responses[0]
        _check(said.error_code, said.error_message)
        return said.base_offset

    async def end_offsets(self, leader: int, partitions: Sequence[int]) -> dict[int, int]:
        """The end of each partition: everything below that was acknowledged before is there."""
        layout = await self._known_layout()
        wanted = [
            LIST_OFFSETS.request.ListOffsetsPartition(
                partition_index=one, current_leader_epoch=-1, timestamp=_LATEST
            )
            for one in partitions
        ]
        topic = LIST_OFFSETS.request.ListOffsetsTopic(name=METADATA_TOPIC, partitions=wanted)
        asked = LIST_OFFSETS.request(replica_id=-1, isolation_level=0, topics=[topic])
        answer = await self._leader("ask", layout, leader).ask(
            LIST_OFFSETS, _LIST_OFFSETS_VERSION, asked, timeout_s=self.consumer.timeout_s
        )
        ends = {}
        for said in answer.topics[0].partitions:
            _check(said.error_code)
            ends[said.partition_index] = said.offset
        return ends

    async def fetch(
        self, leader: int, positions: Mapping[int, int], *, max_wait_ms: int
    ) -> dict[int, FetchedPartition]:
        """Records from each position on; waits that long where there are none."""
        layout = await self._known_layout()
        wanted = [
            FETCH.request.FetchPartition(
                partition=partition,
                current_leader_epoch=-1,
                fetch_offset=position,
                partition_max_bytes=self.consumer.max_partition_fetch_bytes,
            )
            for partition, position in positions.items()
        ]
        asked = FETCH.request(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=self.consumer.fetch_max_bytes,
            isolation_level=0,
            session_id=_NO_SESSION,
            session_epoch=_FINAL_EPOCH,
            topics=[FETCH.request.FetchTopic(topic_id=layout.topic_id, partitions=wanted)],
        )
        answer = await self._leader("fetch", layout, leader).ask(
            FETCH, _FETCH_VERSION, asked, timeout_s=self.consumer.timeout_s + max_wait_ms / 1000
        )
        _check(answer.error_code)
        return {
            said.partition_index: _fetched(said, positions[said.partition_index])
            for topic in answer.responses
            for said in topic.partitions
            if said.partition_index in positions
        }

    async def close(self) -> None:
        """Close all connections, also those with a request under way."""
        for peer in self._peers.values():
            peer.abort()
        self._peers.clear()

    async def _known_layout(self) -> TopicLayout:
        layout = self._layout or await self.layout()
        if layout is None:
            raise KafkaError(ErrorCode.unknown_topic_or_partition, METADATA_TOPIC)
        return layout

    def _leader(self, purpose: str, layout: TopicLayout, leader: int) -> Peer:
        address = layout.brokers.get(leader)
        if address is None:
            raise KafkaError(ErrorCode.leader_not_available, METADATA_TOPIC)
        return self._peer(purpose, address)

    def _peer(self, purpose: str, address: Address) -> Peer:
        peer = self._peers.get((purpose, address))
        if peer is None:
            name = f"{self._client_id}-{purpose}"
            peer = self._peers[purpose, address] = Peer(self._ports.network, address, name)
        return peer


def _fetched(said: FetchResponse.PartitionData, position: int) -> FetchedPartition:
    data = said.records or b""
    found: list[FetchedRecord] = []
    next_offset = position
    for at, batch in batches(data):
        next_offset = max(next_offset, batch.next_offset)
        if not batch.control:
            found += (
                FetchedRecord(one.offset, one.value)
                for one in records(data, at)
                if one.offset >= position
            )
    return FetchedPartition(
        error=ErrorCode(said.error_code),
        log_start_offset=said.log_start_offset,
        high_watermark=said.high_watermark,
        next_offset=next_offset,
        records=found,
    )


def _check(error_code: int, message: str | None = None) -> None:
    if error_code:
        raise KafkaError(ErrorCode(error_code), message or "")

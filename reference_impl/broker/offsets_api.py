"""Offsets of groups that manage no members: committed, also within transactions, told, deleted.

Partitions that do not exist are refused by the broker that is asked; all others get one answer from
the coordinator of their group, which this broker is or is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from reference_impl.broker.answering import answering
from reference_impl.broker.node import Node
from reference_impl.broker.transactional_produce import TransactionVerifier
from reference_impl.coordinators.offset_records import (
    NO_EXPIRY,
    NO_TOPIC_ID,
    OffsetKey,
    OffsetValue,
)
from reference_impl.coordinators.offset_state import Committer, may_commit, metadata_fits
from reference_impl.coordinators.placement import CONSUMER_OFFSETS, coordinated_by
from reference_impl.coordinators.transaction_log import coordinator_error
from reference_impl.coordinators.transactions import ProducerIdEpoch
from reference_impl.decisions import decision
from reference_impl.kafka import apis
from reference_impl.kafka.batches import header
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch
from reference_impl.kafka.server import Context
from reference_impl.log.verification import NO_GUARD

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AddOffsetsToTxnRequest,
        AddOffsetsToTxnResponse,
        OffsetCommitRequest,
        OffsetCommitResponse,
        OffsetDeleteRequest,
        OffsetDeleteResponse,
        TxnOffsetCommitRequest,
        TxnOffsetCommitResponse,
    )

NO_RETENTION = -1
_FIRST_FENCED = 2
_FIRST_LOADING = 2
_FIRST_ABORTABLE = 4
_FIRST_THAT_ADDS = 5
_FIRST_BY_ID = 10


class Committed(Protocol):
    """A partition in a request that commits."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class Place(NamedTuple):
    """A topic, as it is answered for."""

    name: str
    topic_id: UUID = NO_TOPIC_ID


class Asked(NamedTuple):
    """A partition that exists, and what is to be committed for it."""

    place: Place
    partition: int
    offset: int = -1
    leader_epoch: int = -1
    metadata: str | None = None

    @staticmethod
    def of(place: Place, one: Committed) -> Asked:
        """As a request says it."""
        return Asked(
            place,
            one.partition_index,
            one.committed_offset,
            one.committed_leader_epoch,
            one.committed_metadata,
        )


Told = dict[Place, list[tuple[int, ErrorCode]]]


def _existing(
    node: Node, topics: Iterable[tuple[Place, Sequence[Asked]]], told: Told
) -> list[Asked]:
    """Those partitions that exist; the others are told that they do not."""
    found: list[Asked] = []
    for place, partitions in topics:
        unknown = ErrorCode.unknown_topic_or_partition
        if not place.name and place.topic_id != NO_TOPIC_ID:
            unknown = ErrorCode.unknown_topic_id
        if place.name not in node.image.topics:
            told.setdefault(place, [])
        for one in partitions:
            if node.image.partition(place.name, one.partition) is None:
                told.setdefault(place, []).append((one.partition, unknown))
            else:
                found.append(one)
    return found


def _tell(told: Told, asked: Iterable[Asked], codes: Iterable[ErrorCode]) -> None:
    for one, code in zip(asked, codes, strict=True):
        told.setdefault(one.place, []).append((one.partition, code))


# OffsetCommit.


async def offset_commit(
    node: Node, context: Context, request: OffsetCommitRequest
) -> OffsetCommitResponse:
    """OffsetCommit: how far a group is."""
    told: Told = {}
    topics = []
    for topic in request.topics:
        name, topic_id = topic.name, topic.topic_id
        if context.version >= _FIRST_BY_ID:
            name = node.image.topic_ids.get(topic_id, "")
        elif name in node.image.topics:
            topic_id = node.image.topics[name].topic_id
        place = Place(name, topic_id)
        topics.append((place, [Asked.of(place, one) for one in topic.partitions]))
    asked = _existing(node, topics, told)
    committer = Committer(
        request.generation_id_or_member_epoch, request.member_id, request.group_instance_id
    )
    expire_ms = NO_EXPIRY
    if request.retention_time_ms != NO_RETENTION:
        expire_ms = node.ports.clock.now_ms() + request.retention_time_ms
    try:
        if asked:
            state = node.offsets.state(request.group_id)
            known = state.knows(request.group_id)
            _must(may_commit(known, committer, False, context.version))
            _tell(told, asked, await _commit(node, request.group_id, asked, None, expire_ms))
    except KafkaError as error:
        _tell(told, asked, [error.code] * len(asked))
    response = apis.OFFSET_COMMIT.response
    return response(
        topics=[
            response.OffsetCommitResponseTopic(
                name=place.name,
                topic_id=place.topic_id,
                partitions=[
                    response.OffsetCommitResponsePartition(partition_index=index, error_code=code)
                    for index, code in partitions
                ],
            )
            for place, partitions in told.items()
        ]
    )


def _must(error: ErrorCode) -> None:
    if error is not ErrorCode.none:
        raise KafkaError(error)


async def _commit(
    node: Node,
    group: str,
    asked: Sequence[Asked],
    producer: ProducerIdEpoch | None,
    expire_ms: int = NO_EXPIRY,
    guard: int = NO_GUARD,
) -> list[ErrorCode]:
    """Write what may be written; what each partition is told."""
    most, now_ms = node.layers.number("offset.metadata.max.bytes"), node.ports.clock.now_ms()
    fits = [metadata_fits(one.metadata, most) for one in asked]
    offsets = [
        (
            OffsetKey(group, one.place.name, one.partition),
            OffsetValue(
                offset=one.offset,
                leader_epoch=one.leader_epoch,
                metadata=one.metadata or "",
                commit_ms=now_ms,
                expire_ms=expire_ms,
                topic_id=one.place.topic_id,
            ),
        )
        for one, good in zip(asked, fits, strict=True)
        if good
    ]
    await node.offsets.commit(group, offsets, producer, guard)
    return [ErrorCode.none if good else ErrorCode.offset_metadata_too_large for good in fits]


# Within transactions.


async def add_offsets_to_txn(
    node: Node, context: Context, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse:
    """AddOffsetsToTxn: the partition of a group's offsets joins a transaction."""
    response = apis.ADD_OFFSETS_TO_TXN.response
    index = node.offsets.partition_of(request.group_id)
    if index is None:
        count = node.layers.number("offsets.topic.num.partitions")
        index = coordinated_by(request.group_id, count)
    producer = ProducerIdEpoch(request.producer_id, request.producer_epoch)
    try:
        if not request.transactional_id:
            raise KafkaError(ErrorCode.invalid_request)
        added = [(CONSUMER_OFFSETS, index)]
        await node.transactions.add(request.transactional_id, producer, added, 0)
    except KafkaError as error:
        code = error.code
        if code is ErrorCode.producer_fenced and context.version < _FIRST_FENCED:
            code = ErrorCode.invalid_producer_epoch
        return response(error_code=code)
    return response()


@decision("unverified-offset-commit")
def unverified_commit(error: ErrorCode, version: int) -> ErrorCode:
    """What a client is told whose transaction the group's partition is not part of: what it may
    try again must be an error that its version tries again."""
    match error:
        case ErrorCode.producer_fenced:
            return ErrorCode.invalid_producer_epoch
        case ErrorCode.transaction_abortable if version < _FIRST_ABORTABLE:
            return ErrorCode.invalid_txn_state
        case ErrorCode.network_exception:
            return ErrorCode.coordinator_load_in_progress
        case _:
            return coordinator_error(error)


async def txn_offset_commit(
    node: Node, verifier: TransactionVerifier, context: Context, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse:
    """TxnOffsetCommit: how far a group will be, if the transaction is committed."""
    told: Told = {}
    topics = []
    for topic in request.topics:
        place = Place(topic.name)
        topics.append((place, [Asked.of(place, one) for one in topic.partitions]))
    asked = _existing(node, topics, told)
    try:
        if asked:
            if not request.group_id:
                raise KafkaError(ErrorCode.invalid_group_id)
            _tell(
                told, asked, await _commit_within(node, verifier, context.version, request, asked)
            )
    except KafkaError as error:
        code = error.code
        if code is ErrorCode.coordinator_load_in_progress and context.version < _FIRST_LOADING:
            code = ErrorCode.coordinator_not_available
        _tell(told, asked, [code] * len(asked))
    response = apis.TXN_OFFSET_COMMIT.response
    return response(
        topics=[
            response.TxnOffsetCommitResponseTopic(
                name=place.name,
                partitions=[
                    response.TxnOffsetCommitResponsePartition(
                        partition_index=index, error_code=code
                    )
                    for index, code in partitions
                ],
            )
            for place, partitions in told.items()
        ]
    )


async def _commit_within(
    node: Node,
    verifier: TransactionVerifier,
    version: int,
    request: TxnOffsetCommitRequest,
    asked: Sequence[Asked],
) -> list[ErrorCode]:
    group, name = request.group_id, request.transactional_id
    producer = ProducerIdEpoch(request.producer_id, request.producer_epoch)
    partition = await node.offsets.partition(group)
    adds = version >= _FIRST_THAT_ADDS
    first = build_batch(
        [], producer_id=producer.producer_id, producer_epoch=producer.epoch, base_sequence=0
    )
    guard = partition.start_verification(header(first), bumps=adds)
    if guard != NO_GUARD:
        if not name:
            raise KafkaError(ErrorCode.invalid_request)
        place = (CONSUMER_OFFSETS, partition.index)
        said = await verifier.ask(name, producer, [place], adds=adds)
        if said[place] is not ErrorCode.none:
            raise KafkaError(unverified_commit(said[place], version))
    committer = Committer(request.generation_id, request.member_id, request.group_instance_id)
    _must(may_commit(node.offsets.state(group).knows(group), committer, True, version))
    return await _commit(node, group, asked, producer, guard=guard)


# OffsetDelete.


async def offset_delete(
    node: Node, context: Context, request: OffsetDeleteRequest
) -> OffsetDeleteResponse:
    """OffsetDelete: a group forgets how far it is."""
    told: Told = {}
    topics = []
    for topic in request.topics:
        place = Place(topic.name)
        topics.append((place, [Asked(place, one.partition_index) for one in topic.partitions]))
    asked, group = _existing(node, topics, told), request.group_id
    response = apis.OFFSET_DELETE.response
    try:
        if not group:
            raise KafkaError(ErrorCode.invalid_group_id)
        state = node.offsets.state(group)
        if not state.knows(group):
            raise KafkaError(ErrorCode.group_id_not_found)
        keys = [OffsetKey(group, one.place.name, one.partition) for one in asked]
        await node.offsets.commit(group, [(key, None) for key in state.deletable(keys)])
    except KafkaError as error:
        return response(error_code=error.code)
    _tell(told, asked, [ErrorCode.none] * len(asked))
    return response(
        topics=[
            response.OffsetDeleteResponseTopic(
                name=place.name,
                partitions=[
                    response.OffsetDeleteResponsePartition(partition_index=index, error_code=code)
                    for index, code in partitions
                ],
            )
            for place, partitions in told.items()
        ]
    )


HANDLERS = (
    answering(apis.OFFSET_COMMIT, offset_commit),
    answering(apis.ADD_OFFSETS_TO_TXN, add_offsets_to_txn),
    answering(apis.OFFSET_DELETE, offset_delete),
)

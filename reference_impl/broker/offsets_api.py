"""Offsets of groups that manage no members: committed, also within transactions, told, deleted.

Partitions that do not exist are refused by the broker that is asked; all others get one answer from
the coordinator of their group, which this broker is or is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from reference_impl.broker.answering import answering
from reference_impl.broker.node import Node
from reference_impl.broker.offset_places import Asked, AskedTopic, Place, existing, merged, told
from reference_impl.broker.transactional_produce import TransactionVerifier
from reference_impl.coordinators.offset_records import (
    NO_EXPIRY,
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


# OffsetCommit.


async def offset_commit(
    node: Node, context: Context, request: OffsetCommitRequest
) -> OffsetCommitResponse:
    """OffsetCommit: how far a group is."""
    topics: list[AskedTopic] = []
    by_id = context.version >= _FIRST_BY_ID
    for topic in request.topics:
        name, topic_id = topic.name, topic.topic_id
        if by_id:
            name = node.image.topic_ids.get(topic_id, "")
        elif name in node.image.topics:
            topic_id = node.image.topics[name].topic_id
        place = Place(name, topic_id)
        topics.append((place, [Asked.of(place, one) for one in topic.partitions]))
    asked, refused = existing(node.image, topics, by_id=by_id)
    committer = Committer(
        request.generation_id_or_member_epoch, request.member_id, request.group_instance_id
    )
    expire_ms = NO_EXPIRY
    if request.retention_time_ms != NO_RETENTION:
        expire_ms = node.ports.clock.now_ms() + request.retention_time_ms
    codes: Iterable[ErrorCode] = ()
    try:
        if asked:
            state = node.offsets.state(request.group_id)
            known = state.knows(request.group_id)
            _must(may_commit(known, committer, False, context.version))
            codes = await _commit(node, request.group_id, asked, None, expire_ms)
    except KafkaError as error:
        codes = repeat(error.code)
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
            for place, partitions in merged(refused, told(asked, codes))
        ]
    )


def _must(error: ErrorCode) -> None:
    if error is not ErrorCode.none:
        raise KafkaError(error)


async def _commit(
    node: Node,
    group: str,
    asked: Sequence[AskedTopic],
    producer: ProducerIdEpoch | None,
    expire_ms: int = NO_EXPIRY,
    guard: int = NO_GUARD,
) -> list[ErrorCode]:
    """Write what may be written; what each partition is told."""
    most, now_ms = node.layers.number("offset.metadata.max.bytes"), node.ports.clock.now_ms()
    each = [one for _, partitions in asked for one in partitions]
    fits = [metadata_fits(one.metadata, most) for one in each]
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
        for one, good in zip(each, fits, strict=True)
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
    topics: list[AskedTopic] = []
    for topic in request.topics:
        place = Place(topic.name)
        topics.append((place, [Asked.of(place, one) for one in topic.partitions]))
    asked, refused = existing(node.image, topics)
    codes: Iterable[ErrorCode] = ()
    try:
        if asked:
            if not request.group_id:
                raise KafkaError(ErrorCode.invalid_group_id)
            codes = await _commit_within(node, verifier, context.version, request, asked)
    except KafkaError as error:
        code = error.code
        if code is ErrorCode.coordinator_load_in_progress and context.version < _FIRST_LOADING:
            code = ErrorCode.coordinator_not_available
        codes = repeat(code)
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
            for place, partitions in merged(refused, told(asked, codes))
        ]
    )


async def _commit_within(
    node: Node,
    verifier: TransactionVerifier,
    version: int,
    request: TxnOffsetCommitRequest,
    asked: Sequence[AskedTopic],
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
    topics: list[AskedTopic] = []
    for topic in request.topics:
        place = Place(topic.name)
        topics.append((place, [Asked(place, one.partition_index) for one in topic.partitions]))
    (asked, refused), group = existing(node.image, topics), request.group_id
    response = apis.OFFSET_DELETE.response
    try:
        if not group:
            raise KafkaError(ErrorCode.invalid_group_id)
        state = node.offsets.state(group)
        if not state.knows(group):
            raise KafkaError(ErrorCode.group_id_not_found)
        keys = [OffsetKey(group, place.name, one.partition) for place, of in asked for one in of]
        await node.offsets.commit(group, [(key, None) for key in state.deletable(keys)])
    except KafkaError as error:
        return response(error_code=error.code)
    codes = repeat(ErrorCode.none)
    return response(
        topics=[
            response.OffsetDeleteResponseTopic(
                name=place.name,
                partitions=[
                    response.OffsetDeleteResponsePartition(partition_index=index, error_code=code)
                    for index, code in partitions
                ],
            )
            for place, partitions in merged(refused, told(asked, codes))
        ]
    )


HANDLERS = (
    answering(apis.OFFSET_COMMIT, offset_commit),
    answering(apis.ADD_OFFSETS_TO_TXN, add_offsets_to_txn),
    answering(apis.OFFSET_DELETE, offset_delete),
)

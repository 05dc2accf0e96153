"""Requests of transactional producers, of coordinators, and of those who look at transactions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reference_impl.broker.answering import answering
from reference_impl.broker.node import Node
from reference_impl.coordinators.ending import Ending
from reference_impl.coordinators.placement import CONSUMER_OFFSETS, INTERNAL_TOPICS
from reference_impl.coordinators.transactions import (
    BUMPS_EPOCHS,
    Partition,
    ProducerIdEpoch,
    Transaction,
    TransactionState,
)
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.re2 import compiled
from reference_impl.kafka.server import Context
from reference_impl.log.transactions import EndMarker
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.writing import Pending, acknowledged

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnResponse,
        DescribeTransactionsRequest,
        DescribeTransactionsResponse,
        EndTxnRequest,
        EndTxnResponse,
        InitProducerIdRequest,
        InitProducerIdResponse,
        ListTransactionsRequest,
        ListTransactionsResponse,
        WriteTxnMarkersRequest,
        WriteTxnMarkersResponse,
    )

    Asked = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
    Topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    TopicResult = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult

NO_PRODUCER, NO_EPOCH = -1, -1
_FIRST_FENCED = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "EndTxn": 2}
_FIRST_WITH_BUMPS = 5
_FIRST_BATCHED = 4
_NO_VERSION = -1
"""What a marker says that knows no transaction version; none is written for it."""


def _told(code: ErrorCode, context: Context) -> ErrorCode:
    """Older clients know no PRODUCER_FENCED."""
    if code is ErrorCode.producer_fenced and context.version < _FIRST_FENCED[context.api.name]:
        return ErrorCode.invalid_producer_epoch
    return code


def _client_version(version: int) -> int:
    """The transaction version that a request of EndTxn or AddPartitionsToTxn speaks for."""
    return BUMPS_EPOCHS if version >= _FIRST_WITH_BUMPS else 0


async def init_producer_id(
    node: Node, context: Context, request: InitProducerIdRequest
) -> InitProducerIdResponse:
    """InitProducerId: a fresh id for an idempotent producer; for a transactional one its own."""
    half_said = (request.producer_id == NO_PRODUCER) != (request.producer_epoch == NO_EPOCH)
    response = apis.INIT_PRODUCER_ID.response
    try:
        if half_said or request.transactional_id == "":
            raise KafkaError(ErrorCode.invalid_request)
        if request.transactional_id is None:
            return response(producer_id=await node.new_producer_id(), producer_epoch=0)
        expected = None
        if request.producer_id != NO_PRODUCER:
            expected = ProducerIdEpoch(request.producer_id, request.producer_epoch)
        given = await node.transactions.init_producer_id(
            request.transactional_id, request.transaction_timeout_ms, expected
        )
    except KafkaError as error:
        return response(
            error_code=_told(error.code, context), producer_id=NO_PRODUCER, producer_epoch=NO_EPOCH
        )
    return response(producer_id=given.producer_id, producer_epoch=given.epoch)


async def end_txn(node: Node, context: Context, request: EndTxnRequest) -> EndTxnResponse:
    """EndTxn: commit or abort."""
    response = apis.END_TXN.response
    producer = ProducerIdEpoch(request.producer_id, request.producer_epoch)
    ending = Ending(producer, request.committed, _client_version(context.version))
    try:
        if not request.transactional_id:
            raise KafkaError(ErrorCode.invalid_request)
        after = await node.transactions.end(request.transactional_id, ending)
    except KafkaError as error:
        return response(
            error_code=_told(error.code, context), producer_id=NO_PRODUCER, producer_epoch=NO_EPOCH
        )
    return response(producer_id=after.producer_id, producer_epoch=after.epoch)


# AddPartitionsToTxn.


async def add_partitions_to_txn(
    node: Node, context: Context, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    """AddPartitionsToTxn: of one transaction, by its producer; of several, by other brokers."""
    response = apis.ADD_PARTITIONS_TO_TXN.response
    if context.version < _FIRST_BATCHED:
        asked = apis.ADD_PARTITIONS_TO_TXN.request.AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        return response(results_by_topic_v3_and_below=await _added(node, context, asked))
    # Of entries with the same id Kafka adds the partitions of the last, and tells of the first.
    last = {one.transactional_id: one.topics for one in request.transactions}
    first = {one.transactional_id: one.topics for one in reversed(request.transactions)}
    return response(
        results_by_transaction=[
            response.AddPartitionsToTxnResult(
                transactional_id=one.transactional_id,
                topic_results=await _added(
                    node,
                    context,
                    replace(one, topics=last[one.transactional_id]),
                    first[one.transactional_id],
                ),
            )
            for one in request.transactions
        ]
    )


async def _added(
    node: Node, context: Context, asked: Asked, told_of: Sequence[Topic] | None = None
) -> list[TopicResult]:
    wanted = [(topic.name, index) for topic in asked.topics for index in topic.partitions]
    refused = _not_to_be_added(node, context, wanted)
    if refused:
        # All or none: those that could be are not added either.
        attempted = dict.fromkeys(wanted, ErrorCode.operation_not_attempted)
        return _by_topic(attempted | refused)
    producer = ProducerIdEpoch(asked.producer_id, asked.producer_epoch)
    code = ErrorCode.none
    try:
        if not asked.transactional_id:
            raise KafkaError(ErrorCode.invalid_request)
        if asked.verify_only:
            return _by_topic(node.transactions.verify(asked.transactional_id, producer, wanted))
        version = _client_version(context.version)
        await node.transactions.add(asked.transactional_id, producer, wanted, version)
    except KafkaError as error:
        code = _told(error.code, context)
    if asked.verify_only:
        return _by_topic(dict.fromkeys(wanted, code))
    response = apis.ADD_PARTITIONS_TO_TXN.response
    return [
        response.AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                response.AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=code
                )
                for index in topic.partitions
            ],
        )
        for topic in (asked.topics if told_of is None else told_of)
    ]


def _not_to_be_added(
    node: Node, context: Context, wanted: list[Partition]
) -> dict[Partition, ErrorCode]:
    """Partitions that are not there; and internal ones, to which no client writes."""
    refused = {}
    for topic, index in wanted:
        if context.version < _FIRST_BATCHED and topic in INTERNAL_TOPICS:
            refused[topic, index] = ErrorCode.topic_authorization_failed
        elif node.image.partition(topic, index) is None:
            refused[topic, index] = ErrorCode.unknown_topic_or_partition
    return refused


def _by_topic(results: dict[Partition, ErrorCode]) -> list[TopicResult]:
    response = apis.ADD_PARTITIONS_TO_TXN.response
    topics: dict[str, list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult]] = {}
    for (topic, index), code in results.items():
        topics.setdefault(topic, []).append(
            response.AddPartitionsToTxnPartitionResult(
                partition_index=index, partition_error_code=code
            )
        )
    return [
        response.AddPartitionsToTxnTopicResult(name=name, results_by_partition=partitions)
        for name, partitions in topics.items()
    ]


# WriteTxnMarkers.


async def write_txn_markers(
    node: Node, context: Context, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse:
    """WriteTxnMarkers: a coordinator ends transactions in partitions that this broker leads."""
    results: dict[int, dict[Partition, ErrorCode]] = {}
    pending: list[tuple[int, Partition, Pending]] = []
    for one in request.markers:
        told = results.setdefault(one.producer_id, {})
        places = [(topic.name, index) for topic in one.topics for index in topic.partition_indexes]
        for place in dict.fromkeys(places):
            try:
                partition = await node.partitions.find(*place)
                if not partition.is_here:
                    raise KafkaError(ErrorCode.unknown_topic_or_partition)
                if one.producer_id == NO_PRODUCER or one.producer_epoch == NO_EPOCH:
                    return _no_marker(request)
                made = await _append_marker(node, partition, one)
                pending.append((one.producer_id, place, made))
            except KafkaError as error:
                told[place] = error.code
    timeout_s = node.layers.number("request.timeout.ms") / 1000
    ended = await acknowledged([made for _, _, made in pending], timeout_s=timeout_s)
    for (producer_id, place, _), one_ended in zip(pending, ended, strict=True):
        results[producer_id][place] = one_ended.error
    return _told_of_markers({one: told for one, told in results.items() if told})


async def _append_marker(
    node: Node, partition: LogicalPartition, one: WriteTxnMarkersRequest.WritableTxnMarker
) -> Pending:
    if one.transaction_version == _NO_VERSION and one.producer_id > NO_PRODUCER:
        raise KafkaError(ErrorCode.unknown_server_error)
    producer = ProducerIdEpoch(one.producer_id, one.producer_epoch)
    marker = EndMarker(one.transaction_result, one.coordinator_epoch)
    bumps = one.transaction_version >= BUMPS_EPOCHS
    if partition.topic == CONSUMER_OFFSETS:
        return await node.offsets.append_marker(partition, producer, marker, bumps=bumps)
    return await partition.append_marker(*producer, marker, bumps=bumps)


def _no_marker(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """A marker of no producer cannot be made, and Kafka stumbles over it: none is confirmed, though
    those before it are written."""
    results: dict[int, dict[Partition, ErrorCode]] = {}
    for one in request.markers:  # the last of each producer is told of
        results[one.producer_id] = {
            (topic.name, index): ErrorCode.unknown_server_error
            for topic in one.topics
            for index in topic.partition_indexes
        }
    return _told_of_markers(results)


def _told_of_markers(
    results: Mapping[int, Mapping[Partition, ErrorCode]],
) -> WriteTxnMarkersResponse:
    response = apis.WRITE_TXN_MARKERS.response
    return response(
        markers=[
            response.WritableTxnMarkerResult(producer_id=one, topics=_marked(results[one]))
            for one in sorted(results, key=_bucket)
        ]
    )


def _bucket(producer_id: int) -> int:
    """Kafka tells of few producers in the order of a hash map of Java: these are its buckets."""
    hashed = (producer_id ^ (producer_id >> 32)) & 0xFFFFFFFF
    return (hashed ^ (hashed >> 16)) & 0xF


def _marked(
    told: Mapping[Partition, ErrorCode],
) -> list[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult]:
    response = apis.WRITE_TXN_MARKERS.response
    topics: dict[str, list[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult]] = {}
    for (topic, index), code in told.items():
        topics.setdefault(topic, []).append(
            response.WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
        )
    return [
        response.WritableTxnMarkerTopicResult(name=name, partitions=partitions)
        for name, partitions in topics.items()
    ]


# Looking at transactions.


async def describe_transactions(
    node: Node, context: Context, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """DescribeTransactions: what their coordinator knows of some ids."""
    response = apis.DESCRIBE_TRANSACTIONS.response
    return response(transaction_states=[_described(node, one) for one in request.transactional_ids])


def _described(node: Node, transactional_id: str) -> DescribeTransactionsResponse.TransactionState:
    response = apis.DESCRIBE_TRANSACTIONS.response
    try:
        if not transactional_id:
            raise KafkaError(ErrorCode.invalid_request)
        known = node.transactions.describe(transactional_id)
    except KafkaError as error:
        return response.TransactionState(
            error_code=error.code, transactional_id=transactional_id, transaction_state=""
        )
    topics: dict[str, list[int]] = {}
    for topic, index in known.partitions:
        topics.setdefault(topic, []).append(index)
    return response.TransactionState(
        transactional_id=transactional_id,
        transaction_state=known.state.text,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.started_ms,
        producer_id=known.producer_id,
        producer_epoch=known.epoch,
        topics=[
            response.TopicData(topic=name, partitions=indexes) for name, indexes in topics.items()
        ],
    )


async def list_transactions(
    node: Node, context: Context, request: ListTransactionsRequest
) -> ListTransactionsResponse:
    """ListTransactions: all that this broker coordinates, as far as they pass the filters."""
    response = apis.LIST_TRANSACTIONS.response
    names = [one.text for one in TransactionState]
    unknown = [one for one in dict.fromkeys(request.state_filters) if one not in names]
    try:
        pattern = compiled(request.transactional_id_pattern or "")
        known = node.transactions.all()
    except re.error:
        return response(error_code=ErrorCode.invalid_regular_expression)
    except KafkaError as error:
        return response(error_code=error.code)
    now_ms = node.ports.clock.now_ms()

    def passes(one: Transaction) -> bool:
        if request.producer_id_filters and one.producer_id not in request.producer_id_filters:
            return False
        if request.state_filters and one.state.text not in request.state_filters:
            return False
        lasts_ms = request.duration_filter if context.version >= 1 else -1
        if lasts_ms >= 0 and now_ms - one.started_ms <= lasts_ms:
            return False
        return (
            not request.transactional_id_pattern
            or pattern.fullmatch(one.transactional_id) is not None
        )

    return response(
        unknown_state_filters=unknown,
        transaction_states=[
            response.TransactionState(
                transactional_id=one.transactional_id,
                producer_id=one.producer_id,
                transaction_state=one.state.text,
            )
            for one in known
            if passes(one)
        ],
    )


HANDLERS = (
    answering(apis.INIT_PRODUCER_ID, init_producer_id),
    answering(apis.END_TXN, end_txn),
    answering(apis.ADD_PARTITIONS_TO_TXN, add_partitions_to_txn),
    answering(apis.WRITE_TXN_MARKERS, write_txn_markers),
    answering(apis.DESCRIBE_TRANSACTIONS, describe_transactions),
    answering(apis.LIST_TRANSACTIONS, list_transactions),
)

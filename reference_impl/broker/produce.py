"""Produce: append what a client sent, and answer when its ``acks`` are reached.

0 gets no answer, and a closed connection if something went wrong; 1 is answered once the leader has
it; −1 once it is committed. Each partition succeeds or fails by itself, in the order of the
request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from reference_impl.broker.leaders import Leaders
from reference_impl.broker.node import Node
from reference_impl.broker.transactional_produce import NotVerified, TransactionVerifier, Verified
from reference_impl.coordinators.placement import INTERNAL_TOPICS
from reference_impl.coordinators.transactions import Partition
from reference_impl.kafka.answers import Later
from reference_impl.kafka.apis import PRODUCE
from reference_impl.kafka.batches import (
    MAGIC,
    Batch,
    Bytes,
    Compression,
    begins_in_transaction,
    first_batch,
    is_one_batch,
    short_header,
    slices,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.log.admission import RecordErrors
from reference_impl.log.verification import NO_GUARD
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.writing import Ended, Pending, acknowledged
from reference_impl.replication.decisions import Reader

if TYPE_CHECKING:
    from reference_impl.kafka.messages import ProduceRequest, ProduceResponse

    Answer = ProduceResponse.PartitionProduceResponse

NO_ID = UUID(int=0)
_FIRST_WITH_IDS = 13
_FIRST_WITH_LEADERS = 10
_FIRST_WITH_ZSTD = 7
_MAGIC_AT = 16
_ACKS = (-1, 0, 1)


async def produce(
    node: Node, verifier: TransactionVerifier, context: Context, request: ProduceRequest
) -> ProduceResponse | Later[ProduceResponse] | None:
    """Answer a Produce request; later, if replicas have to have it first."""
    leaders = Leaders(node.image, PRODUCE.response)
    pending: list[tuple[Pending, Answer]] = []
    answers: list[tuple[_Place, Answer]] = []
    failed = False
    whole = _refused_as_a_whole(request)
    verified: Verified | None = None
    every = _told_apart(node, context, request, whole)
    if whole is None and request.transactional_id is not None:
        whole, verified = await _verified(node, verifier, context, request, every)
        if whole is not None:
            every = _told_apart(node, context, request, whole)
    for place, asked in every.items():
        answer = PRODUCE.response.PartitionProduceResponse(
            index=place.partition, base_offset=-1, log_append_time_ms=-1, log_start_offset=-1
        )
        answers.append((place, answer))
        if asked.data is not None:
            try:
                guard = _guard(verified, (asked.name, place.partition)) if verified else NO_GUARD
                _check_target(context, asked.name, request.acks)
                told = (
                    answer if asked.error is None else PRODUCE.response.PartitionProduceResponse()
                )
                made = await _append(node, asked.name, asked.data, request.acks, told, guard)
                pending.append((made, told))
            except KafkaError as error:
                asked = asked._replace(error=asked.error or error)
        if asked.error is not None:
            failed = True
            _refuse(answer, asked.error, with_words=asked.error is whole)
            if asked.error.code is ErrorCode.not_leader_or_follower:
                leaders.name(answer, node.image.topics.get(asked.name), place.partition)
    if request.acks == 0:
        if failed:
            raise ConnectionResetError("an append without acknowledgement failed")
        return None
    endpoints = leaders.endpoints if context.version >= _FIRST_WITH_LEADERS else []
    response: ProduceResponse = PRODUCE.response(
        responses=_by_topic(answers), node_endpoints=endpoints
    )
    return _settling(pending, response, timeout_s=max(0, request.timeout_ms) / 1000)


class _Place(NamedTuple):
    """A partition as a request names it: its topic by name, or by id."""

    topic: str | UUID
    partition: int


def _by_topic(
    answers: list[tuple[_Place, Answer]],
) -> list[ProduceResponse.TopicProduceResponse]:
    topics: dict[str | UUID, list[Answer]] = {}
    for place, answer in answers:
        topics.setdefault(place.topic, []).append(answer)
    return [
        PRODUCE.response.TopicProduceResponse(
            name=topic if isinstance(topic, str) else "",
            topic_id=NO_ID if isinstance(topic, str) else topic,
            partition_responses=partitions,
        )
        for topic, partitions in topics.items()
    ]


class _AskedFor(NamedTuple):
    """What a request wants of a partition: what is appended, and why it is refused."""

    name: str
    data: ProduceRequest.PartitionProduceData | None
    error: KafkaError | None


def _told_apart(
    node: Node, context: Context, request: ProduceRequest, whole: KafkaError | None
) -> dict[_Place, _AskedFor]:
    """Each partition once, as Kafka has it: of batches for the same one only the last counts.

    What is wrong with one of them is what is answered, and the last that is not wrong is appended
    all the same.
    """
    found: dict[_Place, _AskedFor] = {}
    for topic in request.topic_data:
        named = topic.name or topic.topic_id
        name = named if isinstance(named, str) else node.image.topic_ids.get(named, "")
        for data in topic.partition_data:
            place = _Place(named, data.index)
            before = found.get(place, _NOTHING)
            try:
                if whole is not None:
                    raise whole
                _check(node, context, name, data)
                found[place] = _AskedFor(name, data, before.error)
            except KafkaError as error:
                if error.code is ErrorCode.unknown_server_error and whole is None:
                    return _told_apart(node, context, request, error)  # it stumbles over one
                found[place] = _AskedFor(name, before.data, error)
    return found


_NOTHING = _AskedFor("", None, None)


def _check(
    node: Node, context: Context, name: str, data: ProduceRequest.PartitionProduceData
) -> None:
    """What Kafka checks of each entry before it looks at a log."""
    if not name and context.version >= _FIRST_WITH_IDS:
        raise KafkaError(ErrorCode.unknown_topic_id)
    if node.image.partition(name, data.index) is None:
        raise KafkaError(ErrorCode.unknown_topic_or_partition)
    _check_one_batch(data.records, context.version)


def _check_target(context: Context, name: str, acks: int) -> None:
    """Whether a client may append there like that."""
    if acks not in _ACKS:
        raise KafkaError(ErrorCode.invalid_required_acks)
    if name in INTERNAL_TOPICS and context.client_id != "__admin_client":
        raise KafkaError(ErrorCode.invalid_topic_exception)


async def _verified(
    node: Node,
    verifier: TransactionVerifier,
    context: Context,
    request: ProduceRequest,
    every: dict[_Place, _AskedFor],
) -> tuple[KafkaError | None, Verified]:
    """What the coordinator says of batches that would begin a transaction; if they are not all of
    one producer, the request is refused as a whole."""
    batches: dict[Partition, tuple[LogicalPartition, Batch]] = {}
    for place, asked in every.items():
        batch = None if asked.data is None else first_batch(asked.data.records)
        if batch is not None and batch.transactional and batch.has_producer_id:
            partition = await node.partitions.find(asked.name, place.partition)
            batches[asked.name, place.partition] = (partition, batch)
    if len({(one.producer_id, one.producer_epoch) for _, one in batches.values()}) > 1:
        said = "Transactional records contained more than one producer ID"
        return KafkaError(ErrorCode.invalid_producer_id_mapping, said), Verified({}, {})
    transactional_id = request.transactional_id or ""
    return None, await verifier.verify(transactional_id, batches, context.version)


def _guard(verified: Verified, place: Partition) -> int:
    """What the append has to show to begin a transaction."""
    if place in verified.refusals:
        raise verified.refusals[place]
    return verified.guards.get(place, NO_GUARD)


async def _append(
    node: Node,
    name: str,
    data: ProduceRequest.PartitionProduceData,
    acks: int,
    answer: Answer,
    guard: int,
) -> Pending:
    partition = node.partitions.open(name, data.index)
    if partition is None:
        partition = await node.partitions.find(name, data.index)
    try:
        return await partition.append(data.records or b"", acks=acks, guard=guard)
    except KafkaError as error:
        if error.code not in _WITHOUT_LOG_START:
            answer.log_start_offset = partition.bounds(Reader.CONSUMER).log_start_offset
        raise


# Kafka tells the log start with an error only where it was looked at.
_WITHOUT_LOG_START = (
    ErrorCode.unknown_topic_or_partition,
    ErrorCode.not_leader_or_follower,
    ErrorCode.message_too_large,
    ErrorCode.record_list_too_large,
    ErrorCode.corrupt_message,
    ErrorCode.kafka_storage_error,
    ErrorCode.unknown_topic_id,
)


def _check_one_batch(records: Bytes | None, version: int) -> None:
    """Exactly one batch, of the one format there is, in a codec that the version may use."""
    if version >= _FIRST_WITH_ZSTD and is_one_batch(records):
        return
    batches = slices(records or b"")
    if next(batches, None) is None or not records or records[_MAGIC_AT] != MAGIC:
        raise KafkaError(ErrorCode.invalid_record)
    if version < _FIRST_WITH_ZSTD:
        codec = short_header(records).codec
        if codec == Compression.zstd:
            raise KafkaError(ErrorCode.unsupported_compression_type)
        if codec > Compression.zstd:
            raise KafkaError(ErrorCode.unknown_server_error)
    if next(batches, None) is not None:
        raise KafkaError(ErrorCode.invalid_record)


def _refused_as_a_whole(request: ProduceRequest) -> KafkaError | None:
    """What Kafka says about all partitions because it stumbles over one.

    It looks for a transaction in the first batch of each, and at no partition behind such a batch,
    before it looks at anything else.
    """
    try:
        for topic in request.topic_data:
            for data in topic.partition_data:
                if begins_in_transaction(data.records):
                    return _refused_transaction(request)
    except KafkaError as error:
        return error
    return None


def _refused_transaction(request: ProduceRequest) -> KafkaError | None:
    if request.transactional_id is None:
        return KafkaError(ErrorCode.transactional_id_authorization_failed)
    return None


def _refuse(answer: Answer, error: KafkaError, *, with_words: bool) -> None:
    answer.error_code = error.code
    if with_words or isinstance(error, RecordErrors | NotVerified):
        answer.error_message = error.message or None
    if isinstance(error, RecordErrors):
        answer.record_errors = [
            PRODUCE.response.BatchIndexAndErrorMessage(
                batch_index=index, batch_index_error_message=message
            )
            for index, message in error.record_errors
        ]


def _settling(
    pending: list[tuple[Pending, Answer]], response: ProduceResponse, *, timeout_s: float
) -> ProduceResponse | Later[ProduceResponse]:
    """The answer once every append is decided, or time is up; at once if they are."""

    async def settle() -> ProduceResponse:
        ended = await acknowledged([made for made, _ in pending], timeout_s=timeout_s)
        for (_, answer), one in zip(pending, ended, strict=True):
            _tell(answer, one)
        return response

    for made, answer in pending:
        ended = made.decided()
        if ended is None:
            return Later(settle)
        _tell(answer, ended)
    return response


def _tell(answer: Answer, ended: Ended) -> None:
    answer.error_code, answer.base_offset = ended.error, ended.base_offset
    answer.log_append_time_ms = ended.log_append_time_ms
    answer.log_start_offset = ended.log_start_offset

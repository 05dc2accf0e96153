"""What is not the broker's to decide is handed on to the controller, as it came.

A controller that cannot be reached is asked again until the time the client allowed is over; the
answer is then REQUEST_TIMED_OUT for everything that was asked for, and whether it happened is open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reference_impl.broker.answering import Answering, answering
from reference_impl.broker.node import Node
from reference_impl.kafka.altered_configs import Altered, altered_configs
from reference_impl.kafka.apis import (
    ALTER_CONFIGS,
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    INCREMENTAL_ALTER_CONFIGS,
    Answered,
    AnyApi,
    Api,
    Asked,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterConfigsRequest,
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreateTopicsRequest,
        CreateTopicsResponse,
        DeleteTopicsRequest,
        DeleteTopicsResponse,
        IncrementalAlterConfigsRequest,
    )

DEFAULT_TIMEOUT_S = 30.0
_RETRY_S = 0.05
_TIMED_OUT = ErrorCode.request_timed_out


def forwarded(api: Api[Asked, Answered]) -> tuple[AnyApi, Answering]:
    """A row of the table of handlers for what is handed on."""

    async def handle(node: Node, context: Context, request: Asked) -> Answered:
        return await forward(node, api, context.version, request)

    return answering(api, handle)


async def forward(node: Node, api: Api[Asked, Answered], version: int, request: Asked) -> Answered:
    """The controller's answer."""
    clock = node.ports.clock
    allowed_s = _allowed_s(request)
    until_ns = clock.monotonic_ns() + int(allowed_s * 1e9)
    while True:
        left_s = (until_ns - clock.monotonic_ns()) / 1e9
        if left_s <= 0:
            return _timed_out(api, request)
        try:
            return await node.controller.ask(api, version, request, timeout_s=left_s)
        except ConnectionError:
            await clock.sleep(min(_RETRY_S, left_s))


def _allowed_s(request: Message) -> float:
    timeout_ms = getattr(request, "timeout_ms", None)
    return DEFAULT_TIMEOUT_S if timeout_ms is None else max(1.0, timeout_ms / 1000)


def _timed_out(api: Api[Asked, Answered], request: Asked) -> Answered:
    build = _PER_ITEM.get(api)
    if build is None:
        raise KafkaError(_TIMED_OUT)
    answer: Answered = build(request)
    return answer


def _created(request: CreateTopicsRequest) -> CreateTopicsResponse:
    result_of = CREATE_TOPICS.response.CreatableTopicResult
    topics = [result_of(name=t.name, error_code=_TIMED_OUT) for t in request.topics]
    return CREATE_TOPICS.response(topics=topics)


def _deleted(request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    result_of = DELETE_TOPICS.response.DeletableTopicResult
    results = [result_of(name=name, error_code=_TIMED_OUT) for name in request.topic_names]
    results += [
        result_of(name=t.name, topic_id=t.topic_id, error_code=_TIMED_OUT) for t in request.topics
    ]
    return DELETE_TOPICS.response(responses=results)


def _enlarged(request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    result_of = CREATE_PARTITIONS.response.CreatePartitionsTopicResult
    results = [result_of(name=t.name, error_code=_TIMED_OUT) for t in request.topics]
    return CREATE_PARTITIONS.response(results=results)


def _altered(request: AlterConfigsRequest | IncrementalAlterConfigsRequest) -> list[Altered]:
    return [
        Altered(resource.resource_type, resource.resource_name, _TIMED_OUT, None)
        for resource in request.resources
    ]


def _row(
    api: Api[Asked, Answered], build: Callable[[Asked], Answered]
) -> tuple[AnyApi, Callable[[Any], Any]]:
    return api, build


_PER_ITEM = dict(
    (
        _row(CREATE_TOPICS, _created),
        _row(DELETE_TOPICS, _deleted),
        _row(CREATE_PARTITIONS, _enlarged),
        _row(ALTER_CONFIGS, lambda asked: altered_configs(ALTER_CONFIGS, _altered(asked))),
        _row(
            INCREMENTAL_ALTER_CONFIGS,
            lambda asked: altered_configs(INCREMENTAL_ALTER_CONFIGS, _altered(asked)),
        ),
    )
)

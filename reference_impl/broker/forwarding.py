"""What is not the broker's to decide is handed on to the controller, as it came.

A controller that cannot be reached is asked again until the time the client allowed is over; the
answer is then REQUEST_TIMED_OUT for everything that was asked for, and whether it happened is open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.broker.node import Node
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context

DEFAULT_TIMEOUT_S = 30.0
_RETRY_S = 0.05
_TIMED_OUT = ErrorCode.request_timed_out


async def forward(node: Node, context: Context, request: Message) -> Message:
    """The controller's answer."""
    clock = node.ports.clock
    allowed_s = _allowed_s(request)
    until_ns = clock.monotonic_ns() + int(allowed_s * 1e9)
    while True:
        left_s = (until_ns - clock.monotonic_ns()) / 1e9
        if left_s <= 0:
            return _timed_out(context.api, request)
        try:
            return await node.controller.ask(
                context.api, context.version, request, timeout_s=left_s
            )
        except ConnectionError:
            await clock.sleep(min(_RETRY_S, left_s))


def _allowed_s(request: Message) -> float:
    timeout_ms = getattr(request, "timeout_ms", None)
    return DEFAULT_TIMEOUT_S if timeout_ms is None else max(1.0, timeout_ms / 1000)


def _timed_out(api: apis.Api, request: Message) -> Message:
    build = _PER_ITEM.get(api)
    if build is None:
        raise KafkaError(_TIMED_OUT)
    answer: Message = build(api.response, request)
    return answer


def _created(response: Any, request: Message) -> Message:
    result_of = response.CreatableTopicResult
    topics = [result_of(name=t.name, error_code=_TIMED_OUT) for t in request.topics]
    answer: Message = response(topics=topics)
    return answer


def _deleted(response: Any, request: Message) -> Message:
    result_of = response.DeletableTopicResult
    results = [result_of(name=name, error_code=_TIMED_OUT) for name in request.topic_names or ()]
    results += [
        result_of(name=t.name, topic_id=t.topic_id, error_code=_TIMED_OUT)
        for t in request.topics or ()
    ]
    answer: Message = response(responses=results)
    return answer


def _enlarged(response: Any, request: Message) -> Message:
    result_of = response.CreatePartitionsTopicResult
    results = [result_of(name=t.name, error_code=_TIMED_OUT) for t in request.topics]
    answer: Message = response(results=results)
    return answer


def _altered(response: Any, request: Message) -> Message:
    results = [
        response.AlterConfigsResourceResponse(
            error_code=_TIMED_OUT,
            error_message=None,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in request.resources
    ]
    answer: Message = response(responses=results)
    return answer


_PER_ITEM: dict[apis.Api, Callable[[Any, Message], Message]] = {
    apis.CREATE_TOPICS: _created,
    apis.DELETE_TOPICS: _deleted,
    apis.CREATE_PARTITIONS: _enlarged,
    apis.ALTER_CONFIGS: _altered,
    apis.INCREMENTAL_ALTER_CONFIGS: _altered,
}

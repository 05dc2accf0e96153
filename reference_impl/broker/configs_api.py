"""DescribeConfigs, and the broker's look at changes of configurations before they are handed on.

A broker answers for its own configurations and for those of all brokers, never for another's. What
it refuses is not handed on; the controller's answers and its own are put together in the order of
the request.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from reference_impl.broker.broker_config_changes import check_broker_change, check_node_id
from reference_impl.broker.described_configs import (
    broker_configs,
    cluster_configs,
    static_configs,
    topic_configs,
)
from reference_impl.broker.forwarding import forward
from reference_impl.broker.node import Node
from reference_impl.kafka.apis import ALTER_CONFIGS, DESCRIBE_CONFIGS, INCREMENTAL_ALTER_CONFIGS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.message import Message
from reference_impl.kafka.server import Context
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.records import ResourceType
from reference_impl.metadata.topic_names import check_name

DELETE = 1  # IncrementalAlterConfigs: the operation that needs no value

_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)
_DESCRIBABLE = tuple(ResourceType)[1:]


async def describe_configs(node: Node, context: Context, request: Message) -> Message:
    """DescribeConfigs: of topics, of this broker, of all brokers."""
    resources = request.resources
    answer: Message = DESCRIBE_CONFIGS.response()
    all_known = all(resource.resource_type in _DESCRIBABLE for resource in resources)
    for resource in resources:
        result = DESCRIBE_CONFIGS.response.DescribeConfigsResult(
            error_message="",
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        try:
            if not all_known:
                raise KafkaError(ErrorCode.invalid_request, _MALFORMED)
            configs = _described(node, resource, request.include_synonyms)
            wanted = frozenset(resource.configuration_keys or ())
            result.configs = [c for c in configs if not wanted or c.name in wanted]
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        answer.results.append(result)
    return answer


def _described(node: Node, resource: Any, with_synonyms: bool) -> list[Message]:
    name: str = resource.resource_name
    layers = BrokerLayers.of(node.image, node.settings.node_id, static_configs(node.settings))
    match resource.resource_type:
        case ResourceType.TOPIC:
            check_name(name)
            if name not in node.image.topics:
                raise KafkaError(ErrorCode.unknown_topic_or_partition)
            own = node.image.config(ResourceType.TOPIC, name)
            return topic_configs(own, layers, with_synonyms=with_synonyms)
        case ResourceType.BROKER:
            if not name:
                return cluster_configs(layers, with_synonyms=with_synonyms)
            _check_described_id(node, name, " or empty string,")
            return broker_configs(layers, with_synonyms=with_synonyms)
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise KafkaError(ErrorCode.invalid_request, "Broker id must not be empty")
            _check_described_id(node, name, "")
        case ResourceType.CLIENT_METRICS if not name:
            why = "Client metrics subscription name must not be empty"
            raise KafkaError(ErrorCode.invalid_request, why)
        case ResourceType.GROUP if not name:
            raise KafkaError(ErrorCode.invalid_request, "Group name must not be empty")
    return []  # there are neither loggers nor groups nor client metrics to tell of


def _check_described_id(node: Node, name: str, also: str) -> None:
    own = node.settings.node_id
    if not name.removeprefix("-").isdecimal():
        why = f"Broker id must be an integer, but it is: {name}"
        raise KafkaError(ErrorCode.invalid_request, why)
    if int(name) != own:
        why = f"Unexpected broker id, expected {own}{also} but received {name}"
        raise KafkaError(ErrorCode.invalid_request, why)


async def alter_configs(node: Node, context: Context, request: Message) -> Message:
    """AlterConfigs and IncrementalAlterConfigs: what passes here goes to the controller."""
    refused: dict[int, KafkaError | None] = {}
    keys = [(resource.resource_type, resource.resource_name) for resource in request.resources]
    times = Counter(keys)
    for place, resource in enumerate(request.resources):
        try:
            if times[keys[place]] > 1:
                why = "Each resource must appear at most once."
                raise KafkaError(ErrorCode.invalid_request, why)
            _check_change(node, context, resource)
            if resource.resource_type == ResourceType.BROKER_LOGGER:
                refused[place] = None  # nothing is logged here, at whatever level
        except KafkaError as error:
            refused[place] = error
    left = [r for place, r in enumerate(request.resources) if place not in refused]
    answers: list[Any] = []
    if left:
        rest = context.api.request(resources=left, validate_only=request.validate_only)
        answers = (await forward(node, context, rest)).responses
    by_key = {(answer.resource_type, answer.resource_name): answer for answer in answers}
    responses = [
        _response(context, keys[place], refused[place]) if place in refused else by_key[keys[place]]
        for place in range(len(keys))
    ]
    answer: Message = context.api.response(responses=responses)
    return answer


def _response(context: Context, key: tuple[int, str], error: KafkaError | None) -> Message:
    result: Message = context.api.response.AlterConfigsResourceResponse(
        error_code=ErrorCode.none if error is None else error.code,
        error_message=None if error is None else error.message or None,
        resource_type=key[0],
        resource_name=key[1],
    )
    return result


def _check_change(node: Node, context: Context, resource: Any) -> None:
    names = [config.name for config in resource.configs]
    if len(dict.fromkeys(names)) != len(names):
        raise KafkaError(ErrorCode.invalid_request, "Error due to duplicate config keys")
    incremental = context.api is INCREMENTAL_ALTER_CONFIGS
    nulls = [
        config.name
        for config in resource.configs
        if config.value is None and not (incremental and config.config_operation == DELETE)
    ]
    if nulls:
        raise KafkaError(
            ErrorCode.invalid_request, f"Null value not supported for : {', '.join(nulls)}"
        )
    kind = resource.resource_type
    if kind == ResourceType.BROKER:
        if resource.resource_name:
            check_node_id(node.settings.node_id, resource.resource_name)
        check_broker_change(node.image, node.layers, resource, incremental=incremental)
    elif kind == ResourceType.BROKER_LOGGER and incremental:
        check_node_id(node.settings.node_id, resource.resource_name, "node id. Expected")
    elif kind not in (ResourceType.TOPIC, ResourceType.CLIENT_METRICS, ResourceType.GROUP):
        raise KafkaError(ErrorCode.invalid_request, f"Unknown resource type {kind}")


HANDLERS = {
    DESCRIBE_CONFIGS: describe_configs,
    ALTER_CONFIGS: alter_configs,
    INCREMENTAL_ALTER_CONFIGS: alter_configs,
}

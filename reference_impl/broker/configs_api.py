"""DescribeConfigs, and the broker's look at changes of configurations before they are handed on.

A broker answers for its own configurations and for those of all brokers, never for another's. What
it refuses is not handed on; the controller's answers and its own are put together in the order of
the request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from reference_impl.broker.answering import answering
from reference_impl.broker.broker_config_changes import (
    APPEND,
    DELETE,
    SUBTRACT,
    ConfigChange,
    check_broker_change,
    check_node_id,
)
from reference_impl.broker.described_configs import (
    broker_configs,
    client_metrics_configs,
    cluster_configs,
    group_configs,
    static_configs,
    topic_configs,
)
from reference_impl.broker.forwarding import forward
from reference_impl.broker.node import Node
from reference_impl.kafka.altered_configs import Altered, altered_configs
from reference_impl.kafka.apis import ALTER_CONFIGS, DESCRIBE_CONFIGS, INCREMENTAL_ALTER_CONFIGS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.records import ResourceType
from reference_impl.metadata.topic_names import check_name

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterConfigsRequest,
        AlterConfigsResponse,
        DescribeConfigsRequest,
        DescribeConfigsResponse,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )

_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)
_NAMELESS = {
    int(ResourceType.BROKER_LOGGER): "Broker id must not be empty",
    int(ResourceType.CLIENT_METRICS): "Client metrics subscription name must not be empty",
    int(ResourceType.GROUP): "Group name must not be empty",
}
ROOT_LOGGER = "root"
LOG_LEVELS = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
_DESCRIBABLE = tuple(ResourceType)[1:]


async def describe_configs(
    node: Node, context: Context, request: DescribeConfigsRequest
) -> DescribeConfigsResponse:
    """DescribeConfigs: of topics, this broker, all brokers, groups, client metrics."""
    resources = request.resources
    answer = DESCRIBE_CONFIGS.response()
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


def _described(
    node: Node, resource: DescribeConfigsRequest.DescribeConfigsResource, with_synonyms: bool
) -> list[DescribeConfigsResponse.DescribeConfigsResourceResult]:
    name = resource.resource_name
    if not name and resource.resource_type in _NAMELESS:
        raise KafkaError(ErrorCode.invalid_request, _NAMELESS[resource.resource_type])
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
        case ResourceType.CLIENT_METRICS:
            own = node.image.config(ResourceType.CLIENT_METRICS, name)
            return client_metrics_configs(own, with_synonyms=with_synonyms)
        case ResourceType.GROUP:
            own = node.image.config(ResourceType.GROUP, name)
            return group_configs(own, layers, with_synonyms=with_synonyms)
    _check_described_id(node, name, "")
    return []  # there are no loggers to tell of


def _check_described_id(node: Node, name: str, also: str) -> None:
    own = node.settings.node_id
    if not name.removeprefix("-").isdecimal():
        why = f"Broker id must be an integer, but it is: {name}"
        raise KafkaError(ErrorCode.invalid_request, why)
    if int(name) != own:
        why = f"Unexpected broker id, expected {own}{also} but received {name}"
        raise KafkaError(ErrorCode.invalid_request, why)


async def alter_configs(
    node: Node, context: Context, request: AlterConfigsRequest
) -> AlterConfigsResponse:
    """AlterConfigs: what passes here goes to the controller."""
    asked = [
        _Asked(one.resource_type, one.resource_name, [_change(config) for config in one.configs])
        for one in request.resources
    ]
    refused = _refused(node, asked, incremental=False)
    left = [one for place, one in enumerate(request.resources) if place not in refused]
    answers = []
    if left:
        rest = ALTER_CONFIGS.request(resources=left, validate_only=request.validate_only)
        answers = (await forward(node, ALTER_CONFIGS, context.version, rest)).responses
    return altered_configs(ALTER_CONFIGS, _in_order(asked, refused, answers))


async def incremental_alter_configs(
    node: Node, context: Context, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    """IncrementalAlterConfigs: what passes here goes to the controller."""
    asked = [
        _Asked(one.resource_type, one.resource_name, [_operation(config) for config in one.configs])
        for one in request.resources
    ]
    refused = _refused(node, asked, incremental=True)
    left = [one for place, one in enumerate(request.resources) if place not in refused]
    answers = []
    if left:
        api = INCREMENTAL_ALTER_CONFIGS
        rest = api.request(resources=left, validate_only=request.validate_only)
        answers = (await forward(node, api, context.version, rest)).responses
    return altered_configs(INCREMENTAL_ALTER_CONFIGS, _in_order(asked, refused, answers))


class _Asked(NamedTuple):
    """One resource of a request."""

    resource_type: int
    resource_name: str
    changes: list[ConfigChange]

    @property
    def key(self) -> tuple[int, str]:
        return self.resource_type, self.resource_name


def _change(config: AlterConfigsRequest.AlterableConfig) -> ConfigChange:
    return ConfigChange(config.name, config.value)


def _operation(config: IncrementalAlterConfigsRequest.AlterableConfig) -> ConfigChange:
    return ConfigChange(config.name, config.value, config.config_operation)


def _refused(
    node: Node, asked: Sequence[_Asked], *, incremental: bool
) -> dict[int, KafkaError | None]:
    """What is answered here, by its place in the request, and with which error."""
    refused: dict[int, KafkaError | None] = {}
    times = Counter(one.key for one in asked)
    for place, one in enumerate(asked):
        try:
            if times[one.key] > 1:
                why = "Each resource must appear at most once."
                raise KafkaError(ErrorCode.invalid_request, why)
            _check_change(node, one, incremental=incremental)
            if one.resource_type == ResourceType.BROKER_LOGGER:
                refused[place] = None  # nothing is logged here, at whatever level
        except KafkaError as error:
            refused[place] = error
    return refused


class _Answer(Protocol):
    """The controller's answer about one resource."""

    resource_type: int
    resource_name: str
    error_code: int
    error_message: str | None


def _in_order(
    asked: Sequence[_Asked], refused: Mapping[int, KafkaError | None], answers: Iterable[_Answer]
) -> list[Altered]:
    by_key = {(one.resource_type, one.resource_name): one for one in answers}
    altered = []
    for place, one in enumerate(asked):
        if place in refused:
            error = refused[place] or KafkaError(ErrorCode.none)
            altered.append(Altered(*one.key, error.code, error.message or None))
        else:
            answer = by_key[one.key]
            altered.append(Altered(*one.key, answer.error_code, answer.error_message))
    return altered


def _check_change(node: Node, asked: _Asked, *, incremental: bool) -> None:
    names = [change.name for change in asked.changes]
    if len(dict.fromkeys(names)) != len(names):
        raise KafkaError(ErrorCode.invalid_request, "Error due to duplicate config keys")
    nulls = [
        change.name
        for change in asked.changes
        if change.value is None and not (incremental and change.operation == DELETE)
    ]
    if nulls:
        raise KafkaError(
            ErrorCode.invalid_request, f"Null value not supported for : {', '.join(nulls)}"
        )
    kind, name = asked.key
    if kind == ResourceType.BROKER:
        if name:
            check_node_id(node.settings.node_id, name)
        check_broker_change(node.image, node.layers, name, asked.changes, incremental=incremental)
    elif kind == ResourceType.BROKER_LOGGER and incremental:
        check_node_id(node.settings.node_id, name, "node id. Expected")
        for change in asked.changes:
            _check_logger(change)
    elif kind not in (ResourceType.TOPIC, ResourceType.CLIENT_METRICS, ResourceType.GROUP):
        raise KafkaError(ErrorCode.invalid_request, f"Unknown resource type {kind}")


def _check_logger(change: ConfigChange) -> None:
    """There is one logger, with one level that is always on."""
    if change.operation in (APPEND, SUBTRACT):
        word = "APPEND" if change.operation == APPEND else "SUBTRACT"
        why = f"{word} operation is not allowed for the BROKER_LOGGER resource"
        raise KafkaError(ErrorCode.invalid_request, why)
    if change.name != ROOT_LOGGER:
        raise KafkaError(ErrorCode.invalid_config, f"Logger {change.name} does not exist!")
    if change.operation == DELETE:
        why = f"Removing the log level of the {ROOT_LOGGER} logger is not allowed"
        raise KafkaError(ErrorCode.invalid_request, why)
    if change.value not in LOG_LEVELS:
        why = (
            f"Cannot set the log level of {change.name} to {change.value} as it is not a supported "
            f"log level. Valid log levels are {', '.join(LOG_LEVELS)}"
        )
        raise KafkaError(ErrorCode.invalid_config, why)


HANDLERS = (
    answering(DESCRIBE_CONFIGS, describe_configs),
    answering(ALTER_CONFIGS, alter_configs),
    answering(INCREMENTAL_ALTER_CONFIGS, incremental_alter_configs),
)

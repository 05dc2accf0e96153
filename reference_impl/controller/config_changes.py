"""Dynamic configurations: set as a whole, or one by one; of topics, of a broker, of all brokers.

Brokers have looked at changes of their own configurations before they hand them on; here they are
only kept from undoing what eligible leader replicas rest on: one ``min.insync.replicas`` for all.
Where that changes, or a topic's own does, the ELRs it was the measure of are emptied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.decisions import list_config_after
from reference_impl.kafka.altered_configs import Altered, altered_configs
from reference_impl.kafka.apis import ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.configs import (
    BROKER_CONFIGS,
    TOPIC_CONFIGS,
    ConfigError,
    ConfigKey,
    ConfigType,
)
from reference_impl.metadata.effective import check_topic_configs
from reference_impl.metadata.group_configs import check_client_metrics, check_group_configs
from reference_impl.metadata.records import (
    ConfigSet,
    MetadataRecord,
    PartitionChanged,
    ResourceType,
)
from reference_impl.metadata.topic_names import check_name

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterConfigsRequest,
        AlterConfigsResponse,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )

MIN_ISR = "min.insync.replicas"
MAX_VALUE_BYTES = 32767

Resource = tuple[int, str]


class _Named(Protocol):
    """A resource in a request of either kind."""

    resource_type: int
    resource_name: str


Named = TypeVar("Named", bound=_Named)


class Operation(IntEnum):
    """What IncrementalAlterConfigs does to a configuration, with Kafka's numbers."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


_OPERATIONS = frozenset(Operation)
_TABLES: Mapping[int, Mapping[str, ConfigKey]] = {
    ResourceType.TOPIC: TOPIC_CONFIGS,
    ResourceType.BROKER: BROKER_CONFIGS,
}
"""Where lists are known to be lists; Kafka's controller knows none of groups and client metrics."""


def new_topic_configs(cluster: Cluster, topic: str, configs: Mapping[str, str]) -> list[ConfigSet]:
    """The records of the configurations that a new topic brings along."""
    changes: dict[str, str | None] = dict(configs)
    return _checked(cluster, (ResourceType.TOPIC, topic), changes, exists=False)


def incremental_alter_configs(
    cluster: Cluster, request: IncrementalAlterConfigsRequest
) -> Outcome[IncrementalAlterConfigsResponse]:
    """IncrementalAlterConfigs: one configuration after the other, the rest stays.

    An operation that nobody knows spoils the whole request, as it does in Kafka.
    """
    operations = [one.config_operation for each in request.resources for one in each.configs]
    if not _OPERATIONS.issuperset(operations):
        spoilt = ErrorCode.unknown_server_error
        altered = [_altered(resource, spoilt, None) for resource in request.resources]
        return Outcome(answer=altered_configs(INCREMENTAL_ALTER_CONFIGS, altered), records=())
    altered, records = _alter(cluster, request.resources, _incremental)
    return Outcome(
        answer=altered_configs(INCREMENTAL_ALTER_CONFIGS, altered),
        records=() if request.validate_only else records,
    )


def alter_configs(cluster: Cluster, request: AlterConfigsRequest) -> Outcome[AlterConfigsResponse]:
    """AlterConfigs: what is not named is removed."""
    altered, records = _alter(cluster, request.resources, _whole)
    return Outcome(
        answer=altered_configs(ALTER_CONFIGS, altered),
        records=() if request.validate_only else records,
    )


def _alter(
    cluster: Cluster,
    resources: Iterable[Named],
    changes_of: Callable[[Cluster, Named], dict[str, str | None]],
) -> tuple[list[Altered], list[MetadataRecord]]:
    altered = []
    records: list[MetadataRecord] = []
    for resource in resources:
        code, said = ErrorCode.none, None
        try:
            changes = changes_of(cluster, resource)
            key = (resource.resource_type, resource.resource_name)
            set_ = _checked(cluster, key, changes, exists=True)
            records += set_
            records += _emptied_elrs(cluster, set_)
        except KafkaError as error:
            code, said = error.code, error.message or None
        altered.append(_altered(resource, code, said))
    return altered, records


def _altered(resource: _Named, code: int, said: str | None) -> Altered:
    return Altered(resource.resource_type, resource.resource_name, code, said)


def _whole(
    cluster: Cluster, resource: AlterConfigsRequest.AlterConfigsResource
) -> dict[str, str | None]:
    key = (resource.resource_type, resource.resource_name)
    current = cluster.image.config(*key)
    new: dict[str, str | None] = {config.name: config.value for config in resource.configs}
    changed = {
        name: value
        for name, value in new.items()
        if value != current.get(name) or key[0] == ResourceType.BROKER
    }
    return {**changed, **{name: None for name in current if name not in new}}


def _incremental(
    cluster: Cluster, resource: IncrementalAlterConfigsRequest.AlterConfigsResource
) -> dict[str, str | None]:
    key = (resource.resource_type, resource.resource_name)
    current = cluster.image.config(*key)
    changes: dict[str, str | None] = {}
    for config in resource.configs:
        old = current.get(config.name)
        new = _operated(resource.resource_type, config, old)
        # A broker takes a value again even where it is the same: it may have to reload a file.
        if new != old or resource.resource_type == ResourceType.BROKER:
            changes[config.name] = new
    return changes


def _operated(
    resource_type: int, config: IncrementalAlterConfigsRequest.AlterableConfig, old: str | None
) -> str | None:
    operation = Operation(config.config_operation)
    if operation is Operation.SET:
        return config.value
    if operation is Operation.DELETE:
        return None
    key = _TABLES.get(resource_type, {}).get(config.name)
    if key is None or key.type is not ConfigType.LIST:
        raise KafkaError(
            ErrorCode.invalid_config,
            f"Can't {operation.name} to key {config.name} because its type is not LIST.",
        )
    parts = [part for part in ((old if old is not None else key.default) or "").split(",") if part]
    append = operation is Operation.APPEND
    if config.value is None:
        raise KafkaError(ErrorCode.unknown_server_error)  # no broker hands such a change on
    return ",".join(list_config_after(parts, config.value.split(","), append))


def _checked(
    cluster: Cluster, resource: Resource, changes: Mapping[str, str | None], *, exists: bool
) -> list[ConfigSet]:
    """The records of these changes, if the resource can have them."""
    resource_type, name = resource
    for key, value in changes.items():
        if key == MIN_ISR and resource_type == ResourceType.BROKER:
            _check_min_isr(name, value)
        if value is not None and len(value) > MAX_VALUE_BYTES:
            raise KafkaError(
                ErrorCode.invalid_config,
                "The configuration value cannot be added because it exceeds the maximum value size "
                f"of {MAX_VALUE_BYTES} bytes.",
            )
    after: dict[str, str | None] = {**cluster.image.config(resource_type, name), **changes}
    _check_resource(
        cluster, resource, {key: value for key, value in after.items() if value is not None}
    )
    if exists and resource_type == ResourceType.TOPIC and name not in cluster.image.topics:
        raise KafkaError(
            ErrorCode.unknown_topic_or_partition, f"The topic '{name}' does not exist."
        )
    return [
        ConfigSet(resource_type=resource_type, resource_name=name, key=key, value=value)
        for key, value in changes.items()
    ]


def _check_min_isr(broker: str, value: str | None) -> None:
    if broker:
        raise KafkaError(
            ErrorCode.invalid_config,
            f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.",
        )
    if value is None:
        raise KafkaError(
            ErrorCode.invalid_config,
            f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.",
        )


def _check_resource(cluster: Cluster, resource: Resource, configs: Mapping[str, str]) -> None:
    resource_type, name = resource
    if resource_type == ResourceType.TOPIC:
        if not name:
            raise KafkaError(ErrorCode.invalid_request, "Default topic resources are not allowed.")
        check_name(name)
        try:
            before = cluster.image.config(ResourceType.TOPIC, name)
            check_topic_configs(configs, cluster.layers(), before)
        except ConfigError as error:
            raise KafkaError(ErrorCode.invalid_config, str(error)) from None
    elif resource_type == ResourceType.BROKER:
        _check_broker_name(name)
    elif resource_type == ResourceType.GROUP:
        if not name:
            raise KafkaError(ErrorCode.invalid_request, "Default group resources are not allowed.")
        check_group_configs(configs, {**cluster.properties, **cluster.layers().cluster})
    elif resource_type == ResourceType.CLIENT_METRICS:
        check_client_metrics(name, configs)


def _check_broker_name(name: str) -> None:
    if not name:
        return
    if not name.removeprefix("-").isdecimal():
        raise KafkaError(
            ErrorCode.invalid_request, "Unable to parse broker name as a base 10 number."
        )
    if int(name) < 0:
        raise KafkaError(ErrorCode.invalid_request, "Invalid negative broker ID.")


def _emptied_elrs(cluster: Cluster, set_: list[ConfigSet]) -> list[PartitionChanged]:
    """Where another minimum counts, nobody knows any more who was eligible under the old one."""
    minimums = [record for record in set_ if record.key == MIN_ISR]
    if not minimums:
        return []
    everywhere = any(record.resource_type == ResourceType.BROKER for record in minimums)
    topics = [record.resource_name for record in minimums]
    return [
        PartitionChanged(topic_id=topic.topic_id, partition=index, elr=(), last_known_elr=())
        for topic, index, state in cluster.image.partitions()
        if (everywhere or topic.name in topics) and (state.elr or state.last_known_elr)
    ]

"""Time is up: REQUEST_TIMED_OUT for everything that a request for the controller asked for.

Kafka's controller looks at the time that a client allows before it looks at anything else. Where
none is allowed every such request ends so, unless it asks for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reference_impl.kafka.altered_configs import Altered, altered_configs
from reference_impl.kafka.apis import (
    ALTER_CONFIGS,
    ALTER_PARTITION_REASSIGNMENTS,
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    ELECT_LEADERS,
    INCREMENTAL_ALTER_CONFIGS,
    Answered,
    AnyApi,
    Api,
    Asked,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.topic_names import CLUSTER_METADATA

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AlterConfigsRequest,
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        CreatePartitionsRequest,
        CreatePartitionsResponse,
        CreateTopicsRequest,
        CreateTopicsResponse,
        DeleteTopicsRequest,
        DeleteTopicsResponse,
        ElectLeadersRequest,
        ElectLeadersResponse,
        IncrementalAlterConfigsRequest,
    )

_TIMED_OUT = ErrorCode.request_timed_out


def allows_no_time(api: AnyApi, request: Any) -> bool:
    """Whether a request ends before it is begun."""
    asks = _ASKS.get(api)
    return asks is not None and request.timeout_ms <= 0 and asks(request)


def _some_once(names: Sequence[Any]) -> bool:
    """What is named twice is refused, as is the topic of metadata, before time is looked at."""
    return 1 in Counter(name for name in names if name != CLUSTER_METADATA).values()


_ASKS: dict[AnyApi, Callable[[Any], bool]] = {
    CREATE_TOPICS: lambda asked: _some_once([one.name for one in asked.topics]),
    CREATE_PARTITIONS: lambda asked: _some_once([(one.name,) for one in asked.topics]),
    DELETE_TOPICS: lambda asked: _some_once(
        [*asked.topic_names, *((one.name, one.topic_id) for one in asked.topics)]
    ),
    ELECT_LEADERS: lambda asked: asked.topic_partitions is None or bool(asked.topic_partitions),
    ALTER_PARTITION_REASSIGNMENTS: lambda asked: bool(asked.topics),
}


def timed_out(api: Api[Asked, Answered], request: Asked) -> Answered:
    """What is answered when time is up before the controller has answered."""
    build = _PER_ITEM.get(api)
    if build is None:
        raise KafkaError(_TIMED_OUT)
    answer: Answered = build(request)
    return answer


def _created(request: CreateTopicsRequest) -> CreateTopicsResponse:
    result_of = CREATE_TOPICS.response.CreatableTopicResult
    topics = [result_of(name=t.name, error_code=_TIMED_OUT, configs=[]) for t in request.topics]
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


def _elected(request: ElectLeadersRequest) -> ElectLeadersResponse:
    response = ELECT_LEADERS.response
    results = [
        response.ReplicaElectionResult(
            topic=topic.topic,
            partition_result=[
                response.PartitionResult(partition_id=index, error_code=_TIMED_OUT)
                for index in topic.partitions
            ],
        )
        for topic in request.topic_partitions or ()
    ]
    return response(error_code=_TIMED_OUT, replica_election_results=results)


def _reassigned(
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse:
    response = ALTER_PARTITION_REASSIGNMENTS.response
    topics = [
        response.ReassignableTopicResponse(
            name=topic.name,
            partitions=[
                response.ReassignablePartitionResponse(
                    partition_index=one.partition_index, error_code=_TIMED_OUT
                )
                for one in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return response(error_code=_TIMED_OUT, responses=topics)


def _row(
    api: Api[Asked, Answered], build: Callable[[Asked], Answered]
) -> tuple[AnyApi, Callable[[Any], Any]]:
    return api, build


_PER_ITEM = dict(
    (
        _row(CREATE_TOPICS, _created),
        _row(DELETE_TOPICS, _deleted),
        _row(CREATE_PARTITIONS, _enlarged),
        _row(ELECT_LEADERS, _elected),
        _row(ALTER_PARTITION_REASSIGNMENTS, _reassigned),
        _row(ALTER_CONFIGS, lambda asked: altered_configs(ALTER_CONFIGS, _altered(asked))),
        _row(
            INCREMENTAL_ALTER_CONFIGS,
            lambda asked: altered_configs(INCREMENTAL_ALTER_CONFIGS, _altered(asked)),
        ),
    )
)

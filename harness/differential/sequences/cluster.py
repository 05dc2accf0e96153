"""What a cluster says of itself, and what it is told about replicas and brokers."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import batch, made, metadata, produce

PREFERRED, UNCLEAN = 0, 1


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"cluster/{name}", about=about, steps=steps)


def _partitions(*names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Step:
    fields: dict[str, Any] = {
        "topics": [{"name": f"$topic:{name}"} for name in names],
        "response_partition_limit": limit,
    }
    if cursor is not None:
        fields["cursor"] = {"topic_name": f"$topic:{cursor[0]}", "partition_index": cursor[1]}
    return Step(api="describe_topic_partitions", version=0, fields=fields)


def _elect(version: int, kind: int, topic: str, partitions: list[int]) -> Step:
    fields: dict[str, Any] = {
        "topic_partitions": [{"topic": f"$topic:{topic}", "partitions": partitions}],
        "timeout": 5000,
    }
    if version:
        fields["election_type"] = kind
    return Step(api="elect_leaders", version=version, fields=fields)


def _ongoing(topics: list[dict[str, Any]] | None) -> Step:
    return Step(
        api="list_partition_reassignments",
        version=0,
        fields={"timeout": 5000, "topics": topics},
        own_topics=topics is None,
    )


def _reassign(version: int, topic: str, partition: int, replicas: list[Any] | None) -> Step:
    return Step(
        api="alter_partition_reassignments",
        version=version,
        fields={
            "timeout": 5000,
            "topics": [
                {
                    "name": f"$topic:{topic}",
                    "partitions": [{"partition_index": partition, "replicas": replicas}],
                }
            ],
        },
    )


DESCRIPTIONS = (
    _story(
        "describe_cluster",
        "every version and kind of endpoint",
        Step(api="describe_cluster", version=0),
        Step(
            api="describe_cluster",
            version=0,
            fields={"include_cluster_authorized_operations": True},
        ),
        Step(api="describe_cluster", version=1, fields={"endpoint_type": 1}),
        Step(api="describe_cluster", version=2, fields={"include_fenced_brokers": True}),
        Step(api="describe_cluster", version=1, fields={"endpoint_type": 2}),
        Step(api="describe_cluster", version=1, fields={"endpoint_type": 0}),
        Step(api="describe_cluster", version=1, fields={"endpoint_type": 9}),
    ),
    _story(
        "describe_topic_partitions",
        "pages of partitions",
        made("a", "b", partitions=3),
        _partitions("a"),
        _partitions("b", "a"),
        _partitions("a", "missing"),
        _partitions("missing"),
        _partitions("a", "a"),
        _partitions("a", "b", limit=2),
        _partitions("a", "b", limit=4),
        _partitions("a", "b", cursor=("a", 2)),
        _partitions("a", "b", cursor=("b", 1)),
        _partitions("a", "b", cursor=("b", 9)),
        _partitions("a", "b", cursor=("c", 0)),
        _partitions("a", "b", cursor=("b", -1)),
        _partitions("b", "b", cursor=("a", 0)),
        _partitions("a", limit=0),
        _partitions("a", limit=-1),
        _partitions("a", limit=999_999),
    ),
    _story(
        "describe_topic_partitions_of_all",
        "no topic named means all of them",
        made("a"),
        Step(api="describe_topic_partitions", version=0, own_topics=True),
        Step(
            api="describe_topic_partitions",
            version=0,
            fields={"topics": [{"name": ""}]},
        ),
        Step(
            api="describe_topic_partitions",
            version=0,
            fields={"topics": [{"name": "a b"}]},
        ),
    ),
)


LOG_DIRS = (
    *(
        _story(
            f"log_dirs_version_{version}",
            "how large a partition is",
            made("a", partitions=2),
            produce(batch("x", "y")),
            Step(
                api="describe_log_dirs",
                version=version,
                fields={"topics": [{"topic": "$topic:a", "partitions": [0, 1]}]},
            ),
        )
        for version in range(1, 6)
    ),
    _story(
        "log_dirs_of_others",
        "partitions that are not there, no list, an empty list",
        made("a"),
        Step(
            api="describe_log_dirs",
            version=4,
            fields={"topics": [{"topic": "$topic:a", "partitions": [5]}]},
        ),
        Step(
            api="describe_log_dirs",
            version=4,
            fields={"topics": [{"topic": "$topic:missing", "partitions": [0]}]},
        ),
        Step(api="describe_log_dirs", version=4, fields={"topics": []}),
        Step(api="describe_log_dirs", version=4, fields={"topics": None}, own_topics=True),
        Step(
            api="describe_log_dirs",
            version=4,
            fields={"topics": [{"topic": "$topic:a", "partitions": []}]},
        ),
    ),
)


ELECTIONS = (
    *(
        _story(
            f"elect_version_{version}",
            "where the right leader leads already, and where there is nothing",
            made("a", partitions=2),
            *(
                _elect(version, kind, topic, partitions)
                for kind in ((PREFERRED, UNCLEAN) if version else (PREFERRED,))
                for topic, partitions in (("a", [0, 1]), ("a", [7]), ("missing", [0]), ("a", []))
            ),
        )
        for version in range(3)
    ),
    _story(
        "elect_odd",
        "no partitions named, an unknown kind",
        made("a"),
        Step(
            api="elect_leaders",
            version=2,
            fields={"election_type": PREFERRED, "topic_partitions": [], "timeout": 5000},
        ),
        Step(
            api="elect_leaders",
            version=2,
            fields={"election_type": PREFERRED, "topic_partitions": None, "timeout": 5000},
            own_topics=True,
        ),
        _elect(2, 9, "a", [0]),
        _elect(2, PREFERRED, "a", [0, 0]),
        metadata("a"),
    ),
)


REASSIGNMENTS = (
    *(
        _story(
            f"reassign_version_{version}",
            "to where it is, to brokers that are not there, and cancelling nothing",
            made("a", partitions=2),
            _reassign(version, "a", 0, ["$broker:0"]),
            _reassign(version, "a", 0, []),
            _reassign(version, "a", 0, [99]),
            _reassign(version, "a", 0, ["$broker:0", 99]),
            _reassign(version, "a", 0, ["$broker:0", "$broker:0"]),
            _reassign(version, "a", 0, [-1]),
            _reassign(version, "a", 0, None),
            _reassign(version, "a", 9, ["$broker:0"]),
            _reassign(version, "a", 9, None),
            _reassign(version, "missing", 0, ["$broker:0"]),
            _reassign(version, "missing", 0, None),
            Step(api="alter_partition_reassignments", version=version, fields={"timeout": 5000}),
            metadata("a"),
        )
        for version in (0, 1)
    ),
    _story(
        "reassign_without_changing_the_factor",
        "version 1 can forbid another number of replicas",
        made("a"),
        Step(
            api="alter_partition_reassignments",
            version=1,
            fields={
                "timeout": 5000,
                "allow_replication_factor_change": False,
                "topics": [
                    {
                        "name": "$topic:a",
                        "partitions": [{"partition_index": 0, "replicas": ["$broker:0"]}],
                    }
                ],
            },
        ),
        Step(
            api="alter_partition_reassignments",
            version=1,
            fields={
                "timeout": 5000,
                "allow_replication_factor_change": False,
                "topics": [
                    {
                        "name": "$topic:a",
                        "partitions": [{"partition_index": 0, "replicas": ["$broker:0", 99]}],
                    }
                ],
            },
        ),
    ),
    _story(
        "list_reassignments",
        "none are under way",
        made("a"),
        _ongoing([{"name": "$topic:a", "partition_indexes": [0]}]),
        _ongoing([{"name": "$topic:a", "partition_indexes": [7]}]),
        _ongoing([{"name": "$topic:missing", "partition_indexes": [0]}]),
        _ongoing([]),
        _ongoing(None),
    ),
)


BROKERS = (
    _story(
        "unregister_nobody",
        "brokers that are not there",
        Step(api="unregister_broker", version=0, fields={"broker_id": 99}),
        Step(api="unregister_broker", version=0, fields={"broker_id": -1}),
    ),
)


SEQUENCES = (*DESCRIPTIONS, *LOG_DIRS, *ELECTIONS, *REASSIGNMENTS, *BROKERS)

"""What is named twice, allowed no time, or numbered beyond what there is.

These were found by varying the other sequences one field at a time (`varied.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    Said,
    batch,
    fetch,
    fetch_topic,
    fetched,
    list_offsets,
    made,
    metadata,
    produce,
)

NO_ID = "00000000-0000-0000-0000-000000000000"
WRONG = {**batch("x"), "patch": {"magic": 1}}
BROKEN = {**batch("x"), "break": {"crc": 1}}


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=name, about=about, steps=steps)


def _produced(version: int, *entries: tuple[int, Said], acks: int = -1) -> Step:
    """Batches for partitions of one topic, each with an entry of its own."""
    named = {"topic_id": "$topic_id:a"} if version >= 13 else {"name": "$topic:a"}
    data = [{"index": index, "records": [one]} for index, one in entries]
    fields = {
        "acks": acks,
        "timeout": TIMEOUT_MS,
        "topic_data": [{**named, "partition_data": data}],
    }
    return Step(api="produce", version=version, fields=fields)


def _listed(*partitions: Sequence[int]) -> Step:
    """ListOffsets with a topic for each list of partitions, all of the same name."""
    topics = [
        {
            "name": "$topic:a",
            "partitions": [{"partition_index": one, "timestamp": -1} for one in some],
        }
        for some in partitions
    ]
    fields = {"replica_id": -1, "topics": topics, "isolation_level": 0, "timeout": TIMEOUT_MS}
    return Step(api="list_offsets", version=10, fields=fields)


def _deleted(*topics: Sequence[tuple[int, int]]) -> Step:
    asked = [
        {
            "name": "$topic:a",
            "partitions": [{"partition_index": one, "offset": offset} for one, offset in some],
        }
        for some in topics
    ]
    return Step(api="delete_records", version=2, fields={"topics": asked, "timeout": TIMEOUT_MS})


def _fetched(places: Sequence[tuple[str, int]], **more: Any) -> Step:
    topics = [{"topic_id": one, "partitions": [fetched(index)]} for one, index in places]
    return fetch(topics=topics, version=17, **more)


NAMED_TWICE = (
    *(
        _story(
            f"produce/named_twice_{version:02}",
            "a partition twice in one request: the last that is right is appended",
            made("a", partitions=2),
            _produced(version, (0, batch("x")), (1, batch("y")), (0, batch("z", "z"))),
            _produced(version, (0, batch("x")), (0, WRONG)),
            _produced(version, (0, WRONG), (0, batch("x"))),
            _produced(version, (0, batch("x")), (0, BROKEN)),
            _produced(version, (0, BROKEN), (0, batch("x"))),
            _produced(version, (9, batch("x")), (9, WRONG)),
            *list_offsets(-1),
            fetch(),
        )
        for version in (3, 9, 13)
    ),
    _story(
        "produce/named_twice_without_answer",
        "the same with acks 0: what is wrong closes the connection, what is right is appended",
        made("a"),
        _produced(9, (0, batch("x")), (0, WRONG), acks=0),
        _produced(9, (0, batch("x")), (0, batch("y")), acks=0),
        *list_offsets(-1),
    ),
    _story(
        "offsets/named_twice",
        "a partition twice, a topic twice, a topic without partitions",
        made("a", partitions=2),
        produce(batch("x")),
        _listed([0, 0, 1]),
        _listed([0], [1]),
        _listed([0], [0, 1]),
        _listed([]),
        _listed([], [0]),
        _deleted([(0, 1), (0, 0)]),
        _deleted([(0, 9), (0, 1)]),
        _deleted([(0, 0)], [(1, 0), (0, 9)]),
        _deleted([]),
        _listed([0, 1]),
    ),
    _story(
        "fetch/named_twice",
        "a partition twice, a topic twice, a topic without partitions",
        made("a", partitions=2),
        produce(batch("x", "y")),
        fetch(fetched(0, 0), fetched(0, 1)),
        fetch(topics=[fetch_topic("a", 12, [fetched(0, 1)]), fetch_topic("a", 12, [fetched(1)])]),
        fetch(topics=[fetch_topic("a", 12, [])]),
        fetch(version=17, topics=[fetch_topic("a", 17, [fetched(0, 0), fetched(0, 1)])]),
    ),
)


def _no_time(timeout_ms: int) -> RequestSequence:
    def asked(api: str, version: int, **fields: Any) -> Step:
        return Step(api=api, version=version, fields={**fields, "timeout": timeout_ms})

    new = {"name": "$topic:b", "num_partitions": 1, "replication_factor": 1}
    more = {"name": "$topic:a", "count": 3, "assignments": None}
    named = [{"topic": "$topic:a", "partitions": [0, 9]}]
    moved = {"partition_index": 0, "replicas": ["$broker:0"]}
    name = f"minus_{-timeout_ms}" if timeout_ms else "none"
    return _story(
        f"topics/no_time_{name}",
        "requests for the controller that allow no time; those that ask for nothing are answered",
        made("a"),
        asked("create_topics", 7, topics=[new, {**new, "name": "a b"}]),
        asked("create_topics", 4, topics=[new], validate_only=True),
        asked("create_topics", 7, topics=[new, new]),
        asked("create_topics", 7, topics=[]),
        asked("create_partitions", 3, topics=[more]),
        asked("create_partitions", 3, topics=[more, more]),
        asked("create_partitions", 3, topics=[]),
        asked("elect_leaders", 2, topic_partitions=named),
        asked("elect_leaders", 0, topic_partitions=named),
        asked("elect_leaders", 2, topic_partitions=[]),
        asked(
            "alter_partition_reassignments", 1, topics=[{"name": "$topic:a", "partitions": [moved]}]
        ),
        asked("alter_partition_reassignments", 0, topics=[]),
        asked(
            "list_partition_reassignments",
            0,
            topics=[{"name": "$topic:a", "partition_indexes": [0]}],
        ),
        asked("delete_topics", 6, topics=[{"name": "$topic:a"}, {"name": "$topic:missing"}]),
        asked("delete_topics", 1, topic_names=["$topic:a"]),
        asked("delete_topics", 6, topics=[]),
        metadata("a", "b"),
    )


NO_TIME = tuple(_no_time(timeout_ms) for timeout_ms in (0, -1, -(2**31)))

BEYOND = (
    _story(
        "fetch/no_bytes",
        "a negative number of bytes matters only where there is something to read",
        made("a"),
        produce(batch("v")),
        fetch(fetched(0, 0), max_bytes=-1),
        fetch(fetched(0, 1), max_bytes=-1),
        fetch(fetched(0, 0, partition_max_bytes=-1)),
        fetch(fetched(0, 1, partition_max_bytes=-1)),
        fetch(fetched(0, 5, partition_max_bytes=-1)),
        fetch(fetched(0, 0), max_bytes=-1, version=17),
    ),
    _story(
        "fetch/unknown_isolation",
        "an isolation level that there is not matters only where there is something to read",
        made("a"),
        fetch(isolation_level=2),
        fetch(isolation_level=-1, topics=[]),
        fetch(fetched(9), isolation_level=2),
        fetch(fetched(9), fetched(0), isolation_level=127),
        fetch(version=17, isolation_level=2, session_id=0, session_epoch=0),
        fetch(version=17, session_id=0, session_epoch=0, save={"session": "session_id"}),
        fetch(
            version=17,
            isolation_level=2,
            session_id="$ref:session",
            session_epoch=1,
            topics=[],
        ),
        fetch(version=17, session_id="$ref:session", session_epoch=1, topics=[]),
        fetch(version=17, session_id="$ref:session", session_epoch=2, topics=[]),
        fetch(isolation_level=2, session_id=9, session_epoch=1),
    ),
    _story(
        "fetch_sessions/ids_without_a_cache",
        "Kafka divides ids among eight caches; those below and above have none",
        made("a"),
        *(
            fetch(session_id=one, session_epoch=epoch, version=version)
            for one in (2**31 - 1, 2**31 - 8, 2**31 - 9, -1, -(2**28) + 1, -(2**28), -(2**31))
            for epoch, version in ((-1, 12), (0, 17), (1, 7))
        ),
    ),
    _story(
        "fetch_sessions/topic_without_an_id",
        "a partition of a topic that is nowhere named may only be the last of an answer",
        made("a"),
        *(
            _fetched(some, session_id=0, session_epoch=epoch)
            for some in ([(NO_ID, 0)], [(NO_ID, 0), (NO_ID, 1)], [("$topic_id:a", 0), (NO_ID, 0)])
            for epoch in (-1, 0)
        ),
        fetch(version=17, session_id=0, session_epoch=0, save={"session": "session_id"}),
        _fetched([(NO_ID, 0)], session_id="$ref:session", session_epoch=1),
        _fetched([(NO_ID, 1)], session_id="$ref:session", session_epoch=2),
        _fetched([], session_id="$ref:session", session_epoch=3),
    ),
    _story(
        "cluster/elect_nothing_oddly",
        "a kind of election that there is not matters only where there is something to elect",
        made("a"),
        *(
            Step(
                api="elect_leaders",
                version=2,
                fields={"election_type": kind, "topic_partitions": some, "timeout": TIMEOUT_MS},
            )
            for kind in (3, -1)
            for some in ([], [{"topic": "$topic:a", "partitions": [0]}])
        ),
    ),
    _story(
        "cluster/describe_topic_partitions_far_on",
        "a cursor so far on that it wraps",
        made("a", "b", partitions=2),
        *(
            Step(
                api="describe_topic_partitions",
                version=0,
                fields={
                    "topics": [{"name": "$topic:a"}, {"name": "$topic:b"}],
                    "response_partition_limit": limit,
                    "cursor": {"topic_name": "$topic:a", "partition_index": index},
                },
            )
            for limit in (1, 2000, -5)
            for index in (1, 2, 9, 2**31 - 1, 2**31 - 2)
        ),
    ),
)

SEQUENCES = (*NAMED_TWICE, *NO_TIME, *BEYOND)

"""Replicas that are placed, moved and added: in clusters of three."""

from __future__ import annotations

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    batch,
    fetch,
    list_offsets,
    metadata,
    produce,
)
from harness.differential.sequences.replicas import (
    FOLLOWER,
    LEADER,
    at,
    brokers,
    caught_up,
    made,
    moved,
    reassign,
    story,
    topic_on,
)

REASSIGNMENTS = (
    story(
        "more_replicas",
        "from one to two, which takes a moment, and to another one",
        made("a", [0]),
        *at(LEADER, produce(batch("x", "y"))),
        reassign(brokers(0, 1)),
        moved(0, 1),
        metadata("a"),
        reassign(None),
        reassign(brokers(1)),
        moved(1),
        metadata("a"),
        caught_up(FOLLOWER, 2),
        *at(FOLLOWER, fetch(), *list_offsets(-1, -2)),
    ),
    story(
        "refused",
        "replicas twice, brokers that are not there, none",
        made("a", [0, 1]),
        reassign(brokers(0, 0)),
        reassign([*brokers(0), 99]),  # type: ignore[list-item]
        reassign([]),
        reassign(None),
        reassign(brokers(0, 1), version=0),
    ),
)


MAKING = (
    story(
        "factors",
        "as many replicas as there are brokers, more, fewer than none",
        *(
            Step(
                api="create_topics",
                version=7,
                fields={
                    "topics": [
                        {
                            "name": f"$topic:{name}",
                            "num_partitions": 1,
                            "replication_factor": factor,
                        }
                    ],
                    "timeout": TIMEOUT_MS,
                    "validate_only": only,
                },
            )
            for name, factor, only in (
                ("a", 3, False),
                ("b", 4, False),
                ("c", 4, True),
                ("d", 0, False),
                ("e", -1, True),
            )
        ),
    ),
    story(
        "assignments",
        "replicas twice, of different number, unknown, with gaps",
        *(
            Step(
                api="create_topics",
                version=7,
                fields={"topics": [topic], "timeout": TIMEOUT_MS},
            )
            for topic in (
                topic_on("a", [0, 1], [1, 2]),
                topic_on("b", [0, 0]),
                topic_on("c", [0, 1], [2]),
                topic_on("d", []),
                topic_on("e", [0, 1], num_partitions=1),
                topic_on("f", [0, 1], replication_factor=2),
                topic_on("g", [0, 1])
                | {"assignments": [{"partition_index": 1, "broker_ids": brokers(0, 1)}]},
                topic_on("h", [0]) | {"assignments": [{"partition_index": 0, "broker_ids": [99]}]},
            )
        ),
    ),
    story(
        "more_partitions",
        "with replicas named, with the wrong number of them",
        made("a", [0, 1]),
        *(
            Step(
                api="create_partitions",
                version=3,
                fields={
                    "topics": [
                        {
                            "name": "$topic:a",
                            "count": count,
                            "assignments": None
                            if some is None
                            else [{"broker_ids": one} for one in some],
                        }
                    ],
                    "timeout": TIMEOUT_MS,
                    "validate_only": only,
                },
            )
            for count, some, only in (
                (2, [brokers(1)], False),
                (2, [brokers(1, 1)], False),
                (2, [[*brokers(1), 99]], False),
                (3, [brokers(1, 2)], False),
                (2, [brokers(1, 2), brokers(2, 0)], False),
                (2, [brokers(1, 2)], True),
                (2, [brokers(1, 2)], False),
                (1, None, False),
                (2, None, False),
            )
        ),
        metadata("a"),
    ),
)


SEQUENCES = (*REASSIGNMENTS, *MAKING)

"""Fetch: bounds, sizes, epochs, isolation, versions."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    batch,
    fetch,
    fetch_topic,
    fetched,
    made,
    produce,
)

NOBODY = "11111111-2222-3333-4444-555555555555"


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"fetch/{name}", about=about, steps=steps)


def _filled(*sizes: int, topic: str = "a", partition: int = 0) -> tuple[Step, ...]:
    """One batch per size, one record each."""
    return tuple(
        produce(batch({"bytes": size}), topic=topic, partition=partition) for size in sizes
    )


VERSIONS = (
    *(
        _story(
            f"version_{version:02}",
            "two batches by this version, an offset that is not there, a partition that is not",
            made("a"),
            produce(batch("x", "y")),
            produce(batch("z")),
            fetch(version=version),
            fetch(fetched(offset=9), version=version),
            fetch(fetched(5), version=version),
        )
        for version in range(4, 19)
    ),
    _story(
        "unsupported_versions",
        "older and newer than what is offered",
        Step(api="fetch", version=3),
        Step(api="fetch", version=19),
        Step(api="produce", version=2),
        Step(api="produce", version=14),
        Step(api="list_offsets", version=0),
        Step(api="metadata", version=14),
    ),
)


BOUNDS = (
    _story(
        "out_of_range",
        "below the start, at the end, beyond it",
        made("a"),
        produce(batch("x", "y", "z")),
        *(fetch(fetched(offset=at)) for at in (0, 1, 2, 3, 4, -1, -2, 2**62)),
    ),
    _story(
        "below_the_log_start",
        "records that were deleted",
        made("a"),
        produce(batch("x", "y")),
        produce(batch("z")),
        Step(
            api="delete_records",
            version=2,
            fields={
                "topics": [
                    {"name": "$topic:a", "partitions": [{"partition_index": 0, "offset": 1}]}
                ],
                "timeout": 5000,
            },
        ),
        *(fetch(fetched(offset=at)) for at in (0, 1, 2, 3)),
        fetch(fetched(offset=0), version=18),
    ),
    _story(
        "empty_partition",
        "nothing written yet",
        made("a"),
        fetch(),
        fetch(fetched(offset=1)),
        fetch(version=16),
    ),
    _story(
        "unknown_places",
        "by name and by id",
        made("a"),
        fetch(topic="missing"),
        fetch(topic=NOBODY, version=13),
        fetch(topic="00000000-0000-0000-0000-000000000000", version=13),
        fetch(fetched(1)),
        fetch(fetched(-1)),
        fetch(fetched(1), version=17),
        fetch(
            version=17,
            topics=[
                fetch_topic("a", 17, [fetched(0), fetched(3)]),
                fetch_topic(NOBODY, 17, [fetched(0)]),
            ],
        ),
    ),
    _story(
        "deleted_topic",
        "its id leads nowhere, even when its name is used again",
        made("a"),
        produce(batch("x")),
        fetch(version=13),
        Step(
            api="delete_topics",
            version=5,
            fields={"topic_names": ["$topic:a"], "timeout": 5000},
        ),
        fetch(version=13),
        fetch(),
    ),
)


SIZES = (
    _story(
        "partition_max_bytes",
        "the first batch comes whole however little is asked for; later ones do not",
        made("a"),
        *_filled(100, 100, 100),
        *(fetch(fetched(partition_max_bytes=size)) for size in (0, 1, 100, 168, 169, 170)),
        *(fetch(fetched(partition_max_bytes=size)) for size in (336, 337, 338, 400, 1000)),
        fetch(fetched(offset=1, partition_max_bytes=1)),
        fetch(fetched(partition_max_bytes=-1)),
    ),
    _story(
        "max_bytes",
        "the bound of the whole answer, over two partitions",
        made("a", partitions=2),
        *_filled(100, 100),
        *_filled(100, 100, partition=1),
        *(fetch(fetched(0), fetched(1), max_bytes=size) for size in (0, 1, 169, 200, 338, 400)),
        *(fetch(fetched(1), fetched(0), max_bytes=size) for size in (1, 400)),
        fetch(fetched(0, offset=2), fetched(1), max_bytes=1, note="the first has nothing"),
        fetch(fetched(0, offset=9), fetched(1), max_bytes=1, note="the first is an error"),
        fetch(max_bytes=-1),
    ),
    _story(
        "max_bytes_left",
        "what the first partition leaves is a bound for the next: one byte too few, and enough",
        made("a", partitions=3),
        *_filled(100),
        *_filled(100, 100, partition=1),
        *_filled(100, partition=2),
        *(
            fetch(fetched(0), fetched(1), fetched(2), max_bytes=size)
            for size in (339, 340, 341, 509, 510, 680)
        ),
        fetch(fetched(0), fetched(1, partition_max_bytes=169), max_bytes=1000),
        fetch(fetched(0), fetched(1, partition_max_bytes=170), max_bytes=1000),
    ),
    _story(
        "min_bytes",
        "an answer waits for enough bytes, and gives up after max_wait",
        made("a"),
        *_filled(100),
        fetch(min_bytes=1),
        fetch(min_bytes=100_000, max_wait=150),
        fetch(fetched(offset=1), min_bytes=1, max_wait=150),
        fetch(fetched(offset=7), min_bytes=1, max_wait=20_000, note="errors do not wait"),
        fetch(topic="missing", min_bytes=1, max_wait=20_000),
        fetch(topics=[], min_bytes=1, max_wait=20_000, note="nothing to wait for"),
        fetch(fetched(offset=1), min_bytes=0, max_wait=20_000),
        fetch(fetched(offset=1), min_bytes=-5, max_wait=20_000),
        fetch(fetched(offset=1), min_bytes=1, max_wait=0),
    ),
    _story(
        "middle_of_a_batch",
        "a batch comes whole even if the offset lies inside it",
        made("a"),
        produce(batch("a", "b", "c")),
        produce(batch("d", "e")),
        *(fetch(fetched(offset=at)) for at in (1, 2, 3, 4)),
        fetch(fetched(offset=2, partition_max_bytes=1)),
    ),
    _story(
        "several_topics",
        "each topic and partition in its place",
        made("a", "b", partitions=2),
        produce(batch("x")),
        produce(batch("y"), topic="b", partition=1),
        fetch(
            topics=[
                fetch_topic("b", 12, [fetched(1), fetched(0)]),
                fetch_topic("a", 12, [fetched(0), fetched(1)]),
            ]
        ),
        fetch(
            version=17,
            topics=[
                fetch_topic("b", 17, [fetched(1), fetched(0)]),
                fetch_topic("a", 17, [fetched(0)]),
            ],
        ),
        fetch(fetched(0), fetched(0), note="the same partition twice"),
    ),
)


EPOCHS = (
    *(
        _story(
            f"leader_epochs_{version:02}",
            "the epoch a consumer believes in, right, too old, too new",
            made("a"),
            produce(batch("x")),
            *(
                fetch(fetched(current_leader_epoch=epoch), version=version)
                for epoch in (-1, 0, 1, -2)
            ),
        )
        for version in (9, 11, 12, 16, 18)
    ),
    _story(
        "last_fetched_epoch",
        "a consumer that says which epoch it read last hears of divergence",
        made("a"),
        produce(batch("x", "y")),
        *(
            fetch(fetched(offset=offset, last_fetched_epoch=epoch))
            for offset, epoch in ((0, 0), (1, 0), (2, 0), (3, 0), (1, 1), (9, 1), (0, -2))
        ),
        fetch(fetched(offset=3, last_fetched_epoch=0), version=17),
    ),
)


ISOLATION = (
    _story(
        "read_committed_and_diverging",
        "what was not read has no aborted transactions, not even none of them",
        made("a", partitions=2),
        produce(batch("x")),
        *(
            fetch(fetched(0, 3, last_fetched_epoch=0), fetched(1, at), isolation_level=level)
            for at in (0, 9)
            for level in (0, 1)
        ),
        fetch(fetched(0, 3, last_fetched_epoch=0), isolation_level=1, version=17),
    ),
    _story(
        "isolation_levels",
        "without transactions both levels read the same; there is no third",
        made("a"),
        produce(batch("x")),
        *(fetch(isolation_level=level) for level in (0, 1, 2, -1)),
        fetch(isolation_level=1, version=4),
        fetch(fetched(offset=9), isolation_level=1),
    ),
)


AS_REPLICA: dict[str, Any] = {"replica_state": {"replica_id": 77, "replica_epoch": 1}}
ODD = (
    _story(
        "as_a_replica",
        "who says it is a broker, and is none",
        made("a"),
        produce(batch("x")),
        fetch(replica_id=77),
        fetch(version=17, **AS_REPLICA),
        fetch(replica_id=-2),
        fetch(replica_id=-3),
    ),
    _story(
        "rack",
        "a rack of one's own, and one that nobody has",
        made("a"),
        produce(batch("x")),
        fetch(rack_id="a"),
        fetch(rack_id="nowhere"),
        fetch(rack_id="a", version=18),
    ),
    _story(
        "told_log_start_and_watermark",
        "what a request says of its own log does not matter to a leader",
        made("a"),
        produce(batch("x")),
        fetch(fetched(log_start_offset=55)),
        fetch(fetched(high_watermark=0), version=18),
        fetch(fetched(high_watermark=1), version=18),
        fetch(cluster_id="somebody-else"),
    ),
)


SEQUENCES = (*VERSIONS, *BOUNDS, *SIZES, *EPOCHS, *ISOLATION, *ODD)

"""Topics whose older segments are in remote storage: where they begin and end, how they are read.

A cluster has to have tiered storage switched on. A segment is full after two batches, because its
index is; nothing but the active one stays on the disk. What is copied and what has left the disk is
waited for by the special timestamps that tell of it.
"""

from __future__ import annotations

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    T0,
    TIMEOUT_MS,
    batch,
    fetch,
    fetch_topic,
    fetched,
    idempotent,
    list_offsets,
    made,
    produce,
    producer_id,
    record,
)
from harness.differential.sequences.configs import SET, altered, changes
from harness.differential.sequences.offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    PENDING_UPLOAD,
    deleted,
    epoch_ends,
)

TIERED = {
    "remote.storage.enable": "true",
    "index.interval.bytes": "1",
    "segment.index.bytes": "24",
    "local.retention.bytes": "1",
    "file.delete.delay.ms": "1000",
}
SPECIAL = (LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD)
NEWEST = 11  # of ListOffsets: the first version that has all of them


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    """A sequence of the family."""
    return RequestSequence(name=f"tiered/{name}", about=about, steps=steps)


def tiered(*names: str, **configs: str) -> Step:
    """Tiered topics to work with."""
    more = {name.replace("_", "."): value for name, value in configs.items()}
    return made(*(names or ("a",)), configs={**TIERED, **more})


def comes_to(timestamp: int, offset: int, topic: str = "a") -> Step:
    """Wait until a special timestamp has come to an offset."""
    (asked,) = list_offsets(timestamp, topic=topic, version=NEWEST)
    until = {"topics.0.partitions.0.offset": offset}
    return Step(
        api=asked.api, version=asked.version, fields=asked.fields, until=until, compared=False
    )


def elsewhere(tiered: int, local: int, topic: str = "a") -> tuple[Step, Step]:
    """Wait until all but the active segment is copied, and is no longer on the disk."""
    return comes_to(LATEST_TIERED, tiered, topic), comes_to(EARLIEST_LOCAL, local, topic)


def _five(topic: str = "a") -> tuple[Step, ...]:
    """Five batches of a record each: two segments of two, and the active one."""
    stamps = (10, 30, 5, 25, 20)
    return tuple(
        produce(batch(record(f"v{at}", stamp)), topic=topic) for at, stamp in enumerate(stamps)
    )


def remote(topic: str = "a") -> tuple[Step, ...]:
    """The first four of five batches are in the remote tier alone."""
    return (*_five(topic), *elsewhere(3, 4, topic))


def altered_to(*said: tuple[str, int, str | None], topic: str = "a") -> Step:
    """Configurations of a topic are changed."""
    return altered(changes(*said, topic=topic))


LISTING = (
    story(
        "special_timestamps",
        "every special timestamp of a log in both tiers, by the versions that know them",
        tiered(),
        *remote(),
        *(
            one
            for version in (1, 6, 7, 8, 9, 10, NEWEST)
            for one in list_offsets(*SPECIAL, version=version)
        ),
    ),
    story(
        "special_timestamps_before_copies",
        "a tiered topic without a finished segment",
        tiered(),
        *list_offsets(*SPECIAL, version=NEWEST),
        produce(batch("a")),
        *list_offsets(*SPECIAL, version=NEWEST),
    ),
    story(
        "special_timestamps_untiered",
        "a topic that is not tiered, on a broker that has tiered storage",
        made("a", configs={"segment.index.bytes": "24", "index.interval.bytes": "1"}),
        *_five(),
        *list_offsets(*SPECIAL, version=NEWEST),
    ),
    story(
        "by_time",
        "searches by timestamp that end in the remote tier, in the local one, and in none",
        tiered(),
        *remote(),
        *list_offsets(*(T0 + at for at in (0, 5, 6, 10, 11, 20, 21, 25, 26, 30, 31))),
        *list_offsets(0, 2**62),
    ),
    story(
        "latest_timestamp_is_local",
        "the maximum timestamp in the active segment",
        tiered(),
        *remote(),
        produce(batch(record("late", 90))),
        *list_offsets(MAX_TIMESTAMP, T0 + 31, T0 + 90, T0 + 91, version=NEWEST),
    ),
)
FETCHING = (
    story(
        "fetch_each",
        "a fetch at every offset of both tiers, and around them",
        tiered(),
        *remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1))
            for offset in (0, 1, 2, 3, 4, 5, 6, -1)
        ),
    ),
    story(
        "fetch_inside_a_batch",
        "an offset in the middle of a remote batch gives the batch whole",
        tiered(),
        produce(batch("a", "b", "c")),
        produce(batch("d", "e")),
        produce(batch("f")),
        *elsewhere(4, 5),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (1, 2, 4)),
    ),
    story(
        "fetch_compressed",
        "compressed batches come out of the remote tier as they were",
        tiered(),
        produce(batch("a", "b", compression="gzip")),
        produce(batch("c", compression="zstd")),
        produce(batch("d")),
        *elsewhere(2, 3),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (0, 2, 3)),
    ),
    story(
        "fetch_by_limits",
        "the limits of a request, on a log of which the beginning is remote",
        tiered(),
        *remote(),
        fetch(fetched(partition_max_bytes=1), max_bytes=1),
        fetch(fetched(partition_max_bytes=0)),
        fetch(fetched(), max_bytes=0),
        fetch(fetched(offset=4, partition_max_bytes=1)),
    ),
    story(
        "fetch_both_tiers_together",
        "a remote partition and a local one in the same request",
        tiered(),
        made("b"),
        *remote(),
        produce(batch("local"), topic="b"),
        fetch(
            topics=[
                fetch_topic("a", 12, [fetched(partition_max_bytes=1)]),
                fetch_topic("b", 12, [fetched()]),
            ]
        ),
        fetch(
            topics=[
                fetch_topic("b", 12, [fetched()]),
                fetch_topic("a", 12, [fetched(offset=3, partition_max_bytes=1)]),
            ]
        ),
    ),
    story(
        "fetch_committed",
        "read_committed across the tiers, of a log without transactions",
        tiered(),
        *remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1), isolation_level=1)
            for offset in (0, 3, 4, 5)
        ),
    ),
    story(
        "fetch_by_epoch",
        "positions with epochs that are known, older and newer",
        tiered(),
        *remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1, current_leader_epoch=epoch))
            for offset in (0, 4)
            for epoch in (0, 1)
        ),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1, last_fetched_epoch=epoch))
            for offset in (1, 4)
            for epoch in (0, 1)
        ),
    ),
    story(
        "fetch_in_older_versions",
        "what was remote is read by clients that never heard of it",
        tiered(),
        *remote(),
        *(
            fetch(fetched(offset=2, partition_max_bytes=1), version=version)
            for version in (4, 7, 11, 13)
        ),
    ),
)
ENDS = (
    story(
        "delete_records_in_the_remote_tier",
        "the log start moves into the remote tier; what is below it is gone",
        tiered(),
        *remote(),
        *deleted(1),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, T0, version=NEWEST),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (0, 1)),
        *deleted(0, 3),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, version=NEWEST),
    ),
    story(
        "delete_records_of_the_remote_tier",
        "all that is remote is deleted, then all there is, then what is beyond the end",
        tiered(),
        *remote(),
        *deleted(4),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *deleted(6, -1),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *(fetch(fetched(offset=offset)) for offset in (4, 5)),
    ),
    story(
        "epoch_ends",
        "where epochs end, of a log that begins in the remote tier",
        tiered(),
        *remote(),
        *epoch_ends(0, 1, -1),
        *epoch_ends(0, current_leader_epoch=1),
        *deleted(3),
        *epoch_ends(0),
    ),
    story(
        "retention_by_size",
        "retention takes the oldest segment from both tiers",
        tiered(),
        *remote(),
        altered_to(("local.retention.bytes", SET, "0"), ("retention.bytes", SET, "0")),
        comes_to(EARLIEST, 4),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *(fetch(fetched(offset=offset)) for offset in (3, 4)),
    ),
    story(
        "repeats_of_what_was_tiered",
        "a producer repeats batches that have left the disk",
        tiered(),
        producer_id(),
        *(produce(idempotent(at, f"v{at}")) for at in range(5)),
        *elsewhere(3, 4),
        produce(idempotent(4, "v4"), note="the last one"),
        produce(idempotent(1, "v1"), note="one that is in the remote tier alone"),
        produce(idempotent(7, "v7"), note="one is left out"),
        produce(idempotent(5, "v5")),
        *list_offsets(LATEST, version=NEWEST),
    ),
    story(
        "deleted_and_created_again",
        "a topic of the same name begins empty, and is copied on its own",
        tiered(),
        *remote(),
        Step(
            api="delete_topics",
            version=6,
            fields={"topics": [{"name": "$topic:a"}], "timeout": TIMEOUT_MS},
        ),
        tiered(),
        *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, LATEST_TIERED, version=NEWEST),
        *remote(),
        fetch(fetched(partition_max_bytes=1)),
    ),
    story(
        "tiered_later",
        "a topic with records becomes tiered, and its disk is freed",
        made("a", configs={**TIERED, "remote.storage.enable": "false"}),
        *_five(),
        *list_offsets(EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD, version=NEWEST),
        altered_to(("remote.storage.enable", SET, "true")),
        *elsewhere(3, 4),
        *list_offsets(*SPECIAL, version=NEWEST),
        fetch(fetched(partition_max_bytes=1)),
    ),
)
SEQUENCES = (*LISTING, *FETCHING, *ENDS)

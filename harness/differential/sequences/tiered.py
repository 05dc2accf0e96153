"""Topics whose older segments are in remote storage: where they begin and end, how they are read.

A cluster has to have tiered storage switched on. A segment is full after two batches, because its
index is; nothing but the active one stays on the disk. What is copied and what has left the disk is
waited for by the special timestamps that tell of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    T0,
    TIMEOUT_MS,
    batch,
    described,
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
from harness.differential.sequences.configs import DELETE, SET, altered, changes
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


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"tiered/{name}", about=about, steps=steps)


def _tiered(*names: str, **configs: str) -> Step:
    """Tiered topics to work with."""
    more = {name.replace("_", "."): value for name, value in configs.items()}
    return made(*(names or ("a",)), configs={**TIERED, **more})


def _is(timestamp: int, offset: int, topic: str = "a") -> Step:
    """Wait until a special timestamp has come to an offset."""
    (asked,) = list_offsets(timestamp, topic=topic, version=NEWEST)
    until = {"topics.0.partitions.0.offset": offset}
    return Step(
        api=asked.api, version=asked.version, fields=asked.fields, until=until, compared=False
    )


def _elsewhere(tiered: int, local: int, topic: str = "a") -> tuple[Step, Step]:
    """Wait until all but the active segment is copied, and is no longer on the disk."""
    return _is(LATEST_TIERED, tiered, topic), _is(EARLIEST_LOCAL, local, topic)


def _five(topic: str = "a") -> tuple[Step, ...]:
    """Five batches of a record each: two segments of two, and the active one."""
    stamps = (10, 30, 5, 25, 20)
    return tuple(
        produce(batch(record(f"v{at}", stamp)), topic=topic) for at, stamp in enumerate(stamps)
    )


def _remote(topic: str = "a") -> tuple[Step, ...]:
    """The first four of five batches are in the remote tier alone."""
    return (*_five(topic), *_elsewhere(3, 4, topic))


def _created(name: str, configs: Mapping[str, str], **more: Any) -> Step:
    said = [{"name": key, "value": value} for key, value in configs.items()]
    topic = {"name": f"$topic:{name}", "num_partitions": 1, "replication_factor": 1}
    fields = {"topics": [{**topic, "configs": said}], "timeout": TIMEOUT_MS, **more}
    return Step(api="create_topics", version=7, fields=fields)


def _altered(*said: tuple[str, int, str | None], topic: str = "a") -> Step:
    return altered(changes(*said, topic=topic))


LISTING = (
    _story(
        "special_timestamps",
        "every special timestamp of a log in both tiers, by the versions that know them",
        _tiered(),
        *_remote(),
        *(
            one
            for version in (1, 6, 7, 8, 9, 10, NEWEST)
            for one in list_offsets(*SPECIAL, version=version)
        ),
    ),
    _story(
        "special_timestamps_before_copies",
        "a tiered topic without a finished segment",
        _tiered(),
        *list_offsets(*SPECIAL, version=NEWEST),
        produce(batch("a")),
        *list_offsets(*SPECIAL, version=NEWEST),
    ),
    _story(
        "special_timestamps_untiered",
        "a topic that is not tiered, on a broker that has tiered storage",
        made("a", configs={"segment.index.bytes": "24", "index.interval.bytes": "1"}),
        *_five(),
        *list_offsets(*SPECIAL, version=NEWEST),
    ),
    _story(
        "by_time",
        "searches by timestamp that end in the remote tier, in the local one, and in none",
        _tiered(),
        *_remote(),
        *list_offsets(*(T0 + at for at in (0, 5, 6, 10, 11, 20, 21, 25, 26, 30, 31))),
        *list_offsets(0, 2**62),
    ),
    _story(
        "latest_timestamp_is_local",
        "the maximum timestamp in the active segment",
        _tiered(),
        *_remote(),
        produce(batch(record("late", 90))),
        *list_offsets(MAX_TIMESTAMP, T0 + 31, T0 + 90, T0 + 91, version=NEWEST),
    ),
)
FETCHING = (
    _story(
        "fetch_each",
        "a fetch at every offset of both tiers, and around them",
        _tiered(),
        *_remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1))
            for offset in (0, 1, 2, 3, 4, 5, 6, -1)
        ),
    ),
    _story(
        "fetch_inside_a_batch",
        "an offset in the middle of a remote batch gives the batch whole",
        _tiered(),
        produce(batch("a", "b", "c")),
        produce(batch("d", "e")),
        produce(batch("f")),
        *_elsewhere(4, 5),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (1, 2, 4)),
    ),
    _story(
        "fetch_compressed",
        "compressed batches come out of the remote tier as they were",
        _tiered(),
        produce(batch("a", "b", compression="gzip")),
        produce(batch("c", compression="zstd")),
        produce(batch("d")),
        *_elsewhere(2, 3),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (0, 2, 3)),
    ),
    _story(
        "fetch_by_limits",
        "the limits of a request, on a log of which the beginning is remote",
        _tiered(),
        *_remote(),
        fetch(fetched(partition_max_bytes=1), max_bytes=1),
        fetch(fetched(partition_max_bytes=0)),
        fetch(fetched(), max_bytes=0),
        fetch(fetched(offset=4, partition_max_bytes=1)),
    ),
    _story(
        "fetch_both_tiers_together",
        "a remote partition and a local one in the same request",
        _tiered(),
        made("b"),
        *_remote(),
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
    _story(
        "fetch_committed",
        "read_committed across the tiers, of a log without transactions",
        _tiered(),
        *_remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=1), isolation_level=1)
            for offset in (0, 3, 4, 5)
        ),
    ),
    _story(
        "fetch_by_epoch",
        "positions with epochs that are known, older and newer",
        _tiered(),
        *_remote(),
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
    _story(
        "fetch_in_older_versions",
        "what was remote is read by clients that never heard of it",
        _tiered(),
        *_remote(),
        *(
            fetch(fetched(offset=2, partition_max_bytes=1), version=version)
            for version in (4, 7, 11, 13)
        ),
    ),
)
ENDS = (
    _story(
        "delete_records_in_the_remote_tier",
        "the log start moves into the remote tier; what is below it is gone",
        _tiered(),
        *_remote(),
        *deleted(1),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, T0, version=NEWEST),
        *(fetch(fetched(offset=offset, partition_max_bytes=1)) for offset in (0, 1)),
        *deleted(0, 3),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, version=NEWEST),
    ),
    _story(
        "delete_records_of_the_remote_tier",
        "all that is remote is deleted, then all there is, then what is beyond the end",
        _tiered(),
        *_remote(),
        *deleted(4),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *deleted(6, -1),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *(fetch(fetched(offset=offset)) for offset in (4, 5)),
    ),
    _story(
        "epoch_ends",
        "where epochs end, of a log that begins in the remote tier",
        _tiered(),
        *_remote(),
        *epoch_ends(0, 1, -1),
        *epoch_ends(0, current_leader_epoch=1),
        *deleted(3),
        *epoch_ends(0),
    ),
    _story(
        "retention_by_size",
        "retention takes the oldest segment from both tiers",
        _tiered(),
        *_remote(),
        _altered(("local.retention.bytes", SET, "0"), ("retention.bytes", SET, "0")),
        _is(EARLIEST, 4),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, LATEST, version=NEWEST),
        *(fetch(fetched(offset=offset)) for offset in (3, 4)),
    ),
    _story(
        "repeats_of_what_was_tiered",
        "a producer repeats batches that have left the disk",
        _tiered(),
        producer_id(),
        *(produce(idempotent(at, f"v{at}")) for at in range(5)),
        *_elsewhere(3, 4),
        produce(idempotent(4, "v4"), note="the last one"),
        produce(idempotent(1, "v1"), note="one that is in the remote tier alone"),
        produce(idempotent(7, "v7"), note="one is left out"),
        produce(idempotent(5, "v5")),
        *list_offsets(LATEST, version=NEWEST),
    ),
    _story(
        "deleted_and_created_again",
        "a topic of the same name begins empty, and is copied on its own",
        _tiered(),
        *_remote(),
        Step(
            api="delete_topics",
            version=6,
            fields={"topics": [{"name": "$topic:a"}], "timeout": TIMEOUT_MS},
        ),
        _tiered(),
        *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, LATEST_TIERED, version=NEWEST),
        *_remote(),
        fetch(fetched(partition_max_bytes=1)),
    ),
    _story(
        "tiered_later",
        "a topic with records becomes tiered, and its disk is freed",
        made("a", configs={**TIERED, "remote.storage.enable": "false"}),
        *_five(),
        *list_offsets(EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD, version=NEWEST),
        _altered(("remote.storage.enable", SET, "true")),
        *_elsewhere(3, 4),
        *list_offsets(*SPECIAL, version=NEWEST),
        fetch(fetched(partition_max_bytes=1)),
    ),
)
CONFIGS = (
    _story(
        "create_compacted",
        "compacted topics cannot be tiered",
        *(
            _created("a", {"remote.storage.enable": "true", "cleanup.policy": policy})
            for policy in ("compact", "compact,delete", "delete,compact")
        ),
        _created("a", {"cleanup.policy": "compact"}),
        _altered(("remote.storage.enable", SET, "true")),
    ),
    _story(
        "create_with_local_retention",
        "local retention is no more than retention",
        *(
            _created("a", {"remote.storage.enable": "true", **configs}, validate_only=True)
            for configs in (
                {"local.retention.ms": "1000", "retention.ms": "1000"},
                {"local.retention.ms": "1001", "retention.ms": "1000"},
                {"local.retention.ms": "-1", "retention.ms": "1000"},
                {"local.retention.ms": "-2", "retention.ms": "1000"},
                {"local.retention.ms": "-3", "retention.ms": "1000"},
                {"local.retention.ms": "1000", "retention.ms": "-1"},
                {"local.retention.bytes": "1000", "retention.bytes": "1000"},
                {"local.retention.bytes": "1001", "retention.bytes": "1000"},
                {"local.retention.bytes": "-1", "retention.bytes": "1000"},
                {"local.retention.bytes": "-2", "retention.bytes": "1000"},
                {"local.retention.bytes": "-3", "retention.bytes": "1000"},
                {"local.retention.bytes": "1000", "retention.bytes": "-1"},
            )
        ),
        _created("a", {"remote.storage.enable": "perhaps"}, validate_only=True),
    ),
    _story(
        "alter_local_retention",
        "neither side of the comparison can be moved past the other",
        _tiered(local_retention_ms="1000", retention_ms="2000"),
        _altered(("local.retention.ms", SET, "2001")),
        _altered(("retention.ms", SET, "999")),
        _altered(("retention.ms", SET, "500"), ("local.retention.ms", SET, "500")),
        _altered(("local.retention.ms", DELETE, None)),
        described("a", "retention.ms", "local.retention.ms", "local.retention.bytes"),
    ),
    _story(
        "alter_to_compacted",
        "a tiered topic cannot become compacted",
        _tiered(),
        _altered(("cleanup.policy", SET, "compact")),
        _altered(("cleanup.policy", SET, "compact,delete")),
        described("a", "cleanup.policy", "remote.storage.enable"),
    ),
    _story(
        "disable",
        "what is tiered stays so, unless its remote part is given up by name",
        _tiered(),
        _altered(("remote.storage.enable", SET, "false")),
        _altered(("remote.storage.enable", DELETE, None)),
        _altered(("remote.log.delete.on.disable", SET, "false")),
        _altered(("remote.storage.enable", SET, "false")),
        described("a", "remote.storage.enable"),
    ),
    _story(
        "disable_and_delete",
        "the remote part is given up by name",
        _tiered(),
        *_remote(),
        _altered(
            ("remote.storage.enable", SET, "false"), ("remote.log.delete.on.disable", SET, "true")
        ),
        described("a", "remote.storage.enable"),
    ),
    _story(
        "described",
        "the settings of a tiered topic, and what they are unless told",
        made("a", configs={"remote.storage.enable": "true"}),
        described("a", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
        made("b"),
        described("b", "remote.storage.enable", "local.retention.ms", "local.retention.bytes"),
    ),
)
SEQUENCES = (*LISTING, *FETCHING, *ENDS, *CONFIGS)

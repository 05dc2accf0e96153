"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords: where a log begins and ends, and its epochs."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    T0,
    batch,
    fetch,
    fetched,
    list_offsets,
    made,
    produce,
    record,
)

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD = range(-1, -7, -1)


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"offsets/{name}", about=about, steps=steps)


def deleted(
    *offsets: int, topic: str = "a", version: int = 2, partition: int = 0
) -> tuple[Step, ...]:
    return tuple(
        Step(
            api="delete_records",
            version=version,
            fields={
                "topics": [
                    {
                        "name": f"$topic:{topic}",
                        "partitions": [{"partition_index": partition, "offset": offset}],
                    }
                ],
                "timeout": 5000,
            },
        )
        for offset in offsets
    )


def epoch_ends(
    *epochs: int, version: int = 4, partition: int = 0, topic: str = "a", **more: Any
) -> tuple[Step, ...]:
    return tuple(
        Step(
            api="offset_for_leader_epoch",
            version=version,
            fields={
                "topics": [
                    {
                        "topic": f"$topic:{topic}",
                        "partitions": [{"partition": partition, "leader_epoch": epoch, **more}],
                    }
                ]
            }
            | ({"replica_id": -1} if version >= 3 else {}),
        )
        for epoch in epochs
    )


def _three_batches() -> tuple[Step, ...]:
    return (
        produce(batch(record("a", 10), record("b", 20))),
        produce(batch(record("c", 30), record("d", 5))),
        produce(batch(record("e", 25))),
    )


LISTING = (
    *(
        _story(
            f"special_by_version_{version:02}",
            "every special timestamp, as far as the version knows it",
            made("a"),
            *_three_batches(),
            *list_offsets(LATEST, EARLIEST, MAX_TIMESTAMP, version=version),
            *list_offsets(EARLIEST_LOCAL, LATEST_TIERED, version=version),
            *list_offsets(PENDING_UPLOAD, -7, -100, version=version),
        )
        for version in range(1, 12)
    ),
    _story(
        "by_time",
        "the first record at or after a time, in the order of offsets",
        made("a"),
        *_three_batches(),
        *list_offsets(*(T0 + at for at in (0, 5, 6, 10, 11, 20, 21, 25, 26, 30, 31))),
        *list_offsets(0, 1, 2**62),
        *list_offsets(T0 + 21, version=1),
    ),
    _story(
        "by_time_compressed",
        "times inside compressed batches",
        made("a"),
        produce(batch(record("a", 10), record("b", 20), record("c", 15), compression="gzip")),
        *list_offsets(*(T0 + at for at in (10, 11, 16, 20, 21)), MAX_TIMESTAMP),
    ),
    _story(
        "by_time_after_deleting",
        "records below the log start are not found",
        made("a"),
        *_three_batches(),
        *deleted(1),
        *list_offsets(T0, T0 + 5, T0 + 15, EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL),
        *deleted(-1),
        *list_offsets(T0, EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED),
    ),
    _story(
        "empty_log",
        "a log without records",
        made("a"),
        *list_offsets(LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, T0, 0),
    ),
    _story(
        "no_timestamps",
        "records that carry none",
        made("a"),
        produce(batch({"value": "x", "timestamp": -1})),
        *list_offsets(MAX_TIMESTAMP, 0, T0),
    ),
    _story(
        "equal_timestamps",
        "the largest timestamp is found where it came first",
        made("a"),
        produce(batch(record("a", 7), record("b", 7))),
        produce(batch(record("c", 7))),
        *list_offsets(MAX_TIMESTAMP, T0 + 7),
        produce(batch(record("d", 3), record("e", 9), record("f", 9), compression="zstd")),
        *list_offsets(MAX_TIMESTAMP, T0 + 8),
    ),
    _story(
        "log_append_time",
        "by the broker's clock",
        made("a", configs={"message.timestamp.type": "LogAppendTime"}),
        produce(batch("x", "y", "z")),
        *list_offsets(MAX_TIMESTAMP, T0, 2**62),
        *list_offsets(MAX_TIMESTAMP, version=7),
    ),
    _story(
        "unknown_places",
        "topics and partitions that are not there, and the same one twice",
        made("a"),
        *list_offsets(LATEST, topic="missing"),
        *list_offsets(LATEST, partition=3),
        *list_offsets(LATEST, partition=-1),
        *list_offsets(LATEST, topic="missing", version=1),
        Step(
            api="list_offsets",
            version=7,
            fields={
                "replica_id": -1,
                "topics": [
                    {
                        "name": "$topic:a",
                        "partitions": [
                            {"partition_index": 0, "timestamp": -1},
                            {"partition_index": 0, "timestamp": -2},
                            {"partition_index": 1, "timestamp": -2},
                        ],
                    }
                ],
            },
        ),
        Step(api="list_offsets", version=7, fields={"replica_id": -1}),
    ),
    _story(
        "leader_epochs",
        "the epoch that the asker believes in",
        made("a"),
        produce(batch("x")),
        *(
            step
            for epoch in (-1, 0, 1, -2)
            for step in list_offsets(LATEST, T0, current_leader_epoch=epoch)
        ),
    ),
    _story(
        "isolation_and_replicas",
        "read committed ends at the last stable offset; replicas and debuggers ask, too",
        made("a"),
        produce(batch("x", "y")),
        *list_offsets(LATEST, T0, T0 + 1, 2**62, isolation_level=1),
        *list_offsets(LATEST, isolation_level=3),
        Step(
            api="list_offsets",
            version=7,
            fields={
                "replica_id": -2,
                "topics": [
                    {
                        "name": "$topic:a",
                        "partitions": [{"partition_index": 0, "timestamp": -1}],
                    }
                ],
            },
        ),
        Step(
            api="list_offsets",
            version=7,
            fields={
                "replica_id": 77,
                "topics": [
                    {
                        "name": "$topic:a",
                        "partitions": [{"partition_index": 0, "timestamp": -1}],
                    }
                ],
            },
        ),
    ),
)


LEADER_EPOCHS = (
    *(
        _story(
            f"leader_epoch_version_{version}",
            "where an epoch ended: the current one, later ones, none",
            made("a"),
            *epoch_ends(0, 1, version=version),
            produce(batch("x", "y")),
            *epoch_ends(0, 1, -1, -2, 99, version=version),
        )
        for version in (2, 3, 4)
    ),
    _story(
        "leader_epoch_believed",
        "the asker's own epoch is checked first",
        made("a"),
        produce(batch("x")),
        *(
            step
            for believed in (-1, 0, 1, -2)
            for step in epoch_ends(0, current_leader_epoch=believed)
        ),
    ),
    _story(
        "leader_epoch_unknown_places",
        "topics and partitions that are not there",
        made("a"),
        *epoch_ends(0, partition=4),
        *epoch_ends(0, topic="missing"),
        *epoch_ends(0, topic="missing", version=2),
        Step(api="offset_for_leader_epoch", version=4, fields={"replica_id": -1}),
        Step(
            api="offset_for_leader_epoch",
            version=4,
            fields={
                "replica_id": 77,
                "topics": [
                    {"topic": "$topic:a", "partitions": [{"partition": 0, "leader_epoch": 0}]}
                ],
            },
        ),
    ),
    _story(
        "leader_epoch_after_deleting",
        "an epoch whose records are gone",
        made("a"),
        produce(batch("x", "y")),
        *deleted(-1),
        *epoch_ends(0, 1),
    ),
)


DELETING = (
    *(
        _story(
            f"delete_records_version_{version}",
            "up to an offset, up to the end",
            made("a"),
            produce(batch("x", "y", "z")),
            *deleted(1, version=version),
            *deleted(-1, version=version),
            fetch(fetched(offset=3)),
        )
        for version in (0, 1, 2)
    ),
    _story(
        "delete_records_bounds",
        "what is behind the end, before the start, negative",
        made("a"),
        produce(batch("x", "y", "z")),
        *deleted(4, -2, 2**62, 0, 2, 1, 2, 3, 3, 4),
        *list_offsets(EARLIEST, LATEST),
        produce(batch("w")),
        fetch(fetched(offset=3)),
    ),
    _story(
        "delete_records_of_empty_log",
        "nothing to delete",
        made("a"),
        *deleted(0, -1, 1),
    ),
    _story(
        "delete_records_inside_a_batch",
        "a batch stays readable from the new start on",
        made("a"),
        produce(batch("a", "b", "c")),
        *deleted(2),
        fetch(fetched(offset=2)),
        fetch(fetched(offset=1)),
        *list_offsets(EARLIEST, T0),
    ),
    _story(
        "delete_records_unknown_places",
        "topics and partitions that are not there",
        made("a"),
        *deleted(0, partition=5),
        *deleted(0, partition=-1),
        *deleted(0, topic="missing"),
        Step(api="delete_records", version=2, fields={"timeout": 5000}),
    ),
    _story(
        "delete_records_of_compacted",
        "a topic that only compacts does not let go of records by offset",
        made("a", configs={"cleanup.policy": "compact"}),
        produce(batch(record("x", key="k"))),
        *deleted(1, -1),
        made("b", configs={"cleanup.policy": "compact,delete"}),
        produce(batch(record("x", key="k")), topic="b"),
        *deleted(1, topic="b"),
    ),
    _story(
        "delete_records_of_internal_topic",
        "the cluster's own topics are not for everybody",
        Step(
            api="delete_records",
            version=2,
            fields={
                "topics": [
                    {
                        "name": "__cluster_metadata",
                        "partitions": [{"partition_index": 0, "offset": 0}],
                    }
                ],
                "timeout": 5000,
            },
        ),
    ),
)


SEQUENCES = (*LISTING, *LEADER_EPOCHS, *DELETING)

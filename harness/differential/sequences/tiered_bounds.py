"""Bounds of tiered logs in every version: offsets listed, epochs that end, records deleted."""

from __future__ import annotations

from collections.abc import Iterable

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    T0,
    TIMEOUT_MS,
    batch,
    fetch,
    fetched,
    idempotent,
    list_offsets,
    produce,
    producer_id,
    record,
)
from harness.differential.sequences.offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    PENDING_UPLOAD,
    deleted,
    epoch_ends,
)
from harness.differential.sequences.tiered import (
    NEWEST,
    altered_to,
    comes_to,
    elsewhere,
    remote,
    story,
    tiered,
)

UNKNOWN = -7
STAMPS = (T0, T0 + 25, T0 + 30, T0 + 31)
BOUNDS = (LATEST, EARLIEST, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD)
OFFSETS = range(7)  # of the five batches in both tiers, and beyond


def _listed(*partitions: tuple[int, int], replica: int = -1, wait_ms: int = TIMEOUT_MS) -> Step:
    """Several partitions by index and timestamp in one request of any role."""
    asked = [{"partition_index": index, "timestamp": stamp} for index, stamp in partitions]
    topics = [{"name": "$topic:a", "partitions": asked}]
    fields = {"replica_id": replica, "isolation_level": 0, "timeout": wait_ms, "topics": topics}
    return Step(api="list_offsets", version=NEWEST, fields=fields)


def each(offsets: Iterable[int] = OFFSETS, **more: int) -> tuple[Step, ...]:
    """One fetch at each offset, of a batch at most."""
    return tuple(fetch(fetched(offset=one, partition_max_bytes=1, **more)) for one in offsets)


LISTING = (
    *(
        story(
            f"list_version_{version:02}",
            "every timestamp but the greatest, as far as the version knows it",
            tiered(),
            *remote(),
            *list_offsets(UNKNOWN, *BOUNDS, *STAMPS, version=version),
        )
        for version in (1, 3, 5, 7, 8, 9, 10, 11)
    ),
    story(
        "list_committed",
        "the same for readers of committed records",
        tiered(),
        *remote(),
        *list_offsets(*BOUNDS, T0 + 5, version=NEWEST, isolation_level=1),
    ),
    story(
        "list_by_epoch",
        "every bound for clients that name an epoch",
        tiered(),
        *remote(),
        *(
            one
            for epoch in (0, 1, -1, -2)
            for one in list_offsets(*BOUNDS, T0, version=NEWEST, current_leader_epoch=epoch)
        ),
    ),
    story(
        "list_as_replicas",
        "every bound for replicas and for the debug consumer",
        tiered(),
        *remote(),
        *(
            _listed((0, stamp), replica=replica)
            for replica in (-2, 0, 1, 5)
            for stamp in (*BOUNDS, T0)
        ),
    ),
    story(
        "list_several",
        "a partition twice, one that is not there, and no time to wait",
        tiered(),
        *remote(),
        _listed((0, LATEST_TIERED), (0, EARLIEST_LOCAL)),
        _listed((7, LATEST_TIERED), (0, T0)),
        *(_listed((0, T0), wait_ms=wait_ms) for wait_ms in (-1, 0, 1)),
    ),
    story(
        "list_equal_timestamps",
        "searches among records of the same time, across the tiers",
        tiered(),
        *(produce(batch(record("v", stamp))) for stamp in (10, 10, 10, 5, 10, 3)),
        *elsewhere(3, 4),
        *list_offsets(T0, T0 + 5, T0 + 6, T0 + 10, T0 + 11, version=NEWEST),
    ),
)
EPOCHS = (
    *(
        story(
            f"epoch_ends_version_{version}",
            "where epochs end before and after DeleteRecords in the remote tier",
            tiered(),
            *remote(),
            *epoch_ends(0, 1, -1, 2**30, version=version),
            *deleted(3),
            *epoch_ends(0, 1, version=version),
        )
        for version in (0, 2, 4)
    ),
    story(
        "epoch_ends_of_nothing",
        "where epochs end of a log without records that had some",
        tiered(),
        *remote(),
        *deleted(5),
        *epoch_ends(0, 1),
        produce(batch("n")),
        *epoch_ends(0, 1),
        fetch(fetched(offset=5)),
    ),
)
DELETING = (
    *(
        story(
            f"delete_records_version_{version}",
            "offsets of either tier, some of them again, and none there are",
            tiered(),
            *remote(),
            *deleted(2, 2, 1, 0, -2, 9, 4, version=version),
            *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, version=NEWEST),
        )
        for version in (0, 1)
    ),
    story(
        "delete_records_inside_a_batch",
        "the log start inside a remote batch: it is read whole, and searched from the start on",
        tiered(),
        produce(batch("a", "b", "c")),
        produce(batch("d", "e", "f")),
        produce(batch("g")),
        *elsewhere(5, 6),
        *(
            step
            for offset in (1, 4)
            for step in (
                *deleted(offset),
                *list_offsets(*BOUNDS, T0, T0 + 1, version=NEWEST),
                *each((offset - 1, offset)),
            )
        ),
    ),
    story(
        "delete_records_then_fetch",
        "every offset after most of the remote tier is deleted, with and without epochs",
        tiered(),
        *remote(),
        *deleted(3),
        *each(),
        *each(last_fetched_epoch=0),
    ),
    story(
        "delete_records_then_repeat",
        "a producer repeats the last batch after all records are deleted",
        tiered(),
        producer_id(),
        *(produce(idempotent(at, f"v{at}")) for at in range(5)),
        *elsewhere(3, 4),
        *deleted(5),
        produce(idempotent(4, "v4")),
        produce(idempotent(5, "v5")),
        *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, version=NEWEST),
    ),
    story(
        "retention_by_time",
        "all there is expires, from both tiers",
        tiered(),
        *remote(),
        altered_to(("retention.ms", 0, "1"), ("local.retention.ms", 0, "1")),
        comes_to(EARLIEST, 5),
        *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, T0, version=NEWEST),
        *epoch_ends(0, 1),
        *each((4, 5)),
    ),
)
SEQUENCES = (*LISTING, *EPOCHS, *DELETING)

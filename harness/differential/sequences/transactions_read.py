"""Reading what transactions wrote: committed records alone, and what was aborted."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    T0,
    batch,
    describe_producers,
    fetched,
    list_offsets,
    made,
    produce,
    record,
)
from harness.differential.sequences.transacting import (
    COMMITTED_ONLY,
    aborted,
    added,
    begun,
    committed,
    described,
    ended,
    init,
    read,
    sent,
    settled,
    story,
    within,
)

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3


def _both(offset: int = 0, **more: Any) -> tuple[Step, ...]:
    at = fetched(offset=offset)
    return read(at, **more), read(at, level=0, **more)


_TWO_PRODUCERS = (made("a"), *begun("t"), *begun("u", "other"))

FETCHES = (
    story(
        "read_open",
        "nothing behind the first record of an open transaction is shown",
        made("a"),
        *begun(),
        produce(batch("p", "q")),
        added(),
        sent(within(0, "x")),
        produce(batch("r")),
        *_both(),
        *_both(2),
        *_both(3),
        *_both(4),
        *_both(5),
        *committed(),
        *_both(),
        *_both(4),
    ),
    story(
        "read_open_by_version",
        "an open transaction, by every version",
        made("a"),
        *begun(),
        produce(batch("p")),
        added(),
        sent(within(0, "x")),
        *(read(version=version) for version in range(4, 19)),
    ),
    story(
        "read_aborted_by_version",
        "an aborted transaction, by every version",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *aborted(),
        *(read(version=version) for version in range(4, 19)),
    ),
    story(
        "read_aborted_from",
        "which aborted transactions a reader is told of depends on where it begins",
        made("a"),
        *begun(),
        produce(batch("p")),
        added(),
        sent(within(0, "x", "y")),
        sent(within(2, "z")),
        *aborted(),
        produce(batch("q")),
        added(),
        sent(within(3, "v")),
        *aborted(),
        produce(batch("r")),
        *(read(fetched(offset=offset)) for offset in range(10)),
        *_both(0),
    ),
    story(
        "read_interleaved",
        "transactions of two producers that overlap: one aborted, one committed",
        *_TWO_PRODUCERS,
        added(),
        added(tid="u", pid="$ref:other"),
        sent(within(0, "x1")),
        sent(within(0, "y1", pid="$ref:other"), tid="u"),
        sent(within(1, "x2")),
        *_both(),
        *aborted(),
        *_both(),
        sent(within(1, "y2", pid="$ref:other"), tid="u"),
        *_both(),
        *committed("u", pid="$ref:other"),
        *(read(fetched(offset=offset)) for offset in (0, 1, 2, 3, 4, 5, 6)),
    ),
    story(
        "read_interleaved_other_way",
        "the later transaction ends first",
        *_TWO_PRODUCERS,
        added(),
        added(tid="u", pid="$ref:other"),
        sent(within(0, "x1")),
        sent(within(0, "y1", pid="$ref:other"), tid="u"),
        *aborted("u", pid="$ref:other"),
        *_both(),
        *_both(1),
        produce(batch("p")),
        *aborted(),
        *_both(),
        *_both(2),
        *_both(4),
    ),
    story(
        "read_a_little",
        "limits in bytes, and what is told of aborted transactions behind them",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *aborted(),
        produce(batch("p")),
        added(),
        sent(within(1, "y")),
        *aborted(),
        read(fetched(partition_max_bytes=1)),
        read(fetched(partition_max_bytes=100)),
        read(fetched(partition_max_bytes=200)),
        read(fetched(offset=2, partition_max_bytes=1)),
        read(fetched(offset=3, partition_max_bytes=1)),
        read(max_bytes=1),
    ),
    story(
        "read_bumped",
        "transactions of the newer protocol: markers have the epoch after the bump",
        made("a"),
        *begun(),
        sent(within(0, "x"), version=12),
        *aborted(version=5),
        sent(within(0, "y", epoch=1), version=12),
        *committed(version=5, epoch=1),
        sent(within(0, "z", epoch=2), version=13),
        *_both(),
        *_both(2),
    ),
    story(
        "read_only_markers",
        "a partition that was added but never written to has a marker",
        made("a"),
        *begun(),
        added(),
        *committed(),
        *_both(),
        added(),
        *aborted(),
        *_both(),
    ),
    story(
        "read_several_partitions",
        "each partition has its own open and aborted transactions",
        made("a", partitions=3),
        *begun(),
        *begun("u", "other"),
        added({"a": [0, 1]}),
        sent(within(0, "x")),
        sent(within(0, "y"), partition=1),
        *aborted(),
        added({"a": [1, 2]}, tid="u", pid="$ref:other"),
        sent(within(0, "z", pid="$ref:other"), tid="u", partition=1),
        sent(within(0, "z", pid="$ref:other"), tid="u", partition=2),
        read(fetched(0), fetched(1), fetched(2)),
        *committed("u", pid="$ref:other"),
        read(fetched(0), fetched(1), fetched(2)),
    ),
    story(
        "read_after_records_are_deleted",
        "what is before the start of the log is told of no more",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *aborted(),
        added(),
        sent(within(1, "y")),
        Step(
            api="delete_records",
            version=2,
            fields={
                "topics": [
                    {"name": "$topic:a", "partitions": [{"partition_index": 0, "offset": -1}]}
                ],
                "timeout": 5000,
            },
        ),
        *_both(3),
        read(fetched(offset=0)),
        *aborted(),
        *_both(3),
        *list_offsets(EARLIEST, LATEST, isolation_level=COMMITTED_ONLY),
    ),
)

TIMED_OUT = (
    story(
        "timed_out",
        "a transaction that takes too long is aborted, and its producer shut out",
        made("a"),
        *begun(transaction_timeout=1),
        added(),
        sent(within(0, "x")),
        settled("CompleteAbort"),
        described(),
        describe_producers(0),
        sent(within(1, "y"), note="after the time"),
        sent(within(1, "y"), version=12, note="after the time"),
        added(note="after the time"),
        added(version=5, note="after the time"),
        ended(note="after the time"),
        ended(False, version=5, note="after the time"),
        *_both(),
        init(producer_id="$ref:pid", producer_epoch=0),
        init(),
        described(),
    ),
    story(
        "timed_out_bumped",
        "the same by the newer protocol",
        made("a"),
        *begun(transaction_timeout=1),
        sent(within(0, "x"), version=12),
        settled("CompleteAbort"),
        described(),
        describe_producers(0),
        sent(within(1, "y"), version=12, note="after the time"),
        ended(True, version=5, note="after the time"),
        ended(False, version=5, note="after the time"),
        ended(False, version=4, note="after the time"),
        init(producer_id="$ref:pid", producer_epoch=0),
        described(),
    ),
)

OFFSETS = (
    story(
        "offsets_of_committed",
        "the latest offset of a reader of committed records is the last stable one",
        made("a"),
        *begun(),
        produce(batch(record("p", 0), record("q", 10))),
        added(),
        sent(within(0, record("x", 20))),
        produce(batch(record("r", 30))),
        *(
            step
            for level in (0, COMMITTED_ONLY)
            for step in list_offsets(
                *(EARLIEST, LATEST, MAX_TIMESTAMP, T0, T0 + 5, T0 + 15, T0 + 25, T0 + 31),
                isolation_level=level,
            )
        ),
        *committed(),
        *(
            step
            for level in (0, COMMITTED_ONLY)
            for step in list_offsets(EARLIEST, LATEST, T0 + 25, isolation_level=level)
        ),
    ),
    story(
        "offsets_by_version",
        "the last stable offset by every version",
        made("a"),
        *begun(),
        produce(batch("p")),
        added(),
        sent(within(0, "x")),
        *(
            step
            for version in range(1, 11)
            for step in list_offsets(LATEST, version=version, isolation_level=COMMITTED_ONLY)
        ),
        *list_offsets(LATEST, isolation_level=2),
    ),
)

SEQUENCES = (*FETCHES, *TIMED_OUT, *OFFSETS)

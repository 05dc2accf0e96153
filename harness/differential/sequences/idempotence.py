"""Idempotent producers: duplicates, gaps, the window of five, epochs, the end of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    batch,
    describe_producers,
    fetch,
    fetched,
    idempotent,
    list_offsets,
    made,
    produce,
    producer_id,
)

LAST_SEQUENCE = 2**31 - 1

LAST_EPOCH = 2**15 - 1


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"idempotence/{name}", about=about, steps=steps)


def _init(version: int = 4, **fields: Any) -> Step:
    said: Mapping[str, Any] = {"transactional_id": None, "transaction_timeout": 60_000, **fields}
    return Step(api="init_producer_id", version=version, fields=said)


PRODUCER_IDS = (
    _story(
        "producer_ids",
        "an id by every version, each with epoch 0",
        *(producer_id(f"pid{version}", version) for version in range(6)),
    ),
    _story(
        "producer_id_unsupported_version",
        "version 6 is not offered yet",
        _init(6),
        _init(7),
    ),
    _story(
        "producer_id_bumps",
        "what a producer without transactions gets who names its id and epoch",
        producer_id(),
        _init(producer_id="$ref:pid", producer_epoch=0),
        _init(producer_id="$ref:pid", producer_epoch=5),
        _init(producer_id=5),
        _init(producer_epoch=5),
        _init(producer_id="$ref:pid", producer_epoch=-1),
    ),
    _story(
        "producer_id_transaction_timeouts",
        "a timeout means nothing without a transactional id",
        producer_id(),
        _init(transaction_timeout=0),
        _init(transaction_timeout=-1),
        _init(transaction_timeout=2**31 - 1),
    ),
    _story(
        "producer_id_empty_transactional_id",
        "an empty transactional id is no id",
        _init(transactional_id=""),
        _init(1, transactional_id=""),
    ),
)


DUPLICATES = (
    _story(
        "duplicate_of_the_last",
        "the same batch again is answered with its old offset and written once",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x", "y")),
        produce(idempotent(0, "x", "y")),
        produce(idempotent(2, "z")),
        produce(idempotent(0, "x", "y")),
        produce(idempotent(2, "z"), version=13),
        fetch(),
    ),
    _story(
        "window_of_five",
        "the last five batches are remembered; what is older is out of order",
        made("a"),
        producer_id(),
        *(produce(idempotent(at, f"v{at}")) for at in range(6)),
        *(
            produce(idempotent(at, f"v{at}"), note=f"number {at} again")
            for at in (5, 4, 3, 2, 1, 0)
        ),
        *list_offsets(-1),
    ),
    _story(
        "duplicate_with_other_bounds",
        "a batch that overlaps an old one without being it",
        made("a"),
        producer_id(),
        produce(idempotent(0, "a", "b", "c")),
        produce(idempotent(0, "a", "b")),
        produce(idempotent(1, "b", "c")),
        produce(idempotent(2, "c", "d")),
        produce(idempotent(0, "a", "b", "c", "d")),
        produce(idempotent(3, "d")),
        fetch(),
    ),
    _story(
        "duplicate_with_other_values",
        "a duplicate is known by its numbers, not by its values",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x")),
        produce(idempotent(0, "something else")),
        fetch(),
    ),
    _story(
        "duplicate_after_others",
        "another producer's batches do not push mine out of the window",
        made("a"),
        producer_id(),
        producer_id("other"),
        produce(idempotent(0, "x")),
        *(produce(idempotent(at, "o", pid="$ref:other")) for at in range(7)),
        produce(idempotent(0, "x")),
        produce(batch("plain")),
        produce(idempotent(0, "x")),
        *list_offsets(-1),
    ),
    _story(
        "duplicate_in_log_append_time",
        "the answer to a duplicate carries a timestamp",
        made("a", configs={"message.timestamp.type": "LogAppendTime"}),
        producer_id(),
        produce(idempotent(0, "x")),
        produce(idempotent(0, "x")),
    ),
    _story(
        "duplicate_with_acks_one_and_zero",
        "duplicates with less patience",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x"), acks=1),
        produce(idempotent(0, "x"), acks=1),
        produce(idempotent(0, "x"), acks=0),
        produce(idempotent(7, "x"), acks=0),
        fetch(),
    ),
    _story(
        "each_partition_for_itself",
        "sequences are counted per partition",
        made("a", partitions=2),
        producer_id(),
        produce(idempotent(0, "x")),
        produce(idempotent(0, "x"), partition=1),
        produce(idempotent(1, "x"), partition=1),
        produce(idempotent(2, "x")),
        fetch(fetched(0), fetched(1)),
    ),
    _story(
        "duplicate_compressed",
        "compression does not matter to a duplicate",
        made("a"),
        producer_id(),
        produce({**idempotent(0, "x"), "compression": "gzip"}),
        produce({**idempotent(0, "x"), "compression": "lz4"}),
        produce(idempotent(0, "x")),
        fetch(),
    ),
)


GAPS = (
    _story(
        "first_sequence_not_zero",
        "a producer that the partition does not know may begin anywhere",
        made("a"),
        producer_id(),
        produce(idempotent(7, "x")),
        produce(idempotent(8, "y")),
        produce(idempotent(0, "z")),
        fetch(),
    ),
    _story(
        "gap",
        "a sequence left out is refused, and the right one is still welcome",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x")),
        produce(idempotent(2, "z")),
        produce(idempotent(2, "z"), version=7),
        produce(idempotent(1, "y")),
        produce(idempotent(2, "z")),
        fetch(),
    ),
    _story(
        "negative_sequence",
        "sequences below zero",
        made("a"),
        producer_id(),
        produce(idempotent(-1, "x")),
        produce(idempotent(-2, "x")),
        produce(idempotent(0, "x", epoch=-1)),
        fetch(),
    ),
    _story(
        "unknown_producer_id",
        "ids that were never given out are taken all the same",
        made("a"),
        produce(idempotent(0, "x", pid=9_999_999)),
        produce(idempotent(1, "x", pid=9_999_999)),
        produce(idempotent(3, "x", pid=9_999_999)),
        *list_offsets(-1),
    ),
    _story(
        "after_records_are_deleted",
        "deleting the records does not make the partition forget the producer",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x", "y")),
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
        produce(idempotent(0, "x", "y")),
        produce(idempotent(5, "z")),
        produce(idempotent(2, "z")),
        fetch(fetched(offset=2)),
    ),
)


EPOCHS = (
    _story(
        "newer_epoch",
        "a newer epoch begins at zero and shuts the older one out",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x")),
        produce(idempotent(1, "y", epoch=1), note="not zero"),
        produce(idempotent(0, "y", epoch=1)),
        produce(idempotent(1, "x", epoch=0), note="the old epoch goes on"),
        produce(idempotent(0, "x", epoch=0), note="the old epoch repeats itself"),
        produce(idempotent(1, "z", epoch=1)),
        produce(idempotent(0, "w", epoch=5), note="epochs may be left out"),
        fetch(),
    ),
    _story(
        "older_epoch_by_version",
        "the error of a fenced producer",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x", epoch=3)),
        *(produce(idempotent(1, "x", epoch=2), version=one) for one in (3, 7, 9, 10, 13)),
    ),
)


ENDS_OF_NUMBERS = (
    _story(
        "sequence_wraps",
        "after the largest sequence comes zero",
        made("a"),
        producer_id(),
        produce(idempotent(LAST_SEQUENCE, "x")),
        produce(idempotent(0, "y")),
        produce(idempotent(LAST_SEQUENCE, "x")),
        produce(idempotent(1, "z")),
        *list_offsets(-1),
    ),
    _story(
        "sequence_wraps_inside_a_batch",
        "a batch may reach over the end of the numbers",
        made("a"),
        producer_id(),
        produce(idempotent(LAST_SEQUENCE - 1, "a", "b", "c", "d")),
        produce(idempotent(1, "e"), note="one too early"),
        produce(idempotent(2, "e")),
        produce(idempotent(LAST_SEQUENCE - 1, "a", "b", "c", "d")),
        *list_offsets(-1),
    ),
    _story(
        "epoch_at_its_end",
        "the largest epoch is an epoch like any other to the log",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x", epoch=LAST_EPOCH)),
        produce(idempotent(1, "y", epoch=LAST_EPOCH)),
        produce(idempotent(0, "y", epoch=0)),
        *list_offsets(-1),
    ),
)


DESCRIBED = (
    _story(
        "described_producers",
        "a log tells of each producer its epoch, its last number and its last timestamp",
        made("a", partitions=2),
        describe_producers(0, 1),
        producer_id(),
        producer_id("other"),
        produce(idempotent(0, "x", "y")),
        produce(idempotent(0, "o", pid="$ref:other")),
        produce(batch("plain")),
        describe_producers(0, 1),
        produce(idempotent(0, "z", epoch=3)),
        produce(idempotent(1, "late"), note="an epoch that is over"),
        describe_producers(0, 0),
    ),
    _story(
        "described_producers_nowhere",
        "topics and partitions that are not there, and names that no topic can have",
        made("a"),
        describe_producers(0, 1, -1),
        describe_producers(0, topic="nowhere"),
        describe_producers(topic="nowhere"),
        describe_producers(0, topic="nowhere/"),
        describe_producers(0, topic=""),
    ),
)


SEQUENCES = (*PRODUCER_IDS, *DUPLICATES, *GAPS, *EPOCHS, *ENDS_OF_NUMBERS, *DESCRIBED)

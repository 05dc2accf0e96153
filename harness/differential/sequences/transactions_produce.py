"""Producing within transactions, beside them, and after their end."""

from __future__ import annotations

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    Said,
    batch,
    describe_producers,
    idempotent,
    list_offsets,
    made,
    produce,
    producer_id,
)
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    coordinated,
    described,
    init,
    read,
    sent,
    settled,
    story,
    within,
)

VERSIONS = (9, 11, 12, 13)
BY_NAME = 12


def _to_partitions(version: int, *indexes: int, sequence: int = 0) -> Step:
    return _each(version, *((one, within(sequence, "x")) for one in indexes))


def _each(version: int, *batches: tuple[int, Said]) -> Step:
    topic = {"name": "$topic:a"} if version <= BY_NAME else {"topic_id": "$topic_id:a"}
    data = [{"index": index, "records": [one]} for index, one in batches]
    fields = {
        "transactional_id": "$topic:t",
        "acks": -1,
        "timeout": TIMEOUT_MS,
        "topic_data": [topic | {"partition_data": data}],
    }
    return Step(api="produce", version=version, fields=fields)


NOT_ADDED = tuple(
    story(
        f"produce_not_added_v{version}",
        "a batch to a partition that was not added to its transaction",
        made("a", partitions=2),
        *begun(),
        sent(within(0, "x"), version=version),
        described(),
        added({"a": [0]}),
        sent(within(0, "x"), partition=1, version=version),
        sent(within(0, "x"), version=version),
        describe_producers(0, 1),
        described(),
        *list_offsets(-1),
        *list_offsets(-1, partition=1),
    )
    for version in VERSIONS
)

IN_ORDER = tuple(
    story(
        f"produce_in_order_v{version}",
        "sequence numbers count within transactions as everywhere",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x", "y"), version=version),
        sent(within(0, "x", "y"), version=version, note="again"),
        sent(within(3, "gap"), version=version),
        sent(within(2, "z"), version=version),
        sent(within(3, "late", epoch=1), version=version, note="an epoch that is not yet"),
        *committed(),
        sent(within(3, "after"), version=version, note="after the end"),
        sent(within(2, "z"), version=version, note="again, after the end"),
        describe_producers(0),
        read(),
    )
    for version in (9, 13)
)

AFTER_ENDS = (
    story(
        "produce_after_bumped_end",
        "after an end that bumps the epoch, nothing of the old epoch is taken",
        made("a"),
        *begun(),
        sent(within(0, "x"), version=12),
        *committed(version=5),
        sent(within(1, "y"), version=12, note="the epoch before the bump"),
        sent(within(0, "x"), version=12, note="again"),
        sent(within(1, "y"), version=9, note="the epoch before the bump"),
        sent(within(1, "y", epoch=1), version=12, note="not zero"),
        sent(within(0, "y", epoch=1), version=12),
        describe_producers(0),
        *aborted(version=5, epoch=1),
        describe_producers(0),
        read(),
    ),
    story(
        "produce_after_old_end",
        "after an end of the older protocol sequence numbers go on",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *aborted(),
        sent(within(1, "y"), note="of no transaction"),
        added(),
        sent(within(0, "y"), note="from zero again"),
        sent(within(1, "y")),
        describe_producers(0),
        *committed(),
        describe_producers(0),
        read(),
    ),
    story(
        "produce_of_a_replaced_producer",
        "a producer that was replaced writes nothing more",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        init(),
        settled("CompleteAbort"),
        init(),
        *(sent(within(1, "y"), version=version) for version in VERSIONS),
        *(sent(within(0, "y", epoch=1), version=version) for version in (9, 12)),
        added(epoch=2),
        sent(within(0, "z", epoch=2)),
        *(sent(within(1, "y"), version=version) for version in VERSIONS),
        *committed(epoch=2),
        read(),
    ),
)

STRANGERS = (
    story(
        "produce_without_transactional_id",
        "a transactional batch whose request names no transactional id",
        made("a"),
        *begun(),
        added(),
        *(sent(within(0, "x"), tid=None, version=version) for version in VERSIONS),
        *(sent(within(0, "x"), tid="", version=version) for version in VERSIONS),
        *list_offsets(-1),
    ),
    story(
        "produce_of_unknown_transactional_id",
        "a transactional id of which nothing is known",
        made("a"),
        *begun(),
        coordinated("$topic:unknown"),
        *(sent(within(0, "x"), tid="unknown", version=version) for version in VERSIONS),
        *list_offsets(-1),
    ),
    story(
        "produce_of_another_producer",
        "a transactional id with the id or epoch of another producer",
        made("a"),
        *begun(),
        producer_id("other"),
        added(),
        *(sent(within(0, "x", pid="$ref:other"), version=version) for version in VERSIONS),
        *(sent(within(0, "x", epoch=3), version=version) for version in VERSIONS),
        describe_producers(0),
        *list_offsets(-1),
    ),
    story(
        "produce_beside_a_transaction",
        "who has a transaction open writes nothing outside of it",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        produce(idempotent(1, "y")),
        produce(idempotent(1, "y"), version=12),
        sent(idempotent(1, "y")),
        produce(batch("plain")),
        sent(batch("plain")),
        sent(within(1, "y")),
        *committed(),
        produce(idempotent(2, "z")),
        sent(batch("plain")),
        read(),
    ),
    story(
        "produce_of_two_producers",
        "the transactional batches of a request are of one producer",
        made("a", partitions=3),
        *begun(),
        *begun("u", "other"),
        added({"a": [0, 1]}),
        *(
            _each(version, (0, within(0, "x")), (1, within(0, "y", pid="$ref:other")))
            for version in VERSIONS
        ),
        _each(9, (0, within(0, "x")), (1, within(0, "y", epoch=1)), (2, batch("plain"))),
        _each(9, (0, within(0, "x")), (1, idempotent(0, "y")), (2, batch("plain"))),
        _each(12, (7, within(0, "x", pid="$ref:other")), (1, within(1, "y"))),
        *(step for one in (0, 1, 2) for step in list_offsets(-1, partition=one)),
    ),
    story(
        "produce_behind_a_refused_one",
        "while a lower number waits to be verified, no higher one is written",
        made("a"),
        *begun(),
        sent(within(3, "x"), note="not added yet"),
        added(),
        sent(within(4, "y")),
        sent(within(3, "x")),
        sent(within(4, "y")),
        *committed(),
        describe_producers(0),
    ),
    story(
        "produce_begins_at_zero",
        "a producer with an epoch for each transaction begins at zero where it is not known",
        made("a", partitions=2),
        *begun(),
        sent(within(2, "x"), version=12),
        sent(within(2, "x"), version=9),
        sent(within(0, "x"), version=12),
        sent(within(1, "y"), version=12),
        *committed(version=5),
        sent(within(2, "x", epoch=1), partition=1, version=9, note="not added"),
        added({"a": [1]}, epoch=1),
        sent(within(2, "x", epoch=1), partition=1, version=9),
        describe_producers(0, 1),
    ),
    story(
        "produce_two_in_one_request",
        "two batches to a partition, transactional or not",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x"), within(1, "y")),
        sent(batch("plain"), within(0, "x")),
        sent(within(0, "x"), batch("plain")),
        *list_offsets(-1),
    ),
    story(
        "produce_acks_of_transactions",
        "acks and transactional batches",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x"), acks=1),
        sent(within(1, "y"), acks=1, version=12),
        sent(within(2, "z"), acks=-1),
        describe_producers(0),
    ),
    story(
        "produce_control_batch",
        "clients write no markers",
        made("a"),
        *begun(),
        added(),
        sent(
            {**within(0, "x"), "patch": {**within(0, "x")["patch"], "attributes": 0x30}},
        ),
        sent(batch("x", patch={"attributes": 0x10}), note="transactional, but of no producer"),
        sent(within(-1, "x"), note="no sequence"),
        *list_offsets(-1),
    ),
)

SEVERAL = tuple(
    story(
        f"produce_to_several_v{version}",
        "each partition of a request for itself",
        made("a", partitions=3),
        *begun(),
        added({"a": [0, 1]}),
        _to_partitions(version, 0, 1, 2, 7),
        _to_partitions(version, 0, 1, sequence=1),
        described(),
        describe_producers(0, 1, 2),
        *committed(),
        _to_partitions(version, 0, 2, sequence=2),
        described(),
        *(read(*({"partition": one, "fetch_offset": 0, "partition_max_bytes": 1 << 20},))
          for one in (0, 1, 2)),
    )
    for version in VERSIONS
)  # fmt: skip

SEQUENCES = (*NOT_ADDED, *IN_ORDER, *AFTER_ENDS, *STRANGERS, *SEVERAL)

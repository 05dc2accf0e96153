"""Transactions and the logs under them: deleted records and topics, batches of every kind."""

from __future__ import annotations

from functools import partial

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    Said,
    batch,
    describe_producers,
    fetched,
    idempotent,
    list_offsets,
    made,
    produce,
    record,
)
from harness.differential.sequences.replicas import delete
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    described,
    ended,
    init,
    marked,
    marker,
    named,
    read,
    sent,
    settled,
    story,
    within,
)

BY_ID = 13
VERSIONS = (3, 10, 11, 12, 13)
EARLIEST, LATEST, LARGEST = -2, -1, -3
LAST_SEQUENCE = 2**31 - 1
UNKNOWN_CODEC = batch("x", patch={"attributes": 5})


def _gone() -> Step:
    fields = {"topics": [{"name": "$topic:a"}], "timeout": TIMEOUT_MS}
    return Step(api="delete_topics", version=6, fields=fields, compared=False)


def _to(version: int, *places: tuple[str, int, Said], tid: str | None = "t") -> Step:
    """Batches to several topics at once."""
    topics: dict[str, list[Said]] = {}
    for name, partition, one in places:
        topics.setdefault(name, []).append({"index": partition, "records": [one]})
    asked = [
        ({"topic_id": f"$topic_id:{name}"} if version >= BY_ID else {"name": f"$topic:{name}"})
        | {"partition_data": partitions}
        for name, partitions in topics.items()
    ]
    fields = {
        "acks": -1,
        "timeout": TIMEOUT_MS,
        "transactional_id": named(tid),
        "topic_data": asked,
    }
    return Step(api="produce", version=version, fields=fields)


def _looks() -> tuple[Step, ...]:
    return described(), describe_producers(0, 1, 2, 3)


def _in_each_state(version: int) -> RequestSequence:
    send = partial(sent, version=version)
    return story(
        f"produce_in_each_state_v{version}",
        "batches before, within and after a transaction of the older protocol",
        made("a", partitions=4),
        *begun(),
        send(within(0, "x")),
        added({"a": [1]}),
        send(within(0, "x"), partition=1),
        send(within(1, "y"), within(2, "z"), partition=1),
        send(within(0, "x"), partition=1),
        send(within(5, "x"), partition=1),
        *(send(within(1, "x", epoch=one), partition=1) for one in (-1, 1)),
        send(within(0, "x", epoch=1), partition=2),
        send(within(0, "x", pid="$ref:pid+3"), partition=2),
        send(within(0, "x"), partition=9),
        send(within(-1, "x"), partition=2),
        *(send(within(0, "x", pid=-1, epoch=one), partition=2) for one in (0, -1)),
        *_looks(),
        *committed(),
        send(within(1, "q")),
        send(within(3, "q"), partition=1),
        *_looks(),
    )


def _bumped_in_each_state(version: int) -> RequestSequence:
    send = partial(sent, version=version)
    return story(
        f"produce_bumped_in_each_state_v{version}",
        "the same by the newer protocol, in every version of Produce",
        made("a", partitions=4),
        *begun(),
        *(sent(within(0, "x"), partition=one, version=12) for one in (0, 1)),
        *committed(version=5),
        send(within(1, "late")),
        send(within(1, "y", epoch=1)),
        send(within(0, "y", epoch=1)),
        send(within(0, "y", epoch=2)),
        send(within(0, "y", epoch=1), partition=2),
        send(within(3, "y", epoch=1), partition=3),
        *_looks(),
        *aborted(epoch=1, version=5),
        read(fetched(0), fetched(1), fetched(2)),
    )


def _to_topics(version: int) -> RequestSequence:
    return story(
        f"produce_to_topics_v{version}",
        "several topics and partitions, some of them not in the transaction",
        made("a", partitions=3),
        made("b"),
        *begun(),
        added({"a": [0]}),
        _to(version, ("a", 0, within(0, "x")), ("a", 1, within(0, "x")), ("b", 0, within(0, "x"))),
        _to(version, ("a", 0, within(1, "x")), ("a", 7, within(0, "x")), ("b", 0, within(0, "x"))),
        _to(version, ("a", 0, within(2, "x")), ("b", 0, batch("plain"))),
        _to(version, ("a", 0, within(2, "x")), ("b", 0, idempotent(0, "i"))),
        _to(version, ("a", 0, within(0, "x", epoch=4)), ("a", 1, within(0, "x"))),
        _to(version, ("a", 0, within(2, "x")), tid=""),
        _to(version, ("a", 0, within(2, "x")), tid="strange"),
        *_looks(),
    )


LOGS = (
    story(
        "deleted_into",
        "records of an open transaction are deleted as far as they are replicated",
        made("a"),
        *begun(),
        produce(batch("p", "q")),
        added(),
        sent(within(0, "x", "y")),
        *(delete(one) for one in (1, 2, 3, 4, 5, -1, -2, 9)),
        describe_producers(0),
        *(read(fetched(0, one)) for one in (3, 4)),
        *list_offsets(LATEST, EARLIEST, isolation_level=1),
        sent(within(2, "z")),
        *aborted(),
        read(fetched(0, 4)),
        delete(-1),
        describe_producers(0),
        added(),
        sent(within(3, "w")),
        *committed(),
        read(fetched(0, 6)),
    ),
    story(
        "deleted_with_aborts",
        "which aborts a reader is told of while the log loses its beginning",
        made("a"),
        *begun(),
        *(
            step
            for one in range(3)
            for step in (added(), sent(within(2 * one, "x", "y")), *aborted())
        ),
        produce(batch("p")),
        *(
            step
            for one in (1, 3, 5, 7, 9)
            for step in (delete(one), read(fetched(0, one)), read(fetched(0, one + 1)))
        ),
        describe_producers(0),
    ),
    story(
        "topic_made_again",
        "a topic that is made again within a transaction knows nothing of it",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        _gone(),
        sent(within(1, "y")),
        made("a"),
        sent(within(1, "y")),
        sent(within(1, "y"), version=12),
        sent(within(0, "y"), version=12),
        *_looks(),
        *committed(),
        read(),
        describe_producers(0),
    ),
    story(
        "markers_in_append_time",
        "a log that stamps the time of appends does so with markers",
        made("a", configs={"message.timestamp.type": "LogAppendTime"}),
        *begun(),
        added(),
        sent(within(0, "x")),
        *aborted(),
        added(),
        sent(within(1, "y")),
        *committed(),
        read(),
        describe_producers(0),
    ),
    story(
        "markers_of_no_version",
        "a marker has to say of which transaction version it is",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *(marked(marker(bumps=one), version=2) for one in (-1, -2, 0, 1, 127)),
        marked(marker({"a": [0, 7], "nowhere": [0]}, bumps=-1), version=2),
        marked(marker(coordinator=-5, bumps=-1), version=2),
        marked(marker(pid=-6, epoch=-2, coordinator=-5, bumps=-1), version=2),
        describe_producers(0),
        read(),
    ),
    story(
        "markers_named_twice",
        "a partition that a marker names twice has one of them",
        made("a", partitions=2),
        *begun(),
        added({"a": [0, 1]}),
        sent(within(0, "x")),
        marked(marker({"a": [0, 0]})),
        *list_offsets(LATEST),
        marked(marker({"a": [7, 7]})),
        marked(marker({"a": [1]}), marker({"a": [1]}, commit=False)),
        *list_offsets(LATEST, partition=1),
    ),
    story(
        "sequence_numbers_wrap",
        "after the largest sequence number comes zero",
        made("a", partitions=2),
        *begun(),
        added({"a": [0, 1]}),
        sent(within(LAST_SEQUENCE - 1, "a", "b")),
        sent(within(LAST_SEQUENCE, "c")),
        sent(within(0, "c")),
        describe_producers(0),
        init(),
        settled("CompleteAbort"),
        init(),
        added({"a": [0, 1]}, epoch=2),
        *(sent(within(5, "c", epoch=2), partition=one) for one in (0, 1)),
        sent(within(0, "c", epoch=2)),
        describe_producers(0, 1),
    ),
    story(
        "sequence_numbers_again",
        "the last five batches are known again, also once their transaction has ended",
        made("a"),
        *begun(),
        added(),
        *(sent(within(one, f"x{one}")) for one in range(7)),
        *(sent(within(one, f"x{one}"), note="again") for one in range(7)),
        sent(within(5, "x5", "x6")),
        *committed(),
        sent(within(6, "x6"), note="again"),
        sent(within(6, "x6"), version=12, note="again"),
        sent(within(7, "new")),
        describe_producers(0),
    ),
    story(
        "offsets_of_open_first",
        "where the first record is undecided, before and after it is deleted",
        made("a"),
        *begun(),
        added(),
        sent(within(0, record("x", at=3))),
        *(
            step
            for level in (0, 1)
            for step in list_offsets(LATEST, EARLIEST, LARGEST, version=8, isolation_level=level)
        ),
        delete(-1),
        *list_offsets(LATEST, EARLIEST, LARGEST, version=8, isolation_level=1),
        read(),
        read(fetched(0, 1)),
        *committed(),
        read(fetched(0, 1)),
    ),
    story(
        "offsets_for_no_consumers",
        "only a consumer has an isolation level",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x", "y")),
        *(
            Step(
                api="list_offsets",
                version=version,
                fields={
                    "replica_id": replica,
                    "isolation_level": 1,
                    "topics": [
                        {
                            "name": "$topic:a",
                            "partitions": [{"partition_index": 0, "timestamp": timestamp}],
                        }
                    ],
                },
            )
            for version in (2, 8)
            for replica in (-1, -2, -7, 5)
            for timestamp in ((LATEST, LARGEST) if version > 7 else (LATEST,))
        ),
    ),
    *(
        story(
            f"codec_among_others_v{version}",
            "old versions stumble over a codec that there is not, before anything is written",
            made("a", partitions=2),
            *begun(),
            added({"a": [0, 1]}),
            _to(version, ("a", 0, UNKNOWN_CODEC), ("a", 1, batch("plain")), tid=None),
            _to(version, ("a", 0, batch("plain")), ("a", 1, UNKNOWN_CODEC), tid=None),
            _to(version, ("a", 0, within(0, "x")), ("a", 1, UNKNOWN_CODEC)),
            _to(version, ("a", 7, batch("plain")), ("a", 1, UNKNOWN_CODEC), tid=None),
            _to(version, ("a", 7, UNKNOWN_CODEC), ("a", 1, batch("plain")), tid=None),
            *(step for one in (0, 1) for step in list_offsets(LATEST, partition=one)),
        )
        for version in (3, 6, 7)
    ),
    story(
        "markers_of_no_producer",
        "a marker of a negative producer id, −1 left out, is written whatever it says",
        made("a", partitions=2),
        *(
            marked(
                marker({"a": [partition]}, pid=pid, epoch=epoch, coordinator=of, bumps=bumps),
                version=2,
            )
            for partition, pid in ((0, -2), (1, -(2**63)))
            for epoch in (5, 0, -2)
            for of in (4, -3)
            for bumps in (0, 2)
        ),
        describe_producers(0, 1),
        *list_offsets(LATEST),
    ),
    story(
        "levels_that_are_none",
        "an isolation level that there is not",
        made("a"),
        *begun(),
        added(),
        sent(within(0, "x")),
        *(read(version=version, level=level) for version in (4, 11, 17) for level in (2, -1)),
        *(
            step
            for level in (2, -1)
            for step in list_offsets(LATEST, version=5, isolation_level=level)
        ),
        ended(),
    ),
)

SEQUENCES = (
    *(
        made_for(version)
        for version in VERSIONS
        for made_for in (_in_each_state, _bumped_in_each_state, _to_topics)
    ),
    *LOGS,
)

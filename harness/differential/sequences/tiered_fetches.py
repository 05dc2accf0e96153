"""Fetches of tiered logs: in every version, role and session, and of what transactions wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
    TIMEOUT_MS,
    batch,
    describe_producers,
    fetch,
    fetch_topic,
    fetched,
    list_offsets,
    produce,
)
from harness.differential.sequences.offsets import EARLIEST, EARLIEST_LOCAL, LATEST, deleted
from harness.differential.sequences.tiered import NEWEST, elsewhere, remote, story, tiered
from harness.differential.sequences.tiered_bounds import OFFSETS
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    ended,
    read,
    sent,
    settled,
    within,
)

FIRST_WITH_REPLICA_STATE = 15
SESSION: dict[str, Any] = {"session_id": "$ref:session"}


def _one(offset: int = 0, **more: Any) -> dict[str, Any]:
    """A batch at most."""
    return fetched(offset=offset, partition_max_bytes=1, **more)


def _as_replica(replica: int, offset: int, version: int) -> Step:
    if version < FIRST_WITH_REPLICA_STATE:
        return fetch(_one(offset), version=version, replica_id=replica)
    state = {"replica_id": replica, "replica_epoch": -1}
    return fetch(_one(offset), version=version, replica_state=state)


def _together(*offsets: tuple[str, int]) -> Step:
    return fetch(topics=[fetch_topic(topic, 12, [_one(offset)]) for topic, offset in offsets])


def _within(sequence: int, *values: str) -> tuple[Step, Step]:
    """The first batch of a transaction."""
    return added(), sent(within(sequence, *values))


def _plain(*values: str) -> tuple[Step, ...]:
    return tuple(produce(batch(value)) for value in values)


def _reads(offsets: Sequence[int], **more: Any) -> tuple[Step, ...]:
    """What readers of committed records are given, a batch at a time."""
    return tuple(read(_one(offset), **more) for offset in offsets)


PLAIN = (
    *(
        story(
            f"fetch_version_{version:02}",
            "every offset of both tiers, and around them",
            tiered(),
            *remote(),
            *(fetch(_one(offset), version=version) for offset in (-1, *OFFSETS)),
        )
        for version in (4, 9, 13, 15, 18)
    ),
    story(
        "fetch_as_replicas",
        "in the role of a follower that the topic does not have, of the leader, of a debugger",
        tiered(),
        *remote(),
        *(
            _as_replica(replica, offset, version)
            for replica, versions in ((2, (11, 13, 14, 15, 17)), (1, (13, 17)), (-2, (12,)))
            for version in versions
            for offset in (0, 3, 4, 5, 6)
        ),
    ),
    story(
        "fetch_with_a_log_start",
        "a consumer that names a log start of its own",
        tiered(),
        *remote(),
        *(fetch(_one(at, log_start_offset=start)) for at in (0, 4) for start in (-1, 0, 3, 9)),
    ),
    story(
        "fetch_that_waits",
        "as many bytes as there are, more, and none",
        tiered(),
        *remote(),
        fetch(_one(), min_bytes=1, max_wait=100),
        fetch(_one(5), min_bytes=1, max_wait=100),
        fetch(fetched(), min_bytes=100_000, max_wait=300),
    ),
    story(
        "fetch_by_larger_limits",
        "limits around a batch and a segment: no answer goes beyond the segment it begins in",
        tiered(),
        *remote(),
        *(
            fetch(fetched(offset=offset, partition_max_bytes=most))
            for most in (1, 100, 10_000)
            for offset in (0, 1, 2, 4)
        ),
    ),
    story(
        "fetch_two_remote_logs",
        "two logs in a request, in either order, one of them out of range",
        tiered("a", "b"),
        *remote("a"),
        *remote("b"),
        _together(("a", 0), ("b", 0)),
        _together(("b", 2), ("a", 4)),
        _together(("b", 99), ("a", 1)),
    ),
    story(
        "fetch_in_a_session",
        "a session that goes through both tiers",
        tiered(),
        *remote(),
        fetch(_one(), session_id=0, session_epoch=0, save={"session": "session_id"}),
        fetch(topics=[], **SESSION, session_epoch=1),
        fetch(_one(2), **SESSION, session_epoch=2),
        fetch(_one(4), **SESSION, session_epoch=3),
        fetch(topics=[], **SESSION, session_epoch=4),
    ),
    story(
        "fetch_from_a_rack",
        "clients in the rack of the leader, and elsewhere",
        tiered(),
        *remote(),
        fetch(_one(), rack_id="a"),
        fetch(_one(), rack_id="zz"),
    ),
    story(
        "fetch_zstd_by_version",
        "clients that do not know the compression of a remote batch",
        tiered(),
        *(produce(batch(value, compression="zstd")) for value in "abc"),
        *elsewhere(1, 2),
        *(fetch(_one(offset), version=version) for version in (4, 9, 10) for offset in (0, 2)),
    ),
    story(
        "fetch_what_was_deleted",
        "a tiered topic that is gone, by name and by id",
        tiered(),
        *remote(),
        Step(
            api="delete_topics",
            version=6,
            fields={"topics": [{"name": "$topic:a"}], "timeout": TIMEOUT_MS},
        ),
        fetch(_one(), version=13),
        fetch(_one(), version=12),
        *list_offsets(LATEST, EARLIEST_LOCAL, version=NEWEST),
    ),
)
TRANSACTIONS = (
    *(
        story(
            f"transactions_version_{version:02}",
            "committed and aborted transactions, most of them in the remote tier",
            tiered(),
            *begun(),
            *_within(0, "a"),
            *aborted(),
            *_within(1, "b"),
            *committed(),
            *_within(2, "c"),
            *aborted(),
            *_plain("p", "q", "r"),
            *elsewhere(6, 7),
            *_reads((0, 1, 2, 4, 5, 6, 7), version=version),
        )
        for version in (4, 12, 18)
    ),
    story(
        "transaction_of_segments",
        "an aborted transaction of several segments, and its marker",
        tiered(),
        *begun(),
        *_within(0, "a"),
        *(sent(within(at, value)) for at, value in enumerate("bcd", 1)),
        *aborted(),
        *_plain("p", "q"),
        *elsewhere(5, 6),
        *_reads(range(8)),
        *_reads(range(8), level=0),
    ),
    story(
        "transaction_ended_locally",
        "what is aborted is remote, and its marker is not",
        tiered(),
        *begun(),
        *_within(0, "a"),
        *(sent(within(at, value)) for at, value in enumerate("bc", 1)),
        *_plain("x"),
        *aborted(),
        *elsewhere(3, 4),
        *_reads(range(6)),
    ),
    story(
        "transactions_at_once",
        "two aborted transactions whose records stand in turn",
        tiered(),
        *begun(),
        *begun("u", "other"),
        *_within(0, "a"),
        added(tid="u", pid="$ref:other"),
        sent(within(0, "x", pid="$ref:other"), tid="u"),
        sent(within(1, "b")),
        *aborted(),
        sent(within(1, "y", pid="$ref:other"), tid="u"),
        ended(False, tid="u", pid="$ref:other"),
        settled("CompleteAbort", "u"),
        *_plain("p", "q", "r"),
        *elsewhere(6, 7),
        *_reads(range(9)),
        *(read(fetched(offset=offset)) for offset in range(9)),
    ),
    story(
        "transaction_open",
        "nothing of an open transaction is copied, and nothing behind it is read",
        tiered(),
        *begun(),
        *_plain("1", "2", "3"),
        *_within(0, "a"),
        *_plain("4", "5", "6"),
        *elsewhere(1, 2),
        *list_offsets(LATEST, EARLIEST, EARLIEST_LOCAL, version=NEWEST, isolation_level=1),
        *_reads(range(8)),
    ),
    story(
        "transaction_cut",
        "DeleteRecords inside an aborted transaction in the remote tier, and behind it",
        tiered(),
        *begun(),
        *_within(0, "a"),
        *(sent(within(at, value)) for at, value in enumerate("bc", 1)),
        *aborted(),
        *_plain("p", "q", "r"),
        *elsewhere(4, 5),
        *deleted(1),
        *_reads(range(6)),
        *deleted(3),
        *_reads(range(6)),
    ),
    story(
        "producers_of_the_remote_tier",
        "producers whose records are remote, deleted, and gone altogether",
        tiered(),
        *begun(),
        *_within(0, "a"),
        *aborted(),
        *_plain("p", "q", "r", "s"),
        *elsewhere(4, 5),
        describe_producers(0),
        *(step for offset in (2, 6) for step in (*deleted(offset), describe_producers(0))),
        *list_offsets(EARLIEST, EARLIEST_LOCAL, version=NEWEST),
    ),
)
SEQUENCES = (*PLAIN, *TRANSACTIONS)

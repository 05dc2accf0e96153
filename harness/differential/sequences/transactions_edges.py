"""Transactional producers and coordinators at the edges of what may be asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import made
from harness.differential.sequences.building import producer_id as idempotent_id
from harness.differential.sequences.transacting import (
    GROUP,
    MAX_TIMEOUT_MS,
    SHARE,
    TRANSACTION,
    aborted,
    added,
    begun,
    committed,
    coordinated,
    described,
    ended,
    find,
    init,
    read,
    sent,
    settled,
    story,
    topics_of,
    transaction,
    within,
)

KINDS = (GROUP, TRANSACTION, SHARE, 3, -1, 127)
WITH_EPOCHS = (3, 4, 5)
LAST_EPOCH = 2**15 - 1
NOT_OFFERED = {
    "init_producer_id": 7,
    "add_partitions_to_txn": 6,
    "add_offsets_to_txn": 5,
    "end_txn": 6,
    "write_txn_markers": 0,
    "txn_offset_commit": 6,
    "offset_commit": 1,
    "offset_fetch": 0,
    "offset_delete": 1,
    "find_coordinator": 7,
    "describe_producers": 1,
    "describe_transactions": 1,
    "list_transactions": 3,
}
"""A version of each request that is not offered."""


def _bump(epoch: int, **more: Any) -> Step:
    return init(producer_id="$ref:pid", producer_epoch=epoch, **more)


def _names(version: int, *names: str) -> Iterator[Step]:
    """AddPartitionsToTxn of topics that no cluster has."""
    for name in names:
        topics = [{"name": name, "partitions": [0]}]
        fields: dict[str, Any] = {"transactions": [transaction(topics)]}
        if version < 4:
            fields = {
                "v3_and_below_transactional_id": "$topic:t",
                "v3_and_below_producer_id": "$ref:pid",
                "v3_and_below_producer_epoch": 0,
                "v3_and_below_topics": topics,
            }
        yield Step(api="add_partitions_to_txn", version=version, fields=fields)


COORDINATORS = (
    story(
        "find_every_kind",
        "empty keys and others, of every kind, by every version",
        coordinated(),
        coordinated(kind=GROUP),
        *(find("", kind=kind, version=version) for kind in KINDS[:4] for version in (1, 2, 3)),
        *(
            find("", "$topic:t", "", kind=kind, version=version)
            for kind in KINDS
            for version in (4, 5, 6)
            if kind != SHARE or version < 6
        ),
    ),
    story(
        "versions_not_offered",
        "a version that there is not ends the connection",
        *(Step(api=api, version=version, body="00" * 64) for api, version in NOT_OFFERED.items()),
    ),
)

PRODUCERS = (
    story(
        "init_timeouts_by_version",
        "time-outs that may be and that may not, by every version",
        *begun(),
        *(
            init(version=version, timeout=one)
            for version in range(6)
            for one in (0, -1, MAX_TIMEOUT_MS, MAX_TIMEOUT_MS + 1, 2**31 - 1)
        ),
        described(),
        *(_bump(5, version=version, timeout=0) for version in WITH_EPOCHS),
        described(),
    ),
    story(
        "init_odd_epochs",
        "epochs and producer ids that cannot be, or come last",
        *begun(),
        *(
            _bump(one, version=version)
            for version in WITH_EPOCHS
            for one in (-2, -(2**15), LAST_EPOCH, LAST_EPOCH - 1)
        ),
        *(init(producer_id=one, producer_epoch=0) for one in (-2, 0, 2**62)),
        described(),
    ),
    story(
        "init_chain",
        "a producer bumps its epoch, asks again, and asks with one that is gone",
        *begun(),
        *(_bump(one) for one in (0, 1, 2, 3, 3, 3, 2, 4)),
        init(),
        *(_bump(one) for one in (5, 6, 7, 7)),
        described(),
    ),
    story(
        "init_without_transactional_id",
        "an idempotent producer is given an id whatever it says it had",
        coordinated(),
        init(None, producer_id=5, producer_epoch=3),
        init(None, producer_id=5),
        init(None, producer_epoch=3),
        init(None, producer_id=-7, producer_epoch=-9),
        *(init(None, timeout=one) for one in (0, -5, 2**31 - 1)),
        *(init(None, version=version) for version in range(6)),
    ),
    story(
        "init_unknown_with_epoch",
        "of an id of which nothing is known any epoch may be said",
        idempotent_id("other"),
        *(
            step
            for one in (0, LAST_EPOCH - 2, LAST_EPOCH - 1, LAST_EPOCH)
            for step in (
                coordinated(f"$topic:q{one}"),
                *(init(f"q{one}", producer_id="$ref:other", producer_epoch=one),) * 2,
                described(f"q{one}"),
            )
        ),
    ),
    story(
        "init_of_another_id",
        "two transactional ids do not lend each other their producers",
        *begun(),
        *begun("u", "other"),
        init("u", producer_id="$ref:pid", producer_epoch=0),
        init("t", producer_id="$ref:other", producer_epoch=0),
        _bump(0),
        described("t", "u"),
    ),
    story(
        "init_while_open_bumped",
        "a producer of the newer protocol is replaced while it has a transaction open",
        made("a"),
        *begun(),
        sent(within(0, "x"), version=12),
        init(),
        settled("CompleteAbort"),
        described(),
        init(),
        *(sent(within(0, "y", epoch=one), version=12) for one in range(5)),
        described(),
        read(),
    ),
    story(
        "init_after_bumped_ends",
        "and after its transactions have ended",
        made("a"),
        *begun(),
        sent(within(0, "x"), version=12),
        *committed(version=5),
        *(_bump(one) for one in (0, 1, 1, 2)),
        *aborted(epoch=3, version=5),
        *(_bump(one) for one in (3, 4)),
        init(),
        described(),
    ),
)

PARTITIONS = (
    story(
        "add_odd_partitions",
        "topics and partitions that are not there, by every version",
        made("a", partitions=2),
        *begun(),
        *(added({"a": [0, 1, 2], "nowhere": [1]}, version=version) for version in range(6)),
        *(added({"a": [one]}, version=version) for version in range(6) for one in (-1, 2**31 - 1)),
        *(step for version in (0, 3, 4, 5) for step in _names(version, "", "a b", "x" * 250)),
        described(),
    ),
    story(
        "add_doubly_wrong",
        "which of two mistakes is told: the partition's, or the producer's",
        made("a"),
        *begun(),
        *(added({"a": [0, 5]}, pid="$ref:pid+5", version=version) for version in range(6)),
        *(added({"a": [0, 5]}, epoch=9, version=version) for version in range(6)),
        *(added({"a": [5]}, tid="strange", version=version) for version in range(6)),
        *(added({"a": [0, 5]}, tid="", version=version) for version in range(6)),
        *(added(pid=-1, epoch=one, version=version) for version in range(6) for one in (-1, 0)),
        described(),
    ),
    story(
        "add_many_transactions",
        "right and wrong ones, added and verified, in one request",
        made("a", partitions=2),
        *begun(),
        *begun("u", "other"),
        *(
            Step(
                api="add_partitions_to_txn",
                version=version,
                fields={
                    "transactions": [
                        transaction(topics_of({"a": [0]})),
                        transaction(
                            topics_of({"a": [1], "nowhere": [0]}), tid="u", pid="$ref:other"
                        ),
                        transaction(topics_of({"a": [0]}), tid="strange", pid=1),
                        transaction(topics_of({"a": [0, 1]}), tid="v", pid=1, verify=True),
                    ]
                },
            )
            for version in (4, 5)
        ),
        described("t", "u"),
    ),
    story(
        "add_of_the_epoch_before",
        "after an end that bumps the epoch, the old one adds and verifies nothing",
        made("a"),
        *begun(),
        added(version=5),
        *committed(version=5),
        *(added(version=version) for version in range(6)),
        *(added(version=version, verify=True) for version in (4, 5)),
        added(epoch=1, version=5),
        *(ended(commits, version=version) for commits in (True, False) for version in (4, 5)),
        described(),
    ),
)

ENDS = (
    story(
        "end_odd_producers",
        "producers that are not, by every version",
        *begun(),
        *(ended(tid="", version=version) for version in range(6)),
        *(ended(pid=-1, epoch=-1, version=version) for version in range(6)),
        *(ended(epoch=-1, version=version) for version in range(6)),
        *(
            ended(commits, tid="strange", version=version)
            for commits in (True, False)
            for version in range(6)
        ),
    ),
    story(
        "end_of_no_partitions",
        "a transaction that began with no partition is one",
        *begun(),
        added({}),
        described(),
        *committed(version=4),
        added({}, version=5),
        ended(True, version=5),
        settled("CompleteCommit"),
        ended(False, epoch=1, version=5),
        settled("CompleteAbort"),
        ended(False, epoch=2, version=4),
        described(),
    ),
    story(
        "end_again_and_otherwise",
        "a bumped commit asked for again, its abort, and both with the next epoch",
        made("a"),
        *begun(),
        sent(within(0, "x"), version=12),
        *committed(version=5),
        *(ended(commits, version=5) for commits in (False, True)),
        ended(True, epoch=1, version=5),
        *aborted(epoch=1, version=5),
        *(ended(commits, epoch=1, version=5) for commits in (False, True)),
        ended(True, version=5),
        described(),
        read(),
    ),
)

SEQUENCES = (*COORDINATORS, *PRODUCERS, *PARTITIONS, *ENDS)

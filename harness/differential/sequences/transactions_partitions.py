"""Transactions at their coordinator: partitions join them, and they end."""

from __future__ import annotations

from harness.differential.sequence import Step
from harness.differential.sequences.building import made
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    coordinated,
    described,
    ended,
    init,
    settled,
    story,
    topics_of,
    transaction,
)

VERSIONS = range(6)


def _several(*transactions: dict[str, object], version: int = 4, note: str = "") -> Step:
    fields = {"transactions": list(transactions)}
    return Step(api="add_partitions_to_txn", version=version, fields=fields, note=note)


def _internal(version: int, *topics: str) -> Step:
    fields = {
        "v3_and_below_transactional_id": "$topic:t",
        "v3_and_below_producer_id": "$ref:pid",
        "v3_and_below_producer_epoch": 0,
        "v3_and_below_topics": [{"name": one, "partitions": [0, 700]} for one in topics]
        + topics_of({"a": [0], "nowhere": [0]}),
    }
    return Step(api="add_partitions_to_txn", version=version, fields=fields)


PARTITIONS = (
    story(
        "add_by_version",
        "partitions join a transaction, one by every version, and again",
        made("a", partitions=6),
        *begun(),
        *(added({"a": [version]}, version=version) for version in VERSIONS),
        *(added({"a": [0, 1, 2, 3]}, version=version) for version in (0, 3, 4, 5)),
        described(),
    ),
    story(
        "add_unknown_partitions",
        "all or none: with one that is not there none is added",
        made("a", partitions=2),
        *begun(),
        *(added({"a": [0, 7], "nowhere": [0]}, version=version) for version in (0, 3, 4, 5)),
        added({"a": [-1]}),
        added({"nowhere": [0]}),
        added({"nowhere": []}),
        added({"nowhere/": [0], "a": [1]}),
        described(),
        added({"a": [1]}),
        added({"a": [0, 5]}),
        described(),
    ),
    story(
        "add_of_another_producer",
        "another id is not of this transactional id, another epoch was replaced",
        made("a"),
        *begun(),
        init(),
        *(added(epoch=0, version=version) for version in VERSIONS),
        *(added(epoch=2, version=version) for version in (1, 2, 5)),
        *(added(pid="$ref:pid+1000", epoch=1, version=version) for version in (0, 3, 4, 5)),
        added(pid=-1, epoch=1),
        added(epoch=-1),
        described(),
        added(epoch=1),
        added(epoch=0, note="the same, while open"),
        added(pid="$ref:pid+1000", epoch=1, note="the same, while open"),
    ),
    story(
        "add_unknown_transactional_id",
        "transactional ids of which nothing is known, and the empty one",
        made("a"),
        *begun(),
        coordinated("$topic:unknown"),
        *(added(tid="unknown", version=version) for version in (0, 3, 4, 5)),
        *(added(tid="", version=version) for version in (0, 3, 4, 5)),
        added({"nowhere": [0], "a": [0]}, tid="unknown"),
        added(tid="unknown", version=4, verify=True),
        added(tid="", version=4, verify=True),
    ),
    story(
        "add_nothing",
        "empty lists of partitions, of topics, of transactions",
        made("a"),
        *begun(),
        *(added({}, version=version) for version in (0, 3, 4, 5)),
        described(),
        added({"a": []}),
        added({"a": []}, version=4),
        described(),
        added({"a": [0], "nowhere": []}),
        added({"a": [], "nowhere": [1]}),
        added({}, tid="", version=4),
        added({}, tid=""),
        added({}, epoch=9),
    ),
    story(
        "add_twice_in_a_request",
        "a partition named twice, a topic named twice",
        made("a", "b", partitions=2),
        *begun(),
        added({"a": [0, 0]}),
        added({"a": [1, 1]}, version=4),
        _several(
            transaction([*topics_of({"b": [0]}), *topics_of({"b": [1]})]),
        ),
        described(),
    ),
    story(
        "add_no_transactions",
        "a request without any transaction",
        made("a"),
        *begun(),
        _several(),
        added(),
    ),
    story(
        "add_internal_topics",
        "no client writes to internal topics; brokers may",
        made("a"),
        *begun(),
        *(_internal(version, "__transaction_state", "__consumer_offsets") for version in (0, 3)),
        described(),
    ),
    story(
        "add_a_transaction_twice",
        "two entries of a request with the same transactional id",
        made("a", partitions=3),
        *begun(),
        _several(
            transaction(topics_of({"a": [0]})),
            transaction(topics_of({"a": [1, 2]})),
        ),
        described(),
    ),
    story(
        "add_several_transactions",
        "each transaction of a request for itself",
        made("a", partitions=2),
        *begun("t"),
        *begun("u", "other"),
        _several(
            transaction(topics_of({"a": [0]})),
            transaction(topics_of({"a": [1]}), tid="u", pid="$ref:other"),
        ),
        described("t", "u"),
        _several(
            transaction(topics_of({"a": [0]}), epoch=4),
            transaction(topics_of({"a": [0], "nowhere": [1]}), tid="u", pid="$ref:other"),
            version=5,
        ),
        _several(
            transaction(topics_of({"a": [0]}), verify=True),
            transaction(topics_of({"a": [0]}), tid="u", pid="$ref:other"),
        ),
        described("t", "u"),
    ),
    story(
        "verify_by_state",
        "whether partitions are in a transaction, before, within and after it",
        made("a", partitions=2),
        *begun(),
        added(version=4, verify=True),
        added({"a": [0]}),
        *(added({"a": [0, 1]}, version=version, verify=True) for version in (4, 5)),
        added({"a": [0], "nowhere": [0]}, version=4, verify=True),
        added(epoch=1, version=4, verify=True),
        added(pid="$ref:pid+1000", version=4, verify=True),
        added({}, version=4, verify=True),
        *committed(),
        added(version=4, verify=True),
        added(version=5, verify=True),
    ),
    story(
        "add_after_ends",
        "the next transaction begins with the next partition",
        made("a", partitions=2),
        *begun(),
        added(),
        *committed(),
        described(),
        added({"a": [1]}),
        described(),
        *aborted(),
        added({"a": [0]}, version=5),
        *committed(version=5),
        added({"a": [0]}, version=5, note="the epoch before the bump"),
        added({"a": [0]}, version=3, note="the epoch before the bump"),
        added({"a": [0]}, epoch=1, version=5),
        described(),
    ),
)

ENDS = (
    story(
        "end_empty",
        "there is nothing to end before anything was added",
        made("a"),
        *begun(),
        *(ended(True, version=version) for version in VERSIONS),
        *(ended(False, version=version) for version in range(5)),
        described(),
    ),
    story(
        "end_empty_by_abort",
        "who cannot know whether it wrote may abort what never began",
        *begun(),
        ended(False, version=5),
        settled("CompleteAbort"),
        described(),
        ended(False, version=5, note="again"),
        ended(True, version=5, note="the other way"),
        *aborted(epoch=1, version=5),
        described(),
        ended(True, epoch=2, version=5),
        described(),
    ),
    *(
        story(
            f"end_repeated_v{version}",
            "the same end again is answered as before, the other one refused",
            made("a"),
            *begun(),
            added(version=min(version, 5)),
            *committed(version=version),
            ended(True, version=version, note="again"),
            ended(False, version=version, note="the other way"),
            described(),
            added(version=version, epoch=int(version == 5)),
            *aborted(version=version, epoch=int(version == 5)),
            ended(False, version=version, epoch=int(version == 5), note="again"),
            ended(True, version=version, epoch=int(version == 5), note="the other way"),
            described(),
        )
        for version in (0, 1, 2, 3, 4, 5)
    ),
    story(
        "end_of_another_producer",
        "another id, another epoch, while open",
        made("a"),
        *begun(),
        init(),
        added(epoch=1),
        *(ended(epoch=0, version=version) for version in VERSIONS),
        *(ended(False, epoch=2, version=version) for version in (1, 4, 5)),
        *(ended(pid="$ref:pid+1000", epoch=1, version=version) for version in (0, 4, 5)),
        ended(pid=-1, epoch=-1),
        described(),
    ),
    story(
        "end_of_another_producer_at_rest",
        "another id, another epoch, with nothing open",
        made("a"),
        *begun(),
        *(ended(epoch=3, version=version) for version in (0, 4, 5)),
        *(ended(False, epoch=3, version=version) for version in (0, 4, 5)),
        added(),
        *committed(),
        *(ended(epoch=3, version=version) for version in (0, 4, 5)),
        *(ended(False, pid="$ref:pid+1000", version=version) for version in (0, 4, 5)),
        ended(version=5, note="again, by another protocol"),
    ),
    story(
        "end_unknown_transactional_id",
        "transactional ids of which nothing is known, and the empty one",
        *begun(),
        coordinated("$topic:unknown"),
        *(ended(tid="unknown", version=version) for version in VERSIONS),
        *(ended(tid="", version=version) for version in VERSIONS),
        ended(version=6),
    ),
    story(
        "end_across_protocols",
        "a transaction that began by one protocol ends by the other",
        made("a"),
        *begun(),
        added(version=3),
        *committed(version=5),
        described(),
        added(epoch=1, version=5),
        *aborted(epoch=1, version=4),
        described(),
        ended(False, epoch=1, version=5, note="again, by another protocol"),
        settled("CompleteAbort"),
        described(),
    ),
    story(
        "end_many_times",
        "every transaction has an epoch of its own",
        made("a"),
        *begun(),
        *(
            step
            for epoch in range(4)
            for step in (
                added(epoch=epoch, version=5),
                *(committed if epoch % 2 else aborted)(epoch=epoch, version=5),
            )
        ),
        described(),
        added(epoch=3, version=5),
        ended(True, epoch=2, version=5, note="two ends ago"),
    ),
)

SEQUENCES = (*PARTITIONS, *ENDS)

"""Markers as coordinators send them, and looking at transactions from outside."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import Step
from harness.differential.sequences.building import (
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
    listed,
    marked,
    marker,
    read,
    story,
    within,
)


def _sent(*batches: Any, tid: str = "t", **more: Any) -> Step:
    return produce(*batches, transactional_id=f"$topic:{tid}", **more)


_OPEN = (made("a", partitions=2), *begun(), added(), _sent(within(0, "x")))

MARKERS = (
    story(
        "markers_by_version",
        "a marker ends a transaction in the log, whatever its coordinator thinks",
        *_OPEN,
        marked(marker(commit=False)),
        describe_producers(0),
        read(),
        added({"a": [1]}),
        _sent(within(0, "y"), partition=1),
        marked(marker({"a": [1]}, bumps=0), version=2),
        describe_producers(0, 1),
        described(),
        marked(marker(), version=3),
        marked(marker(), version=0),
    ),
    story(
        "markers_without_transaction",
        "markers where nothing is open are written all the same",
        made("a"),
        producer_id(),
        marked(marker()),
        marked(marker(commit=False)),
        marked(marker(bumps=2), version=2),
        marked(marker(epoch=4, bumps=2), version=2),
        describe_producers(0),
        produce(idempotent(0, "x")),
        produce(idempotent(0, "x", epoch=4)),
        read(),
    ),
    story(
        "markers_unknown_partitions",
        "partitions and topics that are not there",
        made("a"),
        producer_id(),
        marked(marker({"a": [0, 5], "nowhere": [0]})),
        marked(marker({"a": [-1]})),
        marked(marker({"nowhere/": [0]}, bumps=2), version=2),
        marked(marker({"a": []})),
        marked(marker({})),
        marked(),
        marked(version=2),
        *list_offsets(-1),
    ),
    story(
        "markers_of_old_coordinators",
        "a coordinator that was replaced is refused",
        *_OPEN,
        marked(marker(coordinator=5)),
        marked(marker(coordinator=4)),
        marked(marker(coordinator=4, bumps=0), version=2),
        marked(marker(coordinator=5)),
        marked(marker(coordinator=-1)),
        marked(marker(coordinator=6)),
        describe_producers(0),
        read(),
    ),
    story(
        "markers_of_old_epochs",
        "markers for a producer that was replaced are refused",
        made("a"),
        producer_id(),
        produce(idempotent(0, "x", epoch=3)),
        marked(marker(epoch=2)),
        marked(marker(epoch=2, bumps=2), version=2),
        marked(marker(epoch=3)),
        marked(marker(epoch=3, bumps=2), version=2),
        marked(marker(epoch=5)),
        marked(marker(epoch=4)),
        describe_producers(0),
        produce(idempotent(1, "y", epoch=3)),
        produce(idempotent(0, "y", epoch=5)),
        produce(idempotent(1, "y", epoch=5)),
        read(),
    ),
    story(
        "markers_with_bumps",
        "where every end bumps the epoch, a marker of the open epoch is late",
        *_OPEN,
        marked(marker(epoch=0, bumps=2), version=2),
        describe_producers(0),
        marked(marker(epoch=1, bumps=2), version=2),
        describe_producers(0),
        marked(marker(epoch=1, bumps=2), version=2, note="again"),
        marked(marker(epoch=0, bumps=2), version=2, note="an old one"),
        marked(marker(epoch=1, bumps=1), version=2),
        marked(marker(epoch=1, bumps=7), version=2),
        describe_producers(0),
        read(),
    ),
    story(
        "markers_several",
        "several markers in a request, some of the same producer",
        made("a", "b", partitions=2),
        producer_id(),
        producer_id("other"),
        marked(
            marker({"a": [0, 1], "b": [0]}),
            marker({"a": [0], "nowhere": [3]}, pid="$ref:other", commit=False),
        ),
        marked(marker({"a": [0]}), marker({"a": [1]}, commit=False)),
        marked(marker({"a": [0]}), marker({"a": [0]}, commit=False)),
        marked(marker({"nowhere": [0]}), marker({"nowhere": [1]})),
        describe_producers(0, 1),
        describe_producers(0, 1, topic="b"),
        *list_offsets(-1),
    ),
    story(
        "markers_of_odd_producers",
        "producer ids and epochs that cannot be",
        made("a"),
        marked(marker(pid=-1, epoch=-1)),
        marked(marker(pid=9_999_999, epoch=0)),
        marked(marker(pid=9_999_999, epoch=-1)),
        marked(marker(pid=9_999_999, epoch=2**15 - 1)),
        *list_offsets(-1),
    ),
)

LOOKS = (
    story(
        "described_producers_open",
        "producers with open transactions, and after them",
        made("a", partitions=2),
        *begun(),
        producer_id("other"),
        added({"a": [0, 1]}),
        describe_producers(0, 1),
        produce(batch("p")),
        _sent(within(0, "x")),
        _sent(within(0, "x"), partition=1),
        produce(idempotent(0, "o", pid="$ref:other")),
        _sent(within(1, "y")),
        describe_producers(0, 1),
        *committed(),
        describe_producers(0, 1),
        added({"a": [1]}, version=5),
        _sent(within(1, "z"), partition=1, version=12),
        describe_producers(0, 1),
        *aborted(version=5),
        describe_producers(0, 1),
    ),
    story(
        "described_transactions",
        "what a coordinator knows of ids, in every state at rest",
        made("a", "b", partitions=3),
        *begun(),
        described(),
        added({"a": [2, 0], "b": [1]}),
        described(),
        *committed(),
        described(),
        added({"b": [0]}),
        *aborted(),
        described(),
        coordinated("$topic:unknown"),
        described("t", "unknown", "t"),
        described(""),
        described("t", ""),
        Step(api="describe_transactions", version=0, fields={"transactional_ids": []}),
        Step(api="describe_transactions", version=1, fields={"transactional_ids": []}),
    ),
    story(
        "listed_by_state",
        "transactions by their states, by every version",
        made("a"),
        *begun("txe", "empty"),
        *begun("txo", "open"),
        *begun("txc", "committed"),
        added(tid="txo", pid="$ref:open"),
        added(tid="txc", pid="$ref:committed"),
        *committed("txc", pid="$ref:committed"),
        *(
            listed(
                version,
                state_filters=states,
                producer_id_filters=["$ref:empty", "$ref:open", "$ref:committed"],
            )
            for version in (0, 1, 2)
            for states in (
                [],
                ["Empty"],
                ["Ongoing", "CompleteCommit"],
                ["ongoing"],
                ["Dead", "PrepareEpochFence", "Bogus", ""],
                ["Bogus", "Bogus"],
            )
        ),
        listed(3),
    ),
    story(
        "listed_by_pattern",
        "transactions by regular expressions of their ids",
        *begun("txa", "one"),
        *begun("txb", "two"),
        *(
            listed(transactional_id_pattern=one, producer_id_filters=["$ref:one", "$ref:two"])
            for one in (
                "$topic:tx.",
                "$topic:txa",
                "$topic:tx",
                "$topic:..",
                ".*tx[b]",
                "tx",
                "",
                None,
                "(",
                "[",
                "*",
            )
        ),
        listed(transactional_id_pattern="$topic:tx.", state_filters=["Empty"]),
        listed(transactional_id_pattern="$topic:tx.", state_filters=["Ongoing"]),
        listed(transactional_id_pattern="(", state_filters=["Bogus"]),
    ),
    story(
        "listed_by_duration_and_producer",
        "transactions by how long they have been open, and by producers",
        made("a"),
        *begun("txo", "open"),
        *begun("txe", "empty"),
        added(tid="txo", pid="$ref:open"),
        *(
            listed(
                version,
                duration_filter=duration,
                producer_id_filters=["$ref:open", "$ref:empty"],
            )
            for version in (1, 2)
            for duration in (-1, -5, 3_600_000, 2**62)
        ),
        listed(0, producer_id_filters=["$ref:open"]),
        listed(2, producer_id_filters=["$ref:open+1000000"]),
        listed(2, producer_id_filters=[-1]),
        init("txo"),
    ),
)

SEQUENCES = (*MARKERS, *LOOKS)

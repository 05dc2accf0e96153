"""Offsets of groups within transactions: added, committed, pending, and what becomes of them."""

from __future__ import annotations

from harness.differential.sequence import Step
from harness.differential.sequences.building import made
from harness.differential.sequences.committing import (
    at,
    commit,
    commit_within,
    forgotten,
    grouped,
    joined,
    loaded,
    story,
    told,
)
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    described,
    ended,
    init,
    sent,
    settled,
    within,
)

VERSIONS = range(6)
ADDS = 5
"""TxnOffsetCommit adds the group's partition by itself from here on."""
BEGIN = (made("a", "b", partitions=2), grouped(), loaded(), *begun())
STRANGE = {"a": [at(1), at(2, 9), at(3, -1)], "nowhere": [at(4), at(5, 1)]}


def _joined(version: int) -> tuple[Step, ...]:
    return () if version >= ADDS else (joined(version=min(version, 4)),)


def _ends(version: int) -> int:
    return 5 if version >= ADDS else 3


SEQUENCES = (
    *(
        story(
            f"within_committed_v{version}",
            "pending until the end, and then they count",
            *BEGIN,
            commit({"a": [at(1), at(2, 1)]}),
            *_joined(version),
            commit_within({"a": [at(5, epoch=3, metadata="m")]}, version=version),
            told(),
            told(stable=True),
            told(everything=True),
            told(everything=True, stable=True),
            told(stable=True, version=7),
            told(stable=True, version=10),
            *committed(version=_ends(version)),
            told(stable=True),
        )
        for version in VERSIONS
    ),
    *(
        story(
            f"within_aborted_v{version}",
            "pending until the end, and then they are gone",
            *BEGIN,
            *_joined(version),
            commit_within({"a": [at(5)]}, version=version),
            told(stable=True),
            *aborted(version=_ends(version)),
            told(stable=True),
            told(everything=True, stable=True),
            commit(generation=1, member="m"),
            forgotten(),
        )
        for version in VERSIONS
    ),
    *(
        story(
            f"within_not_added_v{version}",
            "a group that is not part of the transaction; nor is anything, at first",
            *BEGIN,
            commit_within(version=version),
            told(stable=True),
            described() if version < ADDS else told(),
            added(),
            commit_within({"a": [at(6)]}, version=version),
            told(stable=True),
            *aborted(version=_ends(version)),
            told(stable=True),
        )
        for version in VERSIONS
    ),
    *(
        story(
            f"within_of_another_producer_v{version}",
            "other ids and epochs, before and after the group was added",
            *BEGIN,
            commit_within(version=version, epoch=1),
            commit_within(version=version, epoch=-1),
            commit_within(version=version, pid="$ref:pid+77777"),
            commit_within(version=version, pid=-1),
            commit_within(version=version, tid="other"),
            commit_within(version=version, tid=""),
            *_joined(version),
            commit_within(version=version),
            commit_within(version=version, epoch=1),
            commit_within(version=version, epoch=-1),
            commit_within(version=version, pid="$ref:pid+77777"),
            commit_within(version=version, tid="other"),
            commit_within(version=version, tid=""),
            commit_within(version=version, group=""),
            told(stable=True),
        )
        for version in VERSIONS
    ),
    *(
        story(
            f"within_strange_places_v{version}",
            "partitions that are not there, among one that is; metadata that is too long",
            *BEGIN,
            *_joined(version),
            commit_within(STRANGE, version=version),
            told({"a": [0, 9, -1], "nowhere": [0]}, stable=True),
            commit_within({"a": [at(1, metadata="m" * 4097), at(2, 1)]}, version=version),
            commit_within({"nowhere": [at(4)]}, version=version),
            commit_within({}, version=version),
            commit_within({"a": [at(7, 1), at(8, 1)]}, version=version),
            *committed(version=_ends(version)),
            told(),
        )
        for version in (0, 4, 5)
    ),
    *(
        story(
            f"within_as_member_v{version}",
            "there are no members: of a group that is not there, and of one that is",
            *BEGIN,
            *_joined(version),
            commit_within(version=version, generation=1, member="m"),
            commit_within(version=version, generation=0, member=""),
            commit_within(version=version, member="m"),
            commit_within(version=version, generation=1, member="m"),
            commit_within(version=version, instance="i"),
            commit_within(version=version, generation=3, instance="i", member="m"),
            commit(generation=1, member="m"),
            told(),
        )
        for version in (3, 4, 5)
    ),
    *(
        story(
            f"join_v{version}",
            "a group joins a transaction, twice, of another producer, of none",
            *BEGIN,
            joined(version=version),
            joined(version=version),
            joined(version=version, epoch=1),
            joined(version=version, epoch=-1),
            joined(version=version, pid="$ref:pid+77777"),
            joined(version=version, pid=-1),
            joined(version=version, tid="other"),
            joined(version=version, tid=""),
            joined(version=version, group=""),
            joined(version=version, group="h"),
            *committed(),
            joined(version=version),
            *aborted(),
            init(),
            joined(version=version),
            joined(version=version, epoch=1),
        )
        for version in range(5)
    ),
    story(
        "within_and_without",
        "the later record counts, whichever end came when",
        *BEGIN,
        joined(),
        commit_within({"a": [at(5), at(6, 1)]}),
        commit({"a": [at(7)]}),
        told(),
        told(stable=True),
        commit_within({"a": [at(8, 1)]}),
        *committed(version=3),
        told(stable=True),
        commit({"a": [at(1)]}),
        told(stable=True),
    ),
    story(
        "within_two_transactions",
        "two producers with offsets of one group",
        *BEGIN,
        *begun("u", "other"),
        joined(),
        joined(tid="u", pid="$ref:other"),
        commit_within({"a": [at(5)]}),
        commit_within({"a": [at(6), at(7, 1)]}, tid="u", pid="$ref:other"),
        *committed(version=3),
        told(),
        told(stable=True),
        *aborted("u", pid="$ref:other", version=3),
        told(stable=True),
    ),
    story(
        "within_deleted_while_pending",
        "a group forgets what is pending",
        *BEGIN,
        joined(),
        commit_within({"a": [at(5), at(6, 1)]}),
        forgotten(),
        told(stable=True),
        *committed(version=3),
        told(stable=True),
    ),
    story(
        "within_after_the_end",
        "offsets after commits and aborts, by the old protocol and the newer",
        *BEGIN,
        joined(),
        commit_within(),
        *committed(version=3),
        commit_within({"a": [at(6)]}),
        told(stable=True),
        commit_within({"a": [at(7)]}, version=5),
        *committed(version=5),
        commit_within({"a": [at(8)]}, version=5),
        commit_within({"a": [at(9)]}, version=5, epoch=1),
        commit_within({"a": [at(10)]}, version=4, epoch=1),
        told(stable=True),
        *aborted(version=5, epoch=1),
        told(stable=True),
        commit_within({"a": [at(11)]}, version=4, epoch=2),
        joined(epoch=2),
        commit_within({"a": [at(11)]}, version=4, epoch=2),
        told(stable=True),
    ),
    story(
        "within_of_a_replaced_producer",
        "who began anew has another epoch, and what was pending is gone",
        *BEGIN,
        joined(),
        commit_within(),
        init(),
        settled("CompleteAbort"),
        told(stable=True),
        init(),
        commit_within(version=3),
        commit_within(version=1),
        joined(version=1),
        joined(version=3),
        told(stable=True),
    ),
    story(
        "within_beside_records",
        "records and offsets end together",
        *BEGIN,
        added(),
        joined(),
        sent(within(0, "x")),
        commit_within(),
        ended(version=3),
        settled("CompleteCommit"),
        told(stable=True),
    ),
)

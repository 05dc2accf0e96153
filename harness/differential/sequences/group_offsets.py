"""Offsets of groups without members: committed, told and deleted, in every version."""

from __future__ import annotations

from harness.clients.messages import NO_UUID
from harness.differential.sequence import Step
from harness.differential.sequences.building import made
from harness.differential.sequences.committing import (
    at,
    commit,
    forgotten,
    grouped,
    loaded,
    story,
    told,
)
from harness.differential.sequences.transacting import named

COMMITS = range(2, 11)
FETCHES = range(1, 11)
MOST_METADATA = 4096
"""Characters, unless brokers are told otherwise."""
STRANGER = "12345678-1234-1234-1234-123456789012"
TWO = {"a": [at(5, epoch=3, metadata="m"), at(6, 1, metadata=None)]}
STRANGE = {"a": [at(1), at(2, 9), at(3, -1)], "nowhere": [at(4), at(5, 1)]}

UNKNOWN_IDS = ((NO_UUID,), (STRANGER,), (STRANGER, "$topic_id:a"))
BEGIN = (made("a", "b", partitions=2), grouped(), loaded())


def _groups(*groups: tuple[str, list[int] | None], version: int, stable: bool = False) -> Step:
    """OffsetFetch of several groups, each with partitions of one topic, None for all there are."""
    by = {"topic_id": "$topic_id:a"} if version >= 10 else {"name": "$topic:a"}
    asked = [
        {
            "group_id": named(group),
            "topics": None if indexes is None else [{**by, "partition_indexes": indexes}],
        }
        for group, indexes in groups
    ]
    fields = {"groups": asked, "require_stable": stable}
    return Step(api="offset_fetch", version=version, fields=fields)


def _committed_by_id(*ids: str) -> Step:
    topics = [{"topic_id": one, "partitions": [at(1), at(2, 9)]} for one in ids]
    fields = {"group_id": "$topic:g", "generation_id_or_member_epoch": -1, "topics": topics}
    return Step(api="offset_commit", version=10, fields=fields)


def _told_by_id(*ids: str) -> Step:
    topics = [{"topic_id": one, "partition_indexes": [0, 9]} for one in ids]
    fields = {"groups": [{"group_id": "$topic:g", "topics": topics}]}
    return Step(api="offset_fetch", version=10, fields=fields)


SEQUENCES = (
    *(
        story(
            f"commit_v{version}",
            "a commit, one that goes back, one of partitions that are not there",
            *BEGIN,
            commit(TWO, version=version),
            told(),
            commit({"a": [at(2)], "b": [at(9, 1)]}, version=version),
            told({"a": [0, 1], "b": [0, 1]}),
            commit(STRANGE, version=version),
            told({"a": [0, 9, -1], "nowhere": [0]}),
        )
        for version in COMMITS
    ),
    *(
        story(
            f"fetch_v{version}",
            "what is there, what is not, and everything",
            *BEGIN,
            told(version=version),
            *((told(everything=True, version=version),) if version > 1 else ()),
            commit({**TWO, "b": [at(7, 1)]}),
            told({"a": [1, 0, 7], "b": [0, 1], "nowhere": [0]}, version=version),
            told({}, version=version),
            told({"a": []}, version=version),
            told({"a": [0, 0]}, version=version),
            *((told(everything=True, version=version),) if version > 1 else ()),
            *((told(stable=True, version=version),) if version >= 7 else ()),
            told(group="", version=version),
        )
        for version in FETCHES
    ),
    *(
        story(
            f"commit_as_member_v{version}",
            "there are no members: of a group that is not there, and of one that is",
            *BEGIN,
            commit(version=version, generation=1, member="m"),
            commit(version=version, generation=0),
            commit(version=version, member="m"),
            commit(version=version, generation=1, member="m"),
            commit(version=version, generation=0),
            commit(version=version, generation=-2, member="m"),
            *(
                (
                    commit(version=version, instance="i"),
                    commit(version=version, generation=2, member="m", instance="i"),
                )
                if version >= 7
                else ()
            ),
            told(),
        )
        for version in COMMITS
    ),
    *(
        story(
            f"fetch_as_member_v{version}",
            "there are no members: of a group that is not there, and of one that is",
            *BEGIN,
            told(version=version, member="m", member_epoch=1),
            told(version=version, member="m", member_epoch=-1),
            told(version=version, member=None, member_epoch=0),
            commit(),
            told(version=version, member="m", member_epoch=1),
            told(version=version, member="m", member_epoch=-1),
            told(version=version, member="", member_epoch=0),
            told(version=version, member=None, member_epoch=0),
            told(version=version, member=None, member_epoch=0, everything=True),
        )
        for version in (9, 10)
    ),
    *(
        story(
            f"fetch_several_groups_v{version}",
            "groups that are there, are not, have no name, and the same one twice",
            *BEGIN,
            commit(TWO),
            _groups(version=version),
            _groups(("g", [0]), ("other", [0]), version=version),
            _groups(("g", None), ("other", None), ("", [0]), version=version),
            _groups(("g", [0, 1]), ("g", [1]), version=version),
            _groups(("g", [0]), ("other", [5]), stable=True, version=version),
        )
        for version in (8, 9, 10)
    ),
    story(
        "commit_without_group",
        "a group without a name",
        *BEGIN,
        *(commit(group="", version=version) for version in COMMITS),
        *(told(group="", version=version) for version in FETCHES),
        commit(group="", generation=1, member="m"),
    ),
    story(
        "commit_nothing",
        "no topics, and topics without partitions",
        *BEGIN,
        *(commit({}, version=version) for version in (2, 5, 9, 10)),
        *(commit({"a": [], "nowhere": []}, version=version) for version in (2, 5, 9, 10)),
        commit({"a": [], "b": [at(1)]}),
        commit({}, group=""),
        forgotten(),
    ),
    story(
        "commit_metadata",
        "what a client adds to an offset has a bound, in characters",
        *BEGIN,
        commit({"a": [at(1, metadata="m" * MOST_METADATA)]}),
        told(),
        commit({"a": [at(2, metadata="m" * (MOST_METADATA + 1)), at(3, 1, metadata="m")]}),
        told(),
        commit({"a": [at(4, metadata="ü" * MOST_METADATA)]}),
        commit({"a": [at(5, metadata="𝄞" * (MOST_METADATA // 2))]}),
        commit({"a": [at(6, metadata="𝄞" * (MOST_METADATA // 2 + 1))]}),
        commit({"a": [at(7, metadata=None), at(8, 1, metadata="")]}),
        told(),
        commit({"a": [at(9, metadata="m" * 5000)]}, group="other"),
        told(group="other"),
        forgotten(group="other"),
    ),
    story(
        "commit_odd_offsets",
        "offsets and leader epochs that cannot be",
        *BEGIN,
        *(
            step
            for offset, epoch in ((-1, -1), (-2, 0), (-(2**63), -2), (2**63 - 1, 2**31 - 1), (0, 7))
            for step in (commit({"a": [at(offset, epoch=epoch)]}), told(), told(version=5))
        ),
    ),
    story(
        "commit_retention",
        "how long an offset is to be kept, as old clients say it",
        *BEGIN,
        *(
            step
            for version in (2, 3, 4)
            for retention in (-2, -1, 1, 60_000, 2**40)
            for step in (commit({"a": [at(version)]}, version=version, retention=retention), told())
        ),
    ),
    story(
        "commit_twice_in_a_request",
        "a partition twice, a topic twice",
        *BEGIN,
        commit({"a": [at(1), at(2), at(3, 7), at(4, 7)]}),
        told(),
        *(
            Step(
                api="offset_commit",
                version=9,
                fields={
                    "group_id": "$topic:g",
                    "generation_id_or_member_epoch": -1,
                    "topics": [
                        {"name": name, "partitions": [at(number, number)]}
                        for number, name in enumerate(names)
                    ],
                },
            )
            for names in (("$topic:a", "$topic:a"), ("nowhere", "nowhere"))
        ),
        told(),
    ),
    story(
        "commit_internal_topics",
        "offsets of internal topics are offsets like others",
        *BEGIN,
        commit({"__consumer_offsets": [at(1)], "__transaction_state": [at(2, 99)]}),
        told({"__consumer_offsets": [0]}),
        forgotten({"__consumer_offsets": [0]}),
        told({"__consumer_offsets": [0]}),
    ),
    story(
        "commit_by_unknown_id",
        "topics that are named by an id that no topic has",
        *BEGIN,
        *(_committed_by_id(*ids) for ids in UNKNOWN_IDS),
        *(_told_by_id(*ids) for ids in UNKNOWN_IDS),
    ),
    story(
        "delete",
        "offsets that are there and are not, twice",
        *BEGIN,
        forgotten(),
        forgotten(group=""),
        commit(TWO),
        forgotten({"a": [0, 9], "nowhere": [0]}),
        told(),
        forgotten({"a": [0]}),
        forgotten({}),
        forgotten({"a": [], "nowhere": []}),
        forgotten({"a": [1, 1]}),
        told(),
        told(everything=True),
        forgotten({"a": [1]}),
        commit(generation=1, member="m"),
        forgotten({"nowhere": [0]}),
    ),
    story(
        "delete_everything_and_begin_again",
        "a group without offsets",
        *BEGIN,
        commit(),
        forgotten(),
        told(everything=True, version=8),
        forgotten(),
        commit(generation=1, member="m", version=8),
        commit(generation=1, member="m", version=9),
        commit({"a": [at(8)]}),
        told(),
    ),
)

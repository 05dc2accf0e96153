"""Offsets of groups on clusters of three: what a broker says that does not coordinate the group."""

from __future__ import annotations

from dataclasses import replace

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import producer_id
from harness.differential.sequences.committing import (
    at,
    commit,
    commit_within,
    forgotten,
    grouped,
    joined,
    loaded,
    told,
)
from harness.differential.sequences.replicas import at as asked_of
from harness.differential.sequences.replicas import made
from harness.differential.sequences.transacting import (
    aborted,
    begun,
    committed,
    described,
    marked,
    settled,
)

ADDS = 5
"""TxnOffsetCommit adds the group's partition by itself from here on."""
COORDINATOR, OTHER = "group:g", "no-group:g"
OF_TRANSACTION = "transaction:t"
STRANGE = {"a": [at(1), at(2, 9)], "nowhere": [at(3)]}


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    """A sequence of this family."""
    return RequestSequence(name=f"group_offsets/{name}", about=about, steps=steps, brokers=3)


def _begun() -> tuple[Step, ...]:
    """A topic, and a group whose coordinator has loaded."""
    return made("a", [0, 1]), grouped(), *asked_of(COORDINATOR, loaded())


def _producer() -> tuple[Step, ...]:
    """A producer whose id is not 0: answers that tell of none have that in its place."""
    return asked_of(OF_TRANSACTION, producer_id("spare"), *begun())


def _joined(version: int) -> tuple[Step, ...]:
    """Its transaction has the partition of the group; from version 5 on that comes by itself."""
    return () if version >= ADDS else asked_of(OF_TRANSACTION, joined(version=min(version, 4)))


def _ends(version: int) -> int:
    return 5 if version >= ADDS else 3


def _marked(on: str, error: str, *, commit: bool, epoch: int = 0) -> Step:
    """A marker to the group's partition, whose number is not compared; only how it is answered."""
    topics = [{"name": "__consumer_offsets", "partition_indexes": ["$ref:partition"]}]
    one = {
        "producer_id": "$ref:pid",
        "producer_epoch": epoch,
        "transaction_result": commit,
        "topics": topics,
        "coordinator_epoch": 0,
    }
    answered = {"markers.0.topics.0.partitions.0.error_code": error}
    return replace(marked(one), on=on, until=answered, compared=False)


SEQUENCES = (
    *(
        story(
            f"commit_elsewhere_v{version}",
            "a broker that does not coordinate the group takes no offset",
            *_begun(),
            *asked_of(
                OTHER,
                commit(version=version),
                commit(STRANGE, version=version),
                commit({"a": [at(1, metadata="m" * 4097), at(2, 1)]}, version=version),
                commit({"a": []}, version=version),
                commit({}, version=version),
                commit(version=version, generation=1, member="m"),
            ),
            *asked_of(COORDINATOR, told()),
        )
        for version in range(2, 11)
    ),
    *(
        story(
            f"fetch_elsewhere_v{version}",
            "a broker that does not coordinate the group tells no offset",
            *_begun(),
            *asked_of(COORDINATOR, commit({"a": [at(5)]})),
            *asked_of(
                OTHER,
                told(version=version),
                told({"a": [1, 0, 7], "nowhere": [0]}, version=version),
                told({}, version=version),
                told({"a": []}, version=version),
                *((told(everything=True, version=version),) if version > 1 else ()),
                *((told(stable=True, version=version),) if version >= 7 else ()),
                *((told(version=version, member="m", member_epoch=1),) if version >= 9 else ()),
            ),
        )
        for version in range(1, 11)
    ),
    story(
        "delete_elsewhere",
        "a broker that does not coordinate the group forgets no offset",
        *_begun(),
        *asked_of(COORDINATOR, commit({"a": [at(5), at(6, 1)]})),
        *asked_of(
            OTHER,
            forgotten(),
            forgotten({"a": [0, 9], "nowhere": [0]}),
            forgotten({"a": []}),
            forgotten({}),
            forgotten(group=""),
        ),
        *asked_of(COORDINATOR, told()),
    ),
    *(
        story(
            f"within_elsewhere_v{version}",
            "nor does it take an offset within a transaction, whoever asks",
            *_begun(),
            *_producer(),
            *_joined(version),
            *asked_of(
                OTHER,
                commit_within(version=version),
                commit_within(STRANGE, version=version),
                commit_within({"a": [at(1, metadata="m" * 4097)]}, version=version),
                commit_within({}, version=version),
                commit_within(version=version, epoch=1),
                commit_within(version=version, pid="$ref:pid+77777"),
                commit_within(version=version, tid="other"),
                commit_within(version=version, tid=""),
                commit_within(version=version, group=""),
                *(
                    (commit_within(version=version, generation=1, member="m"),)
                    if version >= 3
                    else ()
                ),
            ),
            *asked_of(COORDINATOR, told()),
            *asked_of(OF_TRANSACTION, described() if version >= ADDS else aborted()[0]),
            *asked_of(COORDINATOR, told(stable=True)),
        )
        for version in range(6)
    ),
    *(
        story(
            f"within_over_brokers_{'committed' if commits else 'aborted'}_v{version}",
            "the coordinators of the transaction and of the group may be two brokers",
            *_begun(),
            *_producer(),
            *_joined(version),
            *asked_of(
                COORDINATOR,
                commit_within(version=version),
                told(),
                told(stable=True),
            ),
            *asked_of(OF_TRANSACTION, *(committed if commits else aborted)(version=_ends(version))),
            *asked_of(COORDINATOR, told(stable=True)),
            *asked_of(OTHER, told(stable=True)),
        )
        for version in (0, 3, 4, 5)
        for commits in (True, False)
    ),
    *(
        story(
            f"markers_of_a_group_{'commit' if commits else 'abort'}",
            "only the coordinator of a group takes markers about its offsets, and they count there",
            *_begun(),
            *_producer(),
            *asked_of(OF_TRANSACTION, joined()),
            *asked_of(
                OF_TRANSACTION,
                replace(
                    described(),
                    save={"partition": "transaction_states.0.topics.0.partitions.0"},
                    compared=False,
                ),
            ),
            *asked_of(COORDINATOR, commit_within(), told(), told(stable=True)),
            _marked(OTHER, "NOT_LEADER_OR_FOLLOWER", commit=commits),
            *asked_of(COORDINATOR, told(stable=True)),
            _marked(COORDINATOR, "NONE", commit=commits),
            *asked_of(COORDINATOR, told(), told(stable=True)),
            *asked_of(OF_TRANSACTION, aborted()[0], settled("CompleteAbort")),
            *asked_of(COORDINATOR, told(stable=True)),
        )
        for commits in (True, False)
    ),
)

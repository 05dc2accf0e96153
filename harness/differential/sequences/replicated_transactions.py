"""Transactions on clusters of three: coordinators and leaders elsewhere, leaders that change."""

from __future__ import annotations

from dataclasses import replace

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    batch,
    describe_producers,
    fetched,
    list_offsets,
    produce,
    producer_id,
)
from harness.differential.sequences.committing import joined
from harness.differential.sequences.replicas import (
    FOLLOWER,
    LEADER,
    PREFERRED,
    STRANGER,
    brokers,
    caught_up,
    elect,
    in_sync,
    led_by,
    made,
    reassign,
)
from harness.differential.sequences.replicas import at as asked_of
from harness.differential.sequences.transacting import (
    aborted,
    added,
    begun,
    committed,
    described,
    ended,
    init,
    listed,
    marked,
    marker,
    read,
    sent,
    settled,
    within,
)

ADDS = 5
"""From this version of EndTxn on, and the Produce of its time, partitions join by themselves."""
COORDINATOR, OTHER = "transaction:t", "no-transaction:t"
EVERYWHERE = (LEADER, FOLLOWER, STRANGER)


def story(name: str, about: str, *steps: Step) -> RequestSequence:
    """A sequence of this family."""
    return RequestSequence(name=f"transactions/{name}", about=about, steps=steps, brokers=3)


def _begun() -> tuple[Step, ...]:
    """A producer, whose id is not 0: answers that tell of none have that in its place."""
    return _by_coordinator(producer_id("spare"), *begun())


def _by_coordinator(*steps: Step) -> tuple[Step, ...]:
    return asked_of(COORDINATOR, *steps)


def _stable(broker: str, offset: int, partition: int = 0) -> Step:
    """Wait until a broker serves committed records up to there."""
    shown = {"responses.0.partitions.0.last_stable_offset": offset}
    return replace(read(fetched(partition, 0)), until=shown, compared=False, on=broker)


AT_OTHERS = (
    *(
        story(
            f"elsewhere_v{version}",
            "a broker that does not coordinate refuses, and nothing comes of it",
            made("a", [0, 1]),
            *asked_of(OTHER, init(version=version), described()),
            *_begun(),
            *asked_of(
                OTHER,
                init(version=version),
                added(version=version),
                added({"nowhere": [0]}, version=version),
                added({}, version=version),
                joined(version=min(version, 4)),
                ended(version=version),
                ended(False, pid="$ref:pid+1000", version=version),
                ended(tid="", version=version),
                described(),
                described(""),
            ),
            *_by_coordinator(described()),
        )
        for version in range(6)
    ),
    story(
        "verify_elsewhere",
        "what a broker asks of the wrong coordinator",
        made("a", [0, 1]),
        *_begun(),
        *_by_coordinator(added()),
        *(
            step
            for version in (4, 5)
            for step in asked_of(
                OTHER,
                added(version=version, verify=True),
                added({"a": [0], "nowhere": [0]}, version=version, verify=True),
                added(version=version, verify=True, epoch=7),
            )
        ),
        *_by_coordinator(added(version=5, verify=True), described()),
    ),
    story(
        "listed_elsewhere",
        "every broker lists what it coordinates",
        made("a", [0, 1]),
        *_begun(),
        *_by_coordinator(added()),
        *(
            replace(step, own_topics=True)
            for broker in (COORDINATOR, OTHER)
            for step in asked_of(
                broker,
                listed(producer_id_filters=["$ref:pid"], state_filters=[]),
                listed(producer_id_filters=["$ref:pid"], state_filters=["Empty"]),
                listed(0, producer_id_filters=["$ref:pid"], state_filters=["Ongoing", "odd"]),
                listed(1, producer_id_filters=["$ref:pid"], state_filters=[], duration_filter=0),
            )
        ),
    ),
    *(
        story(
            f"produce_elsewhere_v{version}",
            "a follower and a broker without a replica take no batch of a transaction",
            made("a", [0, 1]),
            *_begun(),
            *_by_coordinator(added()),
            *(
                step
                for broker in (FOLLOWER, STRANGER)
                for step in asked_of(
                    broker,
                    sent(within(0, "x"), version=version),
                    sent(within(0, "x"), tid=None, version=version),
                    sent(within(0, "x", epoch=9), version=version),
                )
            ),
            *asked_of(LEADER, sent(within(0, "x"), version=version)),
            *_by_coordinator(*committed(version=5 if version >= 12 else 4)),
            _stable(LEADER, 2),
            *asked_of(LEADER, read()),
        )
        for version in (3, 8, 10, 11, 12, 13)
    ),
    story(
        "markers_elsewhere",
        "only the leader takes markers; of one that has no transaction, too",
        made("a", [0, 1]),
        *_begun(),
        *(
            step
            for broker in (FOLLOWER, STRANGER)
            for step in asked_of(
                broker,
                marked(marker()),
                marked(marker({"a": [0, 5], "nowhere": [0]}), version=2),
            )
        ),
        *asked_of(LEADER, marked(marker()), read(level=0)),
        *(step for broker in EVERYWHERE for step in asked_of(broker, describe_producers(0))),
    ),
)


def _over_leaders(commits: bool, version: int) -> RequestSequence:
    ends = committed if commits else aborted
    each = list(enumerate(EVERYWHERE))
    return story(
        f"over_leaders_{'committed' if commits else 'aborted'}_v{version}",
        "a transaction over logs with different leaders, as leaders and followers show it",
        made("a", [0, 1], [1, 2], [2, 0]),
        *_begun(),
        *(_by_coordinator(added({"a": [0, 1, 2]})) if version < ADDS else ()),
        *(
            step
            for index, broker in each
            for step in asked_of(
                broker, sent(within(0, "x", "y"), partition=index, version=7 + version)
            )
        ),
        caught_up(FOLLOWER, 2),
        *asked_of(LEADER, read(fetched(0))),
        *asked_of(FOLLOWER, read(fetched(0)), read(fetched(0), level=0)),
        *_by_coordinator(described(), *ends(version=version), described()),
        *(_stable(broker, 3, index) for index, broker in each),
        _stable(FOLLOWER, 3),
        *(
            step
            for index, broker in each
            for step in asked_of(
                broker,
                read(fetched(index)),
                read(fetched(index), level=0),
                *list_offsets(-1, partition=index, isolation_level=1),
                describe_producers(index),
            )
        ),
        *asked_of(FOLLOWER, *(read(fetched(0, offset)) for offset in range(5))),
        *_by_coordinator(ended(commits, version=version), ended(not commits, version=version)),
    )


def _moves(*replicas: int) -> tuple[Step, ...]:
    """The first of these replicas comes to lead."""
    return (
        in_sync(3),
        reassign(brokers(*replicas)),
        elect(PREFERRED, 0),
        *(led_by(replicas[0], broker) for broker in EVERYWHERE),
    )


OVER_BROKERS = (
    *(_over_leaders(commits, version) for version in (4, 5) for commits in (True, False)),
    *(
        story(
            f"leader_moves_v{version}",
            "a transaction goes on at another leader, which knows what its predecessor has seen",
            made("a", [0, 1, 2]),
            *_begun(),
            *(_by_coordinator(added()) if version < ADDS else ()),
            *asked_of(LEADER, sent(within(0, "x"), version=7 + version), produce(batch("p"))),
            *_moves(1, 2, 0),
            *asked_of(LEADER, sent(within(1, "y"), version=7 + version), marked(marker())),
            caught_up(FOLLOWER, 2),
            *asked_of(
                FOLLOWER,
                read(),
                describe_producers(0),
                sent(within(0, "x"), version=7 + version),
                sent(within(3, "z"), version=7 + version),
                sent(within(1, "y"), version=7 + version),
                sent(within(2, "w", epoch=7), version=7 + version),
                *list_offsets(-1, isolation_level=1),
            ),
            *_by_coordinator(*aborted(version=version)),
            _stable(FOLLOWER, 4),
            *asked_of(FOLLOWER, read(), read(fetched(0, 2)), describe_producers(0)),
            *asked_of(FOLLOWER, sent(within(2, "late"), version=7 + version)),
            _stable(STRANGER, 4),
            *asked_of(STRANGER, read(fetched(0, 1))),
            *asked_of(
                FOLLOWER,
                marked(marker(epoch=7, coordinator=-1)),
                marked(marker(coordinator=-1)),
                sent(within(0, "again", epoch=7), version=7 + version),
                describe_producers(0),
            ),
        )
        for version in (4, 5)
    ),
    *(
        story(
            f"decided_then_moved_{'committed' if commits else 'aborted'}",
            "what was decided under one leader is shown by the next, and by the first again",
            made("a", [0, 1, 2]),
            *_begun(),
            *_by_coordinator(added()),
            *asked_of(LEADER, sent(within(0, "x", "y"))),
            *_by_coordinator(*(committed() if commits else aborted())),
            *asked_of(LEADER, produce(batch("p"))),
            *_moves(2, 0, 1),
            _stable(STRANGER, 4),
            *asked_of(STRANGER, read(), read(fetched(0, 1)), read(fetched(0, 2)), read(level=0)),
            *asked_of(STRANGER, marked(marker(commit=not commits)), describe_producers(0)),
            *asked_of(STRANGER, sent(within(0, "x", "y")), *list_offsets(-1, isolation_level=1)),
            *_by_coordinator(added()),
            *asked_of(STRANGER, sent(within(2, "z"))),
            *_by_coordinator(*committed()),
        )
        for commits in (True, False)
    ),
    story(
        "replaced_elsewhere",
        "a producer is replaced while it has a transaction open at several brokers",
        made("a", [0, 1], [1, 2], [2, 0]),
        *_begun(),
        *_by_coordinator(added({"a": [0, 1]})),
        *asked_of(LEADER, sent(within(0, "x"))),
        *asked_of(FOLLOWER, sent(within(0, "x"), partition=1)),
        *_by_coordinator(init(), settled("CompleteAbort"), described()),
        *(_stable(broker, 2, at) for at, broker in enumerate((LEADER, FOLLOWER))),
        *asked_of(LEADER, sent(within(1, "y")), sent(within(1, "y"), version=12)),
        *asked_of(FOLLOWER, sent(within(1, "y"), partition=1)),
        *asked_of(STRANGER, sent(within(0, "y"), partition=2)),
        *asked_of(STRANGER, sent(within(0, "y"), partition=2, version=12)),
        *_by_coordinator(added({"a": [2]}), ended(), ended(version=5), init(), described()),
        *asked_of(LEADER, read(), describe_producers(0)),
        *asked_of(STRANGER, read(fetched(2)), describe_producers(2)),
    ),
)

SEQUENCES = (*AT_OTHERS, *OVER_BROKERS)

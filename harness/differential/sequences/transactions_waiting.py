"""What is answered while a decided transaction waits for its markers.

A marker of a later coordinator, written by hand, keeps a partition from taking that of the real
one: the transaction stays decided and is never complete, however fast or slow a cluster is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences import replicas
from harness.differential.sequences.building import describe_producers, list_offsets, made
from harness.differential.sequences.committing import commit_within, grouped, joined, told
from harness.differential.sequences.transacting import (
    added,
    begun,
    described,
    ended,
    init,
    listed,
    marked,
    marker,
    read,
    sent,
    settled,
    story,
    within,
)

LATER = 99
"""The epoch of a coordinator that there will not be."""
BUMPS = 5
"""From this version of EndTxn on every end takes the next epoch."""
EPOCHS = (0, 1, 2)


def kept_from_markers(topic: str = "stuck") -> Step:
    """From now on a partition takes no marker of the coordinators that there are."""
    return marked(marker({topic: [0]}, commit=False, coordinator=LATER))


def _decided(commits: bool, version: int) -> tuple[Step, ...]:
    """A transaction over two topics, of which one cannot be told how it ended."""
    bumps = version >= BUMPS
    return (
        made("a", partitions=3),
        made("stuck"),
        *begun(),
        added({"a": [0], "stuck": [0]}, version=5 if bumps else 3),
        sent(within(0, "x"), version=12 if bumps else 11),
        kept_from_markers(),
        ended(commits, version=version),
        settled("PrepareCommit" if commits else "PrepareAbort"),
    )


def _adds(epoch: int) -> Iterator[Step]:
    for version in range(6):
        for one in EPOCHS[:2]:
            yield added({"a": [1]}, version=version, epoch=one)
        yield added({"a": [0]}, version=version, epoch=epoch)
    for version in (4, 5):
        for one in EPOCHS:
            yield added({"a": [0]}, version=version, epoch=one, verify=True)
    yield added({}, epoch=epoch)
    yield added(pid="$ref:pid+7", epoch=epoch)
    yield added({"nowhere": [0], "a": [0]}, epoch=epoch)


def _ends() -> Iterator[Step]:
    for version in range(6):
        for one in EPOCHS:
            yield ended(True, version=version, epoch=one)
            yield ended(False, version=version, epoch=one)
    yield ended(pid="$ref:pid+7", version=4)
    yield ended(pid="$ref:pid+7", version=5)


def _begins() -> Iterator[Step]:
    for version in range(6):
        yield init(version=version)
    for version in (3, 4, 5):
        for one in EPOCHS:
            yield init(version=version, producer_id="$ref:pid", producer_epoch=one)
    yield init(producer_id="$ref:pid+9", producer_epoch=0)
    yield init(timeout=0)


def _offsets() -> Iterator[Step]:
    for version in range(5):
        for one in EPOCHS:
            yield joined(version=version, epoch=one)
    for version in range(6):
        for one in EPOCHS:
            yield commit_within(version=version, epoch=one)
    yield joined(pid="$ref:pid+3")
    yield told()


def _batches(epoch: int) -> Iterator[Step]:
    for version in (3, 9, 10, 11, 12, 13):
        for one in EPOCHS[:2]:
            yield sent(within(0, "y", epoch=one), partition=1, version=version)
            yield sent(within(1, "z", epoch=one), version=version)
    for version in (11, 12):
        yield sent(within(0, "q", epoch=epoch), topic="stuck", version=version)
    yield describe_producers(0, 1)
    yield read()


def _looks() -> Iterator[Step]:
    yield described()
    for state in ("PrepareCommit", "PrepareAbort", "Ongoing"):
        yield listed(state_filters=[state], producer_id_filters=["$ref:pid"])
    yield describe_producers(0)
    yield describe_producers(0, topic="stuck")
    yield read()
    yield read(topic="stuck")
    yield from list_offsets(-1, isolation_level=1)
    yield from list_offsets(-1, topic="stuck", isolation_level=1)


def _waiting(commits: bool, version: int) -> Iterator[RequestSequence]:
    epoch = 1 if version >= BUMPS else 0
    how = f"{'commit' if commits else 'abort'}_v{version}"
    begin = _decided(commits, version)
    yield story(f"add_while_{how}", "no partition joins what is decided", *begin, *_adds(epoch))
    yield story(f"end_while_{how}", "what is decided is not decided again", *begin, *_ends())
    yield story(f"init_while_{how}", "nor replaced before it is complete", *begin, *_begins())
    yield story(f"produce_while_{how}", "nor written to", *begin, *_batches(epoch))
    yield story(f"look_while_{how}", "which partitions are still to be told", *begin, *_looks())
    yield story(f"offsets_while_{how}", "no offset joins it", grouped(), *begin, *_offsets())


FENCED = (
    story(
        "fenced_while_marked",
        "an abort of a producer that was replaced waits for its markers, too",
        made("stuck"),
        *begun(),
        added({"stuck": [0]}),
        kept_from_markers(),
        init(),
        settled("PrepareAbort"),
        init(),
        *(init(producer_id="$ref:pid", producer_epoch=one) for one in EPOCHS),
        *(ended(False, epoch=one, version=version) for one in EPOCHS for version in (4, 5)),
        *(added(epoch=one) for one in EPOCHS),
        described(),
        *(sent(within(0, "late"), topic="stuck", version=version) for version in (9, 12)),
        describe_producers(0, topic="stuck"),
    ),
    story(
        "beside_one_that_waits",
        "a partition that one transaction waits for takes part in another",
        *_decided(True, 4),
        *begun("u", "other"),
        added({"a": [0], "stuck": [0]}, tid="u", pid="$ref:other"),
        sent(within(0, "o", pid="$ref:other"), tid="u"),
        sent(within(0, "o", pid="$ref:other"), tid="u", topic="stuck"),
        read(),
        read(topic="stuck"),
        described("t", "u"),
    ),
)


def _over_brokers(version: int) -> RequestSequence:
    """The coordinator is one broker, and each partition has another leader."""
    coordinator = "transaction:t"
    leaders = [f"broker:{one}" for one in range(3)]
    find, begin = begun()
    steps = (
        replicas.made("a", [0], [1], [2]),
        find,
        replace(begin, on=coordinator),
        *replicas.at(coordinator, added({"a": [0, 1, 2]}, version=5)),
        *replicas.at(leaders[0], kept_from_markers("a")),
        *replicas.at(coordinator, ended(version=BUMPS), settled("PrepareCommit")),
        *(
            replace(sent(within(0, "x", epoch=one), partition=at, version=version), on=leader)
            for at, leader in enumerate(leaders)
            for one in EPOCHS[:2]
        ),
        *replicas.at(coordinator, added({"a": [0]}, epoch=1), init(), joined(epoch=1)),
        *replicas.at("no-transaction:t", added({"a": [0]}, epoch=1), init(), joined(epoch=1)),
        *replicas.at("group:g", *(commit_within(version=one, epoch=1) for one in (3, 4, 5))),
    )
    return RequestSequence(
        name=f"transactions/produce_over_brokers_while_v{version}",
        about="the coordinator that is asked is another broker's",
        steps=(grouped(), *steps),
        brokers=3,
    )


SEQUENCES = (
    *(one for commits in (True, False) for version in (4, 5) for one in _waiting(commits, version)),
    *FENCED,
    *(_over_brokers(version) for version in (3, 11, 12, 13)),
)

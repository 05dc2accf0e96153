"""The stage `edges` while nothing goes wrong: producers, timestamps, racks, what is kept.

Each function gives the steps of one situation, one client after the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from conformance.classic.edge_topics import (
    AGED,
    BATCH_BYTES,
    BULKY,
    EXPIRATION_MS,
    FLEETING,
    HALF_A_SEGMENT,
    HEAVY,
    HOUR_MS,
    INDEXED,
    NOTHING,
    RETENTION_MS,
    SEGMENT_MS,
    SMALL_MS,
    STAMPS,
    TURNS,
    edge,
)
from harness.steps.step import Step


def producers(chance: random.Random) -> Iterator[Step]:
    """Batches that repeat, skip, wrap; epochs that are old, new, or begin elsewhere than at 0."""

    def sends(log: str, producer: int, epoch: int, sequence: int, count: int = 1) -> Step:
        said = {"producer": producer, "epoch": epoch, "sequence": sequence, "count": count}
        return edge("produce", log=log, **said)

    for number in range(2):
        log, producer = f"{TURNS}-{number}", 9001 + number
        sequence = 0
        for _ in range(7):
            count = chance.randint(1, 3)
            yield sends(log, producer, 0, sequence, count)
            sequence += count
        for back in (0, 1, 4, 2, 3):
            yield edge("again", log=log, producer=producer, back=back)
        yield sends(log, producer, 0, sequence + 1)  # one is left out
        yield sends(log, producer, 0, max(0, sequence - 1))  # one is repeated, in another batch
        yield sends(log, producer, 0, 0)  # it begins again
        yield sends(log, producer, 0, sequence, 2)
        yield edge("again", log=log, producer=producer, back=0)
        yield sends(log, producer, 2, 3)  # a new epoch begins at 0
        yield sends(log, producer, 1, 1)
        yield sends(log, producer, 2, 0, 2)
        yield sends(log, producer, 1, sequence + 2)  # the old epoch goes on
        yield sends(log, producer, 1, 0)
        yield sends(log, producer, 2, 0, 1)  # it begins like one that is known, and is shorter
        yield sends(log, producer, 2, 2)
        yield edge("again", log=log, producer=producer, back=1)
        yield edge("again", log=log, producer=producer, back=0)
        yield sends(log, producer, 3, 2)
        yield sends(log, producer, 3, 0, 2)  # the numbers of a batch that is known, in a new epoch
    # The last sequence number is 2^31-1; another producer, whose first is not 0.
    log, last = f"{TURNS}-2", (1 << 31) - 1
    yield sends(log, 9003, 0, last - 2, 2)
    yield sends(log, 9001, 0, 5, 2)  # of whom this partition knows nothing
    yield sends(log, 9003, 0, last, 2)  # its second record has 0
    yield edge("again", log=log, producer=9003, back=0)
    yield sends(log, 9003, 0, 2)
    yield sends(log, 9003, 0, 1)
    yield sends(log, 9004, 3, last)
    yield sends(log, 9004, 3, 1)
    yield sends(log, 9004, 3, 0)
    yield edge("again", log=log, producer=9004, back=1)
    yield edge("again", log=log, producer=9001, back=0)
    yield edge("again", log=log, producer=9003, back=2)


def stamps(chance: random.Random) -> Iterator[Step]:
    """Timestamps that are equal, fall and rise within batches, between them, across segments."""
    for number in range(2):
        log, by = f"{STAMPS}-{number}", chance.randint(2, 9)
        first = f"0,0,0 {by},{-by},{2 * by} {by} {-3 * by},{-2 * by} {2 * by},{2 * by}"
        yield edge("write", log=log, batches=first, codec=("none", "gzip")[number])
        more = f"{5 * by},{4 * by} {3 * by} {9 * by},{7 * by},{9 * by}"
        yield edge("write", log=log, batches=more, codec=("lz4", "none")[number])
        yield edge("write", log=log, batches=f"{2 * by},{by},0", codec="snappy")
        yield edge("write", log=log, batches="0,1,2", defect="torn")
        yield edge("write", log=log, batches="0,1,2,3", defect="misnumbered")
        yield edge("read", log=log)
        yield edge("search", log=log)
        yield edge("delete", log=log, at="beyond")
        yield edge("delete", log=log, at="middle")
        yield edge("read-all", log=log)
        yield edge("delete", log=log, at="below")
        yield edge("delete", log=log, at="start")
        yield edge("read", log=log, most=2)
        yield edge("search", log=log)
    yield edge("delete", log=f"{STAMPS}-1", at="end")
    yield edge("read", log=f"{STAMPS}-1")
    yield edge("write", log=f"{STAMPS}-1", batches="0 1,2,1 3")
    yield edge("delete", log=f"{STAMPS}-0", at="-1")  # no producer of which more is asked
    yield edge("write", log=f"{STAMPS}-0", batches="0 2,1")
    yield edge("write", log=f"{TURNS}-1", batches="0 1,2", acks=1)
    yield edge("write", log=f"{TURNS}-2", batches="0,0", acks=0)
    yield edge("read", log=f"{TURNS}-*", most=1)


def retention(bound_ms: int) -> Iterator[Step]:
    """What is too old or too much goes, and nothing else."""
    for number in range(2):
        log = f"{AGED}-{number}"
        old, young = RETENTION_MS + HOUR_MS, RETENTION_MS - HOUR_MS
        yield edge("write", log=log, batches="0 1,2", ago=old)
        if number:
            yield edge("write", log=log, batches="0 9", ago=old - 2 * SEGMENT_MS)
        yield edge("write", log=log, batches="0 5,1", ago=young)
        yield edge("write", log=log, batches="0,0")
    for number in range(2):
        stamps = [str(one * SMALL_MS // 2) for one in range(24 + number)]
        batches = " ".join(stamps)
        yield edge("write", log=f"{BULKY}-{number}", batches=batches, size=BATCH_BYTES)
    yield edge("retain", log=f"{AGED}-0", least=3, bound=bound_ms)
    yield edge("retain", log=f"{AGED}-1", least=5, bound=bound_ms)
    yield edge("retain", log=f"{BULKY}-*", least=8, bound=bound_ms)
    yield edge("read", log=f"{AGED}-*", most=2)
    yield edge("read", log=f"{BULKY}-*", most=1)
    yield edge("search", log=f"{AGED}-*")


def other_limits(bound_ms: int) -> Iterator[Step]:
    """Segments that are full by their size or by their indexes; a limit of 0 keeps nothing."""
    same = " ".join(["0"] * 24)
    yield edge("write", log=f"{INDEXED}-0", batches=same, size=BATCH_BYTES // 2)
    yield edge("write", log=f"{HEAVY}-0", batches="0 0", size=HALF_A_SEGMENT)
    for ago in (5000, 3000, 1000):
        yield edge("write", log=f"{FLEETING}-0", batches="0", ago=ago)
    apart = " ".join(str(2 * SMALL_MS * one) for one in range(4))
    yield edge("write", log=f"{NOTHING}-0", batches=apart, size=BATCH_BYTES)
    for topic, least in ((INDEXED, 12), (HEAVY, 1), (FLEETING, 2), (NOTHING, 3)):
        yield edge("retain", log=f"{topic}-0", least=least, bound=bound_ms)
    yield edge("delete", log=f"{HEAVY}-0", at="end")  # or it is read all the time


def expiry(bound_ms: int) -> Iterator[Step]:
    """A producer that was silent for long is forgotten, one that was not is not."""
    log = f"{TURNS}-0"
    for producer, ago in ((9005, EXPIRATION_MS + HOUR_MS), (9006, EXPIRATION_MS // 2)):
        yield edge("produce", log=log, producer=producer, epoch=1, sequence=0, count=2, ago=ago)
    yield edge("forget", log=log, producer=9005, sequence=7, bound=bound_ms)
    yield edge("produce", log=log, producer=9006, epoch=1, sequence=7)
    yield edge("again", log=log, producer=9006)
    yield edge("produce", log=log, producer=9006, epoch=1, sequence=2)

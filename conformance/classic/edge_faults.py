"""The stage `edges` while something goes wrong: followers lag, brokers go and come back.

Who came back is made leader again, so that what it knows of producers, epochs and timestamps is
what its own disk told it. Producers go on at whatever it recovered: from a snapshot, from the log
behind it, from a log whose start was moved just before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from conformance.classic.edge_topics import (
    AGED,
    EDGES,
    LONE,
    RESUMED,
    SMALL_MS,
    STAMPS,
    TURNS,
    edge,
    step,
)
from harness.steps.step import LAB, NEMESIS, Step
from nemesis.schedule import Strike

Played = Callable[[random.Random, Step], Iterator[Step]]
ALONE = "alone"
FIRST = "broker-1"  # which does not lead the last of three partitions
BEHIND = "followers of turns-0 <-> leader of turns-0"
FAULTS: Mapping[str, Strike] = MappingProxyType(
    {
        "lag": Strike("cut", BEHIND),
        "diverge": Strike("cut", BEHIND),
        "fall": Strike("kill", "leader of turns-0"),
        "restart": Strike("restart", "leader of turns-1"),
        ALONE: Strike("restart", f"leader of {LONE}-0"),
        "kill": Strike("kill", "leader of stamps-0"),
        "lose-power": Strike("lose-power", "leader of stamps-1"),
        "all-fall": Strike("kill", "all brokers"),
        "tear": Strike("lose-power", FIRST),
        "tear-off": Strike("sync-failing", FIRST),
    }
)
# Of whom a log remembers a batch of an old segment; several of many; the last of all.
EARLY, STEADY, LATE = 9101, 9102, 9103


def part_name(part: str) -> str:
    """What the plan calls a part of the stage."""
    return f"{EDGES}/{part}"


def resumed() -> Iterator[Step]:
    """Producers of logs with several segments: the first of them is silent from now on."""
    logs = f"{RESUMED}-*"
    for producer in (EARLY, STEADY):
        yield edge("next", log=logs, producer=producer, count=2)
    yield from _more_segments()


def _more_segments(count: int = 2) -> Iterator[Step]:
    """Snapshots are taken where a segment ends; behind the last one there is more."""
    logs = f"{RESUMED}-*"
    apart = " ".join(str(2 * SMALL_MS * one) for one in range(count))
    yield edge("next", log=logs, producer=STEADY)
    yield edge("write", log=logs, batches=apart)
    for producer in (STEADY, LATE, STEADY):
        yield edge("next", log=logs, producer=producer)


def _producers_go_on() -> Iterator[Step]:
    """They repeat their last batch, leave one out, and go on."""
    logs = f"{RESUMED}-*"
    for producer in (EARLY, STEADY, LATE):
        yield edge("again", log=logs, producer=producer)
        yield edge("next", log=logs, producer=producer, skip=1)
    for producer in (STEADY, LATE):
        yield edge("next", log=logs, producer=producer)


def _lead_again(topics: tuple[str, ...]) -> Iterator[Step]:
    """The preferred leaders lead, and write in their new epoch."""
    yield edge("elect", log="*")
    yield edge("settle")
    for topic in topics:
        yield edge("write", log=f"{topic}-*", batches="0 1,0")


def _strike(fault: str) -> Step:
    strike = FAULTS[fault]
    return step(NEMESIS, strike.fault, target=strike.target, part=part_name(fault))


def _end(fault: str) -> Step:
    return step(NEMESIS, "end", fault=FAULTS[fault].fault)


def _lag(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """Followers lag one batch; then too few are in sync; then the leader falls."""
    log = f"{TURNS}-0"
    yield _strike("lag")
    yield edge("write", log=log, batches="0,0", acks=1)
    yield edge("write", log=log, batches="0", timeout=200)
    yield edge("delete", log=log, at="beyond")
    yield edge("read", log=log, most=0)
    yield edge("look", log=log)
    yield lasting
    for _ in range(2):
        yield edge("look", log=log)
        yield edge("write", log=log, batches="0,0")
        yield edge("write", log=log, batches="0", acks=1)
        yield edge("look", log=log)
    yield _end("lag")
    yield edge("settle")
    yield edge("write", log=log, batches="0 0,1")
    yield edge("read-all", log=f"{TURNS}-*")


def _diverge(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """A leader appends what its followers do not have, and falls; they go on without it."""
    log = f"{TURNS}-0"
    yield _strike("diverge")
    yield edge("write", log=log, batches="0,0 0", acks=1)
    yield edge("write", log=log, batches="0", timeout=200)
    yield edge("read", log=log, most=0)
    yield step(NEMESIS, "kill", target=f"leader of {log}", part=part_name("fall"))
    yield lasting
    yield edge("write", log=log, batches="0 0,1 0")
    yield edge("epochs", log=log)
    yield step(NEMESIS, "heal-all")
    yield edge("settle")
    yield edge("write", log=log, batches="0")
    yield edge("epochs", log=log)
    yield edge("read-all", log=f"{TURNS}-*")
    yield from _lead_again((TURNS,))
    yield edge("epochs", log=log)
    yield edge("again", log=log, producer=9001)


def _down(fault: str, topic: str, deleted: str = "") -> Played:
    def played(chance: random.Random, lasting: Step) -> Iterator[Step]:
        """A broker goes and comes back; producers go on where they stopped."""
        segments = " ".join(str(2 * SMALL_MS * one) for one in range(5))
        yield edge("write", log=f"{topic}-*", batches=f"0 1,0 {segments}")
        yield from _more_segments()
        if deleted:  # where the log begins may not be written down yet
            yield edge("delete", log=deleted, at="middle")
        yield _strike(fault)
        yield lasting
        for written in (TURNS, STAMPS, AGED):  # the epochs of the other topic have no records
            yield edge("write", log=f"{written}-*", batches="0 1,0")
        for producer, log in ((9001, f"{TURNS}-0"), (9002, f"{TURNS}-1"), (9003, f"{TURNS}-2")):
            yield edge("again", log=log, producer=producer)
        yield _end(fault)
        yield edge("settle")
        for producer, log in ((9001, f"{TURNS}-0"), (9002, f"{TURNS}-1")):
            yield edge("again", log=log, producer=producer)
        yield edge("epochs", log=f"{topic}-*")
        yield edge("read-all", limit=300)
        yield from _lead_again((topic,))
        yield from _producers_go_on()
        yield edge("epochs", log=f"{topic}-*")
        yield edge("search", log=f"{STAMPS}-*")
        yield edge("delete", log=f"{topic}-{chance.randrange(2)}", at="middle")
        yield edge("epochs", log=f"{topic}-*")

    return played


def _all_fall(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """All brokers at once: there is no leader to copy from, every log is what its disk tells."""
    apart = " ".join(str(2 * SMALL_MS * one) for one in range(4))
    yield edge("write", log=f"{STAMPS}-*", batches="0,0 1,0")
    yield edge("delete", log=f"{STAMPS}-0", at="middle")
    yield from _more_segments()
    # Of these segments nobody has written down yet that they were synced.
    yield edge("write", log=f"{STAMPS}-*", batches=apart, acks=1)
    yield edge("write", log=f"{STAMPS}-*", batches="0")
    yield _strike("all-fall")
    yield _end("all-fall")
    yield edge("settle")
    yield edge("read-all", limit=300)
    yield from _producers_go_on()
    yield from _lead_again(())
    yield from _producers_go_on()
    yield edge("write", log=f"{STAMPS}-*", batches="0 1,0")
    yield edge("epochs", log=f"{RESUMED}-*")
    yield edge("search", log=f"{STAMPS}-*")


def _alone(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """A log that one broker has, which stops in good order: its own disk tells what it is after.

    Records were deleted, and producers at work, just before.
    """
    log = f"{LONE}-0"
    yield edge("create", topic=LONE, partitions=1, configs=f"segment.ms={SMALL_MS}", factor=1)
    yield edge("settle")
    apart = " ".join(str(2 * SMALL_MS * one) for one in range(4))
    for deleted in ("middle", "-1"):
        for producer in (EARLY, STEADY):
            yield edge("next", log=log, producer=producer, count=2)
        yield edge("write", log=log, batches=f"{apart} 0,0,0 1,0,1")
        yield edge("next", log=log, producer=LATE)
        yield edge("delete", log=log, at=deleted)
        yield _strike(ALONE)
        yield _end(ALONE)
        yield step(LAB, "converge")
        yield edge("settle")
        yield edge("read", log=log, most=2)
        yield edge("epochs", log=log)
        yield edge("search", log=log)
        for producer in (EARLY, STEADY, LATE):
            yield edge("again", log=log, producer=producer)
            yield edge("next", log=log, producer=producer, skip=1)
            yield edge("next", log=log, producer=producer)


def _tear(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """A follower loses power, and segments behind which there are others were never synced."""
    bad = FAULTS["tear-off"]
    yield from _lead_again(())
    yield step(NEMESIS, bad.fault, target=bad.target, part=part_name("tear-off"))
    apart = " ".join(str(2 * SMALL_MS * one) for one in range(4))
    for log in (f"{RESUMED}-1", f"{RESUMED}-2", f"{STAMPS}-1"):
        yield edge("write", log=log, batches=apart, acks=1)
    yield _strike("tear")
    yield _end("tear-off")
    yield _end("tear")
    yield edge("settle")
    yield edge("write", log=f"{RESUMED}-*", batches="0 1,0")
    yield edge("read-all", log=f"{RESUMED}-*", limit=300)
    yield from _producers_go_on()
    yield edge("epochs", log=f"{RESUMED}-0")
    yield edge("search", log=f"{RESUMED}-0")


PLAYED: Mapping[str, Played] = MappingProxyType(
    {
        "lag": _lag,
        "diverge": _diverge,
        "restart": _down("restart", TURNS),
        "kill": _down("kill", STAMPS, f"{STAMPS}-0"),
        "lose-power": _down("lose-power", STAMPS, f"{STAMPS}-1"),
        "all-fall": _all_fall,
        "tear": _tear,
        ALONE: _alone,
    }
)
NEEDS: Mapping[str, str] = MappingProxyType({"diverge": "fall", "tear": "tear-off"})

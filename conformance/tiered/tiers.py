"""The stage `tiers`: clients of tiered logs while nothing goes wrong.

Logs with tiny segments are written to until most of them is in the remote tier alone. Then every
bound is read at every broker, offsets are listed in all versions, followers are played, records
deleted and expired, topics configured, deleted and created again. Looks at the metadata topic and
at the store are taken at rest.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from conformance.tiered.topics import (
    AGAIN,
    BATCH_BYTES,
    BULK,
    GROWN,
    HEAP,
    HOUR_MS,
    LATE,
    ONCE,
    PLAIN,
    RETENTION_MS,
    SHELF,
    SMALL,
    TOPICS,
    TURNS,
    step,
    tier,
)
from harness.steps.step import LAB, Step

STAGE = "tiers"
CONFIGURATIONS, READS, PRODUCERS = "configurations", "reads", "producers"
DELETIONS, RETENTION, REMOVAL = "deletions", "retention", "removal"
ENABLING = "enabling"
TOPICS_OF = MappingProxyType(
    {
        CONFIGURATIONS: (ONCE, PLAIN),
        READS: (SMALL, PLAIN),
        PRODUCERS: (TURNS,),
        DELETIONS: (SMALL, TURNS),
        RETENTION: (LATE, BULK, SHELF, HEAP),
        ENABLING: (GROWN,),
        REMOVAL: (ONCE,),
    }
)
SITUATIONS = tuple(TOPICS_OF)
WRITTEN = (SMALL, PLAIN, ONCE, TURNS)
THROUGH_MS = 5000  # in which a log of some dozens of records is read
LAST = "240,243,246 249"  # batches that stay on the disk, the first to be read from inside
YOUNG = 6  # batches that local retention leaves
AGED = RETENTION_MS + HOUR_MS
KEPT = 3  # batches that may be in the active segment, or in the one before it


def tier_steps(
    seed: int, *, form: str, bound_ms: int, only: Sequence[str] = SITUATIONS
) -> list[Step]:
    """The stage as steps, or some situations of it alone."""
    chance = random.Random(f"{seed}/tiers")
    topics = [one for one in TOPICS if any(one in TOPICS_OF[each] for each in only)]
    waits = [f"{one}-*" for one in topics if one in WRITTEN and one != PLAIN]
    look = tier("look-at-tiers", form=form, bound=bound_ms)
    told = [step(LAB, "create"), *recovers(), tier("settings")]
    told += [*(created(topic) for topic in topics), tier("settle")]
    if CONFIGURATIONS in only:
        told += configurations()
    told += [*writes(chance, topics), *_waits(*waits, bound=bound_ms)]
    if ENABLING in only:
        told += enabling(bound_ms)
    if READS in only:
        told += [look, *reads()]
    if PRODUCERS in only:
        told += producers()
    if DELETIONS in only:
        told += deletions()
    if RETENTION in only:
        told += retention(bound_ms)
    told.append(look)
    if REMOVAL in only:
        told += [*removal(form, bound_ms), look]
    return [*told, tier("read-all"), *recovers(), step(LAB, "nodes")]


def created(topic: str) -> Step:
    """A topic of this stage."""
    partitions, configs = TOPICS[topic]
    return tier("create", topic=topic, partitions=partitions, configs=configs)


def configurations() -> Iterator[Step]:
    """What a topic can be, and what not; nothing of it changes those that are read later."""
    on = "remote.storage.enable=true"

    def changes(case: str, change: str = "", remove: str = "", topic: str = ONCE) -> Step:
        return tier("configure", case=case, topic=topic, change=change, remove=remove)

    def creates(case: str, configs: str) -> Step:
        return tier("try-to-create", case=case, configs=configs)

    yield tier("describe", case="defaults", topic=PLAIN)
    yield tier("describe", case="metadata-topic", topic="__remote_log_metadata")
    yield changes("disable", "remote.storage.enable=false")
    yield changes("disable-by-removal", remove="remote.storage.enable")
    yield changes("compact-later", "cleanup.policy=compact")
    yield creates("compact-at-creation", f"{on},cleanup.policy=compact")
    yield creates("local-beyond-ms", f"{on},retention.ms=1000,local.retention.ms=1001")
    yield creates("local-beyond-bytes", f"{on},retention.bytes=1000,local.retention.bytes=1001")
    yield creates("local-beyond-infinite", f"{on},retention.ms=1000,local.retention.ms=-1")
    yield creates("local-beyond-unknown", f"{on},local.retention.ms=-3")
    yield creates("accepted-equal", f"{on},retention.ms=1000,local.retention.ms=1000")
    yield creates("accepted-infinite", f"{on},retention.ms=-1,local.retention.ms=-1")
    yield creates("accepted-unset", f"{on},retention.ms=1000,local.retention.ms=-2")
    yield changes("accepted-later", f"retention.ms={HOUR_MS},local.retention.ms={HOUR_MS}")
    yield changes("local-beyond-lowered", f"retention.ms={HOUR_MS - 1}")
    yield changes("accepted-back", "retention.ms=-1,local.retention.ms=-2")


def writes(chance: random.Random, topics: Sequence[str]) -> Iterator[Step]:
    """Batches of one to three records, with timestamps that rise, fall and repeat."""
    for topic in (one for one in (SMALL, PLAIN, ONCE) if one in topics):
        for partition in range(TOPICS[topic][0]):
            batches = " ".join(_stamps(chance, 20 * number) for number in range(12))
            yield tier("write", log=f"{topic}-{partition}", batches=batches)
            if topic == SMALL:
                yield from _refused(f"{topic}-{partition}")
                yield tier("write", log=f"{topic}-{partition}", batches=LAST)
    for producer in (9001, 9002) if TURNS in topics else ():
        for number in range(6):
            yield tier(
                "produce",
                log=f"{TURNS}-*",
                producer=producer,
                epoch=0,
                sequence=2 * number,
                count=2,
            )


def _refused(log: str) -> Iterator[Step]:
    """Batches that must not be in any tier, before others that are; the latest is not the last."""
    yield tier("write", log=log, batches="0,1,2", codec="gzip", defect="misnumbered")
    yield tier("write", log=log, batches="0", defect="torn")
    yield tier("write", log=log, batches="260 600 270 280 290 300")


def _stamps(chance: random.Random, after: int) -> str:
    return ",".join(str(after + chance.randint(-30, 30)) for _ in range(chance.randint(1, 3)))


def _waits(*logs: str, bound: int) -> Iterator[Step]:
    for log in logs:
        yield tier("await", log=log, what="copied", keep=KEPT, bound=bound)
        yield tier("await", log=log, what="local", keep=KEPT, bound=bound)


def reads() -> Iterator[Step]:
    """Every bound, version, limit and role."""
    yield tier("walk", log=f"{SMALL}-*")
    yield tier("through", log=f"{SMALL}-*", bound=THROUGH_MS)
    yield tier("together", topic=SMALL)
    yield tier("versions", log=f"{SMALL}-0")
    yield tier("follow", log=f"{SMALL}-*")
    yield tier("search", log=f"{SMALL}-*")
    yield tier("search", log=f"{PLAIN}-0")
    yield tier("read", log=f"{SMALL}-0")
    yield tier("read", log=f"{PLAIN}-0")
    yield tier("near", log=f"{SMALL}-0", times=1)
    yield tier("read-all", log=f"{SMALL}-*")
    yield tier("epochs", log=f"{SMALL}-*")


def enabling(bound: int) -> Iterator[Step]:
    """A log that has records becomes tiered: all of it, and what comes later.

    First its disk keeps what was copied, so both tiers have it; then the disk is freed.
    """
    log = f"{GROWN}-0"
    yield tier("write", log=log, batches="0,1 2 3 4,5 6 7 8")
    yield tier("read", log=log, most=2)
    yield tier(
        "configure", case="accepted-enabling", topic=GROWN, change="remote.storage.enable=true"
    )
    yield tier("write", log=log, batches="9 10 11 12")
    yield tier("await", log=log, what="copied", keep=KEPT, bound=bound)
    yield from _looked_over(log)
    yield tier("configure", case="accepted-local", topic=GROWN, change="local.retention.bytes=1")
    yield tier("await", log=log, what="local", keep=KEPT, bound=bound)
    yield from _looked_over(log)


def _looked_over(log: str) -> Iterator[Step]:
    yield tier("walk", log=log)
    yield tier("search", log=log)
    yield tier("read-all", log=log)


def producers() -> Iterator[Step]:
    """Producers whose batches are in the remote tier go on and repeat."""
    for producer in (9001, 9002):
        yield tier("again", log=f"{TURNS}-*", producer=producer)
        yield tier("again", log=f"{TURNS}-*", producer=producer, back=4)
        yield tier("next", log=f"{TURNS}-*", producer=producer, skip=1)
        yield tier("next", log=f"{TURNS}-*", producer=producer)


def deletions() -> Iterator[Step]:
    """DeleteRecords below, at and inside the remote tier, at its end and beyond the log's."""
    for log, places in (
        (f"{SMALL}-1", ("start", "middle", "start", "below", "beyond")),
        (f"{SMALL}-2", ("end",)),
        (f"{TURNS}-0", ("-1",)),
    ):
        for place in places:
            yield tier("delete", log=log, at=place)
            yield tier("below", log=log)
            yield tier("read", log=log, most=2)
            yield tier("follow", log=log)
    yield tier("search", log=f"{SMALL}-1")


def retention(bound: int) -> Iterator[Step]:
    """What is past retention goes from both tiers; the rest stays."""
    old = " ".join("0" * YOUNG)
    for ago in (RETENTION_MS - HOUR_MS, AGED):  # what stays shields the older
        yield tier("write", log=f"{LATE}-0", batches=old, ago=ago)
    yield tier("write", log=f"{LATE}-1", batches=old, ago=AGED)
    yield tier("write", log=f"{LATE}-*", batches="0 0 0 0 0")
    yield tier("write", log=f"{BULK}-0", batches=" ".join("0" * 20), size=BATCH_BYTES)
    for log, ages in ((f"{SHELF}-0", (AGED,)), (f"{SHELF}-1", (0, AGED))):
        for ago in (*ages, 0):  # on the second what is young shields the older
            yield tier("write", log=log, batches=old, ago=ago)
    yield tier("write", log=f"{HEAP}-0", batches=" ".join("0" * 20), size=BATCH_BYTES)
    yield tier("retain", log=f"{LATE}-1", least=6, bound=bound)
    yield tier("retain", log=f"{BULK}-0", least=1, bound=bound)
    for log in (f"{LATE}-0", f"{LATE}-1", f"{BULK}-0"):
        yield tier("read", log=log, most=3)
    yield tier("search", log=f"{LATE}-0")
    for log in (f"{SHELF}-0", f"{HEAP}-0"):
        yield tier("await", log=log, what="local", keep=YOUNG + KEPT, bound=bound)
    yield tier("await", log=f"{SHELF}-1", what="copied", keep=KEPT, bound=bound)


def removal(form: str, bound: int) -> Iterator[Step]:
    """A topic is deleted, and another of its name created at once."""
    partitions, configs = TOPICS[ONCE]
    yield tier("delete-topic", topic=ONCE)
    yield tier("create", topic=AGAIN, partitions=partitions, configs=configs)
    yield tier("settle")
    yield tier("empty", topic=AGAIN)
    yield tier("write", log=f"{AGAIN}-0", batches="0 0 0 0 0 0")
    yield from _waits(f"{AGAIN}-0", bound=bound)
    yield tier("read", log=f"{AGAIN}-0", most=2)
    yield tier("removed", topic=ONCE, form=form, bound=bound)


def recovers() -> list[Step]:
    """The cluster is at rest, and takes and shows an append."""
    return [step(LAB, "converge"), step(LAB, "progress")]

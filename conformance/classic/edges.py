"""The stage `edges` of the profile `classic`: clients at every bound of logs, on a small cluster.

Producers come back with batches, sequence numbers and epochs of every kind; readers begin and end
at every bound; retention, rolled segments and forgotten producers at tiny settings; a follower that
lags one batch, too few replicas in sync, brokers that restart, are killed and lose power while
several partitions of several topics are written to. What a deployment does not offer is left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.history.plan import Part
from harness.steps.step import LAB, NEMESIS, Step
from nemesis.schedule import Strike

EDGES = "edges"  # the stage and its first topic
PROFILE = "classic"
TURNS, STAMPS, AGED, BULKY = "turns", "stamps", "aged", "bulky"

HOUR_MS = 3_600_000  # longer than any run: what is younger stays for all of it
EXPIRATION_MS = HOUR_MS
RETENTION_MS = 10 * HOUR_MS
SEGMENT_MS = 10_000
RETENTION_BYTES = 1_500
BATCH_BYTES = 400
LASTS_S = 2.5
SETTINGS = MappingProxyType(
    {
        **QUICK_TO_NOTICE,
        "replica.high.watermark.checkpoint.interval.ms": "500",
        "log.flush.offset.checkpoint.interval.ms": "500",
        "log.retention.check.interval.ms": "400",
        "log.initial.task.delay.ms": "400",
        "producer.id.expiration.ms": str(EXPIRATION_MS),
        "producer.id.expiration.check.interval.ms": "400",
    }
)
# A segment is rolled by the timestamps of its records: no time has to pass.
SMALL_MS = 20
TOPICS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        TURNS: (3, "min.insync.replicas=2"),
        STAMPS: (2, f"min.insync.replicas=2,segment.ms={SMALL_MS},retention.ms=-1"),
        AGED: (2, f"retention.ms={RETENTION_MS},segment.ms={SEGMENT_MS}"),
        BULKY: (2, f"retention.bytes={RETENTION_BYTES},segment.ms={SMALL_MS}"),
    }
)

BEHIND = "followers of turns-0 <-> leader of turns-0"
FAULTS: Mapping[str, Strike] = MappingProxyType(
    {
        "lag": Strike("cut", BEHIND),
        "diverge": Strike("cut", BEHIND),
        "fall": Strike("kill", "leader of turns-0"),
        "restart": Strike("restart", "leader of turns-1"),
        "kill": Strike("kill", "leader of stamps-0"),
        "lose-power": Strike("lose-power", "leader of stamps-1"),
    }
)
RETENTION, EXPIRY = "retention", "expiry"
OF_RETENTION = ("KFK-163", "KFK-164")
OF_EXPIRY = ("KFK-155",)


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the stage plays on, where the lab starts it."""
    return DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=SETTINGS, mutants=mutants)


def part_name(part: str) -> str:
    """What the plan calls a part of the stage."""
    return f"{EDGES}/{part}"


def planned_parts() -> tuple[Part, ...]:
    """What needs levers, or settings of a cluster that the lab has started."""
    return (
        Part(name=part_name(RETENTION), profile=PROFILE, rules=OF_RETENTION),
        Part(name=part_name(EXPIRY), profile=PROFILE, rules=OF_EXPIRY),
        *(
            Part(
                name=part_name(fault),
                profile=PROFILE,
                rules=(),
                faults=(strike.fault,),
                required=False,
                promised=False,
                scope="profile",
            )
            for fault, strike in FAULTS.items()
        ),
    )


def edge_steps(
    seed: int,
    faults: Sequence[str] = tuple(FAULTS),
    *,
    settled: bool = True,
    bound_ms: int,
    pace: float = 1.0,
    lasts_s: float = LASTS_S,
) -> list[Step]:
    """The stage as steps; `settled`: the cluster has the settings of this stage.

    A fault lasts so many seconds of the world whose pace is given.
    """
    chance = random.Random(f"{seed}/edges")
    told = [_step(LAB, "create"), *_recovers(), _edge("settings")]
    told += [
        _edge("create", topic=topic, partitions=partitions, configs=configs)
        for topic, (partitions, configs) in TOPICS.items()
    ]
    told += [_edge("settle"), *_producers(chance), *_stamps(chance)]
    if settled:
        told += [*_retention(bound_ms), *_expiry(bound_ms)]
    lasting = _step(LAB, "wait", ms=int(1000 * lasts_s / pace))
    order = [one for one in faults if one in _PLAYED and (one != "diverge" or "fall" in faults)]
    chance.shuffle(order)
    for fault in order:
        told += [_step(LAB, "nodes"), *_PLAYED[fault](chance, lasting), *_recovers()]
    return [
        *told,
        _edge("epochs", log="*"),
        _edge("read-all"),
        *_recovers(),
        _step(LAB, "nodes"),
    ]


def _producers(chance: random.Random) -> Iterator[Step]:
    """Batches that repeat, skip, wrap; epochs that are old, new, or begin elsewhere than at 0."""

    def sends(log: str, producer: int, epoch: int, sequence: int, count: int = 1) -> Step:
        said = {"producer": producer, "epoch": epoch, "sequence": sequence, "count": count}
        return _edge("produce", log=log, **said)

    for number in range(2):
        log, producer = f"{TURNS}-{number}", 9001 + number
        sequence = 0
        for _ in range(7):
            count = chance.randint(1, 3)
            yield sends(log, producer, 0, sequence, count)
            sequence += count
        for back in (0, 1, 4, 2, 3):
            yield _edge("again", log=log, producer=producer, back=back)
        yield sends(log, producer, 0, sequence + 1)  # one is left out
        yield sends(log, producer, 0, max(0, sequence - 1))  # one is repeated, in another batch
        yield sends(log, producer, 0, 0)  # it begins again
        yield sends(log, producer, 0, sequence, 2)
        yield _edge("again", log=log, producer=producer, back=0)
        yield sends(log, producer, 2, 3)  # a new epoch begins at 0
        yield sends(log, producer, 1, 1)
        yield sends(log, producer, 2, 0, 2)
        yield sends(log, producer, 1, sequence + 2)  # the old epoch goes on
        yield sends(log, producer, 1, 0)
        yield sends(log, producer, 2, 0, 1)  # it begins like one that is known, and is shorter
        yield sends(log, producer, 2, 2)
        yield _edge("again", log=log, producer=producer, back=1)
        yield _edge("again", log=log, producer=producer, back=0)
        yield sends(log, producer, 3, 2)
        yield sends(log, producer, 3, 0, 2)  # the numbers of a batch that is known, in a new epoch
    # The last sequence number is 2^31-1; another producer, whose first is not 0.
    log, last = f"{TURNS}-2", (1 << 31) - 1
    yield sends(log, 9003, 0, last - 2, 2)
    yield sends(log, 9001, 0, 5, 2)  # of whom this partition knows nothing
    yield sends(log, 9003, 0, last, 2)  # its second record has 0
    yield _edge("again", log=log, producer=9003, back=0)
    yield sends(log, 9003, 0, 2)
    yield sends(log, 9003, 0, 1)
    yield sends(log, 9004, 3, last)
    yield sends(log, 9004, 3, 1)
    yield sends(log, 9004, 3, 0)
    yield _edge("again", log=log, producer=9004, back=1)
    yield _edge("again", log=log, producer=9001, back=0)
    yield _edge("again", log=log, producer=9003, back=2)


def _stamps(chance: random.Random) -> Iterator[Step]:
    """Timestamps that are equal, fall and rise within batches, between them, across segments."""
    for number in range(2):
        log, by = f"{STAMPS}-{number}", chance.randint(2, 9)
        first = f"0,0,0 {by},{-by},{2 * by} {by} {-3 * by},{-2 * by} {2 * by},{2 * by}"
        yield _edge("write", log=log, batches=first, codec=("none", "gzip")[number])
        more = f"{5 * by},{4 * by} {3 * by} {9 * by},{7 * by},{9 * by}"
        yield _edge("write", log=log, batches=more, codec=("lz4", "none")[number])
        yield _edge("write", log=log, batches=f"{2 * by},{by},0", codec="snappy")
        yield _edge("write", log=log, batches="0,1,2", defect="torn")
        yield _edge("write", log=log, batches="0,1,2,3", defect="misnumbered")
        yield _edge("read", log=log)
        yield _edge("search", log=log)
        yield _edge("delete", log=log, at="beyond")
        yield _edge("delete", log=log, at="middle")
        yield _edge("read-all", log=log)
        yield _edge("delete", log=log, at="below")
        yield _edge("delete", log=log, at="start")
        yield _edge("read", log=log, most=2)
        yield _edge("search", log=log)
    yield _edge("delete", log=f"{STAMPS}-1", at="end")
    yield _edge("read", log=f"{STAMPS}-1")
    yield _edge("write", log=f"{STAMPS}-1", batches="0 1,2,1 3")
    yield _edge("delete", log=f"{TURNS}-2", at="-1")
    yield _edge("write", log=f"{TURNS}-1", batches="0 1,2", acks=1)
    yield _edge("write", log=f"{TURNS}-2", batches="0,0", acks=0)
    yield _edge("read", log=f"{TURNS}-*", most=1)


def _retention(bound_ms: int) -> Iterator[Step]:
    """What is too old or too much goes, and nothing else."""
    for number in range(2):
        log = f"{AGED}-{number}"
        old, young = RETENTION_MS + HOUR_MS, RETENTION_MS - HOUR_MS
        yield _edge("write", log=log, batches="0 1,2", ago=old)
        if number:
            yield _edge("write", log=log, batches="0 9", ago=old - 2 * SEGMENT_MS)
        yield _edge("write", log=log, batches="0 5,1", ago=young)
        yield _edge("write", log=log, batches="0,0")
    for number in range(2):
        stamps = [str(one * SMALL_MS // 2) for one in range(24 + number)]
        batches = " ".join(stamps)
        yield _edge("write", log=f"{BULKY}-{number}", batches=batches, size=BATCH_BYTES)
    yield _edge("retain", log=f"{AGED}-0", least=3, bound=bound_ms)
    yield _edge("retain", log=f"{AGED}-1", least=5, bound=bound_ms)
    yield _edge("retain", log=f"{BULKY}-*", least=8, bound=bound_ms)
    yield _edge("read", log=f"{AGED}-*", most=2)
    yield _edge("read", log=f"{BULKY}-*", most=1)
    yield _edge("search", log=f"{AGED}-*")


def _expiry(bound_ms: int) -> Iterator[Step]:
    """A producer that was silent for long is forgotten, one that was not is not."""
    log = f"{TURNS}-0"
    for producer, ago in ((9005, EXPIRATION_MS + HOUR_MS), (9006, EXPIRATION_MS // 2)):
        yield _edge("produce", log=log, producer=producer, epoch=1, sequence=0, count=2, ago=ago)
    yield _edge("forget", log=log, producer=9005, sequence=7, bound=bound_ms)
    yield _edge("produce", log=log, producer=9006, epoch=1, sequence=7)
    yield _edge("again", log=log, producer=9006)
    yield _edge("produce", log=log, producer=9006, epoch=1, sequence=2)


def _strike(fault: str) -> Step:
    strike = FAULTS[fault]
    return _step(NEMESIS, strike.fault, target=strike.target, part=part_name(fault))


def _end(fault: str) -> Step:
    return _step(NEMESIS, "end", fault=FAULTS[fault].fault)


def _lag(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """Followers lag one batch; then too few are in sync; then the leader falls."""
    log = f"{TURNS}-0"
    yield _strike("lag")
    yield _edge("write", log=log, batches="0,0", acks=1)
    yield _edge("write", log=log, batches="0", timeout=200)
    yield _edge("delete", log=log, at="beyond")
    yield _edge("read", log=log, most=0)
    yield _edge("look", log=log)
    yield lasting
    for _ in range(2):
        yield _edge("look", log=log)
        yield _edge("write", log=log, batches="0,0")
        yield _edge("write", log=log, batches="0", acks=1)
        yield _edge("look", log=log)
    yield _end("lag")
    yield _edge("settle")
    yield _edge("write", log=log, batches="0 0,1")
    yield _edge("read-all", log=f"{TURNS}-*")


def _diverge(chance: random.Random, lasting: Step) -> Iterator[Step]:
    """A leader appends what its followers do not have, and falls; they go on without it."""
    log = f"{TURNS}-0"
    yield _strike("diverge")
    yield _edge("write", log=log, batches="0,0 0", acks=1)
    yield _edge("write", log=log, batches="0", timeout=200)
    yield _edge("read", log=log, most=0)
    yield _step(NEMESIS, "kill", target=f"leader of {log}", part=part_name("fall"))
    yield lasting
    yield _edge("write", log=log, batches="0 0,1 0")
    yield _edge("epochs", log=log)
    yield _step(NEMESIS, "heal-all")
    yield _edge("settle")
    yield _edge("write", log=log, batches="0")
    yield _edge("epochs", log=log)
    yield _edge("read-all", log=f"{TURNS}-*")


def _down(fault: str, topic: str) -> Any:
    def played(chance: random.Random, lasting: Step) -> Iterator[Step]:
        """A broker goes and comes back; producers go on where they stopped."""
        segments = " ".join(str(2 * SMALL_MS * one) for one in range(5))
        yield _edge("write", log=f"{topic}-*", batches=f"0 1,0 {segments}")
        yield _strike(fault)
        yield lasting
        for written in (TURNS, STAMPS, AGED):  # the epochs of the other topic have no records
            yield _edge("write", log=f"{written}-*", batches="0 1,0")
        for producer, log in ((9001, f"{TURNS}-0"), (9002, f"{TURNS}-1"), (9003, f"{TURNS}-2")):
            yield _edge("again", log=log, producer=producer)
        yield _end(fault)
        yield _edge("settle")
        for producer, log in ((9001, f"{TURNS}-0"), (9002, f"{TURNS}-1")):
            yield _edge("again", log=log, producer=producer)
        yield _edge("epochs", log=f"{topic}-*")
        yield _edge("read-all", limit=300)
        yield _edge("search", log=f"{STAMPS}-*")
        yield _edge("delete", log=f"{topic}-{chance.randrange(2)}", at="middle")
        yield _edge("epochs", log=f"{topic}-*")

    return played


_PLAYED: Mapping[str, Any] = MappingProxyType(
    {
        "lag": _lag,
        "diverge": _diverge,
        "restart": _down("restart", TURNS),
        "kill": _down("kill", STAMPS),
        "lose-power": _down("lose-power", STAMPS),
    }
)


def _recovers() -> list[Step]:
    return [_step(LAB, "converge"), _step(LAB, "progress")]


def _edge(verb: str, **arguments: Any) -> Step:
    return _step(EDGES, verb, **arguments)


def _step(actor: str, verb: str, **arguments: Any) -> Step:
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))

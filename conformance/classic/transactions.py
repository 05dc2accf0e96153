"""The stage `transactions` of the profile `classic`: transactional producers on a small cluster.

Producers of both transaction versions commit, abort, overlap, leave transactions behind and are
replaced; groups commit offsets within transactions and beside them; coordinators of both and
leaders are killed, frozen and cut off between the steps of a transaction, with others at work.
What a deployment does not offer is left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from conformance.catalogue.kafka import fencing, jepsen, transactions
from conformance.classic.edge_topics import step
from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.history.plan import Part
from harness.steps.step import LAB, NEMESIS, Step
from nemesis.schedule import Strike

TRANSACTIONS = "transactions"  # the stage and its first topic
LEDGER, JOURNAL = "ledger", "journal"
SOLO = "solo"  # with one replica: without it there is no leader
MICRO, MINUTE = "micro", "minute"  # of clients that send and poll: in peace, through the faults
LEADERLESS = "leaderless"  # a fault
PROFILE = "classic"
PRODUCERS = "producers"  # the part of the stage that needs no lever
OF_READERS = ("KFK-080", "KFK-081", "KFK-082")  # what they see of transactions
LASTS_S = 1.5
SHORT_MS = 800  # the time-out of what is left behind
LINGERS_MS = 3000  # that of who goes on beyond it: in a simulation for longer than the bound
SETTINGS = MappingProxyType(
    {
        **QUICK_TO_NOTICE,
        "transaction.state.log.num.partitions": "3",
        "transaction.state.log.replication.factor": "3",
        "transaction.state.log.min.isr": "2",
        "offsets.topic.num.partitions": "3",
        "offsets.topic.replication.factor": "3",
        "offsets.retention.check.interval.ms": "500",  # looked at, though none is that old
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    }
)
TOPICS: Mapping[str, int] = MappingProxyType({LEDGER: 3, JOURNAL: 2, MICRO: 2, MINUTE: 2})
GROUP = "readers"
THROUGH_FAULTS = 60  # operations of each client: enough for all faults of a simulation

Played = Callable[[random.Random, Step], Iterator[Step]]
FAULTS: Mapping[str, Strike] = MappingProxyType(
    {
        "kill-coordinator": Strike("kill", "coordinator of a"),
        "kill-group-coordinator": Strike("kill", f"coordinator of group {GROUP}"),
        "pause-coordinator": Strike("pause", "coordinator of a"),
        "cut-coordinator": Strike("cut", "coordinator of a <-> everything else"),
        "kill-leader": Strike("kill", "leader of ledger-0"),
        "rolling-restart": Strike("rolling-restart", "all brokers"),
        LEADERLESS: Strike("restart", f"leader of {SOLO}-0"),
    }
)


def part_name(part: str) -> str:
    """What the plan calls a part of the stage."""
    return f"{TRANSACTIONS}/{part}"


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the stage plays on, where the lab starts it."""
    return DeploymentPlan(brokers=3, properties=SETTINGS, mutants=mutants)


def planned_parts() -> tuple[Part, ...]:
    """The producers, and what needs levers."""
    rules = tuple(rule.id for rule in (*transactions.RULES, *fencing.RULES, *jepsen.RULES))
    rules += OF_READERS
    return (
        Part(name=part_name(PRODUCERS), profile=PROFILE, rules=rules, required=False),
        *_fault_parts(),
    )


def _fault_parts() -> Iterator[Part]:
    yield from (
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
    )


def transaction_steps(
    seed: int,
    faults: Sequence[str] = tuple(FAULTS),
    *,
    bound_ms: int,
    pace: float = 1.0,
    lasts_s: float = LASTS_S,
) -> list[Step]:
    """The stage as steps. A fault lasts so many seconds of the world whose pace is given."""

    def drawn(by: str) -> random.Random:  # of its own: a situation more changes no other one
        return random.Random(f"{seed}/transactions/{by}")

    told = [step(LAB, "create"), *_recovers()]
    told += [_creates(topic) for topic in TOPICS if topic != MINUTE]
    told += [does("settle"), does("micro", seed=seed, clients=3, topic=MICRO)]
    situations = [plain, overlapping, zombies, left_behind, offsets, offsets_together, again]
    drawn("order").shuffle(situations)
    for situation in situations:
        told += situation(drawn(situation.__name__))
    told += [
        does("linger", log="*", timeout=LINGERS_MS),
        *_rests(bound_ms),
        does("finish", kind="linger"),
        does("read"),
    ]
    lasting = step(LAB, "wait", ms=int(1000 * lasts_s / pace))
    order = list(faults)
    drawn("faults").shuffle(order)
    # Not before the first `rest`, which would wait for them; no other step is about their topic.
    told += [_creates(MINUTE), does("settle")]
    if order:
        told.append(does("micro", seed=seed, clients=3, topic=MINUTE, most=THROUGH_FAULTS))
    for number, fault in enumerate(order):
        told += [
            step(LAB, "nodes"),
            does("work", seed=seed + number, producers=3, log=f"{JOURNAL}-*"),
            *(leaderless(lasting) if fault == LEADERLESS else struck(fault, drawn(fault), lasting)),
            does("finish") if number == len(order) - 1 else does("finish", kind="work"),
            *_recovers(),
        ]
    return [
        *told,
        does("finish"),
        *_rests(bound_ms),
        does("read"),
        does("told", group=GROUP, log=f"{LEDGER}-*"),
        *_recovers(),
        step(LAB, "nodes"),
    ]


def does(verb: str, **arguments: Any) -> Step:
    """A step of the transactional producers."""
    return step(TRANSACTIONS, verb, **arguments)


def _creates(topic: str) -> Step:
    configs = "min.insync.replicas=2"
    return does("create", topic=topic, partitions=TOPICS[topic], configs=configs)


def _recovers() -> list[Step]:
    return [step(LAB, "converge"), step(LAB, "progress")]


def _rests(bound_ms: int) -> list[Step]:
    return [does("close"), does("rest", bound=bound_ms)]


# ── in peace ─────────────────────────────────────────────────────────────────────────────────────


def plain(chance: random.Random) -> Iterator[Step]:
    """Whole transactions one after the other: many logs, one, none; nothing but an announcement."""
    for by, version in (("a", 2), ("b", 1)):
        yield does("init", by=by, id=by, version=version)
        for commit in chance.sample([True, False, True], 3):
            yield does("begin", by=by)
            yield does("send", by=by, log=f"{LEDGER}-*", count=chance.randint(1, 3))
            yield does("send", by=by, log=f"{JOURNAL}-{chance.randrange(2)}")
            yield does("inspect", by=by, log=f"{LEDGER}-0")
            yield does("end", by=by, commit=commit)
        yield does("begin", by=by)
        yield does("send", by=by, log=f"{LEDGER}-{chance.randrange(3)}")
        yield does("end", by=by, commit=True)
        yield does("begin", by=by)  # which no coordinator hears of before its end
        yield does("end", by=by, commit=False)
    yield does("begin", by="b")
    yield does("add", by="b", log=f"{LEDGER}-*")
    yield does("end", by="b", commit=False)
    yield does("begin", by="b")
    yield does("send", by="b", log=f"{LEDGER}-0", count=2)
    yield does("end", by="b", commit=True)
    yield does("look")


def overlapping(chance: random.Random) -> Iterator[Step]:
    """Three transactions are open in the same logs, with plain records between theirs."""
    names = ["c", "d", "e"]
    for number, by in enumerate(names):
        yield does("init", by=by, id=by, version=1 + number % 2)
    for _ in range(2):
        for by in names:
            yield does("begin", by=by)
        for by in chance.sample(names, 3):
            yield does("send", by=by, log=f"{LEDGER}-*")
            yield does("write", log=f"{LEDGER}-*", batches="0")
        yield does("look", log=f"{LEDGER}-*")
        yield does("inspect", by=names[0], log=f"{LEDGER}-*")
        for by in chance.sample(names, 3):
            yield does("send", by=by, log=f"{LEDGER}-{chance.randrange(3)}", count=2)
            yield does("end", by=by, commit=chance.random() < 0.5)
            yield does("look", log=f"{LEDGER}-*")


def zombies(chance: random.Random) -> Iterator[Step]:
    """A second producer with the same id; the first one goes on all the same."""
    for version in (2, 1):
        name, old, new = f"z{version}", f"old{version}", f"new{version}"
        yield does("init", by=old, id=name, version=version)
        yield does("begin", by=old)
        yield does("send", by=old, log=f"{LEDGER}-*")
        yield does("init", by=new, id=name, version=version)
        yield does("send", by=old, log=f"{LEDGER}-0")
        if version == 1:
            yield does("add", by=old, log=f"{JOURNAL}-0")
        yield does("offsets", by=old, group=GROUP, log=f"{LEDGER}-0")
        yield does("end", by=old, commit=True)
        yield does("begin", by=new)
        yield does("send", by=new, log=f"{LEDGER}-0")
        yield does("send", by=old, log=f"{LEDGER}-0")
        yield does("end", by=old, commit=chance.random() < 0.5)
        yield does("end", by=new, commit=True)
        yield does("look", log=f"{LEDGER}-*")
        yield does("init", by=old, id=name, version=version)  # the other one is the zombie now
        for log in (f"{LEDGER}-0", f"{JOURNAL}-1"):
            yield does("send", by=new, log=log)
        yield does("begin", by=old)
        yield does("send", by=old, log=f"{LEDGER}-0")
        yield does("end", by=old, commit=True)
        yield does("init", by=old, same=True, version=version)
        yield does("init", by=new, same=True, version=version)
        yield does("inspect", by=old, log=f"{LEDGER}-0")


def left_behind(chance: random.Random) -> Iterator[Step]:
    """Transactions that no one ends: their coordinator aborts them, and fences their producers."""
    for number, by in enumerate(("l", "m")):
        yield does("init", by=by, id=by, version=2 - number, timeout=SHORT_MS)
        yield does("begin", by=by)
        yield does("send", by=by, log=f"{JOURNAL}-*")
        yield does("look", log=f"{JOURNAL}-*")
    yield does("await-stable", log=f"{JOURNAL}-*")
    for by in ("l", "m"):
        yield does("send", by=by, log=f"{JOURNAL}-0")
        yield does("end", by=by, commit=True)
        yield does("init", by=by, timeout=60_000, version=2 if by == "l" else 1)
        yield does("begin", by=by)
        yield does("send", by=by, log=f"{JOURNAL}-*")
        yield does("end", by=by, commit=True)


def offsets(chance: random.Random) -> Iterator[Step]:
    """Consume, transform, produce: offsets of a group count if their transaction is committed."""
    for by, version in (("t", 2), ("u", 1)):
        yield does("init", by=by, id=by, version=version)
        for turn, commit in enumerate((True, False, True, chance.random() < 0.5)):
            yield does("begin", by=by)
            yield does("send", by=by, log=f"{JOURNAL}-0")
            at = 10 * turn + version
            yield does("offsets", by=by, group=GROUP, log=f"{LEDGER}-0", offset=at)
            if turn % 2:
                yield does("offsets", by=by, group=GROUP, log=f"{LEDGER}-1", offset=at + 1)
            yield does("end", by=by, commit=commit)
            yield does("told", group=GROUP, log=f"{LEDGER}-*")


def offsets_together(chance: random.Random) -> Iterator[Step]:
    """Two transactions and a client without one commit an offset of the same place.

    Each is the last of them once; the transactions end in the other order.
    """
    together, log = {"v": 2, "w": 1}, f"{LEDGER}-2"
    for by, version in together.items():
        yield does("init", by=by, id=by, version=version)
    last_of_all = [*together, ""]
    for turn, last in enumerate(chance.sample(last_of_all, 3)):
        others = [one for one in last_of_all if one != last]
        order = [*chance.sample(others, 2), last]
        for by in together:
            yield does("begin", by=by)
        for number, by in enumerate(order):
            at = 100 + 10 * turn + number
            if by:
                yield does("offsets", by=by, group=GROUP, log=log, offset=at)
            else:
                yield does("commit", group=GROUP, log=log, offset=at)
        for by in reversed(order):
            if by:
                yield does("end", by=by, commit=True)
        yield does("told", group=GROUP, log=log)


def again(chance: random.Random) -> Iterator[Step]:
    """Ends and beginnings that are asked for again: as before, otherwise, and by another one."""
    unknown = chance.randint(1_000_000, 2_000_000)
    for by, version in (("again2", 2), ("again1", 1)):
        back = version - 1  # epochs since the end
        yield does("init", by=by, id=by, version=version)
        yield does("repeat", by=by, f="end", commit=True)  # nothing is open
        for commit in chance.sample([True, False], 2):
            yield does("begin", by=by)
            yield does("send", by=by, log=f"{JOURNAL}-*")
            yield does("end", by=by, commit=commit)
            for same in (False, True):
                yield does("repeat", by=by, f="end", back=back, commit=commit == same)
            yield does("repeat", by=by, f="end", back=back + 1, commit=commit)
            yield does("repeat", by=by, f="end", other=unknown, commit=commit)
            yield does("repeat", by=by, f="end", commit=version == 2 or not commit)
            yield does("repeat", by=by, f="init", other=unknown)
            yield does("repeat", by=by, f="init", back=2)
            yield does("init", by=by, same=True, version=version)
            yield does("repeat", by=by, f="init", back=1)  # its answer was lost
            yield does("repeat", by=by, f="init", back=2)
            yield does("repeat", by=by, f="end", commit=True)
            yield does("repeat", by=by, f="end", commit=False)
            yield does("init", by=by, version=version)


# ── while something goes wrong ───────────────────────────────────────────────────────────────────


def struck(fault: str, chance: random.Random, lasting: Step) -> Iterator[Step]:
    """A fault between the steps of transactions whose coordinator or leader it hits."""
    strike = FAULTS[fault]
    begins = step(NEMESIS, strike.fault, target=strike.target, part=part_name(fault))
    ends = step(NEMESIS, "end", fault=strike.fault)
    both = (("a", 2), ("b", 1))
    for by, version in both:
        yield does("init", by=by, id=by, version=version)
        yield does("begin", by=by)
        yield does("send", by=by, log=f"{LEDGER}-*")
    # The answer to an end may be lost, and its markers are not written yet.
    hurt = chance.choice(["before", "at", "after"])
    if hurt == "before":
        yield begins
    yield does("send", by="a", log=f"{LEDGER}-0")
    yield does("offsets", by="a", group=GROUP, log=f"{LEDGER}-0")
    yield does("end", by="a", commit=chance.random() < 0.6, once=hurt == "at")
    if hurt == "at":
        yield begins
    yield does("offsets", by="b", group=GROUP, log=f"{LEDGER}-1")
    yield does("end", by="b", commit=chance.random() < 0.6)
    if hurt == "after":
        yield begins
    yield lasting
    for by, _ in both:
        yield does("begin", by=by)
        yield does("send", by=by, log=f"{LEDGER}-*")
        yield does("offsets", by=by, group=GROUP, log=f"{LEDGER}-2")
        yield does("end", by=by, commit=True)
    yield does("look", log=f"{LEDGER}-*")
    yield ends
    yield does("settle")
    yield does("told", group=GROUP, log=f"{LEDGER}-*")
    yield does("look")


def leaderless(lasting: Step) -> Iterator[Step]:
    """Transactions end while a partition of theirs has no leader: its markers come later."""
    strike = FAULTS[LEADERLESS]
    yield does("create", topic=SOLO, partitions=1, factor=1)
    yield does("settle")
    for by, version in (("a", 2), ("b", 1)):
        yield does("init", by=by, id=by, version=version)
        yield does("begin", by=by)
        for log in (f"{LEDGER}-0", f"{SOLO}-0"):
            yield does("send", by=by, log=log)
    yield step(NEMESIS, strike.fault, target=strike.target, part=part_name(LEADERLESS))
    for by, commit in (("a", True), ("b", False)):
        yield does("end", by=by, commit=commit)
    yield lasting
    yield step(NEMESIS, "end", fault=strike.fault)
    yield does("settle")
    yield does("look")

"""The stage `tier-faults`: the store fails, leaders fall, followers lose their disks.

Every situation begins with logs most of which is in the remote tier alone, and ends with all of it
read at every broker, epochs asked and producers going on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from conformance.tiered.tiers import KEPT, recovers
from conformance.tiered.topics import TIERED, step, tier
from harness.history.plan import Part
from harness.steps.step import LAB, NEMESIS, Step
from nemesis.schedule import Strike

STAGE = "tier-faults"
PROFILE = "tiered"
LOG, DOOMED, DURING = "kept", "doomed", "during"
TOPICS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {LOG: (2, f"{TIERED},retention.ms=-1"), DOOMED: (1, f"{TIERED},retention.ms=-1")}
)
STORE = "object-store"
A_SEGMENT = "an object like */segment.log"
FAULTS: Mapping[str, Strike] = MappingProxyType(
    {
        "store-broken": Strike("object-store-broken", STORE),
        "store-refused": Strike("object-store-refused", STORE),
        "store-slow": Strike("object-store-slow", STORE),
        "store-killed": Strike("object-store-killed", STORE),
        "reply-lost": Strike("object-store-reply-lost", STORE),
        "vanished": Strike("object-vanished", A_SEGMENT),
        "torn": Strike("object-torn", A_SEGMENT),
        "corrupt": Strike("object-corrupt", A_SEGMENT),
        "kill": Strike("kill", f"leader of {LOG}-0"),
        "restart": Strike("restart", f"leader of {LOG}-1"),
        "reimage": Strike("reimage", "broker-2"),
    }
)
PROMISED = frozenset({"store-broken", "kill", "reimage"})
OF_OUTAGES = ("TS-057", "TS-060", "TS-061", "TS-062", "TS-063", "TS-064")
OF_REBUILT = ("TS-045",)
RULES = MappingProxyType({"store-broken": OF_OUTAGES, "reimage": OF_REBUILT})
PRODUCERS = (9201, 9202)
SLOW_S = 2.0


def part_name(fault: str) -> str:
    """What the plan calls a fault of the stage."""
    return f"{STAGE}/{fault}"


def planned_parts() -> tuple[Part, ...]:
    """The faults of the stage as parts of a plan."""
    return tuple(
        Part(
            name=part_name(fault),
            profile=PROFILE,
            rules=RULES.get(fault, ()),
            faults=(strike.fault,),
            required=fault in PROMISED,
            promised=fault in PROMISED,
            scope="profile" if fault in PROMISED else "rules",
        )
        for fault, strike in FAULTS.items()
    )


def fault_steps(
    seed: int,
    faults: Sequence[str],
    *,
    form: str,
    bound_ms: int,
    lasts_ms: int,
) -> list[Step]:
    """The stage as steps, with those of its faults that can be done."""
    chance = random.Random(f"{seed}/{STAGE}")
    lasting = step(LAB, "wait", ms=lasts_ms)
    told = [step(LAB, "create"), *recovers(), tier("settings")]
    told += [
        tier("create", topic=topic, partitions=partitions, configs=configs)
        for topic, (partitions, configs) in TOPICS.items()
    ]
    told += [tier("settle"), *_fills(bound_ms)]
    order = [one for one in PLAYED if one in faults]
    chance.shuffle(order)
    if "store-broken" in order:  # in which a topic of its own is deleted
        order = ["store-broken", *(one for one in order if one != "store-broken")]
    for fault in order:
        told += [step(LAB, "nodes"), *PLAYED[fault](fault, lasting, bound_ms), *recovers()]
        told += _after(bound_ms)
    return [
        *told,
        tier("look-at-tiers", form=form, bound=bound_ms),
        tier("read-all"),
        *recovers(),
        step(LAB, "nodes"),
    ]


def _fills(bound: int) -> Iterator[Step]:
    """Most of the logs is in the remote tier alone."""
    for topic in TOPICS:
        yield tier("write", log=f"{topic}-*", batches="0,1 2 3,4 5 6 7 8,9 10")
    yield from _producers_go_on()
    for what in ("copied", "local"):
        yield tier("await", log="*", what=what, keep=KEPT, bound=bound)


def _producers_go_on() -> Iterator[Step]:
    for producer in PRODUCERS:
        yield tier("again", log=f"{LOG}-*", producer=producer)
        yield tier("next", log=f"{LOG}-*", producer=producer, skip=1)
        yield tier("next", log=f"{LOG}-*", producer=producer, count=2)


def _after(bound: int) -> Iterator[Step]:
    """Copies go on, and everything is read."""
    yield tier("settle")
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3")
    yield tier("await", log=f"{LOG}-*", what="resumed", keep=2 * KEPT, bound=bound)
    yield from _producers_go_on()
    yield tier("through", log=f"{LOG}-*", bound=bound)
    yield tier("read-all", log=f"{LOG}-*")
    yield tier("epochs", log=f"{LOG}-*")
    yield tier("search", log=f"{LOG}-0")


def _strike(fault: str, **more: object) -> Step:
    strike = FAULTS[fault]
    return step(NEMESIS, strike.fault, target=strike.target, part=part_name(fault), **more)


def _end(fault: str) -> Step:
    return step(NEMESIS, "end", fault=FAULTS[fault].fault)


Plays = Callable[[str, Step, int], Iterator[Step]]


def _outage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """Without the store: produce, read both tiers, create and delete topics."""
    partitions, configs = TOPICS[DOOMED]
    yield tier("note", log=f"{LOG}-*")
    yield _strike(fault)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield tier("touch", log=f"{LOG}-*")
    yield tier("create", topic=DURING, partitions=partitions, configs=configs)
    yield tier("delete-topic", topic=DOOMED)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1")
    yield tier("touch", log=f"{LOG}-*")
    yield _end(fault)


def _slow(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A store that takes longer than readers wait."""
    yield tier("note", log=f"{LOG}-*")
    yield _strike(fault, seconds=SLOW_S)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield tier("touch", log=f"{LOG}-*")
    yield lasting
    yield _end(fault)


def _short(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """An outage in which nothing but logs is touched."""
    yield tier("note", log=f"{LOG}-*")
    yield _strike(fault)
    yield tier("write", log=f"{LOG}-*", batches="0 1 2")
    yield tier("touch", log=f"{LOG}-*")
    yield lasting
    yield _end(fault)


def _damage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """An object cannot be read as it was written."""
    yield _strike(fault)
    yield tier("walk", log="*", most=20)
    yield _end(fault)


def _falls(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A leader goes while segments are being copied, and comes back."""
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3 4")
    yield _strike(fault)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3")
    yield from _producers_go_on()
    yield tier("read", log=f"{LOG}-0", most=2)
    yield _end(fault)


def _reimage(fault: str, lasting: Step, bound: int) -> Iterator[Step]:
    """A follower loses its disk, builds its state from the store, and leads alone with it."""
    yield tier("elect", log="*")
    yield tier("settle")
    yield tier("note", log=f"{LOG}-0")
    yield _strike(fault)
    yield lasting
    yield tier("write", log=f"{LOG}-*", batches="0 1 2 3 4")
    yield _end(fault)
    yield from recovers()
    yield tier("settle")
    yield step(NEMESIS, "kill", target="broker-1", part=part_name("kill"))
    yield lasting
    yield tier("write", log=f"{LOG}-0", batches="0")
    yield tier("rebuilt", log=f"{LOG}-0")
    yield tier("epochs", log=f"{LOG}-0")
    yield from _producers_go_on()
    yield tier("read", log=f"{LOG}-0")
    yield tier("search", log=f"{LOG}-0")
    yield step(NEMESIS, "end", fault="kill")


PLAYED: Mapping[str, Plays] = MappingProxyType(
    {
        "store-broken": _outage,
        "store-refused": _short,
        "store-slow": _slow,
        "store-killed": _short,
        "reply-lost": _short,
        "vanished": _damage,
        "torn": _damage,
        "corrupt": _damage,
        "kill": _falls,
        "restart": _falls,
        "reimage": _reimage,
    }
)

"""What the stages with faults share: logs most of which is in the remote tier alone, one fault
after the other, and after each of them the same questions.

Copies go on, all that is there is read at the leader and what is new at every broker, epochs are
asked, producers go on. When all is over everything is read at every broker.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.tiered.tiers import KEPT, recovers
from conformance.tiered.topics import TIERED, step, tier
from harness.history.plan import Part
from harness.steps.step import LAB, NEMESIS, Step
from nemesis.schedule import Strike

PROFILE = "tiered"
FILLED = "0,1 2 3,4 5 6 7 8,9 10"
NEWEST = 8  # batches that are read everywhere after each fault
PRODUCERS = (9201, 9202)
Plays = Callable[[str, Step, int], Iterator[Step]]
LogConfigs = Mapping[str, tuple[int, str]]


def kept_for_ever(**partitions: int) -> LogConfigs:
    """Tiered topics without retention, with so many partitions each."""
    return {topic: (count, f"{TIERED},retention.ms=-1") for topic, count in partitions.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultStage:
    """A stage by its name: the topic that is looked at, all topics, the faults and how each is
    played; the `first` of them comes first, the others in any order.

    `promised` are those without which there is no certificate; `rules`, by fault, what only that
    fault exercises. `made_later`: topics that a fault creates.
    """

    name: str
    log: str
    topics: LogConfigs
    faults: Mapping[str, Strike]
    plays: Mapping[str, Plays]
    promised: frozenset[str]
    lasts_s: float
    first: str = ""
    made_later: tuple[str, ...] = ()
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def part_name(self, fault: str) -> str:
        """What the plan of a run calls a fault of the stage."""
        return f"{self.name}/{fault}"

    def parts(self) -> tuple[Part, ...]:
        """The faults of the stage as parts of a plan."""
        return tuple(
            Part(
                name=self.part_name(fault),
                profile=PROFILE,
                rules=self.rules.get(fault, ()),
                faults=(strike.fault,),
                required=fault in self.promised,
                promised=fault in self.promised,
                scope="profile" if fault in self.promised else "rules",
            )
            for fault, strike in self.faults.items()
        )

    def steps(
        self, seed: int, faults: Sequence[str], *, form: str, bound_ms: int, pace: float
    ) -> list[Step]:
        """The stage as steps, with those of its faults that can be done."""
        chance = random.Random(f"{seed}/{self.name}")
        lasting = step(LAB, "wait", ms=int(1000 * self.lasts_s / pace))
        told = [step(LAB, "create"), *recovers(), tier("settings")]
        told += [
            tier("create", topic=topic, partitions=partitions, configs=configs)
            for topic, (partitions, configs) in self.topics.items()
        ]
        told += [tier("settle"), *self._fills(bound_ms)]
        order = [one for one in self.plays if one in faults]
        chance.shuffle(order)
        order.sort(key=lambda one: one != self.first)
        for fault in order:
            told += [step(LAB, "nodes"), *self.plays[fault](fault, lasting, bound_ms), *recovers()]
            told += self._after(bound_ms)
        return [
            *told,
            tier("look-at-tiers", form=form, bound=bound_ms),
            tier("read-all"),
            *recovers(),
            step(LAB, "nodes"),
        ]

    def strike(self, fault: str, **more: object) -> Step:
        """The fault begins."""
        given = self.faults[fault]
        return step(NEMESIS, given.fault, target=given.target, part=self.part_name(fault), **more)

    def end(self, fault: str) -> Step:
        """The fault is over."""
        return step(NEMESIS, "end", fault=self.faults[fault].fault)

    def _fills(self, bound: int) -> Iterator[Step]:
        """Most of the logs is in the remote tier alone."""
        for topic in self.topics:
            yield tier("write", log=f"{topic}-*", batches=FILLED)
        yield from producers_go_on(self.log)
        for what in ("copied", "local"):
            yield tier("await", log="*", what=what, keep=KEPT, bound=bound)

    def _after(self, bound: int) -> Iterator[Step]:
        logs = f"{self.log}-*"
        yield tier("settle")
        yield tier("write", log=logs, batches="0 1 2 3")
        yield tier("await", log=logs, what="resumed", keep=2 * KEPT, bound=bound)
        yield from producers_go_on(self.log)
        yield tier("through", log=logs, bound=bound)
        yield tier("read-all", log=logs, newest=NEWEST)
        yield tier("epochs", log=logs)
        yield tier("search", log=f"{self.log}-0")


def on_disk(topic: str, *, kept: bool) -> Step:
    """What was copied stays on the disk from now on, or goes as before."""
    bytes_kept = -1 if kept else 1
    case = "accepted-kept" if kept else "accepted-freed"
    change = f"local.retention.bytes={bytes_kept}"
    return tier("configure", case=case, topic=topic, change=change)


def producers_go_on(log: str) -> Iterator[Step]:
    """Producers repeat their last batch, leave one out, and go on."""
    for producer in PRODUCERS:
        yield tier("again", log=f"{log}-*", producer=producer)
        yield tier("next", log=f"{log}-*", producer=producer, skip=1)
        yield tier("next", log=f"{log}-*", producer=producer, count=2)

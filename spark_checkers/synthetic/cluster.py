"""A simulated cluster with its clients: who is where, and how requests travel.

A request takes its time to the broker and its answer back, either may be lost, and either may take
so long that the client has given up: what nobody waits for any more may still happen.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from harness.history import classify
from spark_checkers.synthetic.brokers import DOWN, Answer
from spark_checkers.synthetic.coordinators import GroupCoordinator, TransactionCoordinator
from spark_checkers.synthetic.journal import Journal, Opened
from spark_checkers.synthetic.loop import MS, US, Loop, Sleep, Task, Until
from spark_checkers.synthetic.partition import Partition, Place
from spark_checkers.synthetic.replica import Entry
from spark_checkers.synthetic.shape import Shape

FIRST_STAMP_MS = 1_800_000_000_000
TIMEOUT_NS = 30 * MS


@dataclass(slots=True)
class _Call:
    answer: Answer | None = None


class Cluster:
    """Everything that a simulated run consists of."""

    def __init__(self, seed: int, shape: Shape) -> None:
        self.shape = shape
        self.random = Random(seed)
        self.loop = Loop()
        self.journal = Journal(self.loop, shape.clocks)
        self.transactions = TransactionCoordinator(self.loop)
        self.groups = GroupCoordinator()
        self.nodes = list(range(1, shape.brokers + 1))
        self.partitions = [
            self._partition((f"t{topic}", number))
            for topic in range(shape.topics)
            for number in range(shape.partitions)
        ]
        self.before: dict[Place, tuple[int, int]] = {}
        self.calm = False
        """All is healed, and no request is lost any more."""
        self.stopped = False
        self.troubled = False
        """One broker is not as it should be; a second one would have to wait."""
        self.busy = 0
        self.travelling = 0
        self.numbers = 0

    def _partition(self, place: Place) -> Partition:
        nodes = list(self.nodes)
        self.random.shuffle(nodes)
        shape = self.shape
        origin = max(0, shape.log_start - shape.old_records // 2)
        old = [
            Entry(
                value=f"old-{place[0]}-{place[1]}-{at}",
                key=None,
                timestamp=FIRST_STAMP_MS - 1000 + at,
                epoch=3 + at * 2 // shape.old_records,
                batch=at,
            )
            for at in range(shape.old_records)
        ]
        start = min(shape.log_start, origin + len(old)) if old else origin
        return Partition(
            place, nodes, old, origin=origin, start=start, min_in_sync=shape.min_in_sync
        )

    def name(self, kind: str) -> str:
        """A name that nothing else has."""
        self.numbers += 1
        return f"{kind}{self.numbers}"

    def stamp(self) -> int:
        """The time of day in ms: it passes, but clients do not agree on it."""
        return FIRST_STAMP_MS + self.loop.now // MS + self.random.randrange(-3, 4)

    def chance(self, likely: float) -> bool:
        """Whether it happens."""
        return self.random.random() < likely

    def pause(self, ms: float) -> Sleep:
        """A while, about as long as told."""
        return Sleep(int(self.random.uniform(0.2, 1.8) * ms * MS))

    def leader_of(self, partition: Partition) -> tuple[int, int]:
        """Who leads in which epoch, as a client believes: it may not have heard the latest."""
        before = self.before.get(partition.place)
        if before is not None and self.chance(0.25):
            return before
        return partition.leader, partition.epoch

    def ask(self, work: Task[Answer]) -> Task[Answer | None]:
        """The answer to a request, or none in time."""
        call = _Call()
        self.loop.spawn(self._carry(call, work))
        yield Until(lambda: call.answer is not None, TIMEOUT_NS)
        return call.answer

    def _carry(self, call: _Call, work: Task[Answer]) -> Task[None]:
        loss = 0.0 if self.calm else self.shape.loss
        if self.chance(loss):
            return
        self.travelling += 1
        yield self._travel(loss)
        answer = yield from work
        self.travelling -= 1
        yield self._travel(loss)
        if answer["error"] != DOWN and not self.chance(loss):
            call.answer = answer

    def _travel(self, loss: float) -> Sleep:
        slow = self.chance(loss)
        return Sleep(self.random.randrange(50 * US, 60 * MS if slow else 2 * MS))

    def finish(self, opened: Opened, answer: Answer | None, **fields: object) -> str:
        """Write down the answer, beside other fields; the outcome of the operation."""
        told = {name: value for name, value in (answer or {}).items() if name != "next_offset"}
        outcome = classify(opened.asked["f"], told.get("error"))
        self.journal.complete(opened, outcome, **told, **fields)
        return outcome

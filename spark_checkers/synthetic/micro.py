"""Good histories of sends and polls, as Jepsen's Kafka workload records them.

Each key is a log. With transactions, what an operation sent is seen when the operation is over and
was committed, and only once no older transaction is open in the log; control records and aborted
values leave gaps. Consumers go on where they were; one whose operation failed goes back. After an
unknown outcome the client is a new one. In the end fresh consumers poll everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from spark_checkers.synthetic.journal import Journal
from spark_checkers.synthetic.loop import MS, Loop, Sleep, Task, Until
from spark_checkers.synthetic.simulated import Simulated

MicroOperation = list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroShape:
    """How many of everything, and what may happen."""

    keys: int = 2
    clients: int = 3
    operations: int = 10
    """Of each client."""
    transactions: bool = False
    subscribe: bool = False
    loss: float = 0.0
    """How likely the outcome of an operation is unknown, and how likely a failure."""


@dataclass(slots=True, eq=False)
class _Work:
    """What one operation sends: open, then committed or not; without transactions at once."""

    committed: bool | None = None


@dataclass(slots=True)
class _Log:
    slots: list[tuple[int | None, _Work]] = field(default_factory=list)
    sent: int = 0

    def append(self, value: int | None, work: _Work) -> int:
        self.slots.append((value, work))
        return len(self.slots) - 1

    def read(self, position: int, limit: int) -> tuple[list[list[int]], int]:
        """Committed values below the first open transaction, and where to go on."""
        found: list[list[int]] = []
        while position < len(self.slots) and len(found) < limit:
            value, work = self.slots[position]
            if work.committed is None:
                break
            if work.committed and value is not None:
                found.append([position, value])
            position += 1
        return found, position


class _Workload:
    def __init__(self, seed: int, shape: MicroShape) -> None:
        self.shape = shape
        self.random = Random(seed)
        self.loop = Loop()
        self.journal = Journal(self.loop, clocks=1)
        self.logs = {f"k{number}": _Log() for number in range(shape.keys)}
        self.busy = shape.clients
        self.late = 0

    def pause(self) -> Sleep:
        return Sleep(self.random.randrange(4 * MS))

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely


class _Client:
    """One client: at most one operation at a time, and a consumer with its positions."""

    def __init__(self, workload: _Workload, name: str, *, moved: bool = False) -> None:
        """`moved`: rebalances may move the consumer."""
        self.workload = workload
        self.name = name
        self.moved = moved
        self.positions: dict[str, int] = {}

    def work(self) -> Task[None]:
        workload = self.workload
        for _ in range(workload.shape.operations):
            yield workload.pause()
            if not self.positions or workload.chance(0.15):
                yield from self.assign(self._some_keys())
            elif workload.chance(0.05):
                opened = workload.journal.invoke(self.name, "crash", value=None)
                yield workload.pause()
                workload.journal.complete(opened, "info", value=None)
                self.positions = {}
            else:
                yield from self.operate(self._plan())
        workload.busy -= 1

    def _some_keys(self) -> list[str]:
        keys = list(self.workload.logs)
        return sorted(self.workload.random.sample(keys, self.workload.random.randint(1, len(keys))))

    def assign(self, keys: list[str]) -> Task[None]:
        """Read these keys from now on: kept ones from where it is, others from the beginning."""
        f = "subscribe" if self.workload.shape.subscribe else "assign"
        opened = self.workload.journal.invoke(self.name, f, value=keys)
        yield self.workload.pause()
        self.positions = {key: self.positions.get(key, 0) for key in keys}
        self.workload.journal.complete(opened, "ok", value=keys)

    def _plan(self) -> list[MicroOperation]:
        random = self.workload.random
        kinds = random.choice((("send",), ("poll",), ("send", "poll")))
        if not self.workload.shape.transactions:
            kinds = kinds[:1]
        plan: list[MicroOperation] = []
        for _ in range(random.randint(1, 3)):
            if random.choice(kinds) == "poll":
                plan.append(["poll"])
            else:
                key = random.choice(list(self.workload.logs))
                log = self.workload.logs[key]
                log.sent += 1
                plan.append(["send", key, log.sent])
        return plan

    def operate(self, plan: list[MicroOperation]) -> Task[None]:
        """Do what was planned; in the end it is known, or not, whether it took effect."""
        workload, shape = self.workload, self.workload.shape
        kinds = {micro[0] for micro in plan}
        f = "txn" if len(kinds) > 1 else kinds.pop()
        opened = workload.journal.invoke(self.name, f, value=plan)
        if f == "send" and not shape.transactions and workload.chance(shape.loss):
            yield from self._lose(opened, plan)
            return
        before = dict(self.positions)
        work = _Work(committed=None if shape.transactions else True)
        done: list[MicroOperation] = []
        rebalanced: list[str] = []
        for micro in plan:
            yield workload.pause()
            done.append(self._do(micro, work, rebalanced))
        yield workload.pause()
        known = not workload.chance(shape.loss)
        works = f == "poll" or not shape.transactions or not workload.chance(shape.loss)
        self._settle(plan, work, works)
        told: dict[str, Any] = {"rebalanced": rebalanced} if rebalanced else {}
        outcome = ("ok" if works else "fail") if known else "info"
        if not known and workload.chance(0.5):
            done = [["send", m[1], m[2][1]] if m[0] == "send" else m for m in done]
        workload.journal.complete(opened, outcome, value=done, **told)
        if outcome == "info":
            self.positions = {}
        elif outcome == "fail":
            self.positions = before

    def _lose(self, opened: Any, plan: list[MicroOperation]) -> Task[None]:
        """A send without transaction that failed at once, or of which nothing is heard."""
        workload = self.workload
        yield workload.pause()
        if workload.chance(0.3):
            workload.journal.complete(opened, "fail", value=plan, error="refused")
            return
        if workload.chance(0.6):
            workload.late += 1
            workload.loop.spawn(self._arrive_late(plan), workload.random.randrange(20 * MS))
        workload.journal.complete(opened, "info", value=plan)
        self.positions = {}

    def _arrive_late(self, plan: list[MicroOperation]) -> Task[None]:
        yield self.workload.pause()
        for micro in plan:
            self.workload.logs[micro[1]].append(micro[2], _Work(committed=True))
        self.workload.late -= 1

    def _do(self, micro: MicroOperation, work: _Work, rebalanced: list[str]) -> MicroOperation:
        workload = self.workload
        if micro[0] == "send":
            _, key, value = micro
            return ["send", key, [workload.logs[key].append(value, work), value]]
        if self.moved and workload.chance(0.2):
            moved = workload.random.choice(list(self.positions))
            here = self.positions[moved]
            self.positions[moved] = max(0, here + workload.random.randint(-3, 3))
            rebalanced.append(moved)
        polled: dict[str, list[list[int]]] = {}
        for key, position in self.positions.items():
            limit = workload.random.randint(1, 5)
            polled[key], self.positions[key] = workload.logs[key].read(position, limit)
        return ["poll", {key: pairs for key, pairs in polled.items() if pairs}]

    def _settle(self, plan: list[MicroOperation], work: _Work, works: bool) -> None:
        """The end of a transaction stands in every log that it wrote to."""
        if work.committed is None:
            work.committed = works
            for key in sorted({micro[1] for micro in plan if micro[0] == "send"}):
                self.workload.logs[key].append(None, work)

    def read_all(self) -> Task[None]:
        """When all the others are done: poll every log from its beginning to its end."""
        workload = self.workload
        yield Until(lambda: workload.busy == 0 and workload.late == 0, 60_000 * MS)
        yield from self.assign(list(workload.logs))
        while any(self.positions[key] < len(log.slots) for key, log in workload.logs.items()):
            opened = workload.journal.invoke(self.name, "poll", value=[["poll"]])
            yield workload.pause()
            done = [self._do(["poll"], _Work(), [])]
            workload.journal.complete(opened, "ok", value=done)


def simulate_micro(seed: int, shape: MicroShape) -> Simulated:
    """The history of one run."""
    workload = _Workload(seed, shape)
    for number in range(shape.clients):
        workload.loop.spawn(_Client(workload, f"c{number}", moved=shape.subscribe).work())
    workload.loop.spawn(_Client(workload, "final").read_all())
    workload.loop.run()
    return Simulated(seed, "sim", tuple(workload.journal.lines), {})

"""Load on one partition: clients that go on until they are told to stop.

A mix says which clients work, and how long each rests between two things it does. There are
producers that want all replicas, one that is content with the leader, idempotent ones, a reader at
each broker, clients that ask for offsets and epochs, one that deletes, one whose batches are
damaged. Whom they ask who leads is drawn, so that brokers that were left behind send clients to the
past. All chance comes from the seed of the load.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from harness.clients.operations import Defect
from harness.errors import UsageError
from harness.workloads.partition_log import PartitionClients

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
ALL_REPLICAS, LEADER_ALONE = -1, 1
PRODUCERS = ("p1", "p2", "p3")
IDEMPOTENT = ("i1", "i2")
PRODUCER_IDS = {"i1": 7001, "i2": 7002, "a": 7003, "b1": 8001, "b2": 8002, "b3": 8003}
KEPT = 50  # of the latest records are not deleted
BEYOND = 100_000  # the end of any log
TAIL = "tail"  # tail-1 reads at broker 1, and so on

# How many seconds each rests. `few` is for long searches, where every request costs.
MIXES: Mapping[str, Mapping[str, float]] = {
    "many": {
        "p1": 0.02,
        "p2": 0.03,
        "p3": 0.10,
        "i1": 0.02,
        "i2": 0.05,
        "torn": 0.40,
        "latest": 0.20,
        "earliest": 0.30,
        "max": 0.30,
        "ago": 0.20,
        "epochs": 0.30,
        "deleter": 2.00,
        "beyond": 0.50,
        "anywhere": 0.05,
        TAIL: 0.03,
    },
    "few": {"p1": 0.40, "p3": 0.40, "i1": 0.60, "i2": 0.60, "latest": 1.00, TAIL: 1.00},
}
Act = Callable[[int], Awaitable[object]]  # what a client does, asking a broker


class AtWork:
    """Who is doing something: a client does one thing at a time."""

    def __init__(self) -> None:
        self._busy: dict[str, asyncio.Future[None]] = {}

    async def do(self, by: str, work: Callable[[], Awaitable[object]]) -> None:
        """Let a client do something, unless it does something already; wait until it is over."""
        if by in self._busy:
            return
        over = self._busy[by] = asyncio.get_running_loop().create_future()
        try:
            await work()
        finally:
            del self._busy[by]
            over.set_result(None)

    def start(self, by: str, work: Callable[[], Awaitable[object]]) -> None:
        """The same, without waiting."""
        if by not in self._busy:
            started = asyncio.ensure_future(self.do(by, work))
            started.add_done_callback(_complain)

    async def idle(self) -> None:
        """Return when no client has anything under way."""
        await asyncio.sleep(0)  # what was started has begun
        while self._busy:
            await next(iter(self._busy.values()))


class Load:
    """The load on one partition; it can begin and end several times."""

    def __init__(self, clients: PartitionClients, at_work: AtWork) -> None:
        self._clients = clients
        self._at_work = at_work
        self._chance = random.Random(0)
        self._tails = dict.fromkeys(clients.on.brokers, 0)
        self._working: list[asyncio.Task[None]] = []
        self._on = False

    @property
    def on(self) -> bool:
        """Whether it has begun and not ended."""
        return self._on

    def begin(self, mix: str, seed: int, pace: float = 1.0) -> None:
        """Let the clients of a mix begin; they rest so much longer than it says."""
        if mix not in MIXES:
            raise UsageError(f"there is no mix {mix!r}; there are: {', '.join(MIXES)}")
        if self._on:
            return
        self._on = True
        self._chance = random.Random(f"{seed}/load")
        acts = self._acts()
        for name, rest_s in MIXES[mix].items():
            numbered = [f"{TAIL}-{one}" for one in self._tails] if name == TAIL else [name]
            for by in numbered:
                working = self._work(by, acts[by], pace * rest_s)
                self._working.append(asyncio.ensure_future(working))

    async def end(self) -> None:
        """Let every client finish what it does."""
        self._on = False
        working, self._working = self._working, []
        for one in working:
            await one

    async def _work(self, by: str, act: Act, rest_s: float) -> None:
        while self._on:
            broker = self._chance.choice(self._clients.on.brokers)
            await self._at_work.do(by, partial(act, broker))
            await asyncio.sleep(rest_s * (0.5 + self._chance.random()))

    def _acts(self) -> dict[str, Act]:
        """What each client does."""
        clients, chance = self._clients, self._chance

        async def ago(ask: int) -> None:
            ago_ms = chance.randrange(2000)
            await clients.look("ago", ask, max(0, clients.on.now_ms() - ago_ms))

        def idempotent(by: str) -> Act:
            return lambda ask: clients.send_idempotent(
                by, ask, producer_id=PRODUCER_IDS[by], ahead=by == "i2" and chance.random() < 0.3
            )

        def anywhere(ask: int) -> Awaitable[object]:
            return clients.read("anywhere", ask, chance.randrange(clients.end + 2))

        return {
            "p1": lambda ask: clients.send("p1", ask, acks=ALL_REPLICAS),
            "p2": lambda ask: clients.send("p2", ask, acks=ALL_REPLICAS),
            "p3": lambda ask: clients.send("p3", ask, acks=LEADER_ALONE),
            "i1": idempotent("i1"),
            "i2": idempotent("i2"),
            "torn": lambda ask: clients.send_defective("torn", ask, Defect.TORN),
            "latest": lambda ask: clients.look("latest", ask, LATEST),
            "earliest": lambda ask: clients.look("earliest", ask, EARLIEST),
            "max": lambda ask: clients.look("max", ask, MAX_TIMESTAMP),
            "ago": ago,
            "epochs": lambda ask: clients.ask_epoch_end("epochs", ask, chance.randrange(3)),
            "deleter": lambda ask: clients.delete("deleter", ask, max(0, clients.end - KEPT)),
            "beyond": lambda ask: clients.read("beyond", ask, clients.end + BEYOND),
            "anywhere": anywhere,
            **{f"{TAIL}-{one}": partial(self.read_on, one) for one in self._tails},
        }

    async def read_on(self, broker: int, _: int = 0) -> None:
        """Read at a broker from where the last read there ended."""
        before = self._tails[broker]
        after = await self._clients.read(f"{TAIL}-{broker}", broker, before)
        if self._tails[broker] != before:
            return  # it was told to read elsewhere
        self._tails[broker] = after
        if after == before:  # perhaps it was deleted since
            self._tails[broker] = max(before, self._clients.end - KEPT)

    def read_everywhere(self, offset: int) -> None:
        """Let the reader of every broker read from an offset."""
        for broker in self._tails:
            self._tails[broker] = offset
            self._at_work.start(f"{TAIL}-{broker}", partial(self.read_on, broker))


def _complain(task: asyncio.Task[None]) -> None:
    """What a client raised is raised where the loop reports what was not caught."""
    if not task.cancelled() and (error := task.exception()) is not None:
        loop = task.get_loop()
        loop.call_exception_handler({"message": "a client failed", "exception": error})

"""Transactional producers at work, each for itself, until they are to finish.

What each of them does is drawn from the seed: transactions over some of the logs, committed,
aborted or left behind; some end at once, some stay open while others begin and end.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from harness.deployments.deployment import Deployment
from harness.workloads.transactional_log import TransactionalLog
from harness.workloads.transactional_producer import TransactionalProducer

RESTS_S = 0.2
MOST = 3  # transactions of each producer
SHORT_MS = 1500  # the time-out of who leaves transactions behind
PAUSES = 0.75  # of a time-out, between two partitions of a transaction that lingers


class TransactionalLoad:
    """Some producers over some logs, begun once; each has `most` transactions (0: no end)."""

    kind = "work"

    def __init__(
        self,
        on: Deployment,
        logs: Sequence[TransactionalLog],
        *,
        seed: int,
        names: Sequence[str],
        most: int = MOST,
        rests_s: float = RESTS_S,
    ) -> None:
        self._on = on
        self._seed = seed
        self._most = most
        self._rests_s = rests_s
        # Who leads is found out by each producer for itself.
        self._logs = [(one.topic, one.partition) for one in logs]
        self._names = names
        self._going = False
        self._working: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Let all of them begin."""
        self._going = True
        for number, name in enumerate(self._names):
            self._working.append(asyncio.ensure_future(self._work(number, name)))

    async def finish(self) -> None:
        """Let each of them end its transaction; what was left behind stays."""
        self._going = False
        for one in self._working:
            await one

    async def _work(self, number: int, name: str) -> None:
        chance = random.Random(f"{self._seed}/{name}")
        leaves = number % 3 == 2
        producer = TransactionalProducer(
            on=self._on,
            name=name,
            id=name,
            version=1 + number % 2,
            timeout_ms=SHORT_MS * 2 if leaves else 60_000,
        )
        logs = [TransactionalLog(on=self._on, topic=of, partition=n) for of, n in self._logs]
        anew, done = True, 0
        while self._going and (not self._most or done < self._most):
            if anew and (await producer.init()).type != "ok":
                await asyncio.sleep(RESTS_S)
                continue
            anew = await self._transaction(producer, logs, chance, leaves)
            done += 1
            await asyncio.sleep(self._rests_s * self._on.pace * chance.random())

    async def _transaction(
        self,
        producer: TransactionalProducer,
        logs: Sequence[TransactionalLog],
        chance: random.Random,
        leaves: bool,
    ) -> bool:
        """One transaction; whether the producer has to begin anew after it."""
        producer.begin()
        sound = True
        for log in chance.sample(logs, chance.randint(1, len(logs))):
            sent = await producer.send(log, chance.randint(1, 2))
            sound = sound and sent.type == "ok"
            await asyncio.sleep(RESTS_S * self._on.pace * chance.random())
        if leaves and chance.random() < 0.3:
            return True
        ended = await producer.end(commit=sound and chance.random() < 0.75)
        return ended.type != "ok"


class LingeringTransaction:
    """A producer that is busy with one transaction for longer than its time-out.

    It appends to one partition after the other, with pauses in which the time-out does not pass,
    until it is refused; if it never is, it commits.
    """

    kind = "linger"

    def __init__(
        self, on: Deployment, logs: Sequence[TransactionalLog], *, name: str, timeout_ms: int
    ) -> None:
        self._pause_s = timeout_ms / 1000 * PAUSES
        self._logs = [
            TransactionalLog(on=on, topic=one.topic, partition=one.partition) for one in logs
        ]
        self._producer = TransactionalProducer(
            on=on, name=name, id=name, version=1, timeout_ms=timeout_ms
        )
        self._working: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Begin the transaction, and let it go on."""
        if (await self._producer.init()).type != "ok":
            return
        self._producer.begin()
        if (await self._producer.send(self._logs[0])).type == "ok":
            self._working.append(asyncio.ensure_future(self._work()))

    async def finish(self) -> None:
        """Wait until it is over."""
        for one in self._working:
            await one

    async def _work(self) -> None:
        for log in self._logs[1:]:
            await asyncio.sleep(self._pause_s)
            if (await self._producer.send(log)).type != "ok":
                return
        await asyncio.sleep(self._pause_s)
        await self._producer.end(commit=True)

"""Clients that are producer and consumer in one, recorded as Jepsen's Kafka workload records them.

An operation is one transaction of sends and polls. A consumer reads committed records from where
the last successful operation left off; what a transaction polled that did not commit is polled
again. In the end all of them poll until they have seen everything.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import count
from typing import Any

from harness.clients import transactions
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment
from harness.history.outcome import Outcome
from harness.workloads.transactional_log import TransactionalLog
from harness.workloads.transactional_producer import LOST, TransactionalProducer

RESTS_S = 0.5
LAST_POLLS = 400
Polled = dict[str, list[list[Any]]]


class MicroTransactions:
    """Some clients over some logs; it is begun once."""

    kind = "micro"

    def __init__(
        self,
        on: Deployment,
        logs: Sequence[TransactionalLog],
        *,
        seed: int,
        names: Sequence[str],
        most: int,
    ) -> None:
        self._on = on
        self._seed = seed
        self._most = most  # operations of each client
        self._logs = [(one.topic, one.partition) for one in logs]
        self._names = names
        self._values = count(1)
        self._going = False
        self._working: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Let all of them begin."""
        self._going = True
        for number, name in enumerate(self._names):
            self._working.append(asyncio.ensure_future(self._work(number, name)))

    async def finish(self) -> None:
        """Let each of them end its operation, then poll to the end of every log."""
        self._going = False
        for one in self._working:
            await one

    async def _work(self, number: int, name: str) -> None:
        chance = random.Random(f"{self._seed}/{name}")
        client = _Client(self._on, name, 1 + number % 2, self._logs)
        client.assign()
        anew, done = True, 0
        while self._going and done < self._most:
            if anew and (await client.producer.init()).type != "ok":
                await asyncio.sleep(RESTS_S)
                continue
            asked = [self._asked(chance, client.keys) for _ in range(chance.randint(1, 4))]
            anew = await client.transact(asked, commit=chance.random() < 0.8)
            done += 1
            await asyncio.sleep(RESTS_S * self._on.pace * chance.random())
        await client.poll_to_the_end()

    def _asked(self, chance: random.Random, keys: Sequence[str]) -> list[Any]:
        if chance.random() < 0.4:
            return ["poll"]
        return ["send", chance.choice(keys), next(self._values)]


class _Client:
    """One producer and one consumer."""

    def __init__(
        self, on: Deployment, name: str, version: int, logs: Sequence[tuple[str, int]]
    ) -> None:
        self._on = on
        self._name = name
        self.producer = TransactionalProducer(
            on=on, name=name, id=name, version=version, recorded=False
        )
        made = [TransactionalLog(on=on, topic=topic, partition=n) for topic, n in logs]
        self._logs = {f"{one.tp.topic}-{one.partition}": one for one in made}
        self._positions = dict.fromkeys(self._logs, 0)

    @property
    def keys(self) -> list[str]:
        """What histories call the logs."""
        return list(self._logs)

    def assign(self) -> None:
        """Say which logs are read from now on."""
        recorder, keys = self._on.recorder, {"value": self.keys}
        recorder.finish(recorder.invoke(self._name, "assign", keys), "ok", keys)

    async def transact(self, asked: list[list[Any]], *, commit: bool) -> bool:
        """One operation; whether the producer has to begin anew after it."""
        recorder = self._on.recorder
        operation = recorder.invoke(self._name, "txn", {"value": asked})
        self.producer.begin()
        done: list[list[Any]] = []
        positions, sound, sent = dict(self._positions), True, False
        for kind, *rest in asked:
            if kind == "poll":
                done.append(["poll", await self._polled(positions)])
                continue
            key, value = rest
            outcome = await self.producer.send(self._logs[key], values=[str(value)])
            sound, sent = sound and outcome.type == "ok", True
            done.append(["send", key, [outcome.fields.get("offset"), value]])
        type_ = await self._ended(commit=sound and commit) if sent else "ok"
        if type_ == "ok":
            self._positions = positions
        else:
            done = [["send", one[1], one[2][1]] if one[0] == "send" else one for one in done]
        recorder.finish(operation, type_, {"error": 0 if type_ == "ok" else None, "value": done})
        if type_ == "info":
            self.assign()
        return type_ == "info" or not sound

    async def _ended(self, *, commit: bool) -> str:
        ended = await self.producer.end(commit=commit)
        if ended.type != "ok":
            return "info"
        return "ok" if commit else "fail"

    async def poll_to_the_end(self) -> None:
        """Poll until nothing has come for a while."""
        idle = 0
        for _ in range(LAST_POLLS):
            recorder = self._on.recorder
            operation = recorder.invoke(self._name, "poll", {"value": [["poll"]]})
            polled = await self._polled(self._positions)
            recorder.finish(operation, "ok", {"error": 0, "value": [["poll", polled]]})
            idle = 0 if any(polled.values()) or not await self._at_the_end() else idle + 1
            if idle > 1:
                return
            await asyncio.sleep(RESTS_S * self._on.pace)

    async def _at_the_end(self) -> bool:
        ends = [self._positions[key] >= log.end for key, log in self._logs.items()]
        return all(ends)

    async def _polled(self, positions: dict[str, int]) -> Polled:
        """What comes next of every log; positions move on behind it."""
        found: Polled = {}
        for key, log in self._logs.items():
            outcome = await self._fetch(log, positions[key])
            if outcome is None:
                log.leader = None
                continue
            log.end = max(log.end, int(outcome.fields["high_watermark"]))
            found[key] = [[one[0], int(one[1])] for one in outcome.fields["records"]]
            if outcome.fields["batches"]:
                positions[key] = int(outcome.fields["batches"][-1][1]) + 1
        return found

    async def _fetch(self, log: TransactionalLog, offset: int) -> Outcome | None:
        if log.leader is None and await log.locate() is None:
            return None
        assert log.leader is not None
        client = RawClient(self._on.network, self._on.address(log.leader.leader))
        try:
            outcome = await transactions.fetch(
                client, log.tp, offset=offset, committed=True, leader_epoch=log.leader.epoch
            )
        except LOST:
            return None
        finally:
            client.abort()
        return outcome if outcome.type == "ok" else None

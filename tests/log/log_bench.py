"""A disk that can be made to die at any effect, a clock that is set, and a log on both."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from harness.simulation.disk import SimDisk
from reference_impl.kafka.batches import Compression, batches
from reference_impl.kafka.records import build_batch, records
from reference_impl.log import Log, LogConfig
from reference_impl.ports.disk import Disk, GatedDisk
from reference_impl.ports.effects import Effect

Result = TypeVar("Result")
NOW = 1_700_000_000_000


class Killed(BaseException):
    """The process ended at this effect."""


@dataclass
class MortalGate:
    """Lets effects pass until one is fatal; the next call named ``slow`` waits for ``go_on``."""

    count: int = 0
    fatal: int | None = None
    after: bool = False
    dead: bool = False
    slow: str | None = None
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, effect: Effect[Result]) -> Result:
        if effect.call == self.slow:
            self.slow = None
            await self.go_on.wait()
        if self.dead:
            raise Killed
        self.count += 1
        if self.count == self.fatal:
            self.dead = True
            if self.after:
                await effect.do()
            raise Killed
        return await effect.do()


@dataclass
class SetClock:
    now: int = NOW

    def now_ms(self) -> int:
        return self.now

    def monotonic_ns(self) -> int:
        return self.now * 1_000_000

    async def sleep(self, seconds: float) -> None:
        self.now += int(seconds * 1000)


class Bench:
    """Runs a log on a simulated disk, life after life."""

    def __init__(self, config: LogConfig | None = None, *, seed: int = 0) -> None:
        self.config = config or LogConfig()
        self.clock = SetClock()
        self.sim = SimDisk(random.Random(seed))
        self.gate = MortalGate()
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(lambda *_: None)
        self._log: Log | None = None

    @property
    def log(self) -> Log:
        assert self._log is not None
        return self._log

    def disk(self) -> Disk:
        return GatedDisk(self.sim, self.gate)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(work)

    def look(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What a read gives: it waits for nothing here, so it needs no turn of the loop."""
        try:
            work.send(None)
        except StopIteration as done:
            return cast("Result", done.value)
        raise AssertionError("it waits")

    def open(self, *, gate: MortalGate | None = None, **how: Any) -> Log:
        self.gate = gate or MortalGate()
        how = {"clean": False, **how}
        self._log = self.run(
            Log.open(self.disk(), "t-0", config=self.config, clock=self.clock, **how)
        )
        return self._log

    def die(self, *, power: bool = False) -> None:
        """End the process, with everything it still had going."""
        self.gate.dead = True
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
            with contextlib.suppress(BaseException):
                self.loop.run_until_complete(task)
        if power:
            self.sim.lose_power()
        else:
            self.sim.kill()

    def settle(self) -> None:
        """Let whatever goes on in the background come to its end."""
        while tasks := asyncio.all_tasks(self.loop):
            for task in tasks:
                with contextlib.suppress(BaseException):
                    self.loop.run_until_complete(task)

    def close(self) -> None:
        self.die()
        self.loop.close()

    def append(self, data: bytes, epoch: int = 0) -> int:
        return self.run(self.log.append_as_leader(data, leader_epoch=epoch)).base_offset

    def everything(self) -> list[tuple[int, bytes | None]]:
        """Offset and value of every record, as a reader gets them."""
        return [
            (record.offset, record.value)
            for data in self.read_all()
            for at, _ in batches(data)
            for record in records(data, at)
        ]

    def read_all(self) -> list[bytes]:
        found = []
        at = self.log.local_log_start_offset
        while at < self.log.log_end_offset:
            data = self.read(at)
            if not data:
                break
            found.append(data)
            at = [batch for _, batch in batches(data)][-1].next_offset
        return found

    def read(self, offset: int, max_bytes: int = 1 << 20, at_least_one: bool = True) -> bytes:
        return self.look(
            self.log.read(
                offset,
                max_bytes=max_bytes,
                upto=self.log.log_end_offset,
                at_least_one=at_least_one,
            )
        )


@dataclass
class Producer:
    """An idempotent producer, as the log sees one."""

    producer_id: int
    epoch: int = 0
    sequence: int = 0
    sent: list[bytes] = field(default_factory=list)

    def next(self, *values: bytes) -> bytes:
        data = batch(
            *values,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self.sequence,
        )
        self.sequence = (self.sequence + len(values)) % (1 << 31)
        self.sent.append(data)
        return data


def batch(
    *values: bytes | None,
    timestamp: int = NOW,
    key: bytes | None = None,
    compression: Compression = Compression.none,
    **header: Any,
) -> bytes:
    entries = [(timestamp, key, value) for value in values]
    return build_batch(entries, compression=compression, **header)

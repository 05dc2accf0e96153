"""The clients of one partition in a simulation: who they are, and what they do by themselves.

Each does one thing at a time. Those that have nothing to do begin something whenever ``work`` is
called: two plain producers, an idempotent one, a consumer at one broker, now and then somebody who
asks for the latest offset. Whom they ask who leads goes round the brokers, so that those who were
left behind send clients to the past.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from conformance.machines.judging import JudgedMachine
from harness.clients.admin import Leadership, leadership
from harness.clients.operations import Defect, TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.plan import broker_id, broker_name
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.errors import StillWaiting
from harness.workloads.partition_log import PartitionClients

TP = TopicPartition("t", 0)
BROKERS = ("broker-1", "broker-2", "broker-3")
PRODUCERS = ("p1", "p2", "p3")
IDEMPOTENT = {"i1": 7001, "i2": 7002}
READERS = {"r1": 1, "r2": 2, "r3": 3}
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
LOOK_S = 0.2  # of simulated time, between two looks whether the cluster has come to rest


class ClientsAtWork(JudgedMachine):
    """A machine with clients. It has a cluster, and ``clients`` that share what they know."""

    cluster: SimulatedCluster
    clients: PartitionClients

    def __init__(self) -> None:
        self.busy: list[str] = []
        self._turn = 0
        self._read_to = dict.fromkeys(READERS, 0)
        super().__init__()

    # ── what they do ─────────────────────────────────────────────────────────────────────────────

    def work(self) -> None:
        """Let some of those who are idle begin something."""
        self._turn += 1
        turn = self._turn
        ask = 1 + turn % 3
        self.start("p1", lambda: self.clients.send("p1", ask, acks=-1))
        self.start("p2", lambda: self.clients.send("p2", 1 + ask % 3, acks=1))
        self._send_idempotent([*IDEMPOTENT][turn % 2], ask, ahead=turn % 3 == 0)
        self._read_on([*READERS][turn % 3])
        if turn % 3 == 0:
            self.start("l-1", lambda: self.clients.look("l-1", ask, LATEST))

    def send_all(self, ask: int, acks: int) -> None:
        """Every producer that is idle sends."""
        for by in PRODUCERS:
            self.start(by, partial(self.clients.send, by, ask, acks=acks))
        for by in IDEMPOTENT:
            self._send_idempotent(by, ask)

    def read_everywhere(self, offset: int) -> None:
        """Every reader that is idle reads from there, each at its broker."""
        for by in READERS:
            self._read_to[by] = offset
            self._read_on(by)

    def look_around(self, ask: int, back: int) -> None:
        """Ends, a time, the maximum, and the end of an epoch."""
        clients = self.clients
        for by, timestamp in {
            "l-1": LATEST,
            "l-2": EARLIEST,
            "l-3": MAX_TIMESTAMP,
            "l": clients.now_ms() - 100 * back,
        }.items():
            self.start(by, partial(clients.look, by, ask, timestamp))
        self.start("l-epoch", lambda: clients.ask_epoch_end("l-epoch", ask, back))

    def delete_up_to(self, ask: int, offset: int) -> None:
        """Delete what is older, and send what is damaged."""
        if offset > 0:
            self.start("d1", lambda: self.clients.delete("d1", ask, offset))
        self.start("torn", lambda: self.clients.send_defective("torn", ask, Defect.TORN))

    def _send_idempotent(self, by: str, ask: int, *, ahead: bool = False) -> None:
        producer_id = IDEMPOTENT[by]
        self.start(
            by,
            lambda: self.clients.send_idempotent(by, ask, producer_id=producer_id, ahead=ahead),
        )

    def _read_on(self, by: str) -> None:
        async def read() -> None:
            offset = self._read_to[by]
            after = await self.clients.read(by, READERS[by], offset)
            if self._read_to[by] == offset:
                self._read_to[by] = after

        self.start(by, read)

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def idle(self, client: str) -> bool:
        """Whether a client has nothing under way."""
        return client not in self.busy

    def start(self, by: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Let a client do something, unless it does something already."""
        if not self.idle(by):
            return

        async def carried_out(doing: Coroutine[Any, Any, Any]) -> None:
            try:
                await doing
            finally:
                self.busy.remove(by)

        self.busy.append(by)
        self.sim.spawn(carried_out(work()))

    def client(self, broker: int) -> RawClient:
        """A new one, of one broker."""
        return RawClient(self.sim.lab, self.cluster.address(broker))

    # ── what the lab itself sees ─────────────────────────────────────────────────────────────────

    def leader(self, among: Sequence[str] = BROKERS) -> str | None:
        """Who leads, by the newest that the brokers know."""
        seen = [one for one in self._seen(among) if one.leader > 0]
        newest = max(seen, key=lambda one: one.epoch, default=None)
        return None if newest is None else broker_name(newest.leader)

    def agreed(self) -> bool:
        """Whether all brokers that are up name the same leader in the same epoch."""
        up = [name for name in BROKERS if self.sim.nodes[name].up]
        seen = [(one.leader, one.epoch) for one in self._seen(up)]
        return len(seen) == len(up) and len(dict.fromkeys(seen)) == 1 and seen[0][0] > 0

    def _seen(self, asked: Sequence[str]) -> list[Leadership]:
        """What brokers say about who leads; all are asked at once."""

        async def ask(name: str) -> Leadership | None:
            with suppress(OSError, TimeoutError):
                return await leadership(self.client(broker_id(name)), TP, timeout_s=0.3)
            return None

        async def ask_all() -> list[Leadership | None]:
            up = [name for name in asked if self.sim.nodes[name].up]
            return await asyncio.gather(*(ask(name) for name in up))

        with suppress(StillWaiting):
            found = self.sim.run(ask_all(), within_s=1.0)
            return [one for one in found if one is not None]
        return []

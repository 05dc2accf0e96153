"""The classic cluster for programs that are written by hand: nothing happens but what they say.

The steps of `ClassicMachine` let clients work all the time, so that Hypothesis finds what nobody
thought of. A program that is to show one thing wants one client to do one thing, and the next when
that is over. Nobody draws these steps; they can be mixed with those that are drawn.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from conformance.machines.classic import ClassicMachine
from conformance.machines.clients_at_work import BROKERS
from harness.clients.operations import Defect
from harness.deployments.plan import broker_id
from harness.simulation.errors import StillWaiting
from harness.simulation.network import LAB
from harness.steps.machine import step
from harness.workloads.partition_log import PartitionClients

KINDS = ("plain", "leader", "spread", "torn", "misnumbered", "idempotent", "early")
BLIND = {"b1": 8001, "b2": 8002, "b3": 8003}  # producers that ask nobody who leads
IDEMPOTENT = 7003
PERSISTENT = {"a": IDEMPOTENT, "b3": BLIND["b3"]}  # those who finish in the end what they began
PATIENCE_S = 10.0  # of simulated time, for one request


@dataclass(frozen=True, slots=True)
class Appends:
    """What a program may append, where one broker says the leader is."""

    clients: PartitionClients
    ask: int

    def make(self, what: str) -> Coroutine[Any, Any, object]:
        """One of them, by its name."""
        clients, ask = self.clients, self.ask
        match what:
            case "plain":
                return clients.send("a", ask, acks=-1)
            case "leader":
                return clients.send("a", ask, acks=1)
            case "spread":
                return clients.send_spread("a", ask)
            case "torn" | "misnumbered":
                return clients.send_defective("a", ask, Defect(what))
            case "idempotent":
                return clients.send_idempotent("a", ask, producer_id=IDEMPOTENT)
            case "early":
                return clients.send_too_early("a", ask, producer_id=IDEMPOTENT)
            case _:
                raise ValueError(f"nobody appends {what!r}; there are {', '.join(KINDS)}")


class ScriptedMachine(ClassicMachine):
    """One thing after the other."""

    max_faults = 5
    idempotent: ClassVar[Mapping[str, int]] = PERSISTENT

    @step(what=KINDS, ask=BROKERS)
    def append(self, what: str, ask: str) -> None:
        """Somebody appends something, and hears what became of it."""
        self._do(Appends(self.clients, broker_id(ask)).make(what))

    @step(by=tuple(BLIND), at=BROKERS, defect=tuple(Defect), soon=(0, 2, 5))
    def append_blindly(self, by: str, at: str, defect: str, soon: int) -> None:
        """A producer sends its one batch, perhaps again; soon there is no way back for answers.

        With 0 there is one.
        """
        self.start(
            by,
            lambda: self.clients.send_blindly(
                by, broker_id(at), producer_id=BLIND[by], defect=Defect(defect)
            ),
        )
        self.sim.advance(soon / 1000)
        silenced = [self.sim.faults.cut(at, LAB, both=False)] if soon else []
        with suppress(StillWaiting):
            self.sim.run_until(lambda: self.idle(by), within_s=PATIENCE_S)
        for link in silenced:
            link.heal()

    @step(at=BROKERS, offset=(0, 1, 2), max_bytes=(1 << 20, 1))
    def fetch(self, at: str, offset: int, max_bytes: int) -> None:
        """Somebody reads from an offset."""
        self._do(self.clients.read("f", broker_id(at), offset, max_bytes=max_bytes))

    @step(ask=BROKERS, timestamp=(-1, -2, -3))
    def list_offset(self, ask: str, timestamp: int) -> None:
        """Somebody asks for one of the offsets that have a name."""
        self._do(self.clients.look("o", broker_id(ask), timestamp))

    @step(ask=BROKERS, which=(-1, -2, 0), later=(0, 1, -50))
    def find_time(self, ask: str, which: int, later: int) -> None:
        """Somebody looks for the latest timestamp of an append, or for one beside it."""
        if self.clients.stamps:
            stamp = self.clients.stamps[which % len(self.clients.stamps)]
            self._do(self.clients.look("o", broker_id(ask), stamp + later))

    @step(ask=BROKERS, back=(0, 1, 2))
    def find_epoch(self, ask: str, back: int) -> None:
        """Somebody asks where an epoch ended: the last, or an earlier one."""
        self._do(self.clients.ask_epoch_end("o", broker_id(ask), back))

    @step(ask=BROKERS, offset=(1, 2, 4))
    def delete_to(self, ask: str, offset: int) -> None:
        """Somebody deletes what is below an offset."""
        self._do(self.clients.delete("d", broker_id(ask), offset))

    @step(ms=(100, 700, 2000))
    def wait(self, ms: int) -> None:
        """Time passes, and nobody does anything."""
        self.sim.advance(ms / 1000)

    def _do(self, work: Coroutine[Any, Any, object]) -> None:
        with suppress(StillWaiting):
            self.sim.run(work, within_s=PATIENCE_S)

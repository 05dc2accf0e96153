"""The replicated register under a nemesis, with a few clients, judged for linearizability."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from replicated_register import Message, Unreached, ask, register_node

from harness.history import read_history
from harness.simulation.errors import StillWaiting
from harness.state_machines import Outcome, definitely_not, done, step, unknown
from harness.state_machines.nemesis_steps import A_WHILE, NemesisSteps, a_node
from reference_impl.ports import Address
from spark_checkers.linearizability import model_named, search_events

MEMBERS = {name: Address(name, 7000) for name in ("n1", "n2", "n3")}
READERS = {f"r{number}": name for number, name in enumerate(MEMBERS, start=1)}
WRITERS = ("w1", "w2", "w3")
MODEL = model_named("cas-register")
PATIENCE_S = 2.0  # of a client
APART_S = 0.02  # nodes are in different towns: what happens between two messages takes its time
SUPERVISED_S = 0.1
CUT_OFF_MS = 1500
TAKEN_DOWN = ("kill-node", "lose-power")


class RegisterMachine(NemesisSteps):
    """Three nodes, three clients who write, one beside each node who reads."""

    sut = "replicated register"
    settle_s = 0.2
    records_effects = False

    def build(self) -> None:
        """Three nodes, and time to choose a leader."""
        self.values = 0
        self.seen: Any = None  # the latest value that any client knows of
        self.answered = False  # the last read
        self.leader = "n1"  # who began to lead last, if anybody did
        self.crowned = 0  # how often somebody did
        for name in MEMBERS:
            self.sim.add(name, register_node(MEMBERS, self._herald))
        self.sim.network.delay([*MEMBERS], [*MEMBERS], APART_S)
        self.sim.spawn(self._supervise())
        self.sim.advance(0.7)

    @step(ms=A_WHILE)
    def read(self, ms: int) -> None:
        """Every reader that waits for nothing reads, at its own node."""
        self._read_everywhere()
        self.pass_time(ms)

    @step(node=a_node, ms=A_WHILE)
    def write(self, node: str, ms: int) -> None:
        """A client writes a value that nobody wrote before."""
        self._write_at(node, by=self._writer_free())
        self.pass_time(ms)

    @step(node=a_node, ms=A_WHILE)
    def cas(self, node: str, ms: int) -> None:
        """A client replaces the latest value anybody heard of, by one that nobody wrote before."""
        pair = (self.seen, self._fresh())
        self._start(self._writer_free(), "cas", partial(self._change, node, "cas", *pair), pair)
        self.pass_time(ms)

    @step(ms=A_WHILE)
    def usurp(self, ms: int) -> None:
        """Whoever led last is cut off from the others for a second; another takes over.

        Clients do not notice: they go on with both.
        """
        last, crowned = self.leader, self.crowned
        others = [name for name in MEMBERS if name != last]
        self._inject(CUT_OFF_MS, 0, self.sim.faults.cut, last, others)
        self._write_at(last, by=self._writer_free())
        with suppress(StillWaiting):
            self.sim.run_until(lambda: self.crowned > crowned, within_s=CUT_OFF_MS / 1000)
        self.pass_time(ms)
        self._read_everywhere()

    def finish(self) -> None:
        """Wait for those who wait; then read until somebody answers."""
        while self.open:
            self.sim.advance(0.25)
        for node in [*MEMBERS] * 7:
            self._start("last", "read", partial(self._read, node))
            while self.open:
                self.sim.advance(0.1)
            if self.answered:
                return

    def judge(self, folder: Path) -> Sequence[str]:
        """One order of all operations, and in the end an answer."""
        history = read_history(folder / "history.jsonl")
        findings = search_events(history.events, MODEL)
        if not history.complete:
            findings.append("no verdict: the history is damaged")
        if not self.answered:
            findings.append("unavailable: nobody answers a read though everything is healed")
        return findings

    async def _supervise(self) -> None:
        """Start nodes that ended by themselves."""
        while True:
            await asyncio.sleep(SUPERVISED_S)
            down = [fault.target for fault in self.sim.faults.active if fault.name in TAKEN_DOWN]
            for name, node in self.sim.nodes.items():
                if not node.up and name not in down:
                    self.sim.start(name)

    def _herald(self, name: str) -> None:
        """Somebody begins to lead, and beside it is one who waited for that, to read and write."""
        self.leader = name
        self.crowned += 1
        courtier = f"c{name[1:]}"
        self._start(
            courtier,
            "read",
            partial(self._read, name),
            then=partial(self._write_at, name, by=courtier),
        )

    # What clients do.

    def _read_everywhere(self) -> None:
        for reader, node in READERS.items():
            self._start(reader, "read", partial(self._read, node))

    def _write_at(self, node: str, *, by: str | None) -> None:
        value = self._fresh()
        self._start(by, "write", partial(self._change, node, "write", value), value)

    def _fresh(self) -> int:
        self.values += 1
        return self.values

    def _writer_free(self) -> str | None:
        return next((writer for writer in WRITERS if self.idle(writer)), None)

    def _start(
        self,
        client: str | None,
        f: str,
        work: Callable[[], Awaitable[Outcome]],
        value: Any = None,
        then: Callable[[], None] = lambda: None,
    ) -> None:
        if client is not None and self.idle(client):
            given = {} if value is None else {"value": value}
            self.begin(client, f, work, **given).add_done_callback(lambda _: then())

    async def _read(self, node: str) -> Outcome:
        self.answered = False
        reply = await self._ask(node, {"ask": "read"})
        if not reply["done"]:
            return definitely_not(error="refused")
        self.answered, self.seen = True, reply["value"]
        return done(value=reply["value"])

    async def _change(self, node: str, f: str, *values: Any) -> Outcome:
        request = {"ask": "change", "command": [f, *values]}
        reply = await self._ask(node, request)
        if reply["done"] is False and reply.get("leader") is not None:
            reply = await self._ask(reply["leader"], request)
        if reply["done"] is None:
            return unknown(error="timed out")
        if not reply["done"]:
            return definitely_not(error="refused")
        self.seen = values[-1]
        return done()

    async def _ask(self, node: str, request: Message) -> Message:
        try:
            return await ask(self.sim.lab, MEMBERS[node], request, within_s=PATIENCE_S)
        except Unreached:
            return {"done": False}

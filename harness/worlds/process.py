"""The process world: one agent process per client, each behind its own proxy to PostgreSQL.

What is faulty here is really faulty: an agent that is killed dies, a request that is held sits in
a socket, a reply that is lost was sent by a database that has committed. Time is the host's
monotonic clock. A script fixes the order in which the lab acts, not what the operating system makes
of it, so two runs of one script may differ; a history shows which one happened.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import reference_impl
from harness.deployments.mutants import split_mutants
from harness.errors import LabBroken, LabError, UsageError
from harness.history import Run
from harness.history.recorder import Evidence, Operation, Recorder
from harness.history.run_slot import RunSlot, take_slot
from harness.processes.database import Database, Log, Row
from harness.processes.program import Program
from harness.steps.order import ALL_VERBS
from harness.sut.model import Sut
from harness.worlds.clients import Client, Patience, ProgramTransport
from harness.worlds.postgres_links import LOOPBACK, Link, Proxies, Upstream
from harness.worlds.world import PlayedWorld

CLOCK = "host"


class ProcessTransport(ProgramTransport):
    """Agents of the reference, proxies, and one database."""

    supports = ALL_VERBS

    def __init__(
        self,
        recorder: Recorder,
        *,
        run: Run,
        slot: RunSlot,
        database: Database,
        mutants: Sequence[str],
        bell: threading.Condition,
        patience: Patience,
    ) -> None:
        super().__init__(recorder, bell, patience)
        self._run = run
        self._slot = slot
        self._database = database
        self._mutants = tuple(mutants)
        self._proxies = Proxies(bell)
        self._links: dict[str, Link] = {}
        self._agents = 0
        self._refusing = False
        self._before: dict[str, int] = {}

    def title(self, client: Client) -> str:
        """It is ours."""
        return f"the agent of {client.name!r}"

    def start(self, client: Client, on_line: Callable[[bytes], None]) -> Program:
        """An agent of the reference that reaches the database through this client's proxy."""
        self._agents += 1
        node = self._recorder.node(client.name)
        trace = self._trace_file(node)
        command = [sys.executable, "-m", "reference_impl", "control-plane", "--no-install"]
        command += ["--dsn", self._dsn_through(self._link(client.name))]
        command += ["--trace", str(trace), "--node", str(node), "--clock", CLOCK]
        for mutant in self._mutants:
            command += ["--mutant", mutant]
        return Program(
            command,
            called=self.title(client),
            on_line=on_line,
            bell=self._bell,
            environment=_environment(),
        )

    def gone(self, client: Client) -> None:
        """What a dead agent had in the network is gone with it."""
        if client.name in self._links:
            self._links[client.name].reset()
            self._links[client.name].forward()

    def blame(self, error: LabError, program: Program) -> LabError:
        """The agent is ours, so its misbehaviour is ours."""
        return LabBroken(str(error))

    def hold(self, operation: Operation) -> Evidence:
        """Held at the proxy, before the database sees anything of it."""
        link = self._link(operation.client)
        held, held_bytes = link.counts.holds, link.counts.bytes_held
        link.hold()
        self.send(operation)
        self._settled(operation, lambda: link.counts.holds > held)
        return {
            "requests_held": link.counts.holds - held,
            "bytes_held": link.counts.bytes_held - held_bytes,
        }

    def step(self, operation: Operation) -> Evidence:
        """One transaction; then it is complete, or its next transaction is held."""
        link = self._link(operation.client)
        held, passed = link.counts.holds, link.counts.transactions
        if operation.open:
            link.let_one_through()
            self._settled(operation, lambda: link.counts.holds > held)
        return {
            "transactions_passed": link.counts.transactions - passed,
            "requests_left": int(operation.open),
        }

    def release(self, operation: Operation) -> None:
        """The proxy forwards again."""
        self._link(operation.client).forward()

    def lose(self, operation: Operation, *, held: bool) -> Evidence:
        """The proxy swallows the reply that follows a commit, and breaks the connection."""
        link = self._link(operation.client)
        lost, lost_bytes = link.counts.replies_dropped, link.counts.reply_bytes_dropped
        link.lose_next_reply()
        self._send_unless(held, operation)
        return {
            "replies_dropped": link.counts.replies_dropped - lost,
            "bytes_dropped": link.counts.reply_bytes_dropped - lost_bytes,
        }

    def drop(self, operation: Operation, *, held: bool) -> Evidence:
        """The proxy swallows the request and breaks the connection."""
        link = self._link(operation.client)
        lost, lost_bytes = link.counts.requests_dropped, link.counts.request_bytes_dropped
        link.drop_next_request()
        self._send_unless(held, operation)
        return {
            "requests_dropped": link.counts.requests_dropped - lost,
            "bytes_dropped": link.counts.request_bytes_dropped - lost_bytes,
        }

    def outage(self, verb: str) -> None:
        """Refusals happen at every proxy; a hard failure in the database itself."""
        if verb in ("refuse", "break"):
            self._before[verb] = self._total(verb)
        if verb in ("refuse", "heal"):
            self._refusing = verb == "refuse"
            for link in self._links.values():
                link.refuse(self._refusing)
        else:
            self._database.hide(verb == "break")

    def hits(self, verb: str) -> Evidence:
        """How often a proxy refused somebody, or the database answered with an error."""
        count = self._total(verb) - self._before[verb]
        if verb == "refuse":
            return {"refusals": count}
        states = [link.counts.last_sqlstate for link in self._links.values()]
        return {"errors_answered": count, "sqlstate": next((s for s in states if s), "")}

    def probe(self) -> list[Row]:
        """The tables, by a connection of the lab's own."""
        return self._database.probe()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """In the database, while agents may be running."""
        self._database.upgrade(logs)

    def close(self) -> None:
        """Agents first, then what they were connected to."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._database.close)
            stack.callback(self._proxies.close)
            super().close()

    def _send_unless(self, held: bool, operation: Operation) -> None:
        if not held:
            self.send(operation)
        self._settled(operation, lambda: False)
        self._link(operation.client).forward()

    def _settled(self, operation: Operation, reached: Callable[[], bool]) -> None:
        """Wait until the proxy got there, or the operation is over without it."""
        client = self.client(operation.client)
        self.until(lambda: reached() or not operation.open, client, self._patience.answer_s)

    def _total(self, verb: str) -> int:
        counts = [link.counts for link in self._links.values()]
        return sum(one.refusals if verb == "refuse" else one.errors_answered for one in counts)

    def _link(self, client: str) -> Link:
        if client not in self._links:
            link = self._proxies.open(Upstream(host=LOOPBACK, port=self._database.port))
            link.refuse(self._refusing)
            self._links[client] = link
        return self._links[client]

    def _dsn_through(self, link: Link) -> str:
        parts = urlsplit(self._database.dsn)
        through = parts._replace(netloc=f"{parts.username}@{LOOPBACK}:{link.port}")
        return urlunsplit(through._replace(query="sslmode=disable&gssencmode=disable"))

    def _trace_file(self, node: int) -> Path:
        """A shard for the agent: its first line is ours, the agent appends the rest."""
        name = f"{self._slot.name}-agent-{node}-{self._agents}"
        shard = self._run.shard(name, CLOCK, mortal=True)
        shard.abandon()
        return shard.path


def open_process(
    *,
    run: Run,
    sut: Sut,
    schema_upto: int | None = None,
    part: int = 0,
    shard: str | None = None,
    patience: Patience | None = None,
) -> PlayedWorld:
    """A database, and agents as the script calls for them."""
    if sut.reference is None:
        raise UsageError(
            f"{sut.name} is not the reference, so the lab cannot start it as processes of its own;"
            " give it a control_plane hook and use the world 'external'"
        )
    if sut.reference.control_plane not in (None, "postgres"):
        raise UsageError("in the process world the control plane is postgres; memory is not shared")
    python_mutants, sql_mutants = split_mutants(sut.reference.mutants)
    database = Database(schema_upto=schema_upto, mutants=[one for _, one in sql_mutants])
    try:
        slot = take_slot(run, world="process", clock=CLOCK, part=part, shard=shard)
        recorder = Recorder(slot, now=time.monotonic_ns, lock=threading.Lock())
        transport = ProcessTransport(
            recorder,
            run=run,
            slot=slot,
            database=database,
            mutants=[reference for reference, _ in python_mutants],
            bell=threading.Condition(),
            patience=patience or Patience(),
        )
    except BaseException:
        database.close()
        raise
    return PlayedWorld(name="process", slot=slot, recorder=recorder, transport=transport)


def _environment() -> dict[str, str]:
    """The lab's own environment, with the reference on the path wherever the lab was started."""
    root = str(Path(reference_impl.__file__).parent.parent)
    inherited = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(part for part in (root, inherited) if part)
    return {**os.environ, "PYTHONPATH": path}

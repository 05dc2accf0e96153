"""The control plane on PostgreSQL as the simulated world steps it.

Its coroutines yield for two reasons: a bare yield is the turn between two transactions, a future
means that the database has not answered yet. Futures are passed on to a private event loop, so from
outside a transaction looks as atomic as in memory. Each node has a connection of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import types
from collections.abc import Generator, Sequence
from typing import Any

from harness.workloads.verbs import ALL_VERBS
from harness.worlds.database import Database
from harness.worlds.memory_store import NodeTrace, failure_reply
from harness.worlds.recorder import Recorder
from harness.worlds.sim import Call
from harness.worlds.transport import Log, Row
from reference_impl.control_plane.port import Reply, Request
from reference_impl.control_plane.postgres import PostgresControlPlane
from reference_impl.decisions import SqlMutant


def open_store(
    recorder: Recorder, *, schema_upto: int | None, mutants: Sequence[SqlMutant]
) -> PostgresStore:
    """A fresh database and nothing connected to it yet."""
    return PostgresStore(recorder, Database(schema_upto=schema_upto, mutants=mutants))


class PostgresStore:
    """A real database, one connection per node, stepped from one private event loop."""

    verbs = ALL_VERBS

    def __init__(self, recorder: Recorder, database: Database) -> None:
        self._trace = NodeTrace(recorder)
        self._database = database
        self._loop = asyncio.new_event_loop()
        self._planes: dict[int, PostgresControlPlane] = {}

    def call(self, node: int, request: Request) -> Call:
        """Not yet started; nodes do not share a connection."""
        if node not in self._planes:
            self._planes[node] = PostgresControlPlane(self._database.dsn, trace=self._trace)
        return self._planes[node].call(request)

    def advance(self, node: int, call: Call) -> Reply | None:
        """Up to the next turn, or to the reply."""
        self._trace.node = node
        return self._loop.run_until_complete(_awaited(call))

    def failure(self, sqlstate: str | None) -> Reply:
        """As the reference classifies it."""
        return failure_reply(sqlstate)

    def broken(self, broken: bool) -> bool:
        """The schema really goes away."""
        self._database.mislay(broken)
        return True

    def probe(self) -> list[Row]:
        """The tables themselves."""
        return self._database.probe()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """In the database."""
        self._database.upgrade(logs)

    def close(self) -> None:
        """Connections, loop and database."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._database.close)
            stack.callback(self._loop.close)
            for plane in self._planes.values():
                self._loop.run_until_complete(plane.close())


async def _awaited(call: Call) -> Reply | None:
    return await until_turn(call)


@types.coroutine
def until_turn(call: Call) -> Generator[Any, None, Reply | None]:
    """Run one transaction inside an event loop: futures go to the loop, a bare yield ends it."""
    while True:
        try:
            waiting_for = call.send(None)
        except StopIteration as finished:
            reply: Reply = finished.value
            return reply
        if waiting_for is None:
            return None
        yield waiting_for

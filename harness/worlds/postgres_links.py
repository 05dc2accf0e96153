"""A fault proxy between one client and PostgreSQL, on loopback only.

It works on transactions, not on bytes: it can keep a request in the network before the database
sees it, let exactly one transaction through, throw a request away, throw a reply away after the
database has committed, and refuse everybody. Each of these counts what it did; the counts are the
evidence that a fault landed. Left alone it only forwards.

All links live in one thread with its own event loop. Methods of `Link` are called from the lab's
thread and return once the loop has taken them in, so an order given before a request is sent holds
for that request. Whenever something happened that somebody may wait for, the bell is rung.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from harness.proxies.postgres_connection import HANGUPS, Connection, Passage, Upstream
from harness.proxies.postgres_frames import IDLE, Frame, Group
from harness.proxies.thread import LOOPBACK, LoopThread

__all__ = ["LOOPBACK", "Counts", "Link", "Proxies", "Upstream"]


@dataclass(slots=True, kw_only=True)
class Counts:
    """What one link did, ever."""

    holds: int = 0
    bytes_held: int = 0
    transactions: int = 0
    replies_dropped: int = 0
    reply_bytes_dropped: int = 0
    requests_dropped: int = 0
    request_bytes_dropped: int = 0
    refusals: int = 0
    errors_answered: int = 0
    last_sqlstate: str = ""


class Proxies:
    """The thread that all links of a world share."""

    def __init__(self, bell: threading.Condition) -> None:
        self._bell = bell
        self._thread = LoopThread("postgres-proxies")

    def open(self, upstream: Upstream) -> Link:
        """A new link on a port of its own."""
        link = Link(upstream, thread=self._thread, ring=self._ring)
        self._thread.order(link.listen())
        return link

    def close(self) -> None:
        """Hang up everywhere and end the thread."""
        self._thread.close()

    def _ring(self) -> None:
        with self._bell:
            self._bell.notify_all()


class Link:
    """One client's way to the database, and everything that can be done to it."""

    def __init__(self, upstream: Upstream, *, thread: LoopThread, ring: Callable[[], None]) -> None:
        self.counts = Counts()
        self.port = 0
        self._upstream = upstream
        self._thread = thread
        self._ring = ring
        self._holding = False
        self._credit = 0
        self._losing = False
        self._dropping = False
        self._refusing = False
        self._changed = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._connections: list[Connection] = []

    # -- orders, from the lab's thread

    def hold(self) -> None:
        """From now on a transaction that begins waits here."""
        self._set(_holding=True, _credit=0)

    def let_one_through(self) -> None:
        """One waiting transaction goes on; the next one waits again."""
        self._set(_credit=1)

    def forward(self) -> None:
        """Whatever waits goes on, and nothing waits any more."""
        self._set(_holding=False, _credit=0, _losing=False, _dropping=False)

    def lose_next_reply(self) -> None:
        """The next transaction is carried out; its reply vanishes and the connection breaks."""
        self._set(_holding=False, _losing=True)

    def drop_next_request(self) -> None:
        """The next transaction, or the one that waits, vanishes and the connection breaks."""
        self._set(_holding=False, _dropping=True)

    def refuse(self, refusing: bool) -> None:
        """Reset whoever connects or asks, or stop doing so."""
        self._set(_refusing=refusing)

    def reset(self) -> None:
        """Break the connections there are; what waits in them is gone."""

        async def act() -> None:
            for connection in list(self._connections):
                connection.abort()

        self._thread.order(act())

    def _set(self, **what: object) -> None:
        async def act() -> None:
            for name, value in what.items():
                setattr(self, name, value)
            self._changed.set()
            self._changed = asyncio.Event()

        self._thread.order(act())

    # -- in the loop's thread

    async def listen(self) -> None:
        """Start accepting on a free port of the loopback interface."""
        self._server = await self._thread.listen(self._accept)
        self.port = self._server.sockets[0].getsockname()[1]

    async def admit(self, connection: Connection, group: Group) -> Passage:
        """Whether a group that executes something goes on to the database, perhaps later."""
        if self._holding and not self._refusing and not connection.in_transaction:
            await self._wait_at_the_gate(group)
        if self._refusing:
            self.counts.refusals += 1
        elif self._dropping:
            self._dropping = False
            self.counts.requests_dropped += 1
            self.counts.request_bytes_dropped += len(group.raw)
        else:
            if not connection.in_transaction:
                self.counts.transactions += 1
            return Passage.ON
        self._ring()
        return Passage.BREAK

    async def _wait_at_the_gate(self, group: Group) -> None:
        self.counts.holds += 1
        self.counts.bytes_held += len(group.raw)
        self._ring()
        while self._holding and not self._credit and not self._refusing:
            await self._changed.wait()
        self._credit = 0

    def swallows(self, frame: Frame, answer_bytes: int) -> bool:
        """Whether the reply that ends with this frame is lost on its way back."""
        if not self._losing or frame.transaction_status != IDLE:
            return False
        self._losing = False
        self.counts.replies_dropped += 1
        self.counts.reply_bytes_dropped += answer_bytes
        self._ring()
        return True

    @property
    def losing(self) -> bool:
        """Whether replies have to be kept back until it is clear that they may pass."""
        return self._losing

    async def carried(self, *, back: bool) -> None:
        """Nothing is cut here."""

    def answered(self, connection: Connection) -> None:
        """Nothing waits for that here."""

    def saw_error(self, frame: Frame) -> None:
        """The database answered with an error."""
        self.counts.errors_answered += 1
        self.counts.last_sqlstate = frame.sqlstate

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self, reader, writer)
        connection.task = asyncio.current_task()
        self._connections.append(connection)
        try:
            if self._refusing:
                self.counts.refusals += 1
                self._ring()
                return
            with contextlib.suppress(*HANGUPS, asyncio.CancelledError):
                await connection.serve(self._upstream)
        finally:
            connection.abort()
            self._connections.remove(connection)

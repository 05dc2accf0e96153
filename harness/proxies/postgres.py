"""A fault proxy before PostgreSQL: one way for each caller, and counted levers.

It works on transactions, not on bytes: it can keep a request in the network before the database
sees it, let exactly one transaction through, throw a request away, throw a reply away after the
database has committed, answer with an SQL error, and refuse all callers. Else it forwards.

An order is in force for the requests of one caller, or of all. A request is first cut off, then
held, then slowed down; then it meets the first that is in force of refusals, losses and errors.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TypeVar

from harness.proxies.postgres_connection import HANGUPS, Connection, Passage, Upstream
from harness.proxies.postgres_frames import HARD_ERRORS, IDLE, PASSING_ERRORS, Frame, Group
from harness.proxies.thread import LOOPBACK, LoopThread, ProxyLever

__all__ = ["HoldOrder", "Order", "PostgresProxy", "Upstream"]

Pulled = TypeVar("Pulled", bound="Order")


class Act(Enum):
    """What an order does; its value is what it counts."""

    REFUSE = "refusals"
    SLOW = "calls_delayed"
    FAIL = "errors_answered"
    DISTURB = "calls_given_up"
    LOSE_REPLIES = "replies_dropped"
    DROP_REQUESTS = "requests_dropped"
    HOLD = "requests_held"
    CUT = "deliveries_held"


# What is answered instead of carrying a transaction out, one after the other.
_ERRORS = {Act.FAIL: HARD_ERRORS, Act.DISTURB: PASSING_ERRORS}


class Order(ProxyLever):
    """One lever in force on the way of a caller, or on all of them."""

    def __init__(
        self,
        proxy: PostgresProxy,
        act: Act,
        callers: tuple[str, ...] | None,
        *,
        times: int | None = None,
        seconds: float = 0.0,
        directions: tuple[bool, ...] = (),
    ) -> None:
        super().__init__(proxy.thread, act.value)
        self.act = act
        self._callers = callers
        self.seconds = seconds
        self.directions = directions  # of a cut: whether back
        self._proxy = proxy
        self._left = times

    def hits(self, act: Act, caller: str) -> bool:
        """Whether it does that to requests of a caller."""
        in_force = self._left != 0 and not self.released.is_set()
        return in_force and act is self.act and (self._callers is None or caller in self._callers)

    def hit(self) -> None:
        """It did it once."""
        self.count(self.act.value)
        if self._left is not None:
            self._left -= 1

    async def _end(self) -> None:
        await super()._end()
        self._proxy.orders.pop(self, None)
        self._proxy.changed()


class HoldOrder(Order):
    """Transactions of a caller wait, and can be let through one by one."""

    def __init__(self, proxy: PostgresProxy, caller: str) -> None:
        super().__init__(proxy, Act.HOLD, (caller,))
        self.waiting: list[Connection] = []
        self.passing: Connection | None = None  # whose transaction was let through
        self.credit = 0
        self.dropped = False

    async def pass_one(self) -> int:
        """Let one transaction through and wait until it is over or the next one is held."""
        return await self._thread.carry_out(self._pass_one())

    async def holds_again(self) -> None:
        """Return when a request waits here."""
        await self._thread.carry_out(self._proxy.until(lambda: self.waiting))

    async def drop(self) -> None:
        """What is held never arrives, and nothing is held any more."""
        await self._thread.carry_out(self._drop())

    async def _drop(self) -> None:
        self.dropped = True
        self._counts[Act.DROP_REQUESTS.value] = len(self.waiting)
        await self._end()

    async def _pass_one(self) -> int:
        if not self.waiting:
            return 0
        self.credit = 1
        self._proxy.changed()
        await self._proxy.until(lambda: not self.credit or self.released.is_set())
        await self._proxy.until(lambda: self.passing is None or self.waiting)
        return 1


class PostgresProxy:
    """The ways of all callers to one database, in one thread."""

    def __init__(self, upstream: Upstream, *, host: str = LOOPBACK) -> None:
        """``host``: where callers find the proxy."""
        self.upstream = upstream
        self.thread = LoopThread("postgres-proxy", host)
        self.orders: dict[Order, None] = {}
        self._ports: dict[str, int] = {}
        self._changed = asyncio.Event()

    def way(self, caller: str) -> int:
        """The port at which a caller finds the database; it listens from the first time."""
        if caller not in self._ports:
            self._ports[caller] = self.thread.order(Way(self, caller).listen())
        return self._ports[caller]

    def close(self) -> None:
        """Hang up everywhere and end the thread."""
        self.thread.close()

    # ── levers; `caller` is one of those who were given a way, None is all of them ───────────────

    def refuse(self, caller: str | None = None) -> Order:
        """Reset every connection that is made or asks."""
        return self._pull(Order(self, Act.REFUSE, _callers(caller)))

    def slow(self, seconds: float, caller: str | None = None) -> Order:
        """A transaction waits before the database sees it."""
        return self._pull(Order(self, Act.SLOW, _callers(caller), seconds=seconds))

    def fail(self, caller: str | None = None) -> Order:
        """A transaction is answered with a hard SQL error, each kind in turn, and does nothing."""
        return self._pull(Order(self, Act.FAIL, _callers(caller)))

    def disturb(self, caller: str | None = None, times: int | None = None) -> Order:
        """A transaction is answered with an SQL error that passes, each kind in turn."""
        return self._pull(Order(self, Act.DISTURB, _callers(caller), times=times))

    def lose_replies(self, caller: str | None = None, times: int | None = None) -> Order:
        """Transactions are carried out; the replies are lost and the connections break."""
        return self._pull(Order(self, Act.LOSE_REPLIES, _callers(caller), times=times))

    def drop_requests(self, caller: str | None = None, times: int | None = None) -> Order:
        """Requests are lost and the connections break."""
        return self._pull(Order(self, Act.DROP_REQUESTS, _callers(caller), times=times))

    def hold(self, caller: str) -> HoldOrder:
        """Transactions that begin wait here."""
        return self._pull(HoldOrder(self, caller))

    def cut(self, callers: Sequence[str], *, requests: bool = True, replies: bool = True) -> Order:
        """Nothing passes to the database, or back; it waits until the cut is released."""
        directions = tuple(way for way, held in ((False, requests), (True, replies)) if held)
        return self._pull(Order(self, Act.CUT, tuple(callers), directions=directions))

    def lose(self, caller: str) -> None:
        """The caller is dead: what is held of it never arrives."""

        async def act() -> None:
            for order in self.orders:
                if isinstance(order, HoldOrder) and order.hits(Act.HOLD, caller):
                    order.waiting.clear()
            self.changed()

        self.thread.order(act())

    def _pull(self, order: Pulled) -> Pulled:
        async def act() -> None:
            self.orders[order] = None
            self.changed()

        self.thread.order(act())
        return order

    # ── in the thread ────────────────────────────────────────────────────────────────────────────

    def in_force(self, act: Act, caller: str) -> Order | None:
        """The first order that does that to requests of a caller."""
        return next((order for order in self.orders if order.hits(act, caller)), None)

    def changed(self) -> None:
        """Something happened for which a request or an order may wait."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, reached: Callable[[], object]) -> None:
        """Return when it is so."""
        while not reached():
            await self._changed.wait()


class Way:
    """One caller's way to the database: the gate of all its connections."""

    def __init__(self, proxy: PostgresProxy, caller: str) -> None:
        self._proxy = proxy
        self._caller = caller

    async def listen(self) -> int:
        """Accept connections on a free port of the loopback interface."""
        server = await self._proxy.thread.listen(self._accept)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def carried(self, *, back: bool) -> None:
        """Return when something may travel to the database, or back."""
        counted: list[Order] = []
        while cut := next(self._cuts(back=back), None):
            if cut not in counted:
                counted.append(cut)
                cut.hit()
            await cut.released.wait()

    async def admit(self, connection: Connection, group: Group) -> Passage | bytes:
        """What becomes of a group that executes something, or what it is answered instead."""
        if not connection.in_transaction and not await self._begins(connection):
            return Passage.BREAK
        for act in (Act.REFUSE, Act.DROP_REQUESTS):
            if order := self._in_force(act):
                order.hit()
                return Passage.BREAK
        for act, errors in _ERRORS.items():
            order = None if connection.in_transaction else self._in_force(act)
            if order is not None:
                told = errors[order.counts[act.value] % len(errors)]
                order.hit()
                return told
        return Passage.ON

    @property
    def losing(self) -> bool:
        """Whether replies have to be kept back until it is clear that they may pass."""
        return self._in_force(Act.LOSE_REPLIES) is not None

    def swallows(self, frame: Frame, answer_bytes: int) -> bool:
        """Whether the reply that ends with this frame is lost on its way back."""
        order = self._in_force(Act.LOSE_REPLIES)
        if order is None or frame.transaction_status != IDLE:
            return False
        order.hit()
        return True

    def answered(self, connection: Connection) -> None:
        """All that a connection has asked was answered, or never will be."""
        holds = [order for order in self._proxy.orders if isinstance(order, HoldOrder)]
        for hold in holds:
            if hold.passing is connection and not connection.in_transaction:
                hold.passing = None
                self._proxy.changed()

    def _in_force(self, act: Act) -> Order | None:
        return self._proxy.in_force(act, self._caller)

    def _cuts(self, *, back: bool) -> Iterator[Order]:
        for order in self._proxy.orders:
            if order.hits(Act.CUT, self._caller) and back in order.directions:
                yield order

    async def _begins(self, connection: Connection) -> bool:
        """Whether a transaction may begin, after it was held and slowed down."""
        hold = None if self._in_force(Act.REFUSE) else self._in_force(Act.HOLD)
        if isinstance(hold, HoldOrder) and not await self._held(hold, connection):
            return False
        slow = self._in_force(Act.SLOW)
        if slow is not None:
            slow.hit()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(slow.released.wait(), slow.seconds)
        return True

    async def _held(self, hold: HoldOrder, connection: Connection) -> bool:
        """Wait; whether it then goes on."""
        hold.hit()
        hold.waiting.append(connection)
        self._proxy.changed()
        await self._proxy.until(
            lambda: (
                hold.released.is_set()
                or hold.credit
                or connection not in hold.waiting
                or self._in_force(Act.REFUSE)
            )
        )
        lost = connection not in hold.waiting
        if not lost:
            hold.waiting.remove(connection)
            if hold.credit:
                hold.credit, hold.passing = 0, connection
        self._proxy.changed()
        return not lost and not hold.dropped

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self, reader, writer)
        connection.task = asyncio.current_task()
        try:
            refusal = self._in_force(Act.REFUSE)
            if refusal is not None:
                refusal.hit()
                return
            with contextlib.suppress(*HANGUPS, asyncio.CancelledError):
                await connection.serve(self._proxy.upstream)
        finally:
            connection.in_transaction = False
            self.answered(connection)
            connection.abort()


def _callers(caller: str | None) -> tuple[str, ...] | None:
    return None if caller is None else (caller,)

"""Links: one direction between two hosts, and what is on its way there.

A *delivery* is what one host sends another: bytes, or one of the signs by which connections begin
and end. It waits in the inbox of the socket it is for, with the moment at which it arrives. Each
takes as long as the seed says, but never overtakes another of the same connection.

A link that is blocked keeps what it is given, and also what had not arrived when it was blocked:
nothing is lost, nothing arrives. Once nobody blocks it any more everything sets out again.
"""

from __future__ import annotations

import random
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.simulation.loop import SimLoop
    from harness.simulation.sockets import Socket

NEVER = 1 << 62  # when a delivery arrives that a link keeps

LATENCY_NS = (200_000, 1_000_000)
LOOPBACK_NS = (10_000, 50_000)


class Kind(Enum):
    """What a delivery says."""

    SYN = "somebody wants a connection"
    ACCEPTED = "somebody accepted it"
    DATA = "bytes"
    PROBE = "is there room again?"
    FIN = "no more bytes"
    RST = "no such connection"
    TIMEOUT = "gave up"  # never sent: a kernel's word to its own process


class Delivery:
    """One thing on its way to a socket."""

    __slots__ = ("arrival_ns", "data", "kind", "sent_ns", "to")

    def __init__(self, to: Socket, kind: Kind, data: bytes | bytearray, sent_ns: int) -> None:
        self.to = to
        self.kind = kind
        self.data = data
        self.sent_ns = sent_ns
        self.arrival_ns = NEVER


class Blocker(Protocol):
    """Somebody who blocks a link, and counts what that did."""

    def kept(self, delivery: Delivery) -> None:
        """Something waits because of it."""
        ...

    def broke(self) -> None:
        """A kernel gave up waiting."""
        ...


class Brake(Protocol):
    """Somebody who slows a link down."""

    def slowed(self, delivery: Delivery) -> int:
        """By how many nanoseconds."""
        ...


class Link:
    """From one host to another. ``receivers`` are the sockets to which it leads, by number."""

    __slots__ = (
        "_loop",
        "_low_ns",
        "_random",
        "_span_ns",
        "blockers",
        "brakes",
        "held",
        "receivers",
        "reverse",
        "source",
        "target",
        "troubled",
    )

    def __init__(self, loop: SimLoop, rng: random.Random, source: str, target: str) -> None:
        low_ns, high_ns = LOOPBACK_NS if source == target else LATENCY_NS
        self._loop = loop
        self._random = rng.random
        self._low_ns = low_ns
        self._span_ns = high_ns - low_ns
        self.source = source
        self.target = target
        self.reverse = self
        self.receivers: dict[int, Socket] = {}
        self.held: list[Delivery] = []
        self.blockers: list[Blocker] = []
        self.brakes: list[Brake] = []
        self.troubled = False  # this way or the way back is blocked

    def latency_ns(self) -> int:
        """How long the next one takes, if nothing is in its way."""
        return self._low_ns + int(self._random() * self._span_ns)

    def carry(self, delivery: Delivery) -> None:
        """Put something on its way, or keep it."""
        delivery.to.inbox.append(delivery)
        if self.troubled:
            patience = delivery.to.peer.patience
            if self.reverse.blockers:
                patience.unheard(delivery.sent_ns)
            if self.blockers:
                self.held.append(delivery)
                for fault in self.blockers:
                    fault.kept(delivery)
            patience.watch()
            if self.blockers:
                return
        self._depart(delivery)

    def _depart(self, delivery: Delivery) -> None:
        socket = delivery.to
        now = self._loop.now_ns
        arrival = now + self.latency_ns()
        for fault in self.brakes:
            arrival += fault.slowed(delivery)
        if arrival < socket.latest_ns:
            arrival = socket.latest_ns
        delivery.arrival_ns = socket.latest_ns = arrival
        socket.arm()
        if delivery.kind is Kind.RST:
            self._loop.schedule(arrival - now, socket.notice, context=socket.context)

    # What faults do.

    def block(self, fault: Blocker) -> None:
        """Nothing arrives here any more."""
        self.blockers.append(fault)
        self._mark_trouble()
        receivers = [*self.receivers.values()]
        for socket in receivers:
            self.held += socket.stop()
        for delivery in self.held:
            fault.kept(delivery)
        for socket in receivers:
            socket.peer.patience.watch()
            socket.patience.deafen()

    def unblock(self, fault: Blocker) -> None:
        """One reason less to keep things; the last one lets them all go."""
        self.blockers.remove(fault)
        if self.blockers:
            return
        self._mark_trouble()
        held, self.held = self.held, []
        for delivery in held:
            self._depart(delivery)
        for socket in [*self.receivers.values()]:
            socket.hear_again()

    def release(self, delivery: Delivery) -> None:
        """Let one of those that are held go on; the link stays blocked."""
        self.held.remove(delivery)
        self._depart(delivery)

    def drop(self, socket: Socket | None = None) -> None:
        """Nobody sends what is held here again: all of it, or what is for one socket."""
        for delivery in self.held:
            if socket is None or delivery.to is socket:
                delivery.to.inbox.remove(delivery)
        self.held = [d for d in self.held if socket is not None and d.to is not socket]

    def _mark_trouble(self) -> None:
        self.troubled = self.reverse.troubled = bool(self.blockers or self.reverse.blockers)


def in_order(delivery: Delivery) -> tuple[int, int]:
    """The order in which things were sent, over all sockets."""
    return delivery.sent_ns, delivery.to.number

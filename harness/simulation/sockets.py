"""Sockets: the kernel's half of a connection. Its process may be paused, or dead.

What is promised: bytes reach the other process in order and at most once. A socket whose process
closes it, or is killed, says so to its peer: in good order (FIN) if everything that had arrived was
read, with a reset (RST) otherwise. A socket that is gone answers bytes with a reset. One whose
machine lost power says nothing at all.

The kernel acknowledges what arrives, also for a process that is paused, up to a window of bytes
that were sent and not read; a sender that fills it waits for room.

What one end writes at one instant arrives as one delivery, unless a link is blocked.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Protocol

from harness.simulation.links import NEVER, Delivery, Kind, Link
from harness.simulation.patience import Patience

if TYPE_CHECKING:
    from harness.simulation.callback import Callback
    from harness.simulation.loop import SimLoop
    from harness.simulation.process import Process

WINDOW = 256 * 1024

_ANSWERED_WITH_RESET = (Kind.ACCEPTED, Kind.DATA, Kind.PROBE)
_BREAKING = (Kind.RST, Kind.TIMEOUT)


class Owner(Protocol):
    """The process's half. It is told everything in its process's context, in order."""

    def made(self) -> None:
        """The connection is there."""
        ...

    def received(self, data: bytes) -> None:
        """Bytes came."""
        ...

    def ended(self) -> None:
        """The peer sends no more."""
        ...

    def lost(self, error: OSError) -> None:
        """The connection is no more; nothing follows."""
        ...

    def room(self) -> None:
        """There is room again for what could not be sent."""
        ...


class Socket:
    """One end of a connection."""

    def __init__(
        self,
        loop: SimLoop,
        kernel: Context,
        number: int,
        address: tuple[str, int],
        link: Link,
        forget: Callable[[Socket], None],
        knocked: Callable[[Socket], None],
    ) -> None:
        self._loop = loop
        self._kernel = kernel
        self._forget = forget
        self.knocked = knocked
        self.number = number
        self.address = address
        self.link = link
        self.peer = self
        self.process: Process | None = None
        self.owner: Owner | None = None
        self.context = kernel
        self.inbox: deque[Delivery] = deque()
        self.latest_ns = 0
        self.armed: Callback | None = None
        self.reading = True
        self.established = False
        self.shut = False
        self.lost = False
        self._fin_sent = False
        self._error: OSError | None = None
        self._sent = 0
        self._consumed = 0
        self._allowed = WINDOW
        self.starved = False
        self._update: Callback | None = None
        self.patience = Patience(loop, kernel, self)

    def belong(self, process: Process | None, owner: Owner) -> None:
        """It is a process's from now on; None is the lab."""
        self.process = process
        self.owner = owner
        if process is not None:
            self.context = process.context

    # What the process asks for.

    def send(self, data: bytes) -> int:
        """Hand bytes over; how many were taken. ``room`` follows if that was not all."""
        if self._error is not None:
            self._loop.call_soon(self._break, self._error, context=self.context)
            return len(data)
        link, peer = self.link, self.peer
        size = len(data)
        if size > self._allowed - self._sent:
            size = self._squeeze(size)
            if not size:
                return 0
            data = data[:size]
        self._sent += size
        now = self._loop.now_ns
        if peer.inbox and not link.troubled:
            last = peer.inbox[-1]
            if last.sent_ns == now and last.kind is Kind.DATA:
                last.data = bytearray(last.data) if isinstance(last.data, bytes) else last.data
                last.data += data
                return size
        link.carry(Delivery(peer, Kind.DATA, data, now))
        return size

    def pause(self) -> None:
        """Leave what arrives where it is; a reset may be among it."""
        self.reading = False
        if self.inbox:
            self._loop.call_soon(self.notice, context=self.context)

    def resume(self) -> None:
        """Take it again."""
        self.reading = True
        self.arm()

    def finish(self) -> None:
        """Send no more."""
        if not self._fin_sent:
            self._fin_sent = True
            self._say(Kind.FIN)

    def close(self) -> None:
        """Let go of it: what was sent still goes out, what was not read is lost."""
        now = self._loop.now_ns
        unread = any(d.kind is Kind.DATA and d.arrival_ns <= now for d in self.inbox)
        if unread:
            self.reset()
        elif not self.shut:
            self.finish()
            self._go()

    def reset(self) -> None:
        """Break it."""
        if not self.shut:
            self._say(Kind.RST)
            self._go()

    def vanish(self) -> None:
        """The machine is off: nothing is said, nothing is remembered."""
        self.lost = True
        self.patience.calm()
        self._go()

    # What arrives.

    def arm(self) -> None:
        """Have ``receive`` called when the next delivery is there."""
        if self.armed is None and self.inbox and (self.reading or self.shut):
            arrival = self.inbox[0].arrival_ns
            if arrival != NEVER:
                delay_ns = max(0, arrival - self._loop.now_ns)
                self.armed = self._loop.schedule(delay_ns, self.receive, context=self.context)

    def _disarm(self) -> None:
        if self.armed is not None:
            self.armed.cancel()
            self.armed = None

    def receive(self) -> None:
        """Take what has arrived: all bytes there are, or the one sign that is next."""
        self.armed = None
        if self.shut:
            self._turn_away()
        elif self.reading:
            delivery = self.inbox.popleft()
            if delivery.kind is Kind.DATA:
                self._take(delivery.data)
            else:
                self._heed(delivery.kind)
        self.arm()

    def _take(self, data: bytes | bytearray) -> None:
        inbox, now = self.inbox, self._loop.now_ns
        while inbox and inbox[0].arrival_ns <= now and inbox[0].kind is Kind.DATA:
            data += inbox.popleft().data
        self._consumed += len(data)
        if self.peer.starved and not self.link.blockers:
            self.peer._offer_room()
        if self.owner is not None:
            self.owner.received(bytes(data))

    def _heed(self, kind: Kind) -> None:
        """One of the signs."""
        if kind is Kind.SYN:
            self.knocked(self)
        elif self.owner is None or kind is Kind.PROBE:
            return
        elif kind is Kind.ACCEPTED:
            self.established = True
            self.owner.made()
        elif kind is Kind.FIN:
            # Nobody polls a socket after its end: what else happens shows when it is written to.
            self.pause()
            self.owner.ended()
        else:
            self._break(self._reason(kind))

    def answered(self) -> bool:
        """Whether anything came from the other side, seen by the process or not."""
        arrived = (d for d in self.inbox if d.arrival_ns <= self._loop.now_ns)
        return self.shut or self.established or any(arrived)

    def accept(self) -> None:
        """Somebody listens: tell them, and the one who asked."""
        self.established = True
        self._say(Kind.ACCEPTED)
        self._put(Kind.ACCEPTED)

    def refuse(self) -> None:
        """Nobody listens."""
        self._say(Kind.RST)
        self.shut = True

    def notice(self) -> None:
        """A reset is news to a process that writes, even where it does not read."""
        if self.shut or self.reading:
            return
        now = self._loop.now_ns
        for delivery in self.inbox:
            if delivery.kind in _BREAKING and delivery.arrival_ns <= now:
                self._error = self._reason(delivery.kind)
        if self.starved and self._error is not None:
            self._break(self._error)

    def _reason(self, kind: Kind) -> OSError:
        number = errno.ECONNRESET
        if kind is Kind.TIMEOUT:
            number = errno.ETIMEDOUT
        elif not self.established:
            number = errno.ECONNREFUSED
        return OSError(number, os.strerror(number))

    def _break(self, error: OSError) -> None:
        owner = self.owner
        if owner is not None:
            self._go()
            owner.lost(error)

    def _turn_away(self) -> None:
        """Nobody is here any more; whoever sends something should know."""
        inbox, now, surprised = self.inbox, self._loop.now_ns, False
        while inbox and inbox[0].arrival_ns <= now:
            kind = inbox.popleft().kind
            surprised |= kind in _ANSWERED_WITH_RESET or (self.lost and kind is Kind.FIN)
        if surprised and not self.peer.shut:
            self._say(Kind.RST)

    def _go(self) -> None:
        """Gone; what is still on its way here will be turned away by the kernel."""
        if self.shut and not self.lost:
            return
        self.shut = True
        self.starved = False
        self.owner = None
        self.context = self._kernel
        self._disarm()
        if not (self.established or self.peer.established):  # asked for in vain: nobody is there
            self.link.drop(self.peer)
            self.peer.shut = True
        if self.peer.shut:
            self.patience.calm()
            self.peer.patience.calm()
            self._forget(self)
            return
        now = self._loop.now_ns
        while self.inbox and self.inbox[0].arrival_ns <= now:
            self.inbox.popleft()
        self.arm()

    def gave_up(self) -> None:
        """Nothing was acknowledged for too long: send nothing again, and tell the process."""
        self.link.drop(self.peer)
        if not self.shut:
            self._error = self._reason(Kind.TIMEOUT)  # whatever is sent from now on fails
            self._put(Kind.TIMEOUT)
            self._loop.schedule(0, self.notice, context=self.context)

    def probe(self) -> None:
        """Ask for room; a peer that is gone answers that it is."""
        self._say(Kind.PROBE)

    def _say(self, kind: Kind) -> None:
        self.link.carry(Delivery(self.peer, kind, b"", self._loop.now_ns))

    def _put(self, kind: Kind) -> None:
        """Let the process know of something, after what has arrived."""
        now = self._loop.now_ns
        own = Delivery(self, kind, b"", now)
        own.arrival_ns = now
        self.inbox.insert(sum(d.arrival_ns <= now for d in self.inbox), own)
        self._disarm()
        self.arm()

    # The window.

    def _squeeze(self, size: int) -> int:
        """How many of so many bytes may go now."""
        if not self.link.reverse.blockers:
            self._allowed = self.peer._consumed + WINDOW
        room = self._allowed - self._sent
        if size <= room:
            return size
        self.starved = True
        if self.link.troubled:
            self.patience.watch()
        return room

    def _offer_room(self) -> None:
        """News of the window is on its way to here."""
        if self._update is None:
            delay_ns = self.peer.link.latency_ns()
            self._update = self._loop.schedule(delay_ns, self._hear_of_room, context=self.context)

    def _hear_of_room(self) -> None:
        self._update = None
        self.starved = False
        if self.owner is not None:
            self.owner.room()

    # When a link is blocked.

    def stop(self) -> list[Delivery]:
        """What had not arrived does not arrive for now; the link keeps it."""
        now = self._loop.now_ns
        stopped = [d for d in self.inbox if now < d.arrival_ns < NEVER]
        if not stopped:
            return []
        self.latest_ns = now
        if self.inbox[0].arrival_ns > now:
            self._disarm()
        for delivery in stopped:
            delivery.arrival_ns = NEVER
        if not self.peer.lost:
            return stopped
        for delivery in stopped:  # nobody is there to send it again
            self.inbox.remove(delivery)
        return []

    def hear_again(self) -> None:
        """Acknowledgements come again, and news of room."""
        if self.starved:
            self._offer_room()
        self.patience.hear_again()

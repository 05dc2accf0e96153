"""How long a kernel waits to hear that its bytes arrived.

A kernel that hears no acknowledgement for ``GIVE_UP_S`` after its oldest unacknowledged byte gives
the connection up, as TCP does after its retries. Bytes are acknowledged as soon as they arrive,
unless the way back is blocked. So nothing can stay unacknowledged but while a link is blocked, and
only then does anybody watch the time. A sender that waits for room in the window asks for it, and
asking needs an answer too.
"""

from __future__ import annotations

from contextvars import Context
from typing import TYPE_CHECKING

from harness.simulation.clock import NS

if TYPE_CHECKING:
    from harness.simulation.callback import Callback
    from harness.simulation.loop import SimLoop
    from harness.simulation.sockets import Socket

GIVE_UP_S = 60


class Patience:
    """That of one socket with its peer."""

    __slots__ = ("_kernel", "_loop", "_socket", "_timer", "_unheard_ns")

    def __init__(self, loop: SimLoop, kernel: Context, socket: Socket) -> None:
        self._loop = loop
        self._kernel = kernel
        self._socket = socket
        self._unheard_ns: int | None = None
        self._timer: Callback | None = None

    def unheard(self, sent_ns: int) -> None:
        """Something was sent whose acknowledgement cannot come."""
        if self._unheard_ns is None:
            self._unheard_ns = sent_ns

    def deafen(self) -> None:
        """No acknowledgement comes from now on."""
        oldest_ns = self._oldest_ns()
        if oldest_ns is not None:
            self.unheard(oldest_ns)
        self.watch()

    def hear_again(self) -> None:
        """Whatever arrived is acknowledged."""
        self._unheard_ns = None
        if not self._socket.link.troubled:
            self.calm()
            self._socket.peer.patience.calm()

    def watch(self) -> None:
        """Look at the time, if there is a reason to."""
        socket = self._socket
        if self._timer is not None or socket.lost:
            return
        oldest_ns = self._oldest_ns()
        if oldest_ns is not None:
            left_ns = max(0, oldest_ns + GIVE_UP_S * NS - self._loop.now_ns)
            self._timer = self._loop.schedule(left_ns, self._look, context=self._kernel)
        elif socket.starved:
            socket.probe()

    def calm(self) -> None:
        """There is none any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        oldest_ns = self._oldest_ns()
        if oldest_ns is None or oldest_ns + GIVE_UP_S * NS > self._loop.now_ns:
            self.watch()
            return
        self._unheard_ns = None
        forth, back = self._socket.link.blockers, self._socket.link.reverse.blockers
        for fault in (*forth, *(fault for fault in back if fault not in forth)):
            fault.broke()
        self._socket.gave_up()

    def _oldest_ns(self) -> int | None:
        """When the oldest of what was not acknowledged was sent."""
        now = self._loop.now_ns
        sent = (d.sent_ns for d in self._socket.peer.inbox if d.arrival_ns > now)
        unarrived_ns = next(sent, None)
        if unarrived_ns is None or self._unheard_ns is None:
            return self._unheard_ns if unarrived_ns is None else unarrived_ns
        return min(unarrived_ns, self._unheard_ns)

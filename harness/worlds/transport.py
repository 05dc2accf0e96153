"""What a world can do to a request on its way. The player decides when, and what is recorded.

A transport carries out one verb at a time and hands back evidence: counts that show what really
happened to the request. It never decides whether that is good or bad, and never writes operation
lines except through `Recorder.complete` when a reply is in. A verb that a transport does not list
in `supports` is never asked of it; the methods here refuse, so that a subclass only writes what it
can really do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.errors import LabBroken
from harness.history.recorder import Evidence, Operation

if TYPE_CHECKING:
    from harness.processes.database import Log, Row


class Transport:
    """Base of all transports: every verb refuses until a world implements it."""

    supports: frozenset[str] = frozenset()

    def prepare(self, client: str) -> None:
        """Called before an invocation is recorded, so that getting ready is not part of it."""

    def send(self, operation: Operation) -> None:
        """Let the request leave; the reply may come at any time."""
        raise self._cannot("call")

    def wait(self, operation: Operation) -> None:
        """Return once the operation is complete, with an unknown outcome if need be."""
        raise self._cannot("call")

    def hold(self, operation: Operation) -> Evidence:
        """Send it, but keep it in the network: `requests_held`."""
        raise self._cannot("hold")

    def step(self, operation: Operation) -> Evidence:
        """Let one transaction of a held request through: `transactions_passed`."""
        raise self._cannot("step")

    def release(self, operation: Operation) -> None:
        """Let a held request go; the player waits afterwards."""
        raise self._cannot("release")

    def lose(self, operation: Operation, *, held: bool) -> Evidence:
        """Have it carried out and lose the reply: `replies_dropped`."""
        raise self._cannot("lose")

    def drop(self, operation: Operation, *, held: bool) -> Evidence:
        """Lose it before the control plane sees it: `requests_dropped`."""
        raise self._cannot("drop")

    def kill(self, client: str) -> Evidence:
        """Kill the client's agent at once: `operations_open` at that moment."""
        raise self._cannot("kill")

    def pause(self, client: str) -> None:
        """Stop the client's agent where it is."""
        raise self._cannot("pause")

    def resume(self, client: str) -> None:
        """Let a stopped agent go on."""
        raise self._cannot("resume")

    def stalled(self, client: str) -> Evidence:
        """What a pause keeps waiting right now: `requests_stalled`."""
        raise self._cannot("pause")

    def outage(self, verb: str) -> None:
        """Start or end an outage of the control plane: refuse, heal, break, mend."""
        raise self._cannot(verb)

    def hits(self, verb: str) -> Evidence:
        """What the outage opened by this verb did so far: `refusals` or `errors_answered`."""
        raise self._cannot(verb)

    def probe(self) -> list[Row]:
        """The rows of all logs, read from the store itself."""
        raise self._cannot("probe")

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Create these logs under the old schema, then run the migrations that are left."""
        raise self._cannot("upgrade")

    def settle(self) -> None:
        """Called after each step, for worlds where time passes only between steps."""

    def close(self) -> None:
        """End everything that this transport started."""

    def _cannot(self, verb: str) -> LabBroken:
        return LabBroken(f"{type(self).__name__} was asked for {verb!r} but cannot do it")

"""Effects: what a node does to the outside, numbered and traced where it leaves the node.

Every call of a port that touches the outside passes a *gate*, one per node. The gate gives it the
node's next number, carries it out, and tells the trace what came of it: the port's word, not the
caller's. A gate may also be told to let an effect fail, to lose its reply, or to end the node
there; then it says so with a ``Trouble`` and the port answers as its own kind of failure would look
(an ``OSError`` on a disk, an indefinite reply of a control plane).

    Live      OpenGate     nothing but the call itself
              TracingGate  numbers and traces
    Simulated one gate that also delays, fails, holds and kills (``harness.simulation.gate``)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NoReturn, Protocol, TypeVar

Result = TypeVar("Result")


class Trouble(StrEnum):
    """What happened to an effect that did not simply succeed."""

    REFUSED = "refused"  # it never reached the other side: nothing was done
    LOST = "lost"  # it was done, and the reply was lost on its way back
    BROKEN = "broken"  # the other side answered with a hard error and did nothing
    CONFLICT = "conflict"  # the other side gave up in favour of another call; nothing was done
    FULL = "full"  # there was no room left
    CANCELLED = "cancelled"  # it took too long and was given up; nothing was done
    LOCKED = "locked"  # it waited too long for another call; nothing was done
    SEVERED = "severed"  # the other side lost a connection that it needed; nothing was done
    UNREADY = "unready"  # the other side is not in the state for it, and will not get there


# Errors of a database: those that pass, and those that stay.
PASSING = (Trouble.CONFLICT, Trouble.FULL, Trouble.CANCELLED, Trouble.LOCKED, Trouble.SEVERED)
LASTING = (Trouble.BROKEN, Trouble.UNREADY)


def succeeded(result: object) -> str:
    """The outcome of an effect that came back without an exception."""
    return "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Generic[Result]):
    """One call of a port: how it is named, how it is done, and how it looks when it fails.

    ``failed`` gives the port's answer to a trouble: a result, or the port's own exception raised.
    ``outcome`` names a result for the trace; an exception is named after its class.
    """

    port: str
    call: str
    args: Mapping[str, object]
    do: Callable[[], Awaitable[Result]]
    failed: Callable[[Trouble], Result]
    outcome: Callable[[Result], str] = succeeded


class Gate(Protocol):
    """What every effect of a node passes."""

    async def run(self, effect: Effect[Result]) -> Result:
        """Carry it out, or answer as it would have failed."""
        ...


class Trace(Protocol):
    """Where a gate reports the effects of its node."""

    def effect(
        self, *, number: int, port: str, call: str, args: Mapping[str, object], outcome: str
    ) -> None:
        """One effect that has been carried out or has failed; the outcome is "ok" or an error."""
        ...


class Passage:
    """The way of one port through the gate, for ports whose failures are exceptions."""

    def __init__(self, gate: Gate, port: str, failed: Callable[[Trouble], Exception]) -> None:
        self._gate = gate
        self._port = port
        self._failed = failed

    async def run(self, call: str, do: Callable[[], Awaitable[Result]], **args: object) -> Result:
        """Carry out one call as an effect."""
        effect = Effect(port=self._port, call=call, args=args, do=do, failed=self._raise)
        return await self._gate.run(effect)

    def _raise(self, trouble: Trouble) -> NoReturn:
        raise self._failed(trouble)


class OpenGate:
    """Lets everything pass and remembers nothing."""

    async def run(self, effect: Effect[Result]) -> Result:
        """Carry it out."""
        return await effect.do()


class TracingGate:
    """Numbers effects from 1 in the order in which they were begun, and traces how each ended."""

    def __init__(self, trace: Trace) -> None:
        self.count = 0
        self._trace = trace

    async def run(self, effect: Effect[Result]) -> Result:
        """Carry it out and tell the trace; an exception is an outcome too."""
        self.count += 1
        return await traced(effect, self._trace, self.count, effect.do)


async def traced(
    effect: Effect[Result], trace: Trace, number: int, do: Callable[[], Awaitable[Result]]
) -> Result:
    """Do it and report how it ended: by its result, or by the class of its exception."""
    outcome = ""
    try:
        result = await do()
        outcome = effect.outcome(result)
        return result
    except Exception as error:
        outcome = type(error).__name__
        raise
    finally:
        # A node that is killed in the middle leaves without an outcome, and without a line.
        if outcome:
            trace.effect(
                number=number,
                port=effect.port,
                call=effect.call,
                args=effect.args,
                outcome=outcome,
            )

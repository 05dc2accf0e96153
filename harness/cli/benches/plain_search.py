"""The textbook search for a legal order, as a baseline: Wing and Gong's, with Lowe's memory.

Calls and returns stand in one list by time. An operation whose call comes before the first return
may be next; it is lifted out of the list if the model allows it there and if the set of lifted
operations has not been seen with the state after it. At a return that nobody could be lifted past,
the last one is put back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf

from spark_checkers.linearizability import Model, Operation, Verdict

_LOOKS_AT_THE_CLOCK_EVERY = 1_000


def plain_search(operations: Sequence[Operation], model: Model, *, timeout_s: float) -> Verdict:
    """Is there a legal order? *Unknown* when patience ends."""
    events = _Events(operations)
    lifted, state, here = 0, model.initial, events.first
    tried = {(lifted, state)}
    order: list[tuple[int, object]] = []
    ends, steps = time.perf_counter() + timeout_s, 0
    while events.first != events.end:
        steps += 1
        if steps % _LOOKS_AT_THE_CLOCK_EVERY == 0 and time.perf_counter() > ends:
            return Verdict.UNKNOWN
        if events.calls[here]:
            number = events.number[here]
            for after in _steps(state, operations[number], model):
                if (lifted | 1 << number, after) not in tried:
                    order.append((here, state))
                    lifted, state = lifted | 1 << number, after
                    tried.add((lifted, state))
                    events.lift(here)
                    here = -1
                    break
            here = events.first if here == -1 else events.following[here]
        elif order:
            here, state = order.pop()
            lifted ^= 1 << events.number[here]
            events.put_back(here)
            here = events.following[here]
        else:
            return Verdict.NOT_LINEARIZABLE
    return Verdict.LINEARIZABLE


def _steps(state: object, operation: Operation, model: Model) -> tuple[object, ...]:
    """An operation of unknown outcome may also have done nothing."""
    return model.step(state, operation) or ((state,) if operation.unknown else ())


class _Events:
    """Calls and returns in a linked list; `end` is what follows the last."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        found = sorted(
            event
            for number, o in enumerate(operations)
            for event in (
                (o.began, False, number),
                (inf if o.ended is None else o.ended, True, number),
            )
        )
        self.calls = [not returns for _, returns, _ in found]
        self.number = [number for _, _, number in found]
        self.end = len(found)
        self.following: list[int] = [*range(1, self.end + 1), 0]
        self._preceding: list[int] = [self.end, *range(self.end)]
        self._return_of = {n: at for at, n in enumerate(self.number) if not self.calls[at]}

    @property
    def first(self) -> int:
        """The event that nothing precedes."""
        return self.following[self.end]

    def lift(self, call: int) -> None:
        """Take a call and its return out."""
        for event in (call, self._return_of[self.number[call]]):
            before, after = self._preceding[event], self.following[event]
            self.following[before], self._preceding[after] = after, before

    def put_back(self, call: int) -> None:
        """The last lifted call and its return stand where they stood."""
        for event in (self._return_of[self.number[call]], call):
            before, after = self._preceding[event], self.following[event]
            self.following[before] = self._preceding[after] = event

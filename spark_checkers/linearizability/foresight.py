"""What a configuration is good for, seen before the search has walked on.

An operation that is open, or that only observes and begins next, must still find its place. If the
model calls it hopeless in the present state, only an overwriting operation can help it: one that is
open, or begins before it returns, or is of unknown outcome.

*Dead end*: none of those leaves a state that is not hopeless too. No order goes on from here past
the return of that operation.

*Forgotten*: there is help, but everybody who could look at the object before the help comes finds
the present state hopeless too. Then what the state is does not matter any more, and configurations
that differ in nothing else are one. (For models whose changing operations are always legal.)

Neither says how far an order can get before. So where the first unplaceable operation is looked
for, only operations that return before `limit` count.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from spark_checkers.linearizability.moves import Configuration, Steps, Transitions
from spark_checkers.linearizability.timeline import Timeline

STEPS_PER_LOOK = 4
"""To look at one operation takes as long as that many moves."""


class Outlook(Enum):
    """What lies ahead of a configuration."""

    OPEN = auto()
    FORGOTTEN = auto()
    DEAD_END = auto()


class Foresight:
    """Looks ahead from configurations of one timeline."""

    def __init__(
        self, line: Timeline, transitions: Transitions, steps: Steps, *, always_legal: bool
    ) -> None:
        self._line = line
        self._steps = steps
        self._transitions = transitions
        self._always_legal = always_legal
        self._next_observer = _next_observers(line)

    def outlook(self, here: Configuration, limit: int) -> Outlook:
        """What is certain about the orders that go on from here."""
        position, mask, state, _, _, _ = here
        line, hopeless = self._line, self._transitions.hopeless
        help_by = limit
        for number in self._to_be_placed(position, mask):
            self._steps.taken += STEPS_PER_LOOK
            if hopeless(state, line.kind[number]) and line.returns_at[number] < limit:
                if not self._saved(here, number):
                    return Outlook.DEAD_END
                help_by = min(help_by, line.returns_at[number])
        if help_by == limit or not self._always_legal:
            return Outlook.OPEN
        unseen = all(hopeless(state, kind) for kind in self._observing(position, mask, help_by))
        return Outlook.FORGOTTEN if unseen else Outlook.OPEN

    def _to_be_placed(self, position: int, mask: int) -> Iterator[int]:
        line = self._line
        yield from line.in_slots(position, mask)
        ahead = self._next_observer[line.begun[position]]
        if ahead is not None:
            yield ahead

    def _observing(self, position: int, mask: int, until: int) -> Iterator[int]:
        """Kinds of the operations that only observe and can be placed before a return."""
        line = self._line
        for number in line.in_slots(position, mask & line.observing[position]):
            yield line.kind[number]
        ahead = self._next_observer[line.begun[position]]
        while ahead is not None and ahead < line.begun[until]:
            self._steps.taken += STEPS_PER_LOOK
            yield line.kind[ahead]
            ahead = self._next_observer[ahead + 1]

    def _saved(self, here: Configuration, number: int) -> bool:
        """Can an overwriting operation come first and leave a state with hope?"""
        kind, after = self._line.kind[number], self._transitions.after
        return any(
            not self._transitions.hopeless(then, kind)
            for other in self._overwriting(here, number)
            for then in after(here[2], other)
        )

    def _overwriting(self, here: Configuration, number: int) -> Iterator[int]:
        """Kinds of the overwriting operations that can be placed before this one's return."""
        position, mask, _, used, _, _ = here
        line, until = self._line, self._line.returns_at[number]
        for other in line.in_slots(position, mask & line.overwriting[position]):
            self._steps.taken += STEPS_PER_LOOK
            yield line.kind[other]
        for other in range(line.begun[position], line.begun[until]):
            self._steps.taken += STEPS_PER_LOOK
            if line.overwrites[other]:
                yield line.kind[other]
        for same in line.unknown_kinds:
            self._steps.taken += STEPS_PER_LOOK
            if same.overwrites and same.next_unused(used, until) is not None:
                yield same.kind


def _next_observers(line: Timeline) -> list[int | None]:
    """For each operation: itself if it only observes and returns, else the next such one."""
    found: list[int | None] = [None] * (len(line.operations) + 1)
    for number in reversed(range(len(line.operations))):
        observes = line.returns_at[number] >= 0 and not line.changes[number]
        found[number] = number if observes else found[number + 1]
    return found

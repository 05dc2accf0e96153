"""Configurations that lead nowhere, recognised before the search has walked into the wall.

An operation that is open, or that only observes and begins next, must still find its place. If the
model calls it hopeless in the present state, only an overwriting operation can help it: one that is
open, or begins before it returns, or is of unknown outcome. If none of them leaves a state that is
not hopeless too, no order goes on from here past the return of that operation.

That says nothing about how far an order can get before. So where the first unplaceable operation is
looked for, only operations that return before `limit` count.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checkers.linearizability.moves import Configuration, Transitions
from spark_checkers.linearizability.timeline import Timeline


class Foresight:
    """Looks ahead from configurations of one timeline."""

    def __init__(self, line: Timeline, transitions: Transitions) -> None:
        self._line = line
        self._transitions = transitions
        self._next_observer = _next_observers(line)

    def dead_end(self, here: Configuration, limit: int) -> bool:
        """Is there an operation with return before `limit` that has lost its place for good?"""
        position, mask, state, _, _, _ = here
        line = self._line
        for number in self._to_be_placed(position, mask):
            hopeless = self._transitions.hopeless(state, line.kind[number])
            if hopeless and line.returns_at[number] < limit and not self._saved(here, number):
                return True
        return False

    def _to_be_placed(self, position: int, mask: int) -> Iterator[int]:
        line = self._line
        yield from line.in_slots(position, mask)
        ahead = self._next_observer[line.begun[position]]
        if ahead is not None:
            yield ahead

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
            yield line.kind[other]
        for other in range(line.begun[position], line.begun[until]):
            if line.overwrites[other]:
                yield line.kind[other]
        for same in line.unknown_kinds:
            count = (used & same.mask).bit_count()
            unused = count < len(same.members) and same.available_from[count] <= until
            if same.overwrites and unused:
                yield same.kind


def _next_observers(line: Timeline) -> list[int | None]:
    """For each operation: itself if it only observes and returns, else the next such one."""
    found: list[int | None] = [None] * (len(line.operations) + 1)
    for number in reversed(range(len(line.operations))):
        observes = line.returns_at[number] >= 0 and not line.changes[number]
        found[number] = number if observes else found[number + 1]
    return found

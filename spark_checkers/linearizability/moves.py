"""What may be placed next in an order, and what may be left out without missing a legal order.

Before a return is passed, its operation (the one that is *due*) must be placed, with any open
operations before it. Tried blindly that is every subset in every order. Four observations keep it
small; each leaves a legal order to be found wherever there is one.

1. An operation that only observes is placed as soon as it fits: moving it forward to that point
   harms nobody.
2. Of overwriting operations in an unbroken row only the last one shows; the others are hidden. A
   hidden one can hide just as well behind any later overwriting operation that comes before its
   own return, and one that returns earlier is such an operation. So what a row hides returns before
   every overwriting operation that comes after the row. That leaves two shapes: the due operation
   alone; or a few that return next and then a last one, and this last one must be seen by somebody
   before anything overwrites it. A configuration in which that is still to happen is *closed*.
3. An operation of unknown outcome is used only where it changes the state, and never right before
   an overwriting operation.
4. Having used fewer unknown operations is never worse (the memory of the search makes use of it).

The state that a pruned order reaches is also reached by an order that is kept, so "every state in
which a legal order can arrive here" stays true of what the search has seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.operation import Operation
from spark_checkers.linearizability.timeline import Timeline

Trail = tuple[int, "Trail"] | None
"""The order so far, last operation first."""

Configuration = tuple[int, int, int, int, bool, Trail]
"""Position, slots of open operations not yet placed, state, unknown ones used, closed, order."""


class Transitions:
    """The model's steps, each asked for once. States and kinds of operations are numbers here."""

    def __init__(self, model: Model, example: list[Operation]) -> None:
        self._model = model
        self._example = example
        self._number: dict[State, int] = {model.initial: 0}
        self.states: list[State] = [model.initial]
        self.known: list[dict[int, tuple[int, ...]]] = [{}]
        self._hopeless: dict[tuple[int, int], bool] = {}

    def after(self, state: int, kind: int) -> tuple[int, ...]:
        """The states to which an operation of that kind may lead."""
        known = self.known[state]
        found = known.get(kind)
        if found is None:
            steps = self._model.step(self.states[state], self._example[kind])
            found = known[kind] = tuple(self._numbered(after) for after in steps)
        return found

    def hopeless(self, state: int, kind: int) -> bool:
        """Does the model say that nothing but an overwriting operation can make this fit again?"""
        found = self._hopeless.get((state, kind))
        if found is None:
            found = self._model.hopeless(self.states[state], self._example[kind])
            self._hopeless[state, kind] = found
        return found

    def _numbered(self, state: State) -> int:
        number = self._number.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self.known.append({})
        return number


class Moves:
    """The steps from one configuration to the next."""

    def __init__(self, line: Timeline, transitions: Transitions) -> None:
        self._line = line
        self._transitions = transitions

    def settled(self, here: Configuration) -> Configuration:
        """Place what only observes and fits here; pass the returns of what has been placed."""
        position, mask, state, used, closed, trail = here
        line, known, after = self._line, self._transitions.known[state], self._transitions.after
        kinds, beginning, observing = line.kind, line.beginning, line.observing
        fresh = mask & observing[position]
        while True:
            while fresh:
                bit = fresh & -fresh
                fresh ^= bit
                number = line.occupant[position][bit.bit_length() - 1]
                kind = kinds[number]
                if known[kind] if kind in known else after(state, kind):
                    mask ^= bit
                    trail = (number, trail)
                    closed = False
            if mask & line.due_bit[position]:
                return position, mask, state, used, closed, trail
            position += 1
            if position == len(beginning):
                return position, mask, state, used, closed, trail
            mask |= beginning[position]
            fresh = beginning[position] & observing[position]

    def after(self, here: Configuration) -> Iterator[Configuration]:
        """Every configuration one move further, the most promising first, each made in its turn."""
        position, mask, state, used, closed, trail = here
        line, after = self._line, self._transitions.after
        due = line.due[position]
        if line.changes[due] and not (closed and line.overwrites[due]):
            for then in after(state, line.kind[due]):
                yield position, mask ^ line.due_bit[position], then, used, False, (due, trail)
        unhelpful = []
        for move in self._of_others(here):
            if mask & ~move[1] & line.due_bit[position] or after(move[2], line.kind[due]):
                yield move
            else:
                unhelpful.append(move)
        yield from unhelpful
        for number, then, spent in self._unknown(position, state, used):
            yield position, mask, then, spent, True, (number, trail)

    def _of_others(self, here: Configuration) -> Iterator[Configuration]:
        """Moves of known operations, except the due one alone."""
        position, mask, state, used, closed, trail = here
        line, after = self._line, self._transitions.after
        overwriting = mask & line.overwriting[position]
        others = mask & ~(line.observing[position] | overwriting | line.due_bit[position])
        for number in line.in_slots(position, others):
            for then in after(state, line.kind[number]):
                yield position, mask ^ line.bit[number], then, used, False, (number, trail)
        if overwriting and not closed:
            for slots, row in self._rows(position, overwriting):
                extended = trail
                for number in row:
                    extended = (number, extended)
                then = after(state, line.kind[row[-1]])[0]
                yield position, mask ^ slots, then, used, True, extended

    def _rows(self, position: int, overwriting: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Rows of overwriting operations, except the due one alone, with their slots.

        A row is what it hides, next to return first, and then the one that shows.
        """
        line, due = self._line, self._line.due[position]
        by_return = sorted(line.in_slots(position, overwriting), key=line.returns_at.__getitem__)
        for last in by_return:
            slots = line.bit[last]
            hidden: tuple[int, ...] = ()
            if last != due:
                yield slots, (last,)
                if line.overwrites[due]:
                    continue  # it would be the first to hide, and may as well go alone
            for number in by_return:
                if number == last:
                    continue
                if self._overtaken(position, number):
                    break
                slots, hidden = slots | line.bit[number], (*hidden, number)
                yield slots, (*hidden, last)

    def _overtaken(self, position: int, number: int) -> bool:
        """Will an overwriting operation that has not begun yet return before this one?"""
        line = self._line
        return any(
            line.begins_at[other] > position and line.overwrites[other]
            for other in line.due[position : line.returns_at[number]]
        )

    def _unknown(self, position: int, state: int, used: int) -> Iterator[tuple[int, int, int]]:
        """Unknown operations that would change the state: which, state after, all used then."""
        for same in self._line.unknown_kinds:
            count = (used & same.mask).bit_count()
            if count < len(same.members) and same.available_from[count] <= position:
                for then in self._transitions.after(state, same.kind):
                    if then != state:
                        yield same.members[count], then, used | 1 << (same.offset + count)

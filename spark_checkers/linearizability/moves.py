"""What may be placed next in an order, and what may be left out without missing a legal order.

Before a return is passed, its operation (the one that is *due*) must be placed, with any open
operations before it. Tried blindly that is every subset in every order. Five observations keep it
small; each leaves a legal order to be found wherever there is one.

1. An operation that only observes is placed as soon as it fits: moving it forward to that point
   harms nobody.
2. Of overwriting operations in an unbroken row only the last one shows; the others are hidden. A
   hidden one can hide just as well behind any later overwriting operation that comes before its
   own return, and one that returns earlier is such an operation. So what a row hides returns before
   every overwriting operation that comes after the row. That leaves two shapes: the due operation
   alone; or a few that return next and then a last one, and this last one must be seen by somebody
   before anything overwrites it. A configuration in which that is still to happen is *closed*.
3. Of open operations of one kind the one that returns next goes first: they could trade places.
4. An operation of unknown outcome is used only where it changes the state or hides something, and
   never right before an overwriting operation, nor while one that does the same is open. If it
   overwrites, it is like any other at the end of a row: somebody must see it. So it is used only
   where an open operation fits what it leaves, or an unknown one.
5. Having used fewer unknown operations is never worse (the memory of the search makes use of it).

The state that a pruned order reaches is also reached by an order that is kept, so "every state in
which a legal order can arrive here" stays true of what the search has seen, once it has added what
unused overwriting operations would leave.

What is done is counted in `Steps`: a configuration can take as many as there are pairs of open
operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.operation import Operation
from spark_checkers.linearizability.timeline import Timeline

Trail = tuple[int, "Trail"] | None
"""The order so far, last operation first."""

Configuration = tuple[int, int, int, int, bool, Trail]
"""Position, slots of open operations not yet placed, state, unknown ones used, closed, order."""


@dataclass(slots=True)
class Steps:
    """How much work was done, in units of one move, one comparison, one return passed."""

    taken: int = 0


CHARACTERS_PER_STEP = 16
"""A text that is made anew for a state."""


class Transitions:
    """The model's steps, each asked for once. States and kinds of operations are numbers here."""

    def __init__(self, model: Model, example: list[Operation], steps: Steps) -> None:
        self._model = model
        self._steps = steps
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
            if self._model.foresight and isinstance(state, str):
                self._steps.taken += len(state) // CHARACTERS_PER_STEP
        return number


class Moves:
    """The steps from one configuration to the next."""

    def __init__(self, line: Timeline, transitions: Transitions, steps: Steps) -> None:
        self._line = line
        self._transitions = transitions
        self._steps = steps
        kinds = list(enumerate(line.unknown_kinds))
        self._asking = [place for place, same in kinds if not same.overwrites]
        self._leaves = {
            place: transitions.after(0, same.kind)[0] for place, same in kinds if same.overwrites
        }
        self._helped: dict[int, tuple[int, ...]] = {}

    def settled(self, here: Configuration) -> Configuration:
        """Place what only observes and fits here; pass the returns of what has been placed."""
        position, mask, state, used, closed, trail = here
        line, known, after = self._line, self._transitions.known[state], self._transitions.after
        kinds, beginning, observing = line.kind, line.beginning, line.observing
        fresh = mask & observing[position]
        steps = 1
        while True:
            steps += 1
            while fresh:
                bit = fresh & -fresh
                fresh ^= bit
                steps += 1
                number = line.occupant[position][bit.bit_length() - 1]
                kind = kinds[number]
                if known[kind] if kind in known else after(state, kind):
                    mask ^= bit
                    trail = (number, trail)
                    closed = False
            if mask & line.due_bit[position]:
                break
            position += 1
            if position == len(beginning):
                break
            mask |= beginning[position]
            fresh = beginning[position] & observing[position]
        self._steps.taken += steps
        return position, mask, state, used, closed, trail

    def after(self, here: Configuration) -> Iterator[Configuration]:
        """Every configuration one move further, the most promising first, each made in its turn."""
        position, mask, state, used, closed, trail = here
        line, after = self._line, self._transitions.after
        due = line.due[position]
        if line.changes[due] and not (closed and line.overwrites[due]):
            for then in after(state, line.kind[due]):
                yield position, mask ^ line.due_bit[position], then, used, False, (due, trail)
        overwriting = 0 if closed else mask & line.overwriting[position]
        row = sorted(line.in_slots(position, overwriting), key=line.returns_at.__getitem__)
        behind = 1 if line.overwrites[due] else len(row)
        self._steps.taken += len(row) * behind
        for helpful in (True, False):
            self._steps.taken += mask.bit_count()
            yield from self._of_others(here, helpful)
            yield from self._of_rows(here, row, helpful)
        if line.unknown_kinds:
            yield from self._of_unknown(here, row)

    def _of_others(self, here: Configuration, helpful: bool) -> Iterator[Configuration]:
        """Moves of known operations that do not overwrite, except the due one.

        Those after which the due one fits, or the others.
        """
        position, mask, state, used, _, trail = here
        line, after = self._line, self._transitions.after
        apart = line.observing[position] | line.overwriting[position] | line.due_bit[position]
        due = line.due[position]
        first = {line.kind[due]: due}
        others = list(line.in_slots(position, mask & ~apart))
        for number in others:
            same = first.setdefault(line.kind[number], number)
            if line.returns_at[number] < line.returns_at[same]:
                first[line.kind[number]] = number
        for number in others:
            if first[line.kind[number]] != number:
                continue
            for then in after(state, line.kind[number]):
                if bool(after(then, line.kind[due])) is helpful:
                    yield position, mask ^ line.bit[number], then, used, False, (number, trail)

    def _of_rows(
        self, here: Configuration, row: list[int], helpful: bool
    ) -> Iterator[Configuration]:
        """Rows of overwriting operations, except the due one alone.

        A row is what it hides, next to return first, and then the one that shows.
        """
        position, mask, state, used, _, trail = here
        line, after = self._line, self._transitions.after
        due, alike = line.due[position], dict[int, int]()
        for place, last in enumerate(row):
            kind = line.kind[last]
            least, alike[kind] = alike.get(kind, 0), place + 1
            then = after(state, kind)[0]
            if (last == due or bool(after(then, line.kind[due]))) is not helpful:
                continue
            left = mask ^ line.bit[last]
            if last != due and not least:
                yield position, left, then, used, True, (last, trail)
            for slots, hidden in self._hidden(here, row, last, least):
                yield position, left ^ slots, then, used, True, (last, hidden)

    def _hidden(
        self, here: Configuration, row: list[int], last: int, least: int
    ) -> Iterator[tuple[int, Trail]]:
        """What may be hidden behind the last one of a row: the slots, the order so far.

        At `least` that many, which are all of the same kind that return before it.
        """
        position, trail = here[0], here[5]
        line, slots = self._line, 0
        due = line.due[position]
        if line.overwrites[due] and last != due:
            return  # it would be the first to hide, and may as well go alone
        for place, number in enumerate(row, 1):
            if number == last:
                continue
            if line.returns_at[number] > line.overtaken_from[position]:
                return
            slots, trail = slots | line.bit[number], (number, trail)
            if place >= least:
                yield slots, trail

    def _of_unknown(self, here: Configuration, row: list[int]) -> Iterator[Configuration]:
        """Unknown operations that would change the state, alone or at the end of a row."""
        position, mask, state, used, closed, trail = here
        line, kinds = self._line, self._line.unknown_kinds
        found = self._usable(here)
        behind = 0 if closed or line.overwrites[line.due[position]] else len(row)
        self._steps.taken += len(found) * (1 + behind)
        for place, count, then in found:
            same = kinds[place]
            number, spent = same.members[count], used | 1 << (same.offset + count)
            if then != state:
                yield position, mask, then, spent, True, (number, trail)
            if same.overwrites:
                for slots, hidden in self._hidden(here, row, number, 0):
                    yield position, mask ^ slots, then, spent, True, (number, hidden)

    def _usable(self, here: Configuration) -> list[tuple[int, int, int]]:
        """Kinds of unknown operations worth using: which, how many were used, the state after."""
        position, mask, state, used, closed, _ = here
        line, kinds, after = self._line, self._line.unknown_kinds, self._transitions.after
        open_ = {line.kind[number] for number in line.in_slots(position, mask)}
        places = set(self._asking)
        if not closed:
            for number in line.in_slots(position, mask & ~line.overwriting[position]):
                places.update(self._helping(line.kind[number]))
            for place in self._asking:
                if kinds[place].next_unused(used, position) is not None:
                    places.update(self._helping(kinds[place].kind))
        self._steps.taken += mask.bit_count() + len(places) * line.used_steps
        found = []
        for place in sorted(places):
            count = kinds[place].next_unused(used, position)
            if count is not None and kinds[place].twin not in open_:
                found += [(place, count, then) for then in after(state, kinds[place].kind)]
        return found

    def _helping(self, kind: int) -> tuple[int, ...]:
        """Overwriting unknown operations after which an operation of that kind fits."""
        found = self._helped.get(kind)
        if found is None:
            after = self._transitions.after
            found = tuple(place for place, then in self._leaves.items() if after(then, kind))
            self._helped[kind] = found
        return found

    def left_by_unknown(self, position: int, used: int) -> Iterator[int]:
        """The states that overwriting operations leave, as far as they were not used."""
        for place, then in self._leaves.items():
            if self._line.unknown_kinds[place].next_unused(used, position) is not None:
                yield then

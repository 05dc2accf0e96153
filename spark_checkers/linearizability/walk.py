"""One depth-first walk through the configurations of a history, in Python.

A configuration that was tried is never tried again. `compiled` has the same walk as machine code;
`Walks` is what the two have in common and what the search asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from spark_checkers.linearizability.foresight import Foresight, Outlook
from spark_checkers.linearizability.impossible import Impossible, first_impossible
from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.moves import Configuration, Moves, Steps, Trail, Transitions
from spark_checkers.linearizability.operation import Operation
from spark_checkers.linearizability.timeline import Timeline, lay_out


class Verdict(Enum):
    """What the search found out."""

    LINEARIZABLE = "linearizable"
    NOT_LINEARIZABLE = "not-linearizable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """How a walk ended: the furthest position, an order that leads there, the states there.

    Operations are numbers, as `Walks.operation` knows them.
    """

    verdict: Verdict
    explored: int
    steps: int
    furthest: int
    order: Sequence[int]
    states: Sequence[State]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many configurations a walk may remember, and how many steps it may take."""

    states: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Enough:
    """What ends a walk to an impassable return once it is there.

    It has seen all the `states` that are possible there, if that is known, or has `explored` as
    many configurations since it got there.
    """

    states: int | None
    explored: int


class Walks(Protocol):
    """A history that can be walked."""

    @property
    def total(self) -> int:
        """How many operations it has."""

    @property
    def returns(self) -> int:
        """How many of them return."""

    def operation(self, number: int) -> Operation:
        """The operation of that number."""

    def ops(self, walked: Walked) -> tuple[int, ...]:
        """The order that was found, as the history names its operations."""

    def due(self, place: int) -> int:
        """The operation that returns at that position."""

    @property
    def impossible(self) -> Impossible | None:
        """The first answer that is impossible at first sight."""

    def waiting(self, place: int, walked: Walked) -> Sequence[int]:
        """Operations begun by then that may change the object and were not placed, but the due."""

    def walk(self, *, until: int, limit: int, budget: Budget, enough: Enough | None) -> Walked:
        """Try to pass the first `until` returns; foresight may use the first `limit` of them.

        If the last of them is known to be impassable, there can be `enough` of it.
        """


class PythonWalks:
    """Walks of any model."""

    def __init__(self, operations: Iterable[Operation], model: Model) -> None:
        self._line = lay_out(operations, model)
        self.impossible = first_impossible(self._line, model)
        self._steps = Steps()
        self._transitions = Transitions(model, self._line.example, self._steps)
        self._moves = Moves(self._line, self._transitions, self._steps)
        self._foresight: Foresight | None = None
        if model.foresight:
            self._foresight = Foresight(
                self._line, self._transitions, self._steps, always_legal=model.always_legal
            )

    @property
    def total(self) -> int:
        """How many operations there are."""
        return len(self._line.operations)

    @property
    def returns(self) -> int:
        """How many of them return."""
        return len(self._line.due)

    def operation(self, number: int) -> Operation:
        """The operation of that number."""
        return self._line.operations[number]

    def ops(self, walked: Walked) -> tuple[int, ...]:
        """The order that was found, as the history names its operations."""
        return tuple([self._line.operations[number].op for number in walked.order])

    def due(self, place: int) -> int:
        """The operation that returns at that position."""
        return self._line.due[place]

    def waiting(self, place: int, walked: Walked) -> list[int]:
        """Operations begun by then that may change the object and were not placed, but the due."""
        line, elsewhere = self._line, {self.due(place), *walked.order}
        return [
            number
            for number, changes in enumerate(line.changes)
            if changes and 0 <= line.begins_at[number] <= place and number not in elsewhere
        ]

    def walk(self, *, until: int, limit: int, budget: Budget, enough: Enough | None) -> Walked:
        """Try to pass the first `until` returns, or to see `enough` before the last."""
        self._steps.taken = 0
        walk = _Walk(self._line, self._moves, self._steps, until, enough)
        walk.go(self._foresight, limit=limit, budget=budget)
        return Walked(
            verdict=walk.verdict,
            explored=walk.explored,
            steps=self._steps.taken,
            furthest=walk.furthest,
            order=_order(walk.trail),
            states=[self._transitions.states[state] for state in walk.states],
        )


class _Tried:
    """Configurations that were tried, each with the sets of unknown operations used there."""

    def __init__(self, line: Timeline, steps: Steps) -> None:
        self._steps = steps
        self._used_steps = line.used_steps
        self._slots = line.slots
        self._width = line.slots + len(line.due).bit_length()
        self._plain: set[int] = set()
        self._used: dict[int, list[int]] | None = {} if line.unknown_kinds else None

    def first_time(self, here: Configuration, outlook: Outlook) -> bool:
        position, mask, state, used, closed, _ = here
        place = (position << self._slots) | mask
        told_apart = 0 if outlook is Outlook.FORGOTTEN else state + 1
        key = ((told_apart << 1 | closed) << self._width) | place
        if self._used is None:
            count = len(self._plain)
            self._plain.add(key)
            return len(self._plain) > count
        before = self._used.setdefault(key, [])
        for compared, smaller in enumerate(reversed(before), 1):
            if used & smaller == smaller:
                self._steps.taken += compared * self._used_steps
                return False
        self._steps.taken += len(before) * self._used_steps
        before.append(used)
        return True


class _Walk:
    """How far a walk got, and how the object looked there."""

    def __init__(
        self, line: Timeline, moves: Moves, steps: Steps, until: int, enough: Enough | None
    ) -> None:
        self.verdict = Verdict.UNKNOWN
        self.explored = 0
        self.furthest = 0
        self.trail: Trail = None
        self.states: dict[int, None] = {}
        self._line = line
        self._moves = moves
        self._steps = steps
        self._until = until
        self._enough = enough
        self._arrived = 0
        self._left_there = len(line.operations)
        self._least_used = -1
        self._to_be_added = False

    def go(self, foresight: Foresight | None, *, limit: int, budget: Budget) -> None:
        """Walk until there is an answer, or until the budget is spent."""
        self.verdict = self._walked(foresight, limit, budget)
        if self.verdict is not Verdict.LINEARIZABLE:
            self._add_left_by_unknown()

    def _walked(self, foresight: Foresight | None, limit: int, budget: Budget) -> Verdict:
        settled, after = self._moves.settled, self._moves.after
        first_time = _Tried(self._line, self._steps).first_time
        untried: list[Iterator[Configuration]] = []
        here: Configuration | None = (0, self._line.beginning[0], 0, 0, False, None)
        while here is not None:
            here = settled(here)
            if here[0] >= self._until:
                self.trail = here[5]
                return Verdict.LINEARIZABLE
            if self._steps.taken > budget.steps:
                return Verdict.UNKNOWN
            outlook = Outlook.OPEN if foresight is None else foresight.outlook(here, limit)
            if outlook is not Outlook.DEAD_END and first_time(here, outlook):
                end = self._explore(here, budget)
                if end is not None:
                    return end
                untried.append(after(here))
            here = _next(untried)
        return Verdict.NOT_LINEARIZABLE

    def _explore(self, here: Configuration, budget: Budget) -> Verdict | None:
        """Count and note a configuration; the verdict, if the walk ends with it."""
        if self.explored == budget.states:
            return Verdict.UNKNOWN
        self.explored += 1
        if here[0] >= self.furthest:
            self._note(here)
        if self._enough is None or self.furthest < self._until - 1:
            return None
        self._add_left_by_unknown()
        if len(self.states) == self._enough.states:
            return Verdict.NOT_LINEARIZABLE
        spent = self.explored - self._arrived == self._enough.explored
        return Verdict.UNKNOWN if spent else None

    def _note(self, here: Configuration) -> None:
        position, mask, state, used, _, trail = here
        left = mask.bit_count()
        if position > self.furthest:
            self.states.clear()
            self._arrived = self.explored
            self._least_used = -1
        if position > self.furthest or left < self._left_there:
            self.furthest, self._left_there, self.trail = position, left, trail
        self.states[state] = None
        if self._least_used & used != self._least_used:
            self._least_used &= used
            self._to_be_added = True

    def _add_left_by_unknown(self) -> None:
        """Note the states that unused overwriting operations would leave there."""
        if self._to_be_added:
            self.states |= dict.fromkeys(
                self._moves.left_by_unknown(self.furthest, self._least_used)
            )
            self._to_be_added = False


def _next(untried: list[Iterator[Configuration]]) -> Configuration | None:
    """The next move of the last configuration that has one left."""
    while untried:
        for here in untried[-1]:
            return here
        untried.pop()
    return None


def _order(trail: Trail) -> list[int]:
    order = []
    while trail is not None:
        number, trail = trail
        order.append(number)
    return order[::-1]

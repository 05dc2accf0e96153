"""Is there one order of the operations that the model allows and that real time allows?

The search is Wing and Gong's with Lowe's memory of what was already tried. It walks through the
returns in time order and places operations (`moves`) so that each return can be passed. A
configuration is (position, open operations not yet placed, state of the object); one that was tried
is never tried again. A precedes B exactly when A ended before B began, strictly.

What it reports is exact: `first_unplaceable` is the first return at which the history so far has
no legal order, whatever the rest of the history says. A walk with `foresight` turns back before it
gets there, so the place is then found by walking to nearer and nearer ends.

The budget counts configurations, which are what takes time and memory. When it is spent, the
verdict is *unknown*. Finding the exact place of a proven violation has a budget of its own; should
that be spent too, a return is named that cannot be passed, but perhaps not the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from spark_checkers.linearizability.explain import (
    Impasse,
    explain_impasse,
    explain_legal,
    explain_unknown,
)
from spark_checkers.linearizability.foresight import Foresight, Outlook
from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.moves import Configuration, Moves, Trail, Transitions
from spark_checkers.linearizability.operation import Operation
from spark_checkers.linearizability.timeline import Timeline, lay_out

DEFAULT_BUDGET_STATES = 1_000_000


class Verdict(Enum):
    """What the search found out."""

    LINEARIZABLE = "linearizable"
    NOT_LINEARIZABLE = "not-linearizable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict and its grounds.

    `longest_prefix` is a legal order of operations (their `op`s) that gets as far as any; when
    linearizable, it has every operation of known outcome. `first_unplaceable` is the operation
    whose return no legal order gets past; `states_there` are the states in which they arrive at it.
    """

    verdict: Verdict
    explored: int
    longest_prefix: tuple[int, ...]
    first_unplaceable: int | None
    states_there: tuple[State, ...]
    explanation: str


def search(
    operations: Iterable[Operation],
    model: Model,
    *,
    budget_states: int = DEFAULT_BUDGET_STATES,
) -> Outcome:
    """Look for a legal order of the operations on one object."""
    return _Search(lay_out(operations, model), model, budget_states).outcome()


class _Tried:
    """Configurations that were tried, each with the sets of unknown operations used there."""

    def __init__(self, line: Timeline) -> None:
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
        if any(used & smaller == smaller for smaller in before):
            return False
        before.append(used)
        return True


class _Walk:
    """One depth-first walk: how far it got, and how the object looked there."""

    def __init__(self, line: Timeline) -> None:
        self.verdict = Verdict.UNKNOWN
        self.explored = 0
        self.furthest = 0
        self.trail: Trail = None
        self.states: dict[int, None] = {}
        self._line = line
        self._left_there = len(line.operations)

    def go(
        self, moves: Moves, foresight: Foresight | None, *, until: int, limit: int, budget: int
    ) -> None:
        """Try to pass the first `until` returns; foresight may use the first `limit` of them."""
        first_time, settled = _Tried(self._line).first_time, moves.settled
        untried: list[Iterator[Configuration]] = []
        here: Configuration | None = (0, self._line.beginning[0], 0, 0, False, None)
        while here is not None:
            here = settled(here)
            if here[0] >= until:
                self.verdict, self.trail = Verdict.LINEARIZABLE, here[5]
                return
            outlook = Outlook.OPEN if foresight is None else foresight.outlook(here, limit)
            if outlook is not Outlook.DEAD_END and first_time(here, outlook):
                if self.explored == budget:
                    return
                self.explored += 1
                if here[0] >= self.furthest:
                    self._note(here)
                untried.append(moves.after(here))
            here = None
            while untried and here is None:
                here = next(untried[-1], None)
                if here is None:
                    untried.pop()
        self.verdict = Verdict.NOT_LINEARIZABLE

    def _note(self, here: Configuration) -> None:
        position, mask, state, _, _, trail = here
        left = mask.bit_count()
        if position > self.furthest:
            self.states.clear()
        if position > self.furthest or left < self._left_there:
            self.furthest, self._left_there, self.trail = position, left, trail
        self.states[state] = None


class _Search:
    def __init__(self, line: Timeline, model: Model, budget_states: int) -> None:
        self._line = line
        self._model = model
        self._budget = budget_states
        self._transitions = Transitions(model, line.example)
        self._moves = Moves(line, self._transitions)
        self._foresight: Foresight | None = None
        if model.foresight:
            always_legal = model.always_legal
            self._foresight = Foresight(line, self._transitions, always_legal=always_legal)
        self._explored = 0

    def outcome(self) -> Outcome:
        end = len(self._line.due)
        if not end:
            return self._linearizable(None)
        walk = self._walk(until=end, limit=end, budget=self._budget)
        if walk.verdict is Verdict.LINEARIZABLE:
            return self._linearizable(walk.trail)
        if walk.verdict is Verdict.UNKNOWN:
            impasse = self._impasse(walk, walk.furthest)
            return self._stuck(Verdict.UNKNOWN, impasse)
        place = walk.furthest
        if self._foresight is not None:
            walk, place = self._located(walk)
        return self._stuck(Verdict.NOT_LINEARIZABLE, self._impasse(walk, place))

    def _walk(self, *, until: int, limit: int, budget: int) -> _Walk:
        walk = _Walk(self._line)
        walk.go(self._moves, self._foresight, until=until, limit=limit, budget=budget)
        self._explored += walk.explored
        return walk

    def _located(self, walk: _Walk) -> tuple[_Walk, int]:
        """The walk that shows the first return that cannot be passed, and that return."""
        passable, impassable, stride = walk.furthest, len(self._line.due), 1
        allowed = self._explored + self._budget
        while impassable - passable > 1:
            middle = min(passable + stride, (passable + impassable) // 2)
            nearer = self._walk(until=middle, limit=middle, budget=allowed - self._explored)
            if nearer.verdict is Verdict.UNKNOWN:
                break
            if nearer.verdict is Verdict.LINEARIZABLE:
                passable, stride = middle, stride * 2
            else:
                passable, impassable = max(passable, nearer.furthest), middle
        place = impassable - 1
        final = self._walk(until=impassable, limit=place, budget=allowed - self._explored)
        return final, place

    def _linearizable(self, trail: Trail) -> Outcome:
        return Outcome(
            verdict=Verdict.LINEARIZABLE,
            explored=self._explored,
            longest_prefix=tuple(self._line.operations[number].op for number in _order(trail)),
            first_unplaceable=None,
            states_there=(),
            explanation=explain_legal(len(self._line.operations)),
        )

    def _stuck(self, verdict: Verdict, impasse: Impasse) -> Outcome:
        bad = verdict is Verdict.NOT_LINEARIZABLE
        words = explain_impasse(impasse) if bad else explain_unknown(impasse, spent=self._budget)
        return Outcome(
            verdict=verdict,
            explored=self._explored,
            longest_prefix=tuple(operation.op for operation in impasse.placed),
            first_unplaceable=impasse.stuck.op if bad else None,
            states_there=tuple(impasse.states) if bad else (),
            explanation=words,
        )

    def _impasse(self, walk: _Walk, place: int) -> Impasse:
        line, order = self._line, _order(walk.trail)
        stuck = line.due[place]
        elsewhere = {*order, stuck}
        waiting = [
            operation
            for number, operation in enumerate(line.operations)
            if line.changes[number]
            and 0 <= line.begins_at[number] <= place
            and number not in elsewhere
        ]
        there = walk.states if walk.furthest == place else ()
        return Impasse(
            model=self._model,
            stuck=line.operations[stuck],
            states=[self._transitions.states[state] for state in there],
            placed=[line.operations[number] for number in order],
            waiting=waiting,
            total=len(line.operations),
        )


def _order(trail: Trail) -> list[int]:
    order = []
    while trail is not None:
        number, trail = trail
        order.append(number)
    return order[::-1]

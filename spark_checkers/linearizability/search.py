"""Is there one order of the operations that the model allows and that real time allows?

The search is Wing and Gong's with Lowe's memory of what was already tried. It walks through the
returns in time order and places operations (`moves`) so that each return can be passed. A
configuration is (position, open operations not yet placed, state of the object); one that was tried
is never tried again. A precedes B exactly when A ended before B began, strictly.

What it reports is exact: `first_unplaceable` is the first return at which the history so far has no
legal order, whatever the rest of the history says. The budget counts configurations, which are what
takes time and memory; when it is spent, the verdict is *unknown*.
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
    return _Search(lay_out(operations, model), model, budget_states).run()


class _Tried:
    """Configurations that were tried, each with the sets of unknown operations used there."""

    def __init__(self, line: Timeline) -> None:
        self._slots = line.slots
        self._width = line.slots + len(line.due).bit_length()
        self._plain: set[int] = set()
        self._used: dict[int, list[int]] | None = {} if line.unknown_kinds else None

    def first_time(self, here: Configuration) -> bool:
        position, mask, state, used, closed, _ = here
        place = (position << self._slots) | mask
        key = ((state << 1 | closed) << self._width) | place
        if self._used is None:
            count = len(self._plain)
            self._plain.add(key)
            return len(self._plain) > count
        before = self._used.setdefault(key, [])
        if any(used & smaller == smaller for smaller in before):
            return False
        before.append(used)
        return True


class _Search:
    def __init__(self, line: Timeline, model: Model, budget_states: int) -> None:
        self._line = line
        self._model = model
        self._budget = budget_states
        self._transitions = Transitions(model, line.example)
        self._explored = 0
        self._furthest = 0
        self._left_there = len(line.operations)
        self._trail_there: Trail = None
        self._states_there: dict[int, None] = {}

    def run(self) -> Outcome:
        line, moves = self._line, Moves(self._line, self._transitions)
        if not line.due:
            return self._linearizable(None)
        first_time, settled = _Tried(line).first_time, moves.settled
        untried: list[Iterator[Configuration]] = []
        here: Configuration | None = (0, line.beginning[0], 0, 0, False, None)
        while here is not None:
            here = settled(here)
            if here[0] == len(line.due):
                return self._linearizable(here[5])
            if first_time(here):
                if self._explored == self._budget:
                    return self._stuck(Verdict.UNKNOWN)
                self._explored += 1
                if here[0] >= self._furthest:
                    self._note(here)
                untried.append(moves.after(here))
            here = None
            while untried and here is None:
                here = next(untried[-1], None)
                if here is None:
                    untried.pop()
        return self._stuck(Verdict.NOT_LINEARIZABLE)

    def _note(self, here: Configuration) -> None:
        """Remember the furthest return that was reached, and how the object looked there."""
        position, mask, state, _, _, trail = here
        left = mask.bit_count()
        if position > self._furthest:
            self._states_there.clear()
        if position > self._furthest or left < self._left_there:
            self._furthest, self._left_there, self._trail_there = position, left, trail
        self._states_there[state] = None

    def _linearizable(self, trail: Trail) -> Outcome:
        return Outcome(
            verdict=Verdict.LINEARIZABLE,
            explored=self._explored,
            longest_prefix=tuple(self._line.operations[number].op for number in _order(trail)),
            first_unplaceable=None,
            states_there=(),
            explanation=explain_legal(len(self._line.operations)),
        )

    def _stuck(self, verdict: Verdict) -> Outcome:
        impasse = self._impasse()
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

    def _impasse(self) -> Impasse:
        line, order = self._line, _order(self._trail_there)
        stuck = line.due[self._furthest]
        elsewhere = {*order, stuck}
        waiting = [
            operation
            for number, operation in enumerate(line.operations)
            if line.changes[number]
            and 0 <= line.begins_at[number] <= self._furthest
            and number not in elsewhere
        ]
        return Impasse(
            model=self._model,
            stuck=line.operations[stuck],
            states=[self._transitions.states[state] for state in self._states_there],
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

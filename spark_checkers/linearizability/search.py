"""Is there one order of the operations that the model allows and that real time allows?

The search is Wing and Gong's with Lowe's memory of what was already tried. It walks through the
returns in time order and places operations (`moves`) so that each return can be passed. A
configuration is (position, open operations not yet placed, state of the object); one that was tried
is never tried again. A precedes B exactly when A ended before B began, strictly.

What it reports is exact: `first_unplaceable` is the first return at which the history so far has
no legal order, whatever the rest of the history says. A walk with `foresight` turns back before it
gets there, so the place is then found by walking to nearer and nearer ends.

The budget counts configurations, which are what takes memory, and `STEPS_PER_STATE` times as many
steps, which are what takes time: moves, comparisons, returns passed. No clock is asked, so a
verdict is the same everywhere. When either is spent, the verdict is *unknown*, unless an answer was
`impossible` at first sight. Finding the exact place of a proven violation has a budget of its own;
should that be spent too, a return is named that cannot be passed, but perhaps not the first. Once
that return has been reached, nothing is left to find out but the states there, and the walk goes on
for no more than `LINGERING_STATES`.

The walk exists twice, in Python and as compiled code, and gives the same outcome to the last field.
`Walking` says which; left alone, the search begins in Python and loads compiled code once that is
likely to have paid off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from importlib.util import find_spec

from spark_checkers.linearizability.explain import (
    SHOWN_OPERATIONS,
    Excerpt,
    Impasse,
    explain_impasse,
    explain_legal,
    explain_unknown,
)
from spark_checkers.linearizability.impossible import Impossible
from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.operation import NotForCompiledCode, Operation
from spark_checkers.linearizability.walk import Budget, Enough, PythonWalks, Verdict, Walked, Walks

COMPILED_BUDGET_STATES = 1_000_000
PYTHON_BUDGET_STATES = 100_000
"""Unless told otherwise, for what compiled code can walk and for what it cannot: seconds of CPU."""

STEPS_PER_STATE = 256
"""Steps that a search may take for each configuration of its budget, and for each operation. Easy
histories take ten."""

LINGERING_STATES = 5_000
"""Configurations spent, after a proven violation has been reached, on what it could have been
answered: a quarter of a second in Python. A few appends at once leave tens of thousands of states,
of which nobody wants to see more than some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict and its grounds.

    `longest_prefix` is a legal order of operations (their `op`s) that gets as far as any; when
    linearizable, it has every operation of known outcome. `first_unplaceable` is the operation
    whose return no legal order gets past; `states_there` are the states in which they arrive at it,
    or none where that took too long to find out.
    """

    verdict: Verdict
    explored: int
    longest_prefix: tuple[int, ...]
    first_unplaceable: int | None
    states_there: tuple[State, ...]
    explanation: str


class Walking(Enum):
    """Which of the two walks is used."""

    AUTOMATIC = auto()
    PYTHON = auto()
    COMPILED = auto()


def search(
    operations: Iterable[Operation],
    model: Model,
    *,
    budget_states: int | None = None,
    walking: Walking = Walking.AUTOMATIC,
) -> Outcome:
    """Look for a legal order of the operations on one object."""
    given = tuple(operations)
    if walking is Walking.COMPILED:
        return _compiled(given, model, budget_states).outcome()
    if walking is Walking.PYTHON or not _can_be_compiled(given, model):
        return _in_python(given, model, budget_states).outcome()
    if not _PATIENCE.spent_after(len(given)):
        whole = COMPILED_BUDGET_STATES if budget_states is None else budget_states
        trial = _in_python(given, model, min(whole, _PATIENCE.left))
        found = trial.outcome()
        _PATIENCE.spent_after(_PATIENCE.left if trial.spent else found.explored)
        if trial.budget == whole or not trial.spent:
            return found
    try:
        return _compiled(given, model, budget_states).outcome()
    except NotForCompiledCode:
        return _in_python(given, model, budget_states).outcome()


class _Patience:
    """How much a process searches in Python before it takes the time to load compiled code."""

    def __init__(self, operations: int) -> None:
        self.left = operations

    def spent_after(self, operations: int) -> bool:
        """Count these; is nothing left?"""
        self.left = max(0, self.left - operations)
        return not self.left


_PATIENCE = _Patience(20_000)


def _in_python(operations: Sequence[Operation], model: Model, budget: int | None) -> _Search:
    states = PYTHON_BUDGET_STATES if budget is None else budget
    return _Search(PythonWalks(operations, model), model, states)


def _compiled(operations: Sequence[Operation], model: Model, budget: int | None) -> _Search:
    from spark_checkers.linearizability.compiled.walks import CompiledWalks

    states = COMPILED_BUDGET_STATES if budget is None else budget
    return _Search(CompiledWalks(operations, model), model, states)


def _can_be_compiled(operations: Sequence[Operation], model: Model) -> bool:
    return bool(operations) and model.effect(operations[0]) is not None and _has_compiler()


@cache
def _has_compiler() -> bool:
    return find_spec("numba") is not None


class _Search:
    def __init__(self, walks: Walks, model: Model, budget: int) -> None:
        self.budget = budget
        self.spent = False
        self._model = model
        self._walks = walks
        self._explored = 0
        self._steps = 0
        self._allowed = self._renewed()

    def outcome(self) -> Outcome:
        end = self._walks.returns
        if not end:
            return self._linearizable(())
        impossible = self._walks.impossible
        if impossible is not None:
            return self._not_linearizable(impossible)
        walked = self._walk(until=end, limit=end)
        if walked.verdict is Verdict.LINEARIZABLE:
            return self._linearizable(self._walks.ops(walked))
        if walked.verdict is Verdict.UNKNOWN:
            return self._stuck(Verdict.UNKNOWN, walked, walked.furthest)
        place = walked.furthest
        if self._model.foresight:
            walked, place = self._located(walked)
        return self._stuck(Verdict.NOT_LINEARIZABLE, walked, place)

    def _not_linearizable(self, known: Impossible) -> Outcome:
        """The verdict is clear; how far do orders get?"""
        place = known.position
        enough = Enough(states=known.most_states, explored=LINGERING_STATES)
        walked = self._walk(until=place + 1, limit=0, enough=enough)
        if walked.verdict is Verdict.NOT_LINEARIZABLE:
            place = walked.furthest
        return self._stuck(Verdict.NOT_LINEARIZABLE, walked, place)

    def _renewed(self) -> Budget:
        """The whole budget, from here on."""
        steps = STEPS_PER_STATE * (self.budget + self._walks.total)
        return Budget(states=self._explored + self.budget, steps=self._steps + steps)

    def _walk(self, *, until: int, limit: int, enough: Enough | None = None) -> Walked:
        allowed = self._allowed
        left = Budget(states=allowed.states - self._explored, steps=allowed.steps - self._steps)
        walked = self._walks.walk(until=until, limit=limit, budget=left, enough=enough)
        self._explored += walked.explored
        self._steps += walked.steps
        self.spent = self.spent or walked.explored == left.states or walked.steps > left.steps
        return walked

    def _located(self, walked: Walked) -> tuple[Walked, int]:
        """The walk that shows the first return that cannot be passed, and that return."""
        passable, impassable, stride = walked.furthest, self._walks.returns, 1
        self._allowed = self._renewed()
        while impassable - passable > 1:
            middle = min(passable + stride, (passable + impassable) // 2)
            nearer = self._walk(until=middle, limit=middle)
            if nearer.verdict is Verdict.UNKNOWN:
                break
            if nearer.verdict is Verdict.LINEARIZABLE:
                passable, stride = middle, stride * 2
            else:
                passable, impassable, stride = max(passable, nearer.furthest), middle, 1
        place = impassable - 1
        enough = Enough(states=None, explored=LINGERING_STATES)
        return self._walk(until=impassable, limit=place, enough=enough), place

    def _linearizable(self, ops: tuple[int, ...]) -> Outcome:
        return Outcome(
            verdict=Verdict.LINEARIZABLE,
            explored=self._explored,
            longest_prefix=ops,
            first_unplaceable=None,
            states_there=(),
            explanation=explain_legal(self._walks.total),
        )

    def _stuck(self, verdict: Verdict, walked: Walked, place: int) -> Outcome:
        impasse = self._impasse(walked, place)
        bad = verdict is Verdict.NOT_LINEARIZABLE
        words = explain_impasse(impasse) if bad else explain_unknown(impasse, self._spent_on())
        return Outcome(
            verdict=verdict,
            explored=self._explored,
            longest_prefix=self._walks.ops(walked),
            first_unplaceable=impasse.stuck.op if bad else None,
            states_there=tuple(impasse.states) if bad and impasse.all_states else (),
            explanation=words,
        )

    def _spent_on(self) -> str:
        if self._steps > self._allowed.steps:
            return f"{self._allowed.steps} steps"
        return f"{self.budget} configurations"

    def _impasse(self, walked: Walked, place: int) -> Impasse:
        walks = self._walks
        placed, waiting = walked.order, walks.waiting(place, walked)
        last, first = placed[-SHOWN_OPERATIONS:], waiting[:SHOWN_OPERATIONS]
        return Impasse(
            model=self._model,
            stuck=walks.operation(walks.due(place)),
            states=walked.states if walked.furthest == place else (),
            all_states=walked.verdict is Verdict.NOT_LINEARIZABLE,
            placed=Excerpt(shown=[walks.operation(n) for n in last], count=len(placed)),
            waiting=Excerpt(shown=[walks.operation(n) for n in first], count=len(waiting)),
            total=walks.total,
        )

"""From a program that fails to the smallest one that fails likewise.

Steps are taken away as long as it still fails (`minimise`), then arguments are moved towards the
front of their lists, where the simplest choices are. Every attempt plays in a simulation of the
same seed. An attempt counts only if it fails in the same way: with a finding of the same kind, or
with the same exception.

Hypothesis could shrink, too. It does that on the choices that it drew, and knows nothing of steps:
for a program of twenty it took hundreds of attempts, and often left repetitions standing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.minimise import minimise
from harness.steps.step import Step
from harness.steps.trial import Trial, Violated, play
from harness.steps.vocabulary import ACTOR, lists_for

Program = Sequence[Step]
Lists = Mapping[str, Mapping[str, Sequence[Any]]]  # by verb, what each argument may be

MOST_ATTEMPTS = 1000  # at a smaller program


class Unrepeatable(AssertionError):
    """The same steps in the same simulation had another end: something leaves it to chance."""


def way_of(problem: BaseException) -> str:
    """How a trial failed: the kind of the first finding, or the exception."""
    if isinstance(problem, Violated):
        return str(problem).partition(":")[0]
    return type(problem).__name__


def shrunk(trial: type[Trial], program: Program, *, way: str) -> list[Step]:
    """The smallest program on the way down from this one that still fails in this way."""
    lists: dict[str, Mapping[str, Sequence[Any]]] = {}

    class Trying(trial):  # type: ignore[valid-type, misc]
        def leave(self, problem: BaseException | None) -> str:
            lists.update({one.verb: lists_for(self, one) for one in self.drawn})
            return ""

    Trying.__name__ = trial.__name__
    attempts = MOST_ATTEMPTS

    def fails(candidate: Program) -> bool:
        nonlocal attempts
        attempts -= 1
        if attempts < 0:
            return False
        try:
            play(Trying, candidate)
        except Exception as problem:
            return way_of(problem) == way
        return False

    smallest = list(program)
    while True:
        before = smallest
        smallest = minimise(smallest, fails)
        for place in range(len(smallest)):
            smallest = _simplest_at(place, smallest, fails, lists)
        if smallest == before:
            return smallest


def _simplest_at(
    place: int, program: Program, fails: Callable[[Program], bool], lists: Lists
) -> list[Step]:
    """The program with the arguments and the actor of one step as simple as they can be."""
    smallest = list(program)
    for argument in (*smallest[place].arguments, ACTOR):
        for simpler in _simpler(smallest[place], argument, lists):
            candidate = [*smallest[:place], simpler, *smallest[place + 1 :]]
            if fails(candidate):
                smallest = candidate
                break
    return smallest


def _simpler(step: Step, argument: str, lists: Lists) -> Iterator[Step]:
    """The step with an argument or its actor from the front of its list, or nearer to it."""
    values = lists.get(step.verb, {}).get(argument, ())
    now = step.actor if argument == ACTOR else step.arguments[argument]
    place = values.index(now) if now in values else 0
    for nearer in sorted({0, place // 2, place - 1}):
        if 0 <= nearer < place:
            value = values[nearer]
            if argument == ACTOR:
                yield replace(step, actor=value)
            else:
                yield replace(step, arguments={**step.arguments, argument: value})

"""Looking for a program of steps that fails, and for the smallest one that fails likewise.

Hypothesis looks. The shrinking is done here, on the program: steps are taken away as long as it
still fails (`minimise`), then arguments are moved towards the front of their lists, where the
simplest choices are. Every attempt plays in a simulation of the same seed. An attempt counts only
if it fails in the same way: with a finding of the same kind, or with the same exception.

Hypothesis could shrink, too. It does that on the choices that it drew, and knows nothing of steps:
for a program of twenty it took hundreds of attempts, and often left repetitions standing.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.minimise import minimise
from harness.steps.dice import BACKEND
from harness.steps.machine import SimulatedMachine, Violated
from harness.steps.machine_program import Step

Program = Sequence[Step]

MOST_ATTEMPTS = 1000  # at a smaller program


class Unrepeatable(AssertionError):
    """The same steps in the same simulation had another end: something leaves it to chance."""


def explore(machine: type[SimulatedMachine], *, examples: int = 100, steps: int = 20) -> None:
    """Play so many programs of at most so many steps; fail with the smallest that fails.

    The machine's seed decides which programs they are.
    """
    kept: list[Step] = []

    class Looking(machine):  # type: ignore[valid-type, misc]
        def leave(self, problem: BaseException | None) -> str:
            if problem is not None:
                kept[:] = self.program
            return ""

    Looking.__name__ = machine.__name__
    try:
        draw(Looking, examples=examples, steps=steps)
    except Exception as problem:
        smallest = shrunk(machine, kept, way=_way_of(problem))
    else:
        return
    play(machine, smallest)
    raise Unrepeatable(f"{machine.__name__}, seed {machine.seed}: it failed and then did not")


def draw(machine: type[SimulatedMachine], *, examples: int, steps: int) -> None:
    """Let Hypothesis draw programs and play them, up to the first that fails; it shrinks nothing.

    The machine's seed decides which programs they are, and in which order.
    """
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=(Phase.generate,),
        backend=BACKEND,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    with redirect_stdout(io.StringIO()):  # in which it prints the program before shrinking
        run_state_machine_as_test(seed(machine.seed)(machine), settings=chosen)


def play(machine: type[SimulatedMachine], program: Program) -> None:
    """Play a program; raises what a step or the judge raises."""
    played = machine()
    try:
        for step in program:
            getattr(played, step.name)(**step.arguments)
    finally:
        played.teardown()


def shrunk(machine: type[SimulatedMachine], program: Program, *, way: str) -> list[Step]:
    """The smallest program on the way down from this one that still fails in this way."""

    class Trying(machine):  # type: ignore[valid-type, misc]
        def leave(self, problem: BaseException | None) -> str:
            return ""

    Trying.__name__ = machine.__name__
    attempts = MOST_ATTEMPTS

    def fails(candidate: Program) -> bool:
        nonlocal attempts
        attempts -= 1
        if attempts < 0:
            return False
        try:
            play(Trying, candidate)
        except Exception as problem:
            return _way_of(problem) == way
        return False

    smallest = list(program)
    while True:
        before = smallest
        smallest = minimise(smallest, fails)
        for place in range(len(smallest)):
            smallest = _simplest_at(place, smallest, fails)
        if smallest == before:
            return smallest


def _simplest_at(place: int, program: Program, fails: Callable[[Program], bool]) -> list[Step]:
    """The program with the arguments of one step as simple as they can be."""
    smallest = list(program)
    for argument in smallest[place].arguments:
        for simpler in _simpler(smallest[place], argument):
            candidate = [*smallest[:place], simpler, *smallest[place + 1 :]]
            if fails(candidate):
                smallest = candidate
                break
    return smallest


def _simpler(step: Step, argument: str) -> Iterator[Step]:
    """The step with this argument from the front of its list, half-way there, or one nearer."""
    values, now = step.lists[argument], step.arguments[argument]
    place = values.index(now) if now in values else 0
    for nearer in sorted({0, place // 2, place - 1}):
        if 0 <= nearer < place:
            yield replace(step, arguments={**step.arguments, argument: values[nearer]})


def _way_of(problem: BaseException) -> str:
    """How it failed: the kind of the first finding, or the exception."""
    if isinstance(problem, Violated):
        return str(problem).partition(":")[0]
    return type(problem).__name__

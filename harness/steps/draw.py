"""Hypothesis draws programs: it chooses steps and submits them, and executes nothing itself.

`explore` plays so many programs of at most so many steps. The first that fails is made smaller
(`shrink.py`) and played once more, so that the failure shown is that of the smallest program.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from types import MappingProxyType
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import StopTest
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from harness.steps.dice import BACKEND
from harness.steps.shrink import Unrepeatable, shrunk, way_of
from harness.steps.step import Step
from harness.steps.trial import Trial, play
from harness.steps.vocabulary import ACTOR, Drawn, lists_for


def explore(trial: type[Trial], *, examples: int = 100, steps: int = 20) -> None:
    """Play so many programs of at most so many steps; fail with the smallest that fails.

    The trial's seed decides which programs they are.
    """
    kept: list[Step] = []

    class Looking(trial):  # type: ignore[valid-type, misc]
        def leave(self, problem: BaseException | None) -> str:
            if problem is not None:
                kept[:] = self.program
            return ""

    Looking.__name__ = trial.__name__
    try:
        draw(Looking, examples=examples, steps=steps)
    except Exception as problem:
        smallest = shrunk(trial, kept, way=way_of(problem))
    else:
        return
    play(trial, smallest)
    raise Unrepeatable(f"{trial.__name__}, seed {trial.seed}: it failed and then did not")


def draw(trial: type[Trial], *, examples: int, steps: int) -> None:
    """Let Hypothesis draw programs and submit them, up to the first that fails; shrinks nothing.

    The trial's seed decides which programs they are, and in which order.
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
        run_state_machine_as_test(seed(trial.seed)(_machine_of(trial)), settings=chosen)


def _machine_of(trial: type[Trial]) -> type[RuleBasedStateMachine]:
    """A machine of Hypothesis with a rule for each verb that may be drawn."""

    class Drawing(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.trial = trial()

        def teardown(self) -> None:
            if isinstance(sys.exc_info()[1], StopTest):
                self.trial.give_up()  # Hypothesis gave the example up half-way
            else:
                self.trial.conclude()

    rules: dict[str, Any] = {}
    for one in trial.drawn:
        as_rule: Any = rule(drawn=_one_of_each(one))
        rules[one.verb.replace("-", "_")] = as_rule(_submitting(one))
    return type(trial.__name__, (Drawing,), rules)


def _submitting(one: Drawn) -> Callable[..., None]:
    def submit(self: Any, drawn: Mapping[str, Any]) -> None:
        arguments = dict(drawn)
        actor = arguments.pop(ACTOR)
        step = Step(actor=actor, verb=one.verb, arguments=MappingProxyType(arguments))
        self.trial.submit(step)

    return submit


def _one_of_each(one: Drawn) -> SearchStrategy[dict[str, Any]]:
    """A choice from each list, drawn as one number: draws are what takes Hypothesis' time."""

    def numbers(machine: Any) -> SearchStrategy[dict[str, Any]]:
        values_of = lists_for(machine.trial, one)

        def chosen(number: int) -> dict[str, Any]:
            found = {}
            for name, values in reversed([*values_of.items()]):
                number, place = divmod(number, len(values))
                found[name] = values[place]
            return {name: found[name] for name in values_of}

        return st.integers(0, math.prod(map(len, values_of.values())) - 1).map(chosen)

    return st.runner().flatmap(numbers)

"""A failed search in words.

The reader gets the operation at which every legal order ends, what the object holds wherever that
operation could stand and how it would have been answered there, the end of one order that gets this
far, and what else was going on. Numbers are those of the history, so that each line can be found
there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.operation import Operation

SHOWN_STATES = 6
SHOWN_OPERATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """As many of some operations as are shown, and how many there are."""

    shown: Sequence[Operation]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Impasse:
    """Where the search got stuck: all that an explanation needs.

    `placed` is the end of a legal order that gets as far as any, `waiting` the first operations
    that are open there and not part of it, `states` the states in which orders arrive at `stuck`,
    all of them or some.
    """

    model: Model
    stuck: Operation
    states: Sequence[State]
    all_states: bool
    placed: Excerpt
    waiting: Excerpt
    total: int


def explain_legal(total: int) -> str:
    """A legal order exists."""
    return f"{total} operations have a legal order."


def explain_impasse(impasse: Impasse) -> str:
    """No legal order exists."""
    model, stuck = impasse.model, impasse.stuck
    lines = [
        f"operation {stuck.op} has no place in any legal order of the {impasse.total} operations:",
        f"  {_line(model, stuck)}",
        *_states(impasse),
        *_order(model, impasse.placed),
    ]
    if impasse.waiting.count:
        lines += ["also open at that time:", *_lines(model, impasse.waiting.shown)]
        lines += _left_out(impasse.waiting, "more")
    return "\n".join(lines)


def explain_unknown(impasse: Impasse, spent: str) -> str:
    """The budget ran out before there was an answer."""
    placed = f"{impasse.placed.count} of {impasse.total} operations were placed"
    return "\n".join(
        [
            f"no verdict: the budget of {spent} is spent; {placed}",
            "before the return of",
            f"  {_line(impasse.model, impasse.stuck)}",
            "a larger budget, or fewer clients on one key, may settle it.",
        ]
    )


def _states(impasse: Impasse) -> list[str]:
    model, stuck, states = impasse.model, impasse.stuck, impasse.states
    if not states:
        return ["the budget was spent before it was clear what it could have been answered."]
    lines = sorted(
        f"  {model.describe_state(state)}: it would {model.expected(state, stuck)}"
        for state in states
    )
    rest = len(lines) - SHOWN_STATES
    more = [f"  or one of {rest} more states"] if rest > 0 else []
    if not impasse.all_states:
        more = ["  or another state: not all were looked at"]
    return ["wherever it could stand,", *lines[:SHOWN_STATES], *more]


def _order(model: Model, placed: Excerpt) -> list[str]:
    if not placed.count:
        return ["nothing can stand before it."]
    lines = [*_left_out(placed, "earlier"), *_lines(model, placed.shown)]
    return ["a legal order up to there ends with:", *lines]


def _lines(model: Model, operations: Sequence[Operation]) -> list[str]:
    return [f"  {_line(model, operation)}" for operation in operations]


def _left_out(some: Excerpt, word: str) -> list[str]:
    rest = some.count - len(some.shown)
    return [f"  ({rest} {word})"] if rest else []


def _line(model: Model, operation: Operation) -> str:
    until = "outcome unknown" if operation.ended is None else f"to {operation.ended}"
    return (
        f"operation {operation.op}, process {operation.process}, "
        f"from {operation.began} {until}: {model.describe_operation(operation)}"
    )

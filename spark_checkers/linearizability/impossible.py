"""Answers that no order can explain, seen without a search: a state that could not have been there.

An operation requires a state. Either no operation that leaves it had begun when this one returned,
and the object did not start in it; or all of those had ended before an operation began that
overwrites it, and that one had ended before this one began: the state was gone. Then the history
has no legal order, whatever the others did.

What is left to find out is whether orders get that far, and the states in which they arrive. A
state is not among them if it was gone when this operation was due; so a walk that has seen as many
as are left has seen enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from spark_checkers.linearizability.models import ANY_STATE, SAME_STATE, Model, State
from spark_checkers.linearizability.timeline import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """The position of such a return (`timeline` says what that is), and the most states there."""

    position: int
    most_states: int


def first_impossible(line: Timeline, model: Model) -> Impossible | None:
    """The first answer of that kind, if there is one."""
    effects = [effect for example in line.example if (effect := model.effect(example)) is not None]
    if len(effects) < len(line.example):
        return None
    last_left: dict[State, float] = {model.initial: -inf}
    overwritten = [-inf]  # by position: when the last overwriter began that has returned by then
    upcoming = 0
    for position, due in enumerate(line.due):
        for number in range(upcoming, line.begun[position]):
            left, ended = effects[line.kind[number]].leaves, line.operations[number].ended
            if left is not SAME_STATE:
                last_left[left] = max(last_left.get(left, -inf), inf if ended is None else ended)
        upcoming = line.begun[position]
        required = effects[line.kind[due]].requires
        gone = overwritten[line.begins_at[due]]
        if required is not ANY_STATE and not _was_there(required, last_left, gone):
            most = sum(left >= overwritten[position] for left in last_left.values())
            return Impossible(position=position, most_states=most)
        began = line.operations[due].began if line.overwrites[due] else -inf
        overwritten.append(max(overwritten[-1], began))
    return None


def _was_there(state: State, last_left: dict[State, float], overwritten: float) -> bool:
    return state in last_left and last_left[state] >= overwritten

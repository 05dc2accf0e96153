"""Answers that no order can explain, as `impossible` finds them, found in arrays."""

from __future__ import annotations

import numpy as np

from spark_checkers.linearizability.compiled.arrays import (
    ANY,
    NEVER,
    SAME,
    Line,
    Numbers,
    compiled,
)
from spark_checkers.linearizability.impossible import Impossible

NOT_YET = -(2**63)
AT_FIRST = NOT_YET + 1
TO_THE_END = 2**63 - 1


def first_impossible(line: Line, began: Numbers, ended: Numbers, states: int) -> Impossible | None:
    """The first answer of that kind, if there is one; the first state is number 0."""
    last_left = np.full(states, NOT_YET, np.int64)
    last_left[0] = AT_FIRST
    overwritten = np.full(len(line.due) + 1, AT_FIRST, np.int64)
    position = follow(line, began, ended, last_left, overwritten)
    if position == len(line.due):
        return None
    most = np.count_nonzero(last_left >= overwritten[position])
    return Impossible(position=position, most_states=int(most))


@compiled
def follow(
    line: Line, began: Numbers, ended: Numbers, last_left: Numbers, overwritten: Numbers
) -> int:
    """Follow the clock to the first such return, or to the end.

    `last_left` is by state, and `overwritten` by position: when the last overwriter began that has
    returned by then.
    """
    upcoming = 0
    for position in range(len(line.due)):
        due = line.due[position]
        while upcoming < len(began) and began[upcoming] <= ended[due]:
            left = line.leaves[line.kind[upcoming]]
            if left != SAME:
                end = TO_THE_END if ended[upcoming] == NEVER else ended[upcoming]
                last_left[left] = max(last_left[left], end)
            upcoming += 1
        kind = line.kind[due]
        required = line.requires[kind]
        if required != ANY and last_left[required] < overwritten[line.begins_at[due]]:
            return position
        overwritten[position + 1] = overwritten[position]
        if required == ANY and line.leaves[kind] != SAME:
            overwritten[position + 1] = max(overwritten[position], began[due])
    return len(line.due)

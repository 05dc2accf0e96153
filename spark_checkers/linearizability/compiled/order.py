"""The order that a walk leaves behind, written out."""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import Numbers, compiled


@compiled
def unwind(trail: Numbers, step: int, order: Numbers) -> int:
    """Write a trail to the end of an array, its last operation last; where it begins."""
    place = len(order)
    while step != -1:
        place -= 1
        order[place], step = trail[step, 0], trail[step, 1]
    return place

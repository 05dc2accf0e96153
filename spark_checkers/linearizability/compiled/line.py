"""The timeline of `timeline`, laid out by compiled code. Operations come sorted by their begin.

Arrays are made by Python and filled here: compiled code that makes arrays takes long to compile.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from spark_checkers.linearizability.compiled.arrays import (
    ANY,
    MOST_SLOTS,
    NEVER,
    SAME,
    Line,
    Numbers,
    compiled,
)
from spark_checkers.linearizability.operation import NotForCompiledCode

_NO_NUMBERS: Numbers = np.empty(0, np.int64)
_NONE_BEGINS: Numbers = np.zeros(1, np.int64)


def laid_out(
    began: Numbers,
    ended: Numbers,
    kind: Numbers,
    by_return: Numbers,
    requires: Numbers,
    leaves: Numbers,
    twin: Numbers,
) -> Line:
    """Prepare a history for the walk; `by_return` is who returns when, `twin` goes by kind."""
    slots = most_open(began, ended, by_return)
    if slots > MOST_SLOTS:
        raise NotForCompiledCode(f"{slots} operations are open at once, more than {MOST_SLOTS}")
    operations, returns = len(began), len(by_return)
    begins_at, returns_at, slot = np.full((3, operations), -1, np.int64)
    beginning, observing, overwriting = np.zeros((3, returns), np.int64)
    unknown = _NO_NUMBERS
    if 0 < returns < operations:
        may_count = (ended == NEVER) & (leaves[kind] != SAME) & (began <= ended[by_return[-1]])
        unknown = may_count.nonzero()[0]
    unknown_kind, unknown_first, unknown_member = _unknown_kinds(kind, unknown)
    line = Line(
        kind=kind,
        begins_at=begins_at,
        returns_at=returns_at,
        slot=slot,
        due=by_return,
        beginning=beginning,
        observing=observing,
        overwriting=overwriting,
        occupant=np.full((returns, slots), -1, np.int64),
        overtaken_from=np.full(returns, returns, np.int64),
        requires=requires,
        leaves=leaves,
        unknown_kind=unknown_kind,
        unknown_twin=twin[unknown_kind],
        unknown_first=unknown_first,
        unknown_member=unknown_member,
    )
    hand_out_slots(line, began, ended, np.arange(slots - 1, -1, -1))
    return line


def _unknown_kinds(kind: Numbers, members: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Kinds of unknown outcome, the earliest first; where each one's members begin; the members."""
    if not len(members):
        return _NO_NUMBERS, _NONE_BEGINS, _NO_NUMBERS
    alike: dict[int, list[int]] = {}
    for number, same in zip(members.tolist(), kind[members].tolist(), strict=True):
        alike.setdefault(same, []).append(number)
    first = [0, *accumulate(len(numbers) for numbers in alike.values())]
    member = [number for numbers in alike.values() for number in numbers]
    return _numbers(list(alike)), _numbers(first), _numbers(member)


def _numbers(found: list[int]) -> Numbers:
    return np.array(found, np.int64)


@compiled
def most_open(began: Numbers, ended: Numbers, by_return: Numbers) -> int:
    """The highest number of operations that were open at once."""
    upcoming = opened = most = 0
    for due in by_return:
        while upcoming < len(began) and began[upcoming] <= ended[due]:
            opened += int(ended[upcoming] != NEVER)
            upcoming += 1
        most = max(most, opened)
        opened -= 1
    return most


@compiled
def hand_out_slots(line: Line, began: Numbers, ended: Numbers, free: Numbers) -> None:
    """Follow the clock from return to return; `free` are the slots, the next one last."""
    unused, upcoming, observers, overwriters = len(free), 0, 0, 0
    for position in range(len(line.due)):
        due = line.due[position]
        if position:
            for slot in range(len(free)):
                line.occupant[position, slot] = line.occupant[position - 1, slot]
        while upcoming < len(began) and began[upcoming] <= ended[due]:
            line.begins_at[upcoming] = position
            if ended[upcoming] != NEVER:
                unused -= 1
                slot = line.slot[upcoming] = free[unused]
                line.occupant[position, slot] = upcoming
                bit = 1 << slot
                line.beginning[position] |= bit
                kind = line.kind[upcoming]
                changes = line.leaves[kind] != SAME
                overwrites = changes and line.requires[kind] == ANY
                observers = observers & ~bit if changes else observers | bit
                overwriters = overwriters | bit if overwrites else overwriters & ~bit
            upcoming += 1
        line.returns_at[due] = position
        line.observing[position], line.overwriting[position] = observers, overwriters
        free[unused] = line.slot[due]
        unused += 1
    for position in range(len(line.due) - 1, 0, -1):
        due, found = line.due[position], line.overtaken_from
        kind, begins = line.kind[due], line.begins_at[due]
        found[position - 1] = min(found[position - 1], found[position])
        if begins and line.leaves[kind] != SAME and line.requires[kind] == ANY:
            found[begins - 1] = min(found[begins - 1], position)

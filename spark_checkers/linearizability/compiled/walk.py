"""The walk of `walk`, with the moves of `moves`, as compiled code.

The two are one search. They try the same configurations in the same order, so they find the same
order, the same impasse, and spend the same budget; what the moves are and why they suffice is told
in `moves` and `timeline`. Everything is a number here. An operation of a kind fits where the state
is `requires[kind]`, or anywhere, and leaves `leaves[kind]` behind, or what was there.

`advance` goes on until it has an answer or is short of room, which the caller can make.
"""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import Line, Room, compiled, part
from spark_checkers.linearizability.compiled.layout import (
    ARRIVED,
    BEST,
    ENTRY,
    EXPLORED,
    FRESH,
    FURTHEST,
    KEPT_TRAILS,
    MOST_MOVES,
    NEXT,
    POSITION,
    STACK,
    STATES,
    STEPS,
    TAKEN,
    TRAIL,
    TRAILS,
    TRIED,
    USED,
    USED_SETS,
    USES,
)
from spark_checkers.linearizability.compiled.memory import add_left_by_unknown, first_time, note
from spark_checkers.linearizability.compiled.moves import push_moves, settle

FOUND, EXHAUSTED, SPENT, SHORT_OF_ROOM, GOES_ON = range(5)


@part
def pop(room: Room) -> None:
    """Take the next configuration; steps that only the ones before it knew are forgotten."""
    counters, here = room.counters, room.here
    counters[STACK] -= 1
    for field in range(ENTRY):
        here[field] = room.stack[counters[STACK], field]
    counters[TRAILS] = max(here[STEPS], counters[KEPT_TRAILS])
    if here[USES] != -1:
        used = counters[USED_SETS]
        for same in range(room.used.shape[1]):
            room.used[used, same] = room.used[here[USED], same]
        room.used[used, here[USES]] += 1
        here[USED] = used
        counters[USED_SETS] += 1


@part
def short_of_room(line: Line, room: Room) -> bool:
    """Could the next step need more than there is?"""
    counters = room.counters
    moves = counters[MOST_MOVES]
    return bool(
        counters[STACK] + moves > len(room.stack)
        or counters[TRAILS] + 2 * moves + len(line.kind) > len(room.trail)
        or 2 * counters[TRIED] >= len(room.tried)
        or counters[USED_SETS] >= len(room.used)
        or (len(line.unknown_kind) and counters[EXPLORED] >= len(room.before))
    )


@part
def explore(line: Line, room: Room, until: int, states: int, enough: int, more: int) -> int:
    """Count and note the present configuration; does the walk end with it?"""
    counters = room.counters
    if counters[EXPLORED] == states:
        return SPENT
    counters[EXPLORED] += 1
    note(room)
    if more == -1 or counters[FURTHEST] < until - 1:
        return GOES_ON
    add_left_by_unknown(line, room)
    if counters[STATES] == enough:
        return EXHAUSTED
    return SPENT if counters[EXPLORED] - counters[ARRIVED] == more else GOES_ON


@compiled
def advance(
    line: Line, room: Room, until: int, states: int, steps: int, enough: int, more: int
) -> int:
    """Go on: try to pass `until` returns, within a budget of states and of steps.

    At the last of them, `enough` states or `more` configurations are enough, if not -1.
    """
    counters, here = room.counters, room.here
    while counters[STACK]:
        if short_of_room(line, room):
            return SHORT_OF_ROOM
        pop(room)
        if here[NEXT] == FRESH:
            settle(line, room)
            if here[POSITION] >= until:
                counters[BEST] = here[TRAIL]
                return FOUND
            if counters[TAKEN] > steps:
                return SPENT
            if not first_time(room):
                counters[USED_SETS] -= int(here[USES] != -1)
                continue
            end = explore(line, room, until, states, enough, more)
            if end != GOES_ON:
                return end
        push_moves(line, room)
    return EXHAUSTED

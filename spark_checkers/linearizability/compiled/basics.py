"""Small questions that the compiled walk asks all the time."""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import ANY, SAME, Line, Room, part
from spark_checkers.linearizability.compiled.layout import TRAILS


@part
def lowest(mask: int) -> int:
    """The number of the lowest bit."""
    number = 0
    for width in (32, 16, 8, 4, 2, 1):
        if mask & ((1 << width) - 1) == 0:
            mask >>= width
            number += width
    return number


@part
def how_many(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@part
def overwrites(line: Line, number: int) -> bool:
    kind = line.kind[number]
    return bool(line.leaves[kind] != SAME and line.requires[kind] == ANY)


@part
def fits(line: Line, state: int, kind: int) -> bool:
    return bool(line.requires[kind] == ANY or line.requires[kind] == state)


@part
def extended(room: Room, number: int, trail: int) -> int:
    """A trail with one step more."""
    step = room.counters[TRAILS]
    room.trail[step, 0], room.trail[step, 1] = number, trail
    room.counters[TRAILS] = step + 1
    return int(step)


@part
def next_unused(line: Line, same: int, used: int, position: int) -> int:
    """The next operation of that kind, if it has begun by then, or -1."""
    place = line.unknown_first[same] + used
    if place == line.unknown_first[same + 1]:
        return -1
    member = line.unknown_member[place]
    return -1 if line.begins_at[member] > position else int(member)

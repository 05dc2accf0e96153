"""What the compiled walk has tried, and how far it got."""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import ANY, Line, Numbers, Room, compiled, part
from spark_checkers.linearizability.compiled.basics import how_many, next_unused
from spark_checkers.linearizability.compiled.layout import (
    ARRIVED,
    BEST,
    CLOSED,
    EXPLORED,
    FURTHEST,
    KEPT_TRAILS,
    LEFT_THERE,
    MASK,
    POSITION,
    STATE,
    STATES,
    TAKEN,
    TO_BE_ADDED,
    TRAIL,
    TRAILS,
    TRIED,
    USED,
    USED_STEPS,
)


@part
def _place_of(tried: Numbers, mask: int, rest: int) -> int:
    """Where the hash table has this pair, or would have it."""
    mixed = mask * -7046029254386353131 ^ rest * -4417276706812531889
    mixed = (mixed ^ (mixed >> 29)) * -4658895280553007687
    last = len(tried) - 1
    place = (mixed ^ (mixed >> 32)) & last
    while tried[place, 1] != -1 and (tried[place, 0] != mask or tried[place, 1] != rest):
        place = (place + 1) & last
    return int(place)


@part
def _no_more(used: Numbers, one: int, other: int) -> bool:
    """Does one set use no more of any kind than the other?"""
    same = 0
    while same < used.shape[1] and used[one, same] <= used[other, same]:
        same += 1
    return bool(same == used.shape[1])


@part
def first_time(room: Room) -> bool:
    """Remember the present configuration; was there none with the same or fewer used before?"""
    here, counters = room.here, room.counters
    rest = (here[STATE] << 1 | here[CLOSED]) << 31 | here[POSITION]
    place = _place_of(room.tried, here[MASK], rest)
    known = room.tried[place, 1] != -1
    if not known:
        room.tried[place, 0], room.tried[place, 1] = here[MASK], rest
        counters[TRIED] += 1
    if room.used.shape[1] == 0:
        return not known
    before = head = room.tried_with[place] if known else -1
    while before != -1:
        counters[TAKEN] += counters[USED_STEPS]
        if _no_more(room.used, room.before[before, 0], here[USED]):
            return False
        before = room.before[before, 1]
    node = counters[EXPLORED]
    room.before[node, 0], room.before[node, 1] = here[USED], head
    room.tried_with[place] = node
    return True


@compiled
def enlarge(room: Room, tried: Numbers, tried_with: Numbers) -> None:
    """Copy the hash table into a larger one."""
    for place in range(len(room.tried)):
        if room.tried[place, 1] != -1:
            moved = _place_of(tried, room.tried[place, 0], room.tried[place, 1])
            tried[moved, 0], tried[moved, 1] = room.tried[place, 0], room.tried[place, 1]
            if len(tried_with):
                tried_with[moved] = room.tried_with[place]


@part
def _see(room: Room, state: int) -> None:
    """Remember a state at the furthest position."""
    counters = room.counters
    if room.seen_at[state] != counters[FURTHEST]:
        room.seen_at[state] = counters[FURTHEST]
        room.seen[counters[STATES]] = state
        counters[STATES] += 1


@part
def note(room: Room) -> None:
    """Remember how far the walk got, and the state there."""
    here, counters = room.here, room.counters
    position, state = here[POSITION], here[STATE]
    if position < counters[FURTHEST]:
        return
    left = how_many(here[MASK])
    further = position > counters[FURTHEST]
    if further:
        counters[STATES], counters[ARRIVED] = 0, counters[EXPLORED]
    if further or left < counters[LEFT_THERE]:
        counters[FURTHEST], counters[LEFT_THERE], counters[BEST] = position, left, here[TRAIL]
        counters[KEPT_TRAILS] = counters[TRAILS]
    _see(room, state)
    for same in range(len(room.least)):
        used = room.used[here[USED], same]
        if further or used < room.least[same]:
            room.least[same] = used
            counters[TO_BE_ADDED] = 1


@compiled
def add_left_by_unknown(line: Line, room: Room) -> None:
    """Note the states that unused overwriting operations would leave there."""
    if not room.counters[TO_BE_ADDED]:
        return
    room.counters[TO_BE_ADDED] = 0
    for same in range(len(room.least)):
        kind = line.unknown_kind[same]
        member = next_unused(line, same, room.least[same], room.counters[FURTHEST])
        if line.requires[kind] == ANY and member != -1:
            _see(room, line.leaves[kind])

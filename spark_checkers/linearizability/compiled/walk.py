"""The walk of `walk`, with the moves of `moves`, as compiled code.

The two are one search. They try the same configurations in the same order, so they find the same
order, the same impasse, and spend the same budget; what the moves are and why they suffice is told
in `moves` and `timeline`. Everything is a number here. An operation of a kind fits where the state
is `requires[kind]`, or anywhere, and leaves `leaves[kind]` behind, or what was there.

`advance` goes on until it has an answer or is short of room, which the caller can make.
"""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import (
    ANY,
    SAME,
    Line,
    Numbers,
    Room,
    compiled,
    part,
)

FOUND, EXHAUSTED, SPENT, SHORT_OF_ROOM = range(4)

# What an entry of the stack holds: a configuration, which of its moves come next (FRESH: it has not
# been looked at), how many steps the trails had then, and the kind of unknown operation used by the
# move that leads to it.
POSITION, MASK, STATE, USED, CLOSED, TRAIL, NEXT, STEPS, USES, ENTRY = range(10)
FRESH, HELPFUL, UNHELPFUL, UNKNOWN = range(4)

# How much of each part of the room is taken, and what the walk has seen.
STACK, TRAILS, KEPT_TRAILS, TRIED, USED_SETS = range(5)
EXPLORED, FURTHEST, ARRIVED, LEFT_THERE, BEST, STATES, COUNTERS = range(5, 12)


@part
def _lowest(mask: int) -> int:
    """The number of the lowest bit."""
    number = 0
    for width in (32, 16, 8, 4, 2, 1):
        if mask & ((1 << width) - 1) == 0:
            mask >>= width
            number += width
    return number


@part
def _count(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@part
def _overwrites(line: Line, number: int) -> bool:
    kind = line.kind[number]
    return bool(line.leaves[kind] != SAME and line.requires[kind] == ANY)


@part
def _fits(line: Line, state: int, kind: int) -> bool:
    return bool(line.requires[kind] == ANY or line.requires[kind] == state)


@part
def _extended(room: Room, number: int, trail: int) -> int:
    """A trail with one step more."""
    step = room.counters[TRAILS]
    room.trail[step, 0], room.trail[step, 1] = number, trail
    room.counters[TRAILS] = step + 1
    return int(step)


@part
def _push(
    room: Room, mask: int, state: int, closed: int, trail: int, following: int, uses: int
) -> None:
    """A configuration at the present position, or (`following`) the rest of the present one."""
    stack, top = room.stack, room.counters[STACK]
    stack[top, POSITION], stack[top, MASK], stack[top, STATE] = room.here[POSITION], mask, state
    stack[top, USED], stack[top, CLOSED], stack[top, TRAIL] = room.here[USED], closed, trail
    stack[top, NEXT], stack[top, STEPS], stack[top, USES] = following, room.counters[TRAILS], uses
    room.counters[STACK] = top + 1


@part
def _later(room: Room) -> None:
    """Come back to the present configuration for the moves that follow."""
    here = room.here
    _push(room, here[MASK], here[STATE], here[CLOSED], here[TRAIL], here[NEXT] + 1, -1)


@part
def settle(line: Line, room: Room) -> None:
    """Place what only observes and fits here; pass the returns of what has been placed."""
    here = room.here
    position, mask, state = here[POSITION], here[MASK], here[STATE]
    fresh = mask & line.observing[position]
    while True:
        while fresh:
            slot = _lowest(fresh)
            fresh &= fresh - 1
            number = line.occupant[position, slot]
            if _fits(line, state, line.kind[number]):
                mask ^= 1 << slot
                here[TRAIL] = _extended(room, number, here[TRAIL])
                here[CLOSED] = 0
        if mask >> line.slot[line.due[position]] & 1:
            break
        position += 1
        if position == len(line.due):
            break
        mask |= line.beginning[position]
        fresh = line.beginning[position] & line.observing[position]
    here[POSITION], here[MASK] = position, mask


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
        if _no_more(room.used, room.alike[before, 0], here[USED]):
            return False
        before = room.alike[before, 1]
    node = counters[EXPLORED]
    room.alike[node, 0], room.alike[node, 1] = here[USED], head
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
def note(room: Room) -> None:
    """Remember how far the walk got, and the state there."""
    here, counters = room.here, room.counters
    position, state = here[POSITION], here[STATE]
    if position < counters[FURTHEST]:
        return
    left = _count(here[MASK])
    further = position > counters[FURTHEST]
    if further:
        counters[STATES], counters[ARRIVED] = 0, counters[EXPLORED]
    if further or left < counters[LEFT_THERE]:
        counters[FURTHEST], counters[LEFT_THERE], counters[BEST] = position, left, here[TRAIL]
        counters[KEPT_TRAILS] = counters[TRAILS]
    if room.seen_at[state] != position:
        room.seen_at[state] = position
        room.seen[counters[STATES]] = state
        counters[STATES] += 1


@part
def push_due_alone(line: Line, room: Room) -> None:
    """The operation that returns next, if it changes the object and fits."""
    here = room.here
    due = line.due[here[POSITION]]
    kind = line.kind[due]
    shut = here[CLOSED] and _overwrites(line, due)
    if line.leaves[kind] != SAME and not shut and _fits(line, here[STATE], kind):
        trail = _extended(room, due, here[TRAIL])
        _push(room, here[MASK] ^ 1 << line.slot[due], line.leaves[kind], 0, trail, FRESH, -1)


@part
def push_others(line: Line, room: Room, helpful: bool) -> None:
    """Other operations, those after which the due one fits or those after which it does not."""
    here = room.here
    position, mask = here[POSITION], here[MASK]
    due = line.due[position]
    skipped = line.observing[position] | line.overwriting[position] | 1 << line.slot[due]
    others = mask & ~skipped
    while others:
        slot = _lowest(others)
        others &= others - 1
        number = line.occupant[position, slot]
        kind = line.kind[number]
        then = line.leaves[kind]
        if _fits(line, here[STATE], kind) and _fits(line, then, line.kind[due]) == helpful:
            _push(room, mask ^ 1 << slot, then, 0, _extended(room, number, here[TRAIL]), FRESH, -1)


@part
def push_rows(line: Line, room: Room, helpful: bool) -> None:
    """Rows of overwriting operations, but for the due one alone."""
    here = room.here
    position = here[POSITION]
    overwriting = here[MASK] & line.overwriting[position]
    if here[CLOSED] or not overwriting:
        return
    due = line.due[position]
    count = _sorted_by_return(line, room, overwriting)
    overtaken_from = _overtaken_from(line, position, room.by_return[count - 1])
    for place in range(count):
        last = room.by_return[place]
        fits = last == due or _fits(line, line.leaves[line.kind[last]], line.kind[due])
        if fits == helpful:
            _push_rows_to(line, room, last, count, overtaken_from)


@part
def _push_rows_to(line: Line, room: Room, last: int, count: int, overtaken_from: int) -> None:
    here = room.here
    due, then = line.due[here[POSITION]], line.leaves[line.kind[last]]
    mask, hidden = here[MASK] ^ 1 << line.slot[last], here[TRAIL]
    if last != due:
        _push(room, mask, then, 1, _extended(room, last, hidden), FRESH, -1)
        if _overwrites(line, due):
            return
    for place in range(count):
        number = room.by_return[place]
        if number == last:
            continue
        if line.returns_at[number] > overtaken_from:
            break
        mask, hidden = mask ^ 1 << line.slot[number], _extended(room, number, hidden)
        _push(room, mask, then, 1, _extended(room, last, hidden), FRESH, -1)


@part
def _sorted_by_return(line: Line, room: Room, mask: int) -> int:
    """Put the operations in these slots into `by_return`; how many there are."""
    count = 0
    while mask:
        number = line.occupant[room.here[POSITION], _lowest(mask)]
        mask &= mask - 1
        place = count
        while place and line.returns_at[room.by_return[place - 1]] > line.returns_at[number]:
            room.by_return[place] = room.by_return[place - 1]
            place -= 1
        room.by_return[place] = number
        count += 1
    return count


@part
def _overtaken_from(line: Line, position: int, last: int) -> int:
    """The first return, if it comes before that of `last`, of an overwriter yet to begin."""
    until = line.returns_at[last]
    for place in range(position, until):
        if line.begins_at[line.due[place]] > position and _overwrites(line, line.due[place]):
            return place
    return int(until)


@part
def push_unknown(line: Line, room: Room) -> None:
    """Unknown operations that would change the state."""
    here = room.here
    for same in range(len(line.unknown_kind)):
        kind = line.unknown_kind[same]
        member = line.unknown_first[same] + room.used[here[USED], same]
        none_left = member == line.unknown_first[same + 1]
        if none_left or line.begins_at[line.unknown_member[member]] > here[POSITION]:
            continue
        then = line.leaves[kind]
        if _fits(line, here[STATE], kind) and then != here[STATE]:
            trail = _extended(room, line.unknown_member[member], here[TRAIL])
            _push(room, here[MASK], then, 1, trail, FRESH, same)


@part
def _first_on_top(room: Room, bottom: int) -> None:
    """Turn the entries from `bottom` on around; the steps of each stay until all are done with."""
    top = room.counters[STACK]
    for place in range((top - bottom) // 2):
        for field in range(ENTRY):
            low, high = room.stack[bottom + place, field], room.stack[top - 1 - place, field]
            room.stack[bottom + place, field], room.stack[top - 1 - place, field] = high, low
    for place in range(bottom, top):
        room.stack[place, STEPS] = room.counters[TRAILS]


@part
def push_moves(line: Line, room: Room) -> None:
    """The next few moves from the present configuration, so that they come off in order."""
    counters, following = room.counters, room.here[NEXT]
    if following < UNHELPFUL or (following == UNHELPFUL and len(line.unknown_kind)):
        _later(room)
    bottom = counters[STACK]
    if following == FRESH:
        push_due_alone(line, room)
    elif following == UNKNOWN:
        push_unknown(line, room)
    else:
        push_others(line, room, following == HELPFUL)
        push_rows(line, room, following == HELPFUL)
    _first_on_top(room, bottom)


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
    counters, slots = room.counters, line.occupant.shape[1]
    moves = slots * slots + slots + len(line.unknown_kind) + 2
    return bool(
        counters[STACK] + moves > len(room.stack)
        or counters[TRAILS] + 2 * moves + len(line.kind) > len(room.trail)
        or 2 * counters[TRIED] >= len(room.tried)
        or counters[USED_SETS] >= len(room.used)
        or (len(line.unknown_kind) and counters[EXPLORED] >= len(room.alike))
    )


@compiled
def advance(line: Line, room: Room, until: int, budget: int, enough: int, lingering: int) -> int:
    """Go on: try to pass `until` returns, or to see `enough` states before the last of them."""
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
            if not first_time(room):
                counters[USED_SETS] -= int(here[USES] != -1)
                continue
            if counters[EXPLORED] == budget:
                return SPENT
            counters[EXPLORED] += 1
            note(room)
            if counters[FURTHEST] == until - 1:
                if counters[STATES] == enough:
                    return EXHAUSTED
                if counters[EXPLORED] - counters[ARRIVED] == lingering:
                    return SPENT
        push_moves(line, room)
    return EXHAUSTED


@compiled
def unwind(room: Room, order: Numbers) -> int:
    """Write the best trail to the end of an array, its last operation last; where it begins."""
    step, place = room.counters[BEST], len(order)
    while step != -1:
        place -= 1
        order[place], step = room.trail[step, 0], room.trail[step, 1]
    return place

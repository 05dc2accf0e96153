"""The moves of `moves`, as compiled code."""

from __future__ import annotations

from spark_checkers.linearizability.compiled.arrays import ANY, SAME, Line, Room, part
from spark_checkers.linearizability.compiled.basics import (
    extended,
    fits,
    how_many,
    lowest,
    next_unused,
    overwrites,
)
from spark_checkers.linearizability.compiled.layout import (
    CLOSED,
    ENTRY,
    FRESH,
    HELPFUL,
    MASK,
    NEXT,
    POSITION,
    STACK,
    STATE,
    STEPS,
    TAKEN,
    TRAIL,
    TRAILS,
    UNHELPFUL,
    UNKNOWN,
    USED,
    USED_STEPS,
    USES,
)


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
    steps = 1
    while True:
        steps += 1
        while fresh:
            slot = lowest(fresh)
            fresh &= fresh - 1
            steps += 1
            number = line.occupant[position, slot]
            if fits(line, state, line.kind[number]):
                mask ^= 1 << slot
                here[TRAIL] = extended(room, number, here[TRAIL])
                here[CLOSED] = 0
        if mask >> line.slot[line.due[position]] & 1:
            break
        position += 1
        if position == len(line.due):
            break
        mask |= line.beginning[position]
        fresh = line.beginning[position] & line.observing[position]
    here[POSITION], here[MASK] = position, mask
    room.counters[TAKEN] += steps


@part
def push_due_alone(line: Line, room: Room) -> None:
    """The operation that returns next, if it changes the object and fits."""
    here = room.here
    due = line.due[here[POSITION]]
    kind = line.kind[due]
    shut = here[CLOSED] and overwrites(line, due)
    if line.leaves[kind] != SAME and not shut and fits(line, here[STATE], kind):
        trail = extended(room, due, here[TRAIL])
        _push(room, here[MASK] ^ 1 << line.slot[due], line.leaves[kind], 0, trail, FRESH, -1)


@part
def push_others(line: Line, room: Room, helpful: bool) -> None:
    """Other operations, those after which the due one fits or those after which it does not."""
    here = room.here
    position, mask = here[POSITION], here[MASK]
    due = line.due[position]
    skipped = line.observing[position] | line.overwriting[position] | 1 << line.slot[due]
    others = mask & ~skipped
    if not others:
        return
    _meet(line, room, others | 1 << line.slot[due] & ~line.overwriting[position])
    while others:
        slot = lowest(others)
        others &= others - 1
        number = line.occupant[position, slot]
        kind = line.kind[number]
        then = line.leaves[kind]
        if room.alike[kind, 1] != number:
            continue
        if fits(line, here[STATE], kind) and fits(line, then, line.kind[due]) == helpful:
            _push(room, mask ^ 1 << slot, then, 0, extended(room, number, here[TRAIL]), FRESH, -1)


@part
def _meet(line: Line, room: Room, mask: int) -> None:
    """Put into `alike`, by kind, the operation in these slots that returns next."""
    moment = room.counters[TAKEN]
    while mask:
        number = line.occupant[room.here[POSITION], lowest(mask)]
        mask &= mask - 1
        met = room.alike[line.kind[number]]
        if met[0] != moment or line.returns_at[number] < line.returns_at[met[1]]:
            met[0], met[1] = moment, number


@part
def push_rows(line: Line, room: Room, helpful: bool) -> None:
    """Rows of overwriting operations, but for the due one alone."""
    here = room.here
    due, count = line.due[here[POSITION]], _sorted_by_return(line, room)
    if helpful:
        room.counters[TAKEN] += count if overwrites(line, due) else count * count
    moment = room.counters[TAKEN]
    for place in range(count):
        last = room.by_return[place]
        kind = line.kind[last]
        met = room.alike[kind]
        least = met[1] + 1 if met[0] == moment else 0
        met[0], met[1] = moment, place
        if (last == due or fits(line, line.leaves[kind], line.kind[due])) == helpful:
            mask = here[MASK] ^ 1 << line.slot[last]
            _push_rows_to(line, room, last, mask, count, least, -1)


@part
def _push_rows_to(
    line: Line, room: Room, last: int, mask: int, count: int, least: int, uses: int
) -> None:
    """The last one of a row alone, and behind what it hides: at `least` that many."""
    here = room.here
    due, then, hidden = line.due[here[POSITION]], line.leaves[line.kind[last]], here[TRAIL]
    if last != due:
        if not least and (uses == -1 or then != here[STATE]):
            _push(room, mask, then, 1, extended(room, last, hidden), FRESH, uses)
        if overwrites(line, due):
            return
    for place in range(count):
        number = room.by_return[place]
        if number == last:
            continue
        if line.returns_at[number] > line.overtaken_from[here[POSITION]]:
            break
        mask, hidden = mask ^ 1 << line.slot[number], extended(room, number, hidden)
        if place + 1 >= least:
            _push(room, mask, then, 1, extended(room, last, hidden), FRESH, uses)


@part
def _sorted_by_return(line: Line, room: Room) -> int:
    """Put what may stand in a row into `by_return`; how many there are."""
    here, count = room.here, 0
    mask = 0 if here[CLOSED] else here[MASK] & line.overwriting[here[POSITION]]
    while mask:
        number = line.occupant[here[POSITION], lowest(mask)]
        mask &= mask - 1
        place = count
        while place and line.returns_at[room.by_return[place - 1]] > line.returns_at[number]:
            room.by_return[place] = room.by_return[place - 1]
            place -= 1
        room.by_return[place] = number
        count += 1
    return count


@part
def _want(line: Line, room: Room) -> None:
    """Mark the states that open operations look for, and unknown ones."""
    here, moment = room.here, room.counters[TAKEN]
    mask = here[MASK] & ~line.overwriting[here[POSITION]]
    while mask:
        number = line.occupant[here[POSITION], lowest(mask)]
        mask &= mask - 1
        room.wanted[line.requires[line.kind[number]]] = moment
    for same in range(len(line.unknown_kind)):
        required, used = line.requires[line.unknown_kind[same]], room.used[here[USED], same]
        if required != ANY and next_unused(line, same, used, here[POSITION]) != -1:
            room.wanted[required] = moment


@part
def push_unknown(line: Line, room: Room) -> None:
    """Unknown operations that would change the state, alone or at the end of a row."""
    here, counters = room.here, room.counters
    count = _sorted_by_return(line, room)
    counters[TAKEN] += how_many(here[MASK])
    _meet(line, room, here[MASK])
    if not here[CLOSED]:
        _want(line, room)
    behind = 0 if overwrites(line, line.due[here[POSITION]]) else count
    moment, steps = counters[TAKEN], 0
    for same in range(len(line.unknown_kind)):
        kind, twin = line.unknown_kind[same], line.unknown_twin[same]
        always_legal = line.requires[kind] == ANY
        if always_legal and (here[CLOSED] or room.wanted[line.leaves[kind]] != moment):
            continue
        steps += counters[USED_STEPS]
        if twin != -1 and room.alike[twin, 0] == moment:
            continue
        member = next_unused(line, same, room.used[here[USED], same], here[POSITION])
        if member != -1 and fits(line, here[STATE], kind):
            steps += 1 + behind
            row = count if always_legal else 0
            _push_rows_to(line, room, member, here[MASK], row, 0, same)
    counters[TAKEN] += steps


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
        counters[TAKEN] += how_many(room.here[MASK])
        push_others(line, room, following == HELPFUL)
        push_rows(line, room, following == HELPFUL)
    _first_on_top(room, bottom)

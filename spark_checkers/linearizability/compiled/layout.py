"""What stands where in the room of a walk."""

from __future__ import annotations

# What an entry of the stack holds: a configuration, which of its moves come next (FRESH: it has not
# been looked at), how many steps the trails had then, and the kind of unknown operation used by the
# move that leads to it.
POSITION, MASK, STATE, USED, CLOSED, TRAIL, NEXT, STEPS, USES, ENTRY = range(10)
FRESH, HELPFUL, UNHELPFUL, UNKNOWN = range(4)

# How much of each part of the room is taken, what the walk has seen, how many steps it has taken;
# the most moves from one configuration, and the steps to compare two used sets.
STACK, TRAILS, KEPT_TRAILS, TRIED, USED_SETS = range(5)
EXPLORED, FURTHEST, ARRIVED, LEFT_THERE, BEST, STATES, TO_BE_ADDED, TAKEN = range(5, 13)
MOST_MOVES, USED_STEPS, COUNTERS = range(13, 16)

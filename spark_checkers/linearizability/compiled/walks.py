"""Histories turned into arrays, and walked by compiled code."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spark_checkers.linearizability.compiled import layout as at
from spark_checkers.linearizability.compiled import walk as code
from spark_checkers.linearizability.compiled.arrays import ANY, NEVER, SAME, Line, Numbers, Room
from spark_checkers.linearizability.compiled.impossible import first_impossible
from spark_checkers.linearizability.compiled.line import laid_out
from spark_checkers.linearizability.compiled.memory import add_left_by_unknown, enlarge
from spark_checkers.linearizability.compiled.order import unwind
from spark_checkers.linearizability.models import ANY_STATE, SAME_STATE, Model, State
from spark_checkers.linearizability.operation import NotForCompiledCode, Operation
from spark_checkers.linearizability.timeline import steps_of_used
from spark_checkers.linearizability.walk import Budget, Enough, Verdict, Walked

MOST_UNKNOWN_KINDS = 64
"""A used set is as wide as that; more kinds would take more memory than they save time."""

_VERDICTS = {
    code.FOUND: Verdict.LINEARIZABLE,
    code.EXHAUSTED: Verdict.NOT_LINEARIZABLE,
    code.SPENT: Verdict.UNKNOWN,
}


class CompiledWalks:
    """Walks of a model whose operations have effects; `NotForCompiledCode` if it cannot be done."""

    def __init__(self, operations: Iterable[Operation], model: Model) -> None:
        self._given = list(operations)
        columns, example, twin = _columns(self._given)
        self._states, requires, leaves = _effects(example, model)
        self._in_order = np.lexsort(columns[:2])
        self._op, began, ended, kind = columns.take(self._in_order, axis=1)
        known = (ended != NEVER).nonzero()[0]
        by_return = known[ended[known].argsort(kind="stable")]
        self._line = laid_out(began, ended, kind, by_return, requires, leaves, twin)
        if len(self._line.unknown_kind) > MOST_UNKNOWN_KINDS:
            raise NotForCompiledCode("too many kinds of operations have an unknown outcome")
        self.impossible = first_impossible(self._line, began, ended, len(self._states))

    @property
    def total(self) -> int:
        """How many operations there are."""
        return len(self._given)

    @property
    def returns(self) -> int:
        """How many of them return."""
        return len(self._line.due)

    def operation(self, number: int) -> Operation:
        """The operation of that number."""
        return self._given[int(self._in_order[number])]

    def ops(self, walked: Walked) -> tuple[int, ...]:
        """The order that was found, as the history names its operations."""
        return tuple(self._op[np.asarray(walked.order)].tolist())

    def due(self, place: int) -> int:
        """The operation that returns at that position."""
        return int(self._line.due[place])

    def waiting(self, place: int, walked: Walked) -> list[int]:
        """Operations begun by then that may change the object and were not placed, but the due."""
        line = self._line
        waits = (line.begins_at >= 0) & (line.begins_at <= place) & (line.leaves[line.kind] != SAME)
        waits[np.asarray(walked.order)] = waits[line.due[place]] = False
        return list(waits.nonzero()[0].tolist())

    def walk(self, *, until: int, limit: int, budget: Budget, enough: Enough | None) -> Walked:
        """Try to pass the first `until` returns; these models have no foresight to limit."""
        del limit
        room = _room(self._line, len(self._states))
        most = -1 if enough is None or enough.states is None else enough.states
        lingering = -1 if enough is None else enough.explored
        limits = until, budget.states, budget.steps, most, lingering
        while (end := code.advance(self._line, room, *limits)) == code.SHORT_OF_ROOM:
            room = _with_more_room(room)
        if end != code.FOUND and len(room.least):
            add_left_by_unknown(self._line, room)
        counters = room.counters
        order = np.empty(self.total, np.int64)
        begins = unwind(room.trail, int(counters[at.BEST]), order)
        seen = room.seen[: counters[at.STATES]].tolist()
        return Walked(
            verdict=_VERDICTS[end],
            explored=int(counters[at.EXPLORED]),
            steps=int(counters[at.TAKEN]),
            furthest=int(counters[at.FURTHEST]),
            order=order[begins:].data,
            states=[self._states[state] for state in seen],
        )


def _columns(operations: list[Operation]) -> tuple[Numbers, list[Operation], Numbers]:
    """`op`, `began`, `ended`, and the kind of each: its question and answer, as a number.

    And one operation of each kind; and the kind that does the same and returns, or -1.
    """
    numbers: dict[tuple[str, object, object, bool], int] = {}
    op, began, ended, kind = [], [], [], []
    example: list[Operation] = []
    for operation in operations:
        end = operation.ended
        op.append(operation.op)
        began.append(operation.began)
        ended.append(NEVER if end is None else end)
        asked = (operation.f, operation.arguments, operation.result, end is None)
        number = numbers.get(asked)
        if number is None:
            number = numbers[asked] = len(example)
            example.append(operation)
        kind.append(number)
    twin = [numbers.get((f, given, told, False), -1) for f, given, told, _ in numbers]
    return _numbers((op, began, ended, kind)), example, np.array(twin, np.int64)


def _effects(example: list[Operation], model: Model) -> tuple[list[State], Numbers, Numbers]:
    """The states that are named anywhere; by kind, which is required and which is left."""
    if model.foresight:
        raise NotForCompiledCode(f"the model {model.name} looks ahead")
    number_of: dict[State, int] = {model.initial: 0}
    known = number_of.setdefault
    requires: list[int] = []
    leaves: list[int] = []
    for operation in example:
        effect = model.effect(operation)
        if effect is None:
            raise NotForCompiledCode(f"a {operation.f} of the model {model.name} has no one effect")
        required, left = effect
        requires.append(ANY if required is ANY_STATE else known(required, len(number_of)))
        leaves.append(SAME if left is SAME_STATE else known(left, len(number_of)))
    if any(state != state for state in number_of):
        raise NotForCompiledCode("a value is equal to nothing, not even to itself")
    return list(number_of), *_numbers((requires, leaves))


def _numbers(found: tuple[list[int], ...]) -> Numbers:
    """One row each."""
    try:
        return np.array(found, np.int64)
    except OverflowError:
        raise NotForCompiledCode("a number has more than 64 bits") from None


def _room(line: Line, states: int) -> Room:
    """Room for a walk through an ordinary history, and its first configuration."""
    slots, unknown = line.occupant.shape[1], len(line.unknown_kind)
    moves = (slots + 1) * (slots + unknown) + 2
    configurations = 1 << (2 * len(line.due)).bit_length()
    seen_at, wanted = np.full((2, states), -1, np.int64)
    room = Room(
        counters=np.zeros(at.COUNTERS, np.int64),
        here=np.zeros(at.ENTRY, np.int64),
        stack=np.empty((4 * moves + 256, at.ENTRY), np.int64),
        trail=np.empty((2 * len(line.kind) + 4 * moves, 2), np.int64),
        tried=np.full((configurations, 2), -1, np.int64),
        tried_with=np.full(configurations if unknown else 0, -1, np.int64),
        used=np.zeros((256, unknown), np.int64),
        before=np.empty((256 if unknown else 0, 2), np.int64),
        seen=np.empty(states, np.int64),
        seen_at=seen_at,
        least=np.full(unknown, len(line.unknown_member), np.int64),
        wanted=wanted,
        alike=np.full((len(line.requires), 2), -1, np.int64),
        by_return=np.empty(slots, np.int64),
    )
    room.counters[at.LEFT_THERE] = len(line.kind)
    room.counters[at.BEST] = -1
    room.counters[at.USED_SETS] = 1
    room.counters[at.MOST_MOVES] = moves
    room.counters[at.USED_STEPS] = steps_of_used(unknown, len(line.unknown_member))
    room.counters[at.STACK] = 1
    first = room.stack[0]
    first[:] = 0
    first[at.MASK], first[at.TRAIL], first[at.USES] = line.beginning[0], -1, -1
    return room


def _with_more_room(room: Room) -> Room:
    """The same walk, with every part that is half taken made larger."""
    counters, tried, tried_with = room.counters, room.tried, room.tried_with
    if 2 * counters[at.TRIED] >= len(tried):
        tried = np.full((4 * len(tried), 2), -1, np.int64)
        tried_with = np.full(4 * len(tried_with), -1, np.int64)
        enlarge(room, tried, tried_with)
    return room._replace(
        stack=_longer(room.stack, counters[at.STACK]),
        trail=_longer(room.trail, counters[at.TRAILS]),
        tried=tried,
        tried_with=tried_with,
        used=_longer(room.used, counters[at.USED_SETS]),
        before=_longer(room.before, counters[at.EXPLORED]) if len(room.before) else room.before,
    )


def _longer(part: Numbers, taken: int) -> Numbers:
    return part if 2 * taken < len(part) else np.concatenate((part, np.empty_like(part)))

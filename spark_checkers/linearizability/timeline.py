"""Operations laid out on their clock, so that a configuration of the search is two small integers.

Position `p` is the instant just before the `p`-th return. Between two returns any number of
operations begin; an operation that begins at the very instant of a return is concurrent with it.
At position `p` every operation that returned earlier has been placed in the order, so what is left
to remember is which of the *open* operations (begun, not yet returned) have been placed too. Open
operations occupy slots, and a slot is free again after its operation's return: the set of open and
unplaced operations is a bit mask as wide as the concurrency, however long the history is.

Operations with unknown outcome never return. They are kept apart, grouped into kinds of equal
effect: within a kind it costs nothing to use the one that began first, so how many of a kind have
been used says everything. Those that cannot change the object are left out, and so are those that
began after the last return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spark_checkers.linearizability.models import Model
from spark_checkers.linearizability.operation import Operation


@dataclass(slots=True, kw_only=True)
class UnknownKind:
    """Operations of unknown outcome that would all do the same, earliest first.

    `twin` is the kind of operations that do the same and return. How many were used is written in
    unary, in the bits of `mask`, so that "used no more than" is "is a subset of" for all kinds.
    """

    kind: int
    twin: int | None
    overwrites: bool
    members: list[int] = field(default_factory=list)
    available_from: list[int] = field(default_factory=list)
    offset: int = 0
    mask: int = 0

    def next_unused(self, used: int, position: int) -> int | None:
        """How many were used, if another one has begun by then."""
        count = (used & self.mask).bit_count()
        if count < len(self.members) and self.available_from[count] <= position:
            return count
        return None


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The history by operation and by position. Operations are numbered as they began."""

    operations: tuple[Operation, ...]
    # By operation: what it asks and how it was answered, as a number; what it does to the object;
    # where it begins, where it returns, and the bit of its slot.
    kind: list[int]
    changes: list[bool]
    overwrites: list[bool]
    begins_at: list[int]
    returns_at: list[int]
    bit: list[int]
    # By kind: an operation of that kind.
    example: list[Operation]
    # By position: the operation that returns and its bit; how many have begun; the slots of those
    # that begin since the return before; who is in each slot; the slots of those that only observe,
    # and of those that overwrite. A slot keeps its last occupant: masks tell what counts.
    # `overtaken_from` is the first return of an overwriting operation that begins later than here.
    due: list[int] = field(default_factory=list)
    due_bit: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    beginning: list[int] = field(default_factory=list)
    occupant: list[tuple[int, ...]] = field(default_factory=list)
    observing: list[int] = field(default_factory=list)
    overwriting: list[int] = field(default_factory=list)
    overtaken_from: list[int] = field(default_factory=list)
    unknown_kinds: list[UnknownKind] = field(default_factory=list)
    used_steps: int = 1

    @property
    def slots(self) -> int:
        """The highest number of operations that were open at once."""
        return len(self.occupant[-1]) if self.occupant else 0

    def in_slots(self, position: int, mask: int) -> Iterator[int]:
        """The operations in these slots."""
        occupant = self.occupant[position]
        while mask:
            bit = mask & -mask
            mask ^= bit
            yield occupant[bit.bit_length() - 1]


def lay_out(operations: Iterable[Operation], model: Model) -> Timeline:
    """Prepare a history for the search."""
    ordered = tuple(sorted(operations, key=lambda o: (o.began, o.op)))
    kind, example, twins = _kinds(ordered)
    changes = [model.observable(operation) for operation in example]
    overwrites = [model.overwrites(operation) for operation in example]
    line = Timeline(
        operations=ordered,
        kind=kind,
        changes=[changes[number] for number in kind],
        overwrites=[overwrites[number] for number in kind],
        begins_at=[-1] * len(ordered),
        returns_at=[-1] * len(ordered),
        bit=[0] * len(ordered),
        example=example,
    )
    _walk(line, twins)
    return line


def _kinds(
    ordered: tuple[Operation, ...],
) -> tuple[list[int], list[Operation], dict[int, int]]:
    """The kind of each operation, one of each, and which known kind does what an unknown does."""
    numbers: dict[tuple[str, object, object, bool], int] = {}
    kind: list[int] = []
    example: list[Operation] = []
    for operation in ordered:
        asked = (operation.f, operation.arguments, operation.result, operation.ended is None)
        number = numbers.setdefault(asked, len(example))
        if number == len(example):
            example.append(operation)
        kind.append(number)
    twins = {
        number: numbers[*asked[:3], False]
        for asked, number in numbers.items()
        if asked[3] and (*asked[:3], False) in numbers
    }
    return kind, example, twins


def _walk(line: Timeline, twins: dict[int, int]) -> None:
    """Follow the clock from return to return, handing out slots."""
    began = [operation.began for operation in line.operations]
    ended = [(o.ended, n) for n, o in enumerate(line.operations) if o.ended is not None]
    occupant: list[int] = []
    free: list[int] = []
    unknown: dict[int, UnknownKind] = {}
    observing = overwriting = upcoming = 0
    for position, (moment, due) in enumerate(sorted(ended)):
        beginning = 0
        while upcoming < len(began) and began[upcoming] <= moment:
            number, upcoming = upcoming, upcoming + 1
            line.begins_at[number] = position
            if line.operations[number].ended is None:
                _add_unknown(line, unknown, twins, number)
                continue
            if not free:
                free.append(len(occupant))
                occupant.append(-1)
            slot = free.pop()
            occupant[slot] = number
            bit = line.bit[number] = 1 << slot
            beginning |= bit
            observing = observing & ~bit if line.changes[number] else observing | bit
            overwriting = overwriting | bit if line.overwrites[number] else overwriting & ~bit
        line.returns_at[due] = position
        line.due.append(due)
        line.due_bit.append(line.bit[due])
        line.begun.append(upcoming)
        line.beginning.append(beginning)
        line.occupant.append(tuple(occupant))
        line.observing.append(observing)
        line.overwriting.append(overwriting)
        free.append(line.bit[due].bit_length() - 1)
    line.unknown_kinds = _numbered(list(unknown.values()))
    members = sum(len(same.members) for same in line.unknown_kinds)
    line.used_steps = steps_of_used(len(line.unknown_kinds), members)
    line.overtaken_from = _overtaken_from(line)


def steps_of_used(kinds: int, members: int) -> int:
    """What it takes to compare or copy a set of used unknown operations."""
    return 1 + kinds // 32 + members // 512


def _overtaken_from(line: Timeline) -> list[int]:
    found = [len(line.due)] * len(line.due)
    for number in line.due:
        begins = line.begins_at[number]
        if line.overwrites[number] and begins:
            found[begins - 1] = min(found[begins - 1], line.returns_at[number])
    for position in range(len(found) - 2, -1, -1):
        found[position] = min(found[position], found[position + 1])
    return found


def _add_unknown(
    line: Timeline, unknown: dict[int, UnknownKind], twins: dict[int, int], number: int
) -> None:
    if line.changes[number]:
        kind, overwrites = line.kind[number], line.overwrites[number]
        fresh = UnknownKind(kind=kind, twin=twins.get(kind), overwrites=overwrites)
        same = unknown.setdefault(kind, fresh)
        same.members.append(number)
        same.available_from.append(line.begins_at[number])


def _numbered(kinds: list[UnknownKind]) -> list[UnknownKind]:
    offset = 0
    for same in kinds:
        same.offset, same.mask = offset, ((1 << len(same.members)) - 1) << offset
        offset += len(same.members)
    return kinds

"""The definition of linearizability, spelled out: try every order of every choice of operations.

Slow on purpose and without a single shortcut, so that it can be believed at a glance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_checkers.linearizability.models import Model, State
from spark_checkers.linearizability.operation import Operation


def has_legal_order(operations: Sequence[Operation], model: Model) -> bool:
    """Can all operations of known outcome be placed, with any of the unknown ones?"""
    required = {o.op for o in operations if o.ended is not None}
    return any(required <= placed for placed, _ in _legal_orders(operations, required, model))


def first_return_without_order(operations: Sequence[Operation], model: Model) -> int | None:
    """The first operation whose return leaves the history so far without a legal order."""
    for due, required, begun in _cuts(operations):
        orders = _legal_orders(begun, required | {due.op}, model)
        if not any(required | {due.op} <= placed for placed, _ in orders):
            return due.op
    return None


def states_before_return(op: int, operations: Sequence[Operation], model: Model) -> set[State]:
    """Every state that a legal order of what came before can leave, with that operation open."""
    due, required, begun = next(cut for cut in _cuts(operations) if cut[0].op == op)
    orders = _legal_orders(begun, required | {due.op}, model)
    return {state for placed, state in orders if required <= placed and due.op not in placed}


def is_legal_order(order: Sequence[Operation], model: Model) -> bool:
    """Does this very order respect real time and the model?"""
    for place, later in enumerate(order):
        if any(later.ended is not None and later.ended < o.began for o in order[:place]):
            return False
    states = {model.initial}
    for operation in order:
        states = {after for state in states for after in model.step(state, operation)}
    return bool(states)


def _cuts(operations: Sequence[Operation]) -> Iterator[tuple[Operation, set[int], list[Operation]]]:
    """For each return: its operation, those that returned before, all that had begun by then."""
    known = [o for o in operations if o.ended is not None]
    returned: set[int] = set()
    for due in sorted(known, key=lambda o: (o.ended or 0, o.began, o.op)):
        yield due, set(returned), [o for o in operations if o.began <= (due.ended or 0)]
        returned.add(due.op)


def _legal_orders(
    operations: Sequence[Operation], required: set[int], model: Model
) -> Iterator[tuple[set[int], State]]:
    """Every legal order of some of the operations: which they are, and the state they leave."""
    start: tuple[frozenset[int], State] = (frozenset(), model.initial)
    unexplored, met = [start], {start}
    while unexplored:
        placed, state = unexplored.pop()
        yield set(placed), state
        missing = [o for o in operations if o.op in required and o.op not in placed]
        for operation in operations:
            too_early = any(m.ended is not None and m.ended < operation.began for m in missing)
            if operation.op in placed or too_early:
                continue
            for after in model.step(state, operation):
                further = (placed | {operation.op}, after)
                if further not in met:
                    met.add(further)
                    unexplored.append(further)

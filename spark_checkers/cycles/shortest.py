"""The shortest cycle of a kind inside a knot.

A kind says which dependencies a cycle walks on, which one it starts with, and which order (of a
process, of real time) it needs somewhere, if any. The search goes breadth first from the end of
each possible first step back to its beginning, in states (transaction, whether the order was used).
Among cycles of several kinds the caller looks for the stronger kind first; then whatever closes
here visits no transaction twice: a shorter round inside it would be of a kind already found.

Every visit costs one unit of a budget; when it is used up the shortest cycle so far is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_checkers.cycles.graph import PROCESS, REALTIME, WR, WW, Graph, Queue, queues


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of cycle: its first step, what other steps it takes, the order that it needs."""

    name: str
    first: str
    walks: tuple[str, ...]
    order: str | None = None


KINDS = (
    Kind(name="G0", first=WW, walks=(WW,)),
    Kind(name="G1c", first=WR, walks=(WW, WR)),
    Kind(name="G0-process", first=WW, walks=(WW,), order=PROCESS),
    Kind(name="G1c-process", first=WR, walks=(WW, WR), order=PROCESS),
    Kind(name="G0-realtime", first=WW, walks=(WW,), order=REALTIME),
    Kind(name="G1c-realtime", first=WR, walks=(WW, WR), order=REALTIME),
)
"""Worst first."""


@dataclass(slots=True)
class Budget:
    """How many visits are left."""

    visits: int

    @property
    def exhausted(self) -> bool:
        return self.visits <= 0


Steps = list[tuple[str, int, int]]
State = tuple[int, bool]


def shortest_cycle(graph: Graph, kind: Kind, budget: Budget) -> Steps | None:
    """The steps (kind, source, target) of a shortest cycle; None if none was found."""
    best: Steps | None = None
    waiting = queues(graph, kind.order) if kind.order else {}
    for source, target in sorted(graph.pairs(kind.first), reverse=True):
        if budget.exhausted or (best is not None and len(best) == 2):
            break
        limit = len(best) - 1 if best is not None else None
        found = _Walk(graph, kind, waiting, budget).home(target, source, limit)
        if found is not None:
            best = [(kind.first, source, target), *found]
    return best


@dataclass(slots=True)
class _Walk:
    """One search from a transaction to another."""

    graph: Graph
    kind: Kind
    waiting: dict[int, Queue]
    budget: Budget
    parents: dict[State, tuple[State, str]] = field(default_factory=dict)
    handed_out: dict[int, int] = field(default_factory=dict)

    def home(self, start: int, goal: int, limit: int | None) -> Steps | None:
        """The shortest steps from start to goal that use the order, if one is needed."""
        end: State = (goal, self.kind.order is not None)
        origin: State = (start, False)
        shell: list[State] = [origin]
        seen = {origin}
        steps = 0
        while shell and not self.budget.exhausted:
            steps += 1
            if limit is not None and steps >= limit:
                return None
            following: list[State] = []
            for state in shell:
                for step, reached in self._moves(state):
                    if reached in seen:
                        continue
                    self.budget.visits -= 1
                    seen.add(reached)
                    self.parents[reached] = (state, step)
                    if reached == end:
                        return self._way(origin, end)
                    following.append(reached)
            shell = following
        return None

    def _moves(self, state: State) -> Iterator[tuple[str, State]]:
        vertex, ordered = state
        for kind in self.kind.walks:
            for target in self.graph.edges[kind].get(vertex, ()):
                yield kind, (target, ordered)
        if self.kind.order is not None:
            for target in self._later(vertex):
                yield self.kind.order, (target, True)

    def _later(self, vertex: int) -> Iterator[int]:
        """Who began after this one was over, except those that were reached this way already."""
        transaction = self.graph.transactions[vertex]
        lane = 0 if self.kind.order == REALTIME else transaction.process
        queue = self.waiting.get(lane)
        if queue is None or transaction.ended is None:
            return
        first = queue.after(transaction.ended)
        last = self.handed_out.get(lane, len(queue.vertices))
        if first < last:
            self.handed_out[lane] = first
            yield from queue.vertices[first:last]

    def _way(self, origin: State, end: State) -> Steps:
        steps: Steps = []
        at = end
        while at != origin:
            before, kind = self.parents[at]
            steps.append((kind, before[0], at[0]))
            at = before
        return steps[::-1]

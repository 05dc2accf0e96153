"""A small graph of transactions: what depends on what, who came first, and its knots.

Two orders are not stored as edges, because they are far too many: real time (the source was over
before the target began) and the order of a process (the same, of ok transactions of one process).
Both follow from `began` and `ended`. A *knot* is a strongly connected component of more than one
transaction: every cycle lies inside one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

WW = "ww"
WR = "wr"
PROCESS = "process"
REALTIME = "realtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction; `ended` is known of ok ones only."""

    vertex: int
    op: int
    process: int
    began: int
    ended: int | None


Adjacency = dict[int, dict[int, None]]


@dataclass(slots=True, kw_only=True)
class Graph:
    """Transactions and the dependencies among them; `timed` if their times may be compared."""

    transactions: dict[int, Transaction] = field(default_factory=dict)
    edges: dict[str, Adjacency] = field(default_factory=lambda: {WW: {}, WR: {}})
    timed: bool = True

    def link(self, kind: str, source: int, target: int) -> None:
        """Add a dependency once, if both ends are here and differ."""
        if source == target or not {source, target} <= self.transactions.keys():
            return
        self.edges[kind].setdefault(source, {})[target] = None

    def within(self, vertices: Iterable[int]) -> Graph:
        """The part of the graph that these transactions make up."""
        chosen = sorted(vertices)
        part = Graph(timed=self.timed)
        part.transactions = {vertex: self.transactions[vertex] for vertex in chosen}
        for kind, adjacency in self.edges.items():
            part.edges[kind] = {
                source: kept
                for source in chosen
                if (kept := {t: None for t in adjacency.get(source, ()) if t in part.transactions})
            }
        return part

    def pairs(self, kind: str) -> Iterator[tuple[int, int]]:
        """The dependencies of a kind."""
        for source, targets in self.edges[kind].items():
            for target in targets:
                yield source, target


@dataclass(frozen=True, slots=True)
class Queue:
    """Transactions in the order in which they began, to find all that began after an instant."""

    vertices: Sequence[int]
    began: Sequence[int]

    @staticmethod
    def of(transactions: Iterable[Transaction]) -> Queue:
        ordered = sorted(transactions, key=lambda t: (t.began, t.vertex))
        return Queue([t.vertex for t in ordered], [t.began for t in ordered])

    def after(self, instant: int) -> int:
        """The position of the first that began after an instant."""
        return bisect_right(self.began, instant)


def queues(graph: Graph, order: str) -> dict[int, Queue]:
    """Who may follow whom in an order: one queue for real time, one per process otherwise."""
    if not graph.timed:
        return {}
    if order == REALTIME:
        return {0: Queue.of(graph.transactions.values())}
    members: dict[int, list[Transaction]] = {}
    for transaction in graph.transactions.values():
        if transaction.ended is not None:
            members.setdefault(transaction.process, []).append(transaction)
    return {process: Queue.of(found) for process, found in members.items()}


def knots(graph: Graph, kinds: Iterable[str], order: str | None = None) -> list[list[int]]:
    """The knots that dependencies of these kinds make, together with an order, largest last.

    An order costs one extra node per transaction: a chain along which whoever is over hands on to
    whoever begins later.
    """
    chosen = [graph.edges[kind] for kind in kinds]
    waiting = queues(graph, order) if order else {}
    starts: dict[int, int] = {}
    chain: list[int | None] = []
    for name, queue in waiting.items():
        starts[name] = len(chain)
        chain += [*queue.vertices, None]
    lane = _lane_of(graph, order)

    def successors(node: tuple[int, int]) -> list[tuple[int, int]]:
        here, number = node
        if here:
            vertex = chain[number]
            return [] if vertex is None else [(0, vertex), (1, number + 1)]
        found = [(0, target) for adjacency in chosen for target in adjacency.get(number, ())]
        transaction = graph.transactions[number]
        name = lane(transaction)
        if name in waiting and transaction.ended is not None:
            found.append((1, starts[name] + waiting[name].after(transaction.ended)))
        return found

    roots = [(0, vertex) for vertex in sorted(graph.transactions)]
    components = strongly_connected(roots, successors)
    real = ([vertex for here, vertex in group if not here] for group in components)
    return sorted((sorted(found) for found in real if len(found) > 1), key=lambda k: (len(k), k))


def _lane_of(graph: Graph, order: str | None) -> Callable[[Transaction], int | None]:
    if order is None or not graph.timed:
        return lambda transaction: None
    return lambda transaction: 0 if order == REALTIME else transaction.process


Node = tuple[int, int]


def strongly_connected(
    roots: Iterable[Node], successors: Callable[[Node], Sequence[Node]]
) -> Iterator[list[Node]]:
    """Tarjan's algorithm with a stack of its own: histories are deeper than Python's."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_: dict[Node, None] = {}
    for root in roots:
        if root in index:
            continue
        work: list[tuple[Node, Iterator[Node]]] = [_enter(root, index, low, open_, successors)]
        while work:
            node, rest = work[-1]
            following = next((n for n in rest if n not in index or n in open_), None)
            if following is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    yield _close(node, open_)
            elif following in index:
                low[node] = min(low[node], index[following])
            else:
                work.append(_enter(following, index, low, open_, successors))


def _enter(
    node: Node,
    index: dict[Node, int],
    low: dict[Node, int],
    open_: dict[Node, None],
    successors: Callable[[Node], Sequence[Node]],
) -> tuple[Node, Iterator[Node]]:
    index[node] = low[node] = len(index)
    open_[node] = None
    return node, iter(successors(node))


def _close(node: Node, open_: dict[Node, None]) -> list[Node]:
    component: list[Node] = []
    while not component or component[-1] != node:
        component.append(open_.popitem()[0])
    return component

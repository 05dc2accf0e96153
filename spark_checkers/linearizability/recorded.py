"""What clients of a working object would have recorded, in any length and concurrency.

Clients come and go by chance, each operation takes effect at an instant between its call and its
return, and the same seed gives the same history. Such a history is linearizable; `with_bad_read`
takes that away, and so do `with_stale_read` and, in a way that only a search finds out,
`with_crossed_reads`.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf

from spark_checkers.linearizability.operation import Operation

Held = int | str
Argument = Held | tuple[Held, Held] | None
Call = Callable[[random.Random, int], tuple[str, Argument]]

VALUES = 5


@dataclass(slots=True, kw_only=True)
class _Running:
    began: int
    f: str
    argument: Argument
    happened: bool = False
    refused: bool = False
    seen: Held | None = None


def recorded_register(
    operations: int, clients: int, *, lost: float = 0.0, seed: int = 1
) -> list[Operation]:
    """Reads and writes of five values on a register that starts with 0; `lost` is unanswered."""

    def call(chance: random.Random, _: int) -> tuple[str, Argument]:
        return ("write", chance.randrange(VALUES)) if chance.random() < 0.5 else ("read", None)

    return _recorded(operations, clients, lost, 0, call, seed)


def recorded_cas_register(
    operations: int, clients: int, *, lost: float = 0.0, seed: int = 1
) -> list[Operation]:
    """The same with as many compare-and-sets; those that were refused are not among them."""

    def call(chance: random.Random, _: int) -> tuple[str, Argument]:
        f = chance.choice(("read", "write", "cas"))
        if f == "cas":
            return f, (chance.randrange(VALUES), chance.randrange(VALUES))
        return f, chance.randrange(VALUES) if f == "write" else None

    return _recorded(operations, clients, lost, 0, call, seed)


def recorded_appends(
    operations: int, clients: int, *, lost: float = 0.0, seed: int = 1
) -> list[Operation]:
    """Gets, appends and a few puts on one key that starts empty."""

    def call(chance: random.Random, now: int) -> tuple[str, Argument]:
        kind = chance.random()
        if kind < 0.45:
            return "get", None
        return "put" if kind > 0.95 else "append", f"{now},"

    return _recorded(operations, clients, lost, "", call, seed)


def with_bad_read(operations: Sequence[Operation], value: Held) -> tuple[list[Operation], int]:
    """The history with a value nobody wrote in a read three quarters through; and that read.

    If nobody was told anything after that, it is the last read before.
    """
    found = list(operations)
    reads = [number for number, operation in enumerate(found) if _was_answered(operation)]
    if not reads:
        raise ValueError("there is no read whose answer could be made a bad one")
    number = next((late for late in reads if late >= len(found) * 3 // 4), reads[-1])
    found[number] = replace(found[number], result=value)
    return found, found[number].op


def with_stale_read(operations: Sequence[Operation]) -> tuple[list[Operation], int] | None:
    """The history of a register with an overwritten value in a late read; and that read.

    The value was there once, and a write that began after everything that left it has ended before
    the read began. None if there is no such read in the last quarter.
    """
    found = list(operations)
    last_left = _last_left(found)
    writes = [(o.ended, o.began) for o in found if o.f == "write" and o.ended is not None]
    last_write = _Latest(writes)
    for number in range(len(found) * 3 // 4, len(found)):
        read = found[number]
        if read.ended is None or read.f != "read":
            continue
        since = last_write.before(read.began)
        for value, left in last_left.items():
            if -inf < left.before(read.ended + 1) < since:
                found[number] = replace(read, result=value)
                return found, read.op
    return None


def with_crossed_reads(operations: Sequence[Operation]) -> tuple[list[Operation], int]:
    """The history of a register with two writes at once, three quarters through, and three readers.

    One after the other they see the first, the second, and the first again; the last of them is
    named. Nothing else happens meanwhile. The clock runs ten times as fast, to make room.
    """
    pace = 10
    found = [
        replace(
            o,
            op=pace * o.op,
            began=pace * o.began,
            ended=None if o.ended is None else pace * o.ended,
        )
        for o in operations
    ]
    start = found[len(found) * 3 // 4].began
    one, other, late = "one", "other", start + 6
    for began, ended, f, value in (
        (start + 1, start + 9, "write", one),
        (start + 2, start + 9, "write", other),
        (start + 3, start + 3, "read", one),
        (start + 4, start + 5, "read", other),
        (late, start + 7, "read", one),
    ):
        written, seen = (value, None) if f == "write" else (None, value)
        call = Operation(
            op=began, process=f, f=f, arguments=written, result=seen, began=began, ended=ended
        )
        found.append(call)
    return found, late


class _Latest:
    """Pairs of two instants; the latest second one of those whose first is early enough."""

    def __init__(self, pairs: Iterable[tuple[float, float]]) -> None:
        ordered = sorted(pairs)
        self._first = [first for first, _ in ordered]
        self._latest = list(accumulate((second for _, second in ordered), max))

    def before(self, instant: float) -> float:
        number = bisect_left(self._first, instant)
        return self._latest[number - 1] if number else -inf


def _last_left(operations: Iterable[Operation]) -> dict[object, _Latest]:
    """By value: when operations began that leave it, and ended."""
    spans: dict[object, list[tuple[float, float]]] = {}
    for o in operations:
        match o.f, o.arguments:
            case "read", _:
                continue
            case "cas", (_, left):
                value = left
            case _, left:
                value = left
        spans.setdefault(value, []).append((o.began, inf if o.ended is None else o.ended))
    return {value: _Latest(pairs) for value, pairs in spans.items()}


def _was_answered(operation: Operation) -> bool:
    return operation.f in ("read", "get") and not operation.unknown


def _recorded(
    operations: int, clients: int, lost: float, held: Held, call: Call, seed: int
) -> list[Operation]:
    chance, now = random.Random(seed), 0
    idle, running = list(range(clients)), dict[int, _Running]()
    done: list[Operation] = []
    while len(done) < operations:
        now += 1
        if idle and (not running or chance.random() < 0.5):
            f, argument = call(chance, now)
            client = idle.pop(chance.randrange(len(idle)))
            running[client] = _Running(began=now, f=f, argument=argument)
            continue
        client = chance.choice(sorted(running))
        current = running[client]
        if not current.happened:
            held = _take_effect(held, current)
            continue
        idle.append(client)
        del running[client]
        if not current.refused:
            done.append(_completed(current, client, None if chance.random() < lost else now))
    return done + [_completed(current, client, None) for client, current in sorted(running.items())]


def _take_effect(held: Held, call: _Running) -> Held:
    """What the object holds afterwards."""
    call.happened, call.seen = True, held
    match call.f, call.argument:
        case _, None:
            return held
        case "append", text:
            return f"{held}{text}"
        case "cas", (int() | str() as old, int() | str() as new):
            call.refused = held != old
            return held if call.refused else new
        case _, int() | str() as value:
            return value
    raise ValueError(f"{call.f} of {call.argument!r} is no call of a recorded object")


def _completed(call: _Running, client: int, ended: int | None) -> Operation:
    return Operation(
        op=call.began,
        process=client,
        f=call.f,
        arguments=call.argument,
        result=call.seen if ended is not None and call.argument is None else None,
        began=call.began,
        ended=ended,
    )

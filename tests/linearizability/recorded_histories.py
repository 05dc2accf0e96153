"""What clients of a real object would have recorded, in any length and concurrency."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from spark_checkers.linearizability.operation import Operation

Held = int | str


@dataclass(slots=True, kw_only=True)
class _Running:
    began: int
    f: str
    argument: Held | None
    happened: bool = False
    seen: Held | None = None


def recorded(operations: int, clients: int, *, lost: float = 0.0) -> list[Operation]:
    """Reads and writes of five values on a register that starts with 0; `lost` is unanswered."""

    def call(chance: random.Random, _: int) -> tuple[str, Held | None]:
        return ("write", chance.randrange(5)) if chance.random() < 0.5 else ("read", None)

    return _recorded(operations, clients, lost, 0, call)


def recorded_appends(operations: int, clients: int) -> list[Operation]:
    """Gets, appends and a few puts on one key that starts empty."""

    def call(chance: random.Random, now: int) -> tuple[str, Held | None]:
        kind = chance.random()
        if kind < 0.45:
            return "get", None
        return "put" if kind > 0.95 else "append", f"{now},"

    return _recorded(operations, clients, 0.0, "", call)


def _recorded(
    operations: int,
    clients: int,
    lost: float,
    held: Held,
    call: Callable[[random.Random, int], tuple[str, Held | None]],
) -> list[Operation]:
    chance, now = random.Random(1), 0
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
            current.happened = True
            held = _after(held, current)
            current.seen = held
            continue
        idle.append(client)
        del running[client]
        done.append(_completed(current, client, None if chance.random() < lost else now))
    return done + [_completed(current, client, None) for client, current in sorted(running.items())]


def _after(held: Held, call: _Running) -> Held:
    if call.argument is None:
        return held
    return f"{held}{call.argument}" if call.f == "append" else call.argument


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

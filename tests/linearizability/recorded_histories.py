"""What clients of a real register would have recorded, in any length and concurrency."""

from __future__ import annotations

import random
from dataclasses import dataclass

from spark_checkers.linearizability.operation import Operation


@dataclass(slots=True, kw_only=True)
class _Running:
    began: int
    f: str
    argument: int | None
    happened: bool = False
    seen: int | None = None


def recorded(
    operations: int, clients: int, *, lost: float = 0.0, values: int = 5, seed: int = 1
) -> list[Operation]:
    """Half writes, half reads on a register that starts with 0; `lost` never heard back."""
    chance, now, held = random.Random(seed), 0, 0
    idle, running = list(range(clients)), dict[int, _Running]()
    done: list[Operation] = []
    while len(done) < operations:
        now += 1
        if idle and (not running or chance.random() < 0.5):
            writes = chance.random() < 0.5
            running[idle.pop(chance.randrange(len(idle)))] = _Running(
                began=now,
                f="write" if writes else "read",
                argument=chance.randrange(values) if writes else None,
            )
            continue
        client = chance.choice(sorted(running))
        call = running[client]
        if not call.happened:
            call.happened = True
            if call.argument is not None:
                held = call.argument
            else:
                call.seen = held
            continue
        idle.append(client)
        del running[client]
        done.append(_completed(call, client, None if chance.random() < lost else now))
    return done + [_completed(call, client, None) for client, call in sorted(running.items())]


def _completed(call: _Running, client: int, ended: int | None) -> Operation:
    return Operation(
        op=call.began,
        process=client,
        f=call.f,
        arguments=call.argument,
        result=None if ended is None else call.seen,
        began=call.began,
        ended=ended,
    )

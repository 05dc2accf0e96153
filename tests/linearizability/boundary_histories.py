"""Rows of `boundary_ops`: by hand, or recorded from a control plane that obeys the model."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spark_checkers.linearizability.boundary_answers import (
    ANY_CODE,
    FUNCTIONS,
    MISMATCH,
    NONE,
    Answer,
    Call,
    Log,
    answers,
)

SEEDS = (
    ((7001, 0, 0, 4, 10, 1_000),),
    ((7001, 0, 0, 4, 10, 1_000), (7002, 1, 3, 3, 50, 2_000)),
)
Row = dict[str, Any]


def text(seeds: Sequence[Sequence[int]] | None) -> str | None:
    return None if seeds is None else json.dumps(sorted(list(seed) for seed in seeds))


def row(
    op: int,
    f: str,
    span: tuple[int, int | None],
    stored: Sequence[Any] | None = None,
    error: str = NONE,
    **given: Any,
) -> Row:
    """One row; `stored` is what the answer told: boundary, epoch, reset_epoch, and more by name."""
    began, ended = span
    told = (None, None, None) if stored is None else stored
    unknown = ended is None
    return {
        "op": op,
        "completion": None if unknown else op + 1,
        "process": given.pop("process", op),
        "node": 1,
        "topic": "t",
        "partition": 0,
        "f": f,
        "type": "info" if unknown else "ok" if error == NONE else "fail",
        "error": None if unknown else error,
        "clock": "host",
        "began": began,
        "ended": ended,
        "boundary": given.pop("boundary", None),
        "leader_epoch": given.pop("leader_epoch", None),
        "entries": text(given.pop("entries", None)),
        "record_count": given.pop("record_count", None),
        "stored_boundary": told[0],
        "stored_epoch": told[1],
        "stored_reset_epoch": told[2],
        "stored_seeds": text(given.pop("seeds", None)),
        "base_offset": given.pop("base_offset", None),
        **given,
    }


@dataclass(slots=True, kw_only=True)
class _Running:
    process: int
    began: int
    f: str
    call: Call
    answer: Answer | None = None


def recorded_rows(
    chance: random.Random, *, operations: int, clients: int, lost: float, tolerant: bool
) -> list[Row]:
    """Clients call a control plane that answers legally; calls and replies get lost."""
    log, now, started, next_process = Log(), 0, 0, clients
    idle, running = list(range(clients)), list[_Running]()
    rows: list[Row] = []
    while running or started < operations:
        now += 1
        if idle and started < operations and (not running or chance.random() < 0.5):
            f, call = random_call(chance, first=started == 0)
            running.append(_Running(process=idle.pop(0), began=now, f=f, call=call))
            started += 1
            continue
        call_running = chance.choice(running)
        disappears = chance.random() < lost
        if call_running.answer is None and not disappears:
            legal = list(answers(log, call_running.f, call_running.call, tolerant=tolerant))
            call_running.answer = chance.choice(legal)
            log = call_running.answer.after
            continue
        running.remove(call_running)
        rows.append(_row(chance, call_running, None if disappears else now, tolerant))
        idle.append(next_process if disappears else call_running.process)
        next_process += disappears
    return sorted(rows, key=lambda r: r["op"])


def random_call(chance: random.Random, *, first: bool = False) -> tuple[str, Call]:
    """A call with few different arguments, so that calls meet."""
    f = "create_log" if first else chance.choice(FUNCTIONS)
    boundary, epoch = chance.choice((100, 100, 200)), chance.randint(1, 4)
    if f == "initialize_diskless_migration":
        return f, Call(boundary=boundary, leader_epoch=epoch, entries=chance.choice(SEEDS))
    if f == "set_diskless_log_start_offset":
        target = chance.choice((-1, -1, boundary))
        return f, Call(boundary=target, leader_epoch=chance.choice((None, epoch)))
    if f == "seed_producer_state":
        return f, Call(entries=chance.choice(SEEDS))
    if f == "register_leader_epoch":
        return f, Call(leader_epoch=epoch)
    if f == "commit_batch":
        return f, Call(record_count=chance.randint(1, 3))
    return f, Call()


def _row(chance: random.Random, done: _Running, ended: int | None, tolerant: bool) -> Row:
    call = done.call
    asked = {
        "process": done.process,
        "boundary": call.boundary,
        "leader_epoch": call.leader_epoch,
        "entries": call.entries,
        "record_count": call.record_count,
    }
    if ended is None or done.answer is None:
        return row(done.began, done.f, (done.began, None), **asked)
    error, log, base_offset = done.answer
    stored: tuple[int | None, ...] = (log.boundary, log.epoch, log.reset_epoch)
    if tolerant and chance.random() < 0.5:
        stored = (log.boundary, None, None)
    seeds = log.seeds if done.f == "describe_producers" and error == NONE else None
    code = chance.choice((NONE, MISMATCH, "FENCED_LEADER_EPOCH")) if error == ANY_CODE else error
    span = (done.began, ended)
    told = {"seeds": seeds, "base_offset": base_offset}
    return row(done.began, done.f, span, stored, code, **told, **asked)

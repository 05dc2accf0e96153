"""The control plane in memory: the twin of PostgreSQL for simulations.

A transaction is the code between two turns, so it is atomic by construction: nothing else runs
until the coroutine yields, and it yields only in ``turn()``, between the transactions of one
call. There is no clock, no chance and no thread in here; the same calls in the same order give
the same replies.

Nothing survives the object: durability and lost replies are the business of whoever wraps it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reference_impl.control_plane import boundary as decide
from reference_impl.control_plane.boundary import NONE, LogRow
from reference_impl.control_plane.flow import (
    Transaction,
    effect_args,
    refuse_form,
    reply_of,
    transactions_of,
    with_boundary,
    without_boundary,
)
from reference_impl.control_plane.port import (
    UNDEFINED,
    BoundaryError,
    Reply,
    Request,
    Seed,
    Trace,
    canonical,
    given,
    problem_with,
    turn,
)


@dataclass(slots=True, kw_only=True)
class _Log:
    """One log as stored; the only thing in this module that changes."""

    row: LogRow = field(default_factory=LogRow)
    seeds: tuple[Seed, ...] = ()
    batches: list[tuple[int, int]] = field(default_factory=list)  # (base, last) offsets

    def suffix_empty(self) -> bool:
        return not any(base >= self.row.boundary for base, _ in self.batches)


class MemoryControlPlane:
    """A ControlPlane whose registers live in this object."""

    def __init__(self, *, trace: Trace | None = None) -> None:
        self._logs: dict[tuple[str, int], _Log] = {}
        self._trace = trace

    async def call(self, request: Request) -> Reply:
        """Carry out one call; it yields once between two transactions and never otherwise."""
        reply = reply_of(LogRow(), None, NONE)
        for transaction in transactions_of(request):
            if not transaction.admits:
                await turn()
            reply = self._transact(request, transaction)
            if reply.error is not NONE:
                break
        return reply

    async def close(self) -> None:
        """Nothing to let go of."""

    def rows(self) -> list[dict[str, object]]:
        """The complete stored state, one row per log in order of topic and partition."""
        return [
            {
                "topic": topic,
                "partition": partition,
                "boundary": log.row.boundary,
                "epoch": log.row.epoch,
                "reset_epoch": log.row.reset_epoch,
                "high_watermark": log.row.high_watermark,
                "log_start_offset": log.row.log_start_offset,
                "seeds": [list(seed) for seed in log.seeds],
                "batches": [list(batch) for batch in log.batches],
            }
            for (topic, partition), log in sorted(self._logs.items(), key=lambda item: item[0])
        ]

    def _transact(self, request: Request, transaction: Transaction) -> Reply:
        reply = self._answer(request, transaction)
        if self._trace is not None:
            outcome = "ok" if reply.error is NONE else str(reply.error)
            args = effect_args(request, transaction)
            self._trace.effect(call=request.f, args=args, outcome=outcome)
        return reply

    def _answer(self, request: Request, transaction: Transaction) -> Reply:
        key = decide.log_key(request.topic, request.partition)
        problem = problem_with(request)
        if problem is None and request.f == "create_log":
            self._logs.setdefault(key, _Log())
        log = self._logs.get(key)
        if problem is not None:
            return refuse_form(request, None if log is None else log.row, problem)
        if log is None:
            return reply_of(LogRow(), request.boundary, BoundaryError.UNKNOWN_TOPIC_OR_PARTITION)
        return _FLOWS[request.f](log, request, transaction)


def _look(log: _Log, request: Request, transaction: Transaction) -> Reply:
    return reply_of(log.row, request.boundary, NONE)


def _describe_producers(log: _Log, request: Request, transaction: Transaction) -> Reply:
    return replace(_look(log, request, transaction), seeds=log.seeds)


def _initialize(log: _Log, request: Request, transaction: Transaction) -> Reply:
    boundary, leader_epoch = given(request.boundary), given(request.leader_epoch)
    entries = canonical(given(request.entries))
    error = NONE
    if transaction.admits:
        error = decide.admit_initialize(log.row, log.seeds, boundary, leader_epoch, entries)
    if error is NONE:
        for step in transaction.steps:
            _STEPS[step](log, boundary, leader_epoch, entries)
    return reply_of(log.row, boundary, error)


def _seed(log: _Log, boundary: int, leader_epoch: int, entries: tuple[Seed, ...]) -> None:
    log.seeds = decide.seeds_after(log.row, log.seeds, entries)


def _persist(log: _Log, boundary: int, leader_epoch: int, entries: tuple[Seed, ...]) -> None:
    log.row = with_boundary(log.row, boundary, leader_epoch)


def _set(log: _Log, request: Request, transaction: Transaction) -> Reply:
    boundary, leader_epoch = given(request.boundary), request.leader_epoch
    if boundary == UNDEFINED:
        error = decide.admit_reset(log.row, log.suffix_empty(), leader_epoch)
        if error is NONE and decide.is_set(log.row.boundary):
            log.seeds = decide.seeds_after_reset(log.row, log.seeds)
            log.row = without_boundary(log.row, leader_epoch)
    else:
        error = decide.admit_write(log.row, boundary, leader_epoch)
        if error is NONE:
            log.row = with_boundary(log.row, boundary, leader_epoch)
    return reply_of(log.row, boundary, error)


def _seed_producer_state(log: _Log, request: Request, transaction: Transaction) -> Reply:
    entries = canonical(given(request.entries))
    error = decide.admit_seeding(log.row, log.seeds, entries)
    if error is NONE:
        log.seeds = decide.seeds_after(log.row, log.seeds, entries)
    return reply_of(log.row, None, error)


def _register(log: _Log, request: Request, transaction: Transaction) -> Reply:
    leader_epoch = given(request.leader_epoch)
    error = decide.admit_epoch(log.row, leader_epoch)
    if error is NONE:
        log.row = replace(log.row, epoch=decide.next_epoch(log.row, leader_epoch))
    return reply_of(log.row, None, error)


def _commit(log: _Log, request: Request, transaction: Transaction) -> Reply:
    error = decide.admit_commit(log.row)
    if error is not NONE:
        return reply_of(log.row, None, error)
    base_offset = decide.assign_offset(log.row)
    end = decide.high_watermark_after(base_offset, given(request.record_count))
    log.batches.append((base_offset, end - 1))
    log.row = replace(log.row, high_watermark=end)
    return replace(reply_of(log.row, None, NONE), base_offset=base_offset)


_STEPS: dict[str, Callable[[_Log, int, int, tuple[Seed, ...]], None]] = {
    "seed": _seed,
    "persist": _persist,
}

_FLOWS: dict[str, Callable[[_Log, Request, Transaction], Reply]] = {
    "create_log": _look,
    "initialize_diskless_migration": _initialize,
    "set_diskless_log_start_offset": _set,
    "get_diskless_log_start_offset": _look,
    "seed_producer_state": _seed_producer_state,
    "register_leader_epoch": _register,
    "describe_producers": _describe_producers,
    "commit_batch": _commit,
}

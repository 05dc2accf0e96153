"""The control plane in memory: the twin of PostgreSQL for simulations.

``Registers`` is the database: what several nodes share. ``MemoryControlPlane`` is the port of one
node, which reaches the registers through the gate of that node. A transaction is one plain function
call, so it is atomic by construction: nothing else runs until it returns. There is no clock, no
chance and no thread in here; the same transactions in the same order give the same replies.

The registers last as long as the object; delays, refusals and lost replies are the gate's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reference_impl.control_plane import boundary as decide
from reference_impl.control_plane.boundary import NONE, LogRow
from reference_impl.control_plane.flow import (
    Transaction,
    carry_out,
    refuse_form,
    reply_of,
    with_boundary,
    without_boundary,
)
from reference_impl.control_plane.port import (
    UNDEFINED,
    BoundaryError,
    Reply,
    Request,
    Seed,
    canonical,
    given,
    problem_with,
)
from reference_impl.ports.effects import Gate, OpenGate


@dataclass(slots=True, kw_only=True)
class _Log:
    """One log as stored; the only thing in this module that changes."""

    row: LogRow = field(default_factory=LogRow)
    seeds: tuple[Seed, ...] = ()
    batches: list[tuple[int, int]] = field(default_factory=list)  # (base, last) offsets

    def suffix_empty(self) -> bool:
        return not any(base >= self.row.boundary for base, _ in self.batches)


class Registers:
    """The stored logs; every node that is to see the same state gets the same object."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, int], _Log] = {}

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

    def transact(self, request: Request, transaction: Transaction) -> Reply:
        """Carry out one transaction of a call, whole."""
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


class MemoryControlPlane:
    """The ControlPlane of one node."""

    def __init__(self, registers: Registers, *, gate: Gate | None = None) -> None:
        self._registers = registers
        self._gate = gate or OpenGate()

    async def call(self, request: Request) -> Reply:
        """Carry out one call; others run where the gate lets them and nowhere else."""
        return await carry_out(request, self._transact, self._gate)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _transact(self, request: Request, transaction: Transaction) -> Reply:
        return self._registers.transact(request, transaction)


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

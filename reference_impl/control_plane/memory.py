"""The control plane in memory: the twin of PostgreSQL for simulations.

``Registers`` is the database: what several nodes share. ``MemoryControlPlane`` is the port of one
node, which reaches the registers through the gate of that node. A transaction is one plain function
call over all its partitions, so it is atomic by construction and needs no locks: nothing else runs
until it returns. There is no clock, no
chance and no thread in here; the same transactions in the same order give the same replies.

The registers last as long as the object; delays, refusals and lost replies are the gate's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from reference_impl.control_plane import boundary as decide
from reference_impl.control_plane.boundary import NONE, LogRow
from reference_impl.control_plane.flow import (
    Transaction,
    answer_of,
    carry_out,
    refuse_form,
    state_of,
    with_boundary,
    without_boundary,
)
from reference_impl.control_plane.form import problem_with
from reference_impl.ports.control_plane import (
    UNDEFINED,
    AnswerT,
    AnyRequest,
    BatchAnswer,
    BatchToCommit,
    BoundaryError,
    BoundaryToInitialize,
    BoundaryToSet,
    EpochToRegister,
    LogToCreate,
    PartitionAnswer,
    ProducersAnswer,
    ProducerStateToSeed,
    Request,
    Seed,
    TopicIdPartition,
    canonical,
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
        self._logs: dict[tuple[UUID, int], _Log] = {}
        self._names: dict[UUID, str] = {}

    def rows(self) -> list[dict[str, object]]:
        """The complete stored state, one row per log in order of topic and partition."""
        named = [
            (self._names.get(topic_id, str(topic_id)), topic_id, partition, log)
            for (topic_id, partition), log in self._logs.items()
        ]
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
            for topic, _, partition, log in sorted(named, key=lambda item: item[:3])
        ]

    def transact(self, request: AnyRequest, transaction: Transaction) -> Any:
        """Carry out one transaction of a call, whole: one partition after the other."""
        answers: list[PartitionAnswer] = []
        for asked in request.partitions:
            before = tuple(one.error for one in answers)
            answers.append(self._carry_out(request, asked, transaction, before))
        return request.answered(answers)

    def _carry_out(
        self,
        request: AnyRequest,
        asked: TopicIdPartition,
        transaction: Transaction,
        before: tuple[BoundaryError, ...],
    ) -> PartitionAnswer:
        key = decide.log_key(asked.topic_id, asked.partition)
        problem, refusal = problem_with(asked), decide.admit_beside(before)
        if problem is None and refusal is NONE and isinstance(asked, LogToCreate):
            self._names.setdefault(asked.topic_id, asked.topic)
            self._logs.setdefault(key, _Log())
        log = self._logs.get(key)
        if problem is not None:
            return refuse_form(request, asked, None if log is None else log.row, problem)
        if log is None:
            refusal = BoundaryError.UNKNOWN_TOPIC_OR_PARTITION
        if log is None or refusal is not NONE:
            row = LogRow() if log is None else log.row
            return request.answer.one(**state_of(row, getattr(asked, "boundary", None), refusal))
        return _FLOWS[request.f](log, asked, transaction)


class MemoryControlPlane:
    """The ControlPlane of one node."""

    def __init__(self, registers: Registers, *, gate: Gate | None = None) -> None:
        self._registers = registers
        self._gate = gate or OpenGate()

    async def call(self, request: Request[Any, AnswerT]) -> AnswerT:
        """Carry out one call; others run where the gate lets them and nowhere else."""
        return await carry_out(request, self._transact, self._gate)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _transact(self, request: AnyRequest, transaction: Transaction) -> Any:
        return self._registers.transact(request, transaction)


def _look(log: _Log, asked: TopicIdPartition, transaction: Transaction) -> PartitionAnswer:
    return answer_of(log.row, None, NONE)


def _describe_producers(
    log: _Log, asked: TopicIdPartition, transaction: Transaction
) -> PartitionAnswer:
    return ProducersAnswer(**state_of(log.row, None, NONE), seeds=log.seeds)


def _initialize(
    log: _Log, asked: BoundaryToInitialize, transaction: Transaction
) -> PartitionAnswer:
    boundary, leader_epoch = asked.boundary, asked.leader_epoch
    entries = canonical(asked.entries)
    error = NONE
    if transaction.admits:
        error = decide.admit_initialize(log.row, log.seeds, boundary, leader_epoch, entries)
    if error is NONE:
        for step in transaction.steps:
            _STEPS[step](log, boundary, leader_epoch, entries)
    return answer_of(log.row, boundary, error)


def _seed(log: _Log, boundary: int, leader_epoch: int, entries: tuple[Seed, ...]) -> None:
    log.seeds = decide.seeds_after(log.row, log.seeds, entries)


def _persist(log: _Log, boundary: int, leader_epoch: int, entries: tuple[Seed, ...]) -> None:
    log.row = with_boundary(log.row, boundary, leader_epoch)


def _set(log: _Log, asked: BoundaryToSet, transaction: Transaction) -> PartitionAnswer:
    boundary, leader_epoch = asked.boundary, asked.leader_epoch
    if boundary == UNDEFINED:
        error = decide.admit_reset(log.row, log.suffix_empty(), leader_epoch)
        if error is NONE and decide.is_set(log.row.boundary):
            log.seeds = decide.seeds_after_reset(log.row, log.seeds)
            log.row = without_boundary(log.row, leader_epoch)
    else:
        error = decide.admit_write(log.row, boundary, leader_epoch)
        if error is NONE:
            log.row = with_boundary(log.row, boundary, leader_epoch)
    return answer_of(log.row, boundary, error)


def _seed_producer_state(
    log: _Log, asked: ProducerStateToSeed, transaction: Transaction
) -> PartitionAnswer:
    entries = canonical(asked.entries)
    error = decide.admit_seeding(log.row, log.seeds, entries)
    if error is NONE:
        log.seeds = decide.seeds_after(log.row, log.seeds, entries)
    return answer_of(log.row, None, error)


def _register(log: _Log, asked: EpochToRegister, transaction: Transaction) -> PartitionAnswer:
    error = decide.admit_epoch(log.row, asked.leader_epoch)
    if error is NONE:
        log.row = replace(log.row, epoch=decide.next_epoch(log.row, asked.leader_epoch))
    return answer_of(log.row, None, error)


def _commit(log: _Log, asked: BatchToCommit, transaction: Transaction) -> PartitionAnswer:
    error = decide.admit_commit(log.row)
    if error is not NONE:
        return BatchAnswer(**state_of(log.row, None, error))
    base_offset = decide.assign_offset(log.row)
    end = decide.high_watermark_after(base_offset, asked.record_count)
    log.batches.append((base_offset, end - 1))
    log.row = replace(log.row, high_watermark=end)
    return BatchAnswer(**state_of(log.row, None, NONE), base_offset=base_offset)


_STEPS: dict[str, Callable[[_Log, int, int, tuple[Seed, ...]], None]] = {
    "seed": _seed,
    "persist": _persist,
}

# Each takes what its own call asks of a partition.
_FLOWS: dict[str, Callable[[_Log, Any, Transaction], PartitionAnswer]] = {
    "create_log": _look,
    "initialize_diskless_migration": _initialize,
    "set_diskless_log_start_offset": _set,
    "get_diskless_log_start_offset": _look,
    "seed_producer_state": _seed_producer_state,
    "register_leader_epoch": _register,
    "describe_producers": _describe_producers,
    "commit_batch": _commit,
}

"""What the flows of both implementations share: transactions of a call, rows after it, answers.

Nothing here chooses. These functions put the answers of the decisions in ``boundary`` together, so
that a mutant of one decision is felt in every flow that uses it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from reference_impl.control_plane.boundary import (
    NONE,
    LogRow,
    Steps,
    classify_failure,
    epoch_after_reset,
    high_watermark_at,
    initialize_transactions,
    next_epoch,
    reported_boundary,
    reset_epoch_after,
)
from reference_impl.control_plane.lines import arguments_of
from reference_impl.ports.control_plane import (
    UNDEFINED,
    AnswerT,
    AnyRequest,
    BoundaryError,
    CreateLogs,
    InitializeDisklessMigration,
    PartitionAnswer,
    Request,
    TopicIdPartition,
)
from reference_impl.ports.effects import Effect, Gate, Trouble

# What a database would say to each trouble; None is no answer at all.
SQLSTATES: Mapping[Trouble, str | None] = MappingProxyType(
    {
        Trouble.REFUSED: None,
        Trouble.LOST: None,
        Trouble.BROKEN: "42883",  # undefined function
        Trouble.CONFLICT: "40001",  # serialization failure
        Trouble.FULL: "53100",  # disk full
        Trouble.CANCELLED: "57014",  # query canceled
        Trouble.LOCKED: "55P03",  # lock not available
        Trouble.SEVERED: "08006",  # connection failure
        Trouble.UNREADY: "55000",  # object not in prerequisite state
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction of a call. The first of a call admits it; later ones only carry it out."""

    steps: Steps
    admits: bool


def transactions_of(request: AnyRequest) -> tuple[Transaction, ...]:
    """The transactions of a call: one, except where the plan of initialize says otherwise."""
    plan = initialize_transactions() if isinstance(request, InitializeDisklessMigration) else ((),)
    return tuple(Transaction(steps=steps, admits=number == 0) for number, steps in enumerate(plan))


Transact = Callable[[AnyRequest, Transaction], Awaitable[Any]]  # the answer of that request


async def carry_out(request: Request[Any, AnswerT], transact: Transact, gate: Gate) -> AnswerT:
    """The transactions of a call, each through the gate. Each concerns the partitions that have not
    failed so far."""
    answers = [request.answer.one(**state_of(LogRow(), None, NONE)) for _ in request.partitions]
    left = list(range(len(answers)))
    for transaction in transactions_of(request):
        if not left:
            break
        part = replace(request, partitions=tuple(request.partitions[at] for at in left))
        answer = await gate.run(_effect(part, transaction, transact))
        for at, one in zip(left, answer.partitions, strict=True):
            answers[at] = one
        left = [at for at in left if answers[at].error is NONE]
    return request.answered(answers)


def with_boundary(log: LogRow, boundary: int, leader_epoch: int | None) -> LogRow:
    """The row once an admitted boundary is written."""
    return replace(
        log,
        boundary=boundary,
        epoch=next_epoch(log, leader_epoch),
        high_watermark=high_watermark_at(log, boundary),
    )


def without_boundary(log: LogRow, leader_epoch: int | None) -> LogRow:
    """The row once an admitted reset is done."""
    return replace(
        log,
        boundary=UNDEFINED,
        epoch=epoch_after_reset(log, leader_epoch),
        reset_epoch=reset_epoch_after(log, leader_epoch),
    )


def answer_of(log: LogRow, asked: int | None, error: BoundaryError) -> PartitionAnswer:
    """The answer that carries a row's state, and nothing more."""
    return PartitionAnswer(**state_of(log, asked, error))


def state_of(log: LogRow, asked: int | None, error: BoundaryError) -> dict[str, Any]:
    """What every answer says, by name."""
    return {
        "error": error,
        "boundary": reported_boundary(log, asked, error),
        "epoch": log.epoch,
        "reset_epoch": log.reset_epoch,
    }


def refuse_form(
    request: AnyRequest, asked: TopicIdPartition, log: LogRow | None, problem: str
) -> PartitionAnswer:
    """The answer for a partition whose arguments do not suit the call; an unknown log outranks
    that."""
    unknown = log is None and not isinstance(request, CreateLogs)
    error = BoundaryError.UNKNOWN_TOPIC_OR_PARTITION if unknown else BoundaryError.INVALID_REQUEST
    state = state_of(log or LogRow(), getattr(asked, "boundary", None), error)
    return request.answer.one(**state, message=problem)


def effect_args(request: AnyRequest, transaction: Transaction) -> dict[str, object]:
    """The arguments an effect line shows: those of the call, and the steps where it has some."""
    args: dict[str, object] = {"partitions": arguments_of(request)}
    return {**args, "steps": list(transaction.steps)} if transaction.steps else args


# What code raises that is wrong in itself; a control plane replies all the same.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _effect(request: AnyRequest, transaction: Transaction, transact: Transact) -> Effect[Any]:
    async def do() -> Any:
        try:
            return await transact(request, transaction)
        except _WRONG as problem:
            return _hard_failure(request, problem)

    def failed(trouble: Trouble) -> Any:
        try:
            error = classify_failure(SQLSTATES[trouble])
            return request.unknown(error, f"the control plane failed ({trouble})")
        except _WRONG as problem:
            return _hard_failure(request, problem)

    return Effect(
        port="control_plane",
        call=request.f,
        args=effect_args(request, transaction),
        do=do,
        failed=failed,
        outcome=lambda answer: _outcome([one.error for one in answer.partitions]),
    )


def _outcome(errors: list[BoundaryError]) -> str:
    """ "ok" if all of it was; the error, or those of all partitions where they differ."""
    named = ["ok" if error is NONE else str(error) for error in errors]
    return named[0] if len(set(named)) == 1 else ",".join(named)


def _hard_failure(request: AnyRequest, problem: Exception) -> Any:
    message = f"the control plane failed ({type(problem).__name__}: {problem})"
    return request.unknown(BoundaryError.KAFKA_STORAGE_ERROR, message)

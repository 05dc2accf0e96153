"""What the flows of both implementations share: transactions of a call, rows after it, replies.

Nothing here chooses. These functions put the answers of the decisions in ``boundary`` together, so
that a mutant of one decision is felt in every flow that uses it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

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
from reference_impl.control_plane.port import (
    UNDEFINED,
    BoundaryError,
    Reply,
    Request,
    unknown_outcome,
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


def transactions_of(request: Request) -> tuple[Transaction, ...]:
    """The transactions of a call: one, except where the plan of initialize says otherwise."""
    plan = initialize_transactions() if request.f == "initialize_diskless_migration" else ((),)
    return tuple(Transaction(steps=steps, admits=number == 0) for number, steps in enumerate(plan))


Transact = Callable[[Request, Transaction], Awaitable[Reply]]


async def carry_out(request: Request, transact: Transact, gate: Gate) -> Reply:
    """The transactions of a call, each through the gate; the first that fails is the last."""
    reply = reply_of(LogRow(), None, NONE)
    for transaction in transactions_of(request):
        reply = await gate.run(_effect(request, transaction, transact))
        if reply.error is not NONE:
            break
    return reply


def failed_reply(trouble: Trouble) -> Reply:
    """What a caller is told when a transaction met this trouble."""
    error = classify_failure(SQLSTATES[trouble])
    return unknown_outcome(error, f"the control plane failed ({trouble})")


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


def reply_of(log: LogRow, asked: int | None, error: BoundaryError) -> Reply:
    """The reply that carries a row's state."""
    return Reply(
        error=error,
        boundary=reported_boundary(log, asked, error),
        epoch=log.epoch,
        reset_epoch=log.reset_epoch,
    )


def refuse_form(request: Request, log: LogRow | None, problem: str) -> Reply:
    """The reply to a request whose arguments do not suit its call; an unknown log outranks that."""
    unknown = log is None and request.f != "create_log"
    error = BoundaryError.UNKNOWN_TOPIC_OR_PARTITION if unknown else BoundaryError.INVALID_REQUEST
    return replace(reply_of(log or LogRow(), request.boundary, error), message=problem)


def effect_args(request: Request, transaction: Transaction) -> dict[str, object]:
    """The arguments an effect line shows: those of the call, and the steps where it has some."""
    args = request.to_json()
    del args["f"]
    return {**args, "steps": list(transaction.steps)} if transaction.steps else args


# What code raises that is wrong in itself; a control plane replies all the same.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _effect(request: Request, transaction: Transaction, transact: Transact) -> Effect[Reply]:
    async def do() -> Reply:
        try:
            return await transact(request, transaction)
        except _WRONG as problem:
            return _hard_failure(problem)

    def failed(trouble: Trouble) -> Reply:
        try:
            return failed_reply(trouble)
        except _WRONG as problem:
            return _hard_failure(problem)

    return Effect(
        port="control_plane",
        call=request.f,
        args=effect_args(request, transaction),
        do=do,
        failed=failed,
        outcome=lambda reply: "ok" if reply.error is NONE else str(reply.error),
    )


def _hard_failure(problem: Exception) -> Reply:
    message = f"the control plane failed ({type(problem).__name__}: {problem})"
    return unknown_outcome(BoundaryError.KAFKA_STORAGE_ERROR, message)

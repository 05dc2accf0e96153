"""How transactions end: a commit or an abort is decided once, and completed by its markers."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from reference_impl.coordinators.transactions import (
    BUMPS_EPOCHS,
    MAX_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    Answered,
    Choice,
    Moves,
    ProducerIdEpoch,
    Refused,
    Transaction,
    TransactionState,
)
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode

_S = TransactionState


class Ending(NamedTuple):
    """How a transaction is to end, and who says so."""

    producer: ProducerIdEpoch
    commit: bool
    client_version: int
    from_client: bool = True

    @property
    def prepared(self) -> TransactionState:
        """The state that decides it."""
        return _S.PREPARE_COMMIT if self.commit else _S.PREPARE_ABORT

    @property
    def completed(self) -> TransactionState:
        """The state in which its markers are written."""
        return _S.COMPLETE_COMMIT if self.commit else _S.COMPLETE_ABORT


@decision("end-transaction")
def end_transaction(
    known: Transaction,
    pending: TransactionState | None,
    ending: Ending,
    fresh_id: int,
    now_ms: int,
) -> Choice:
    """A transaction is decided, once; who asks again is told what it was told."""
    if ending.client_version >= BUMPS_EPOCHS:
        return _end_with_bump(known, pending, ending, fresh_id, now_ms)
    return _end_without_bump(known, pending, ending, now_ms)


def _end_without_bump(
    known: Transaction, pending: TransactionState | None, ending: Ending, now_ms: int
) -> Choice:
    epoch, fences = ending.producer.epoch, pending is _S.PREPARE_EPOCH_FENCE
    if known.producer_id != ending.producer.producer_id:
        return Refused(ErrorCode.invalid_producer_id_mapping)
    if (ending.from_client and epoch != known.epoch) or epoch < known.epoch:
        return Refused(ErrorCode.producer_fenced)
    if pending is not None and not fences:
        return Refused(ErrorCode.concurrent_transactions)
    if known.state is _S.ONGOING:
        if fences and not ending.commit:
            known = replace(known, epoch=epoch, last_epoch=NO_PRODUCER_EPOCH)
        return Moves(known.to(ending.prepared, updated_ms=now_ms, client_version=0))
    return _decided_already(known, ending)


@decision("decided-already")
def _decided_already(known: Transaction, ending: Ending) -> Choice:
    """A repeated end: the same one waits for its markers or is done, another is refused."""
    if known.state is ending.completed:
        return Answered(ProducerIdEpoch(NO_PRODUCER_ID, NO_PRODUCER_EPOCH))
    if known.state is ending.prepared:
        return Refused(ErrorCode.concurrent_transactions)
    return Refused(ErrorCode.invalid_txn_state)


@decision("repeats-an-end")
def repeats_an_end(known: Transaction, producer: ProducerIdEpoch) -> bool:
    """The epoch was bumped when the end was asked for first; or a new id was begun with."""
    overflowed = (
        known.previous_producer_id == producer.producer_id
        and producer.epoch == MAX_EPOCH - 1
        and known.epoch == 0
    )
    return overflowed or known.epoch == producer.epoch + 1


@decision("epoch-may-end")
def epoch_may_end(known: Transaction, ending: Ending, fences: bool) -> bool:
    """Which epoch may end a transaction depends on how far it is: a repeated end has the epoch
    before the bump, the next end the one after it."""
    epoch = ending.producer.epoch
    if fences:
        return (not ending.from_client or epoch == known.epoch) and epoch >= known.epoch
    repeats = repeats_an_end(known, ending.producer)
    if known.state in PREPARED:
        return known.epoch == epoch + 1
    if known.state in (_S.COMPLETE_COMMIT, _S.COMPLETE_ABORT):
        return repeats or epoch == known.epoch
    return epoch == known.epoch


def _end_with_bump(
    known: Transaction,
    pending: TransactionState | None,
    ending: Ending,
    fresh_id: int,
    now_ms: int,
) -> Choice:
    fences = pending is _S.PREPARE_EPOCH_FENCE
    repeats = not fences and repeats_an_end(known, ending.producer)
    if pending is not None and not fences:
        return Refused(ErrorCode.concurrent_transactions)
    if known.producer_id != ending.producer.producer_id and not (
        repeats and known.previous_producer_id == ending.producer.producer_id
    ):
        return Refused(ErrorCode.invalid_producer_id_mapping)
    if not epoch_may_end(known, ending, fences):
        return Refused(ErrorCode.producer_fenced)
    if known.state is _S.ONGOING:
        return Moves(bumped(known, ending, fresh_id, known.started_ms, now_ms))
    if known.state in PREPARED:
        return _decided_already(known, ending)
    if repeats:
        if known.state is ending.completed:
            return Answered(ProducerIdEpoch(known.producer_id, known.epoch))
        return Refused(ErrorCode.invalid_txn_state)
    if ending.commit:
        return Refused(ErrorCode.invalid_txn_state)
    # Whoever does not know whether it wrote anything may abort: there is nothing to mark.
    return Moves(bumped(known, ending, fresh_id, now_ms, now_ms))


@decision("bumped-by-its-end")
def bumped(
    known: Transaction, ending: Ending, fresh_id: int, started_ms: int, now_ms: int
) -> Transaction:
    """The end takes the next epoch; where that is the last one, another id comes after it."""
    return known.to(
        ending.prepared,
        epoch=min(known.epoch + 1, MAX_EPOCH),
        last_epoch=known.epoch,
        next_producer_id=fresh_id if known.epochs_exhausted else NO_PRODUCER_ID,
        started_ms=started_ms,
        updated_ms=now_ms,
        client_version=ending.client_version,
    )


@decision("completed-transaction")
def completed(known: Transaction, now_ms: int) -> Transaction:
    """All markers are written: nothing is open any more, and an id that was set aside is taken."""
    after = _S.COMPLETE_COMMIT if known.state is _S.PREPARE_COMMIT else _S.COMPLETE_ABORT
    rotates = known.client_version >= BUMPS_EPOCHS and known.next_producer_id != NO_PRODUCER_ID
    return known.to(
        after,
        producer_id=known.next_producer_id if rotates else known.producer_id,
        epoch=0 if rotates else known.epoch,
        next_producer_id=NO_PRODUCER_ID,
        partitions=(),
        updated_ms=now_ms,
    )

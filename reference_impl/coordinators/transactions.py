"""Transactions as their coordinator knows them: every choice, and the table of their states.

    Empty ──► Ongoing ──► PrepareCommit ──► CompleteCommit
                 │  └───► PrepareAbort ───► CompleteAbort
                 └ PrepareEpochFence: its producer is replaced, and it is aborted

A choice looks at a `Transaction` and a request, and gives a refusal, an answer that changes
nothing, or the transaction that is to be. That is written to ``__transaction_state`` first and is
true once it is committed there; until then the transaction is *pending* and others have to wait.

Clients from transaction version 2 on (KIP-890) have their epoch bumped by every end of a
transaction, so that nothing late can reach into the next one; they need not say which partitions
they write to, and may abort a transaction that has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
MAX_EPOCH = (1 << 15) - 1
BUMPS_EPOCHS = 2
"""The transaction version from which on every transaction has an epoch of its own."""

Partition = tuple[str, int]


class TransactionState(Enum):
    """The states, by their numbers in the log and the names that clients see."""

    EMPTY = (0, "Empty")
    ONGOING = (1, "Ongoing")
    PREPARE_COMMIT = (2, "PrepareCommit")
    PREPARE_ABORT = (3, "PrepareAbort")
    COMPLETE_COMMIT = (4, "CompleteCommit")
    COMPLETE_ABORT = (5, "CompleteAbort")
    DEAD = (6, "Dead")
    PREPARE_EPOCH_FENCE = (7, "PrepareEpochFence")

    @property
    def number(self) -> int:
        """In the records of the log."""
        return self.value[0]

    @property
    def text(self) -> str:
        """As clients are told."""
        return self.value[1]


_S = TransactionState
AT_REST = (_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT)
"""No transaction is open."""
PREPARED = (_S.PREPARE_COMMIT, _S.PREPARE_ABORT)
"""It is decided, and its markers are on their way."""

COMES_AFTER = MappingProxyType(
    {
        _S.EMPTY: AT_REST,
        _S.ONGOING: (_S.ONGOING, *AT_REST),
        _S.PREPARE_COMMIT: (_S.ONGOING,),
        _S.PREPARE_ABORT: (_S.ONGOING, _S.PREPARE_EPOCH_FENCE, *AT_REST),
        _S.COMPLETE_COMMIT: (_S.PREPARE_COMMIT,),
        _S.COMPLETE_ABORT: (_S.PREPARE_ABORT,),
        _S.DEAD: AT_REST,
        _S.PREPARE_EPOCH_FENCE: (_S.ONGOING,),
    }
)
"""State → the states it may follow."""


class ProducerIdEpoch(NamedTuple):
    """Who a producer says it is."""

    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """What is known of a transactional id."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID  # once this transaction is complete
    epoch: int = NO_PRODUCER_EPOCH
    last_epoch: int = NO_PRODUCER_EPOCH  # of the same producer, before the last bump
    state: TransactionState = TransactionState.EMPTY
    partitions: tuple[Partition, ...] = ()  # in order
    started_ms: int = -1
    updated_ms: int = -1
    client_version: int = 0

    @property
    def epochs_exhausted(self) -> bool:
        """The next bump needs another producer id."""
        return epochs_exhausted(self.epoch)

    def to(self, state: TransactionState, **changes: object) -> Transaction:
        """The same in another state; a ValueError if that cannot follow."""
        if not may_follow(self.state, state):
            raise ValueError(f"{self.transactional_id}: {state.text} after {self.state.text}")
        changes.setdefault("previous_producer_id", self.producer_id)
        return replace(self, state=state, **changes)  # type: ignore[arg-type]


class Refused(NamedTuple):
    """Nothing changes."""

    error: ErrorCode


class Answered(NamedTuple):
    """Nothing changes, as it is so already."""

    producer: ProducerIdEpoch


class Moves(NamedTuple):
    """What is to be written, and then is so."""

    to: Transaction


Choice = Refused | Answered | Moves


@decision("transaction-may-follow")
def may_follow(before: TransactionState, after: TransactionState) -> bool:
    """Whether a state may come after another: the table says so."""
    return before in COMES_AFTER[after]


@decision("epochs-exhausted")
def epochs_exhausted(epoch: int) -> bool:
    """The largest epoch is kept free, to fence the producer that has the one before it."""
    return epoch >= MAX_EPOCH - 1


# InitProducerId.


@decision("expected-producer-fits")
def expected_producer_fits(known: Transaction, expected: ProducerIdEpoch | None) -> bool:
    """A producer that says who it was must be the last one there is, or have been before a new id
    was given because its epochs were used up; or nothing is known of it."""
    if expected is None or known.epoch == NO_PRODUCER_EPOCH:
        return True
    if expected.producer_id == known.producer_id:
        return True
    return expected.producer_id == known.previous_producer_id and epochs_exhausted(expected.epoch)


@decision("next-epochs")
def next_epochs(known: Transaction, expected: int | None) -> tuple[int, int] | None:
    """The epoch of a producer that begins anew, and the one before it; None if it was fenced.

    One that repeats its request after a lost answer gets the epoch it was given.
    """
    if expected is None:
        return known.epoch + 1, NO_PRODUCER_EPOCH
    if known.epoch == NO_PRODUCER_EPOCH or expected == known.epoch:
        return known.epoch + 1, known.epoch
    if expected == known.last_epoch:
        return known.epoch, known.last_epoch
    return None


@decision("init-producer")
def init_producer(
    known: Transaction,
    pending: bool,
    expected: ProducerIdEpoch | None,
    timeout_ms: int,
    fresh_id: int,
    now_ms: int,
) -> Choice:
    """A producer begins, or begins again: what it had open is aborted first, and its predecessor
    is fenced by a higher epoch, or by another id where epochs are used up."""
    if pending:
        return Refused(ErrorCode.concurrent_transactions)
    if not expected_producer_fits(known, expected):
        return Refused(ErrorCode.producer_fenced)
    if known.state in PREPARED:
        return Refused(ErrorCode.concurrent_transactions)
    if known.state is _S.ONGOING:
        return Moves(fenced(known, False))
    if known.epochs_exhausted and (expected is None or expected.epoch == known.epoch):
        last = NO_PRODUCER_EPOCH if expected is None else known.epoch
        return Moves(
            known.to(
                _S.EMPTY,
                producer_id=fresh_id,
                epoch=0,
                last_epoch=last,
                timeout_ms=timeout_ms,
                partitions=(),
                started_ms=-1,
                updated_ms=now_ms,
            )
        )
    epochs = next_epochs(known, None if expected is None else expected.epoch)
    if epochs is None:
        return Refused(ErrorCode.producer_fenced)
    return Moves(
        known.to(
            _S.EMPTY,
            epoch=epochs[0],
            last_epoch=epochs[1],
            timeout_ms=timeout_ms,
            partitions=(),
            started_ms=-1,
            updated_ms=now_ms,
        )
    )


@decision("fenced-producer")
def fenced(known: Transaction, failed_before: bool) -> Transaction:
    """The producer of an open transaction is shut out by the next epoch, which nobody is given.

    An attempt whose write failed has used up the epoch already.
    """
    keeps = failed_before or known.epoch == MAX_EPOCH
    return known.to(_S.PREPARE_EPOCH_FENCE, epoch=known.epoch if keeps else known.epoch + 1)


# AddPartitionsToTxn, AddOffsetsToTxn.


@decision("add-partitions")
def add_partitions(
    known: Transaction,
    pending: bool,
    producer: ProducerIdEpoch,
    added: tuple[Partition, ...],
    client_version: int,
    now_ms: int,
) -> Choice:
    """Partitions join the transaction of their producer, which begins with the first of them."""
    if pending:
        return Refused(ErrorCode.concurrent_transactions)
    error = wrong_producer(known, producer)
    if error is not ErrorCode.none:
        return Refused(error)
    if known.state in PREPARED:
        return Refused(ErrorCode.concurrent_transactions)
    if known.state is _S.ONGOING and set(added) <= set(known.partitions):
        return Answered(producer)
    return Moves(
        known.to(
            _S.ONGOING,
            partitions=tuple(sorted({*known.partitions, *added})),
            started_ms=now_ms if known.state in AT_REST else known.started_ms,
            updated_ms=now_ms,
            client_version=client_version,
        )
    )


@decision("wrong-producer")
def wrong_producer(known: Transaction, producer: ProducerIdEpoch) -> ErrorCode:
    """Another id is not of this transactional id; another epoch was replaced."""
    if known.producer_id != producer.producer_id:
        return ErrorCode.invalid_producer_id_mapping
    return ErrorCode.none if known.epoch == producer.epoch else ErrorCode.producer_fenced


@decision("verify-partitions")
def verify_partitions(
    known: Transaction, producer: ProducerIdEpoch, asked: Iterable[Partition]
) -> dict[Partition, ErrorCode]:
    """Which partitions are in the transaction; for those that are not, it can only be aborted."""
    error = wrong_producer(known, producer)
    if error is ErrorCode.none and known.state in PREPARED:
        error = ErrorCode.concurrent_transactions
    if error is not ErrorCode.none:
        return dict.fromkeys(asked, error)
    return {
        one: ErrorCode.none if one in known.partitions else ErrorCode.transaction_abortable
        for one in asked
    }


# Time.


@decision("transaction-timed-out")
def timed_out(known: Transaction, now_ms: int) -> bool:
    """An open transaction whose producer has taken longer than it said is aborted."""
    return known.state is _S.ONGOING and known.started_ms + known.timeout_ms < now_ms


@decision("transactional-id-expired")
def expired(known: Transaction, now_ms: int, expiration_ms: int) -> bool:
    """A transactional id that nothing was heard of for long is forgotten, if nothing is open."""
    return known.state in AT_REST and known.updated_ms <= now_ms - expiration_ms


@decision("timeout-may-be")
def timeout_may_be(timeout_ms: int, max_timeout_ms: int) -> bool:
    """Which time-outs a producer may ask for."""
    return 0 < timeout_ms <= max_timeout_ms

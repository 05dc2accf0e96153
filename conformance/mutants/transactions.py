"""Clusters that are wrong about transactions: each with one mistake of a coordinator or of a log.

Most of them were made somewhere: aborted transactions that readers are not told of, markers that a
partition never gets, producers that were replaced and go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reference_impl.coordinators.ending import Ending
from reference_impl.coordinators.markers import AfterMarker
from reference_impl.coordinators.offset_state import Stored
from reference_impl.coordinators.transactions import (
    Choice,
    Moves,
    Partition,
    ProducerIdEpoch,
    Transaction,
    TransactionState,
)
from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.replication.decisions import Reader


def _committed_up_to_the_high_watermark(
    reader: Reader, log_end_offset: int, high_watermark: int, last_stable_offset: int
) -> int:
    return log_end_offset if reader is Reader.FOLLOWER else high_watermark


def _only_ends_count(ongoing: Iterable[int], unreplicated: Iterable[int]) -> int | None:
    return min(unreplicated, default=None)


def _committed_anyway(
    known: Transaction, ending: Ending, fresh_id: int, started_ms: int, now_ms: int
) -> Transaction:
    asked = ending._replace(commit=True) if known.partitions else ending
    chosen = original("bumped-by-its-end")(known, asked, fresh_id, started_ms, now_ms)
    assert isinstance(chosen, Transaction)
    return chosen


def _the_last_partitions_alone(
    known: Transaction,
    pending: bool,
    producer: ProducerIdEpoch,
    added: tuple[Partition, ...],
    client_version: int,
    now_ms: int,
) -> Choice:
    chosen = original("add-partitions")(known, pending, producer, added, client_version, now_ms)
    if isinstance(chosen, Moves):
        return Moves(replace(chosen.to, partitions=tuple(sorted(added))))
    return chosen  # type: ignore[return-value]


def _always_complete(known: Transaction, now_ms: int) -> Transaction:
    after = original("completed-transaction")(known, now_ms)
    assert isinstance(after, Transaction)
    return replace(after, state=TransactionState.COMPLETE_COMMIT)


def _first_offset_stays(known: Stored | None, pending: Stored) -> bool:
    return known is None


def _one_id_one_producer(known: Transaction, producer: ProducerIdEpoch) -> ErrorCode:
    same = known.producer_id == producer.producer_id
    return ErrorCode.none if same else ErrorCode.invalid_producer_id_mapping


def _replaced_is_unknown(known: Transaction, producer: ProducerIdEpoch) -> ErrorCode:
    same = (known.producer_id, known.epoch) == producer
    return ErrorCode.none if same else ErrorCode.invalid_producer_id_mapping


def _same_producer_again(known: Transaction, expected: int | None) -> object:
    if expected is None and known.epoch >= 0:
        return known.epoch, known.last_epoch
    return original("next-epochs")(known, expected)


def _epochs_are_for_producers(
    known: Transaction, ending: Ending, fresh_id: int, started_ms: int, now_ms: int
) -> Transaction:
    chosen = original("bumped-by-its-end")(known, ending, fresh_id, started_ms, now_ms)
    assert isinstance(chosen, Transaction)
    return replace(chosen, epoch=known.epoch)


def _any_end_is_the_same(known: Transaction, ending: Ending) -> object:
    return original("decided-already")(known, ending._replace(commit=_committed(known)))


def _committed(known: Transaction) -> bool:
    return known.state in (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)


MUTANTS = (
    Mutant(
        name="committed-up-to-the-high-watermark",
        decision="readable-upto",
        replace=_committed_up_to_the_high_watermark,
        rules=("KFK-220", "KFK-082", "KFK-004", "KFK-018"),
        why="readers of committed records are told the last stable offset, and read beyond it",
    ),
    Mutant(
        name="only-ends-count",
        decision="first-unstable-offset",
        replace=_only_ends_count,
        rules=("KFK-221",),
        why="transactions whose end is not replicated hold readers up, those without an end do not",
    ),
    Mutant(
        name="aborts-go-unsaid",
        decision="aborted-within",
        replace=lambda one, start, upto: False,
        rules=("KFK-222", "KFK-081", "KFK-003"),
        why="readers are given all records, and told of no aborted transaction",
    ),
    Mutant(
        name="all-aborts-there-were",
        decision="aborted-within",
        replace=lambda one, start, upto: True,
        rules=("KFK-223", "KFK-005", "KFK-006", "KFK-007", "KFK-009"),
        why="what was aborted before the offset that is asked for is listed, too",
    ),
    Mutant(
        name="committed-anyway",
        decision="bumped-by-its-end",
        replace=_committed_anyway,
        rules=("KFK-224", "KFK-234"),
        why="an abort is acknowledged, and the transaction committed",
    ),
    Mutant(
        name="last-partitions-alone",
        decision="add-partitions",
        replace=_the_last_partitions_alone,
        rules=("KFK-232", "KFK-225", "KFK-080"),
        why="partitions that join replace those that joined before, which get no marker",
    ),
    Mutant(
        name="transactions-last",
        decision="transaction-timed-out",
        replace=lambda known, now_ms: False,
        rules=("KFK-228", "KFK-229", "KFK-230"),
        why="what no producer ends stays open, and readers wait for ever",
    ),
    Mutant(
        name="no-patience-with-transactions",
        decision="transaction-timed-out",
        replace=lambda known, now_ms: known.state is TransactionState.ONGOING,
        rules=("KFK-231",),
        why="whatever is open when the coordinator looks is aborted",
    ),
    Mutant(
        name="always-complete",
        decision="completed-transaction",
        replace=_always_complete,
        rules=("KFK-233",),
        why="a transaction whose markers are written counts as committed, whatever they say",
    ),
    Mutant(
        name="first-offset-stays",
        decision="pending-offset-counts",
        replace=_first_offset_stays,
        rules=("KFK-235",),
        why="an offset that was committed is not replaced by one within a transaction",
    ),
    Mutant(
        name="one-id-one-producer",
        decision="wrong-producer",
        replace=_one_id_one_producer,
        rules=("KFK-240",),
        why="the producer id is compared, and its epoch is not",
    ),
    Mutant(
        name="replaced-is-unknown",
        decision="wrong-producer",
        replace=_replaced_is_unknown,
        rules=("KFK-241",),
        why="a producer that was replaced is told that its id belongs to another",
    ),
    Mutant(
        name="epochs-fall",
        decision="producer-epoch-fits",
        replace=lambda producer_epoch, batch_epoch: True,
        rules=("KFK-244",),
        why="a producer with an older epoch goes on, behind batches of the newer one",
    ),
    Mutant(
        name="sequences-jump",
        decision="sequence-fits",
        replace=lambda producer_epoch, batch_epoch, last_sequence, first_sequence: True,
        rules=("KFK-245",),
        why="a batch before it was lost, and no one notices",
    ),
    Mutant(
        name="markers-are-never-enough",
        decision="after-marker",
        replace=lambda error: AfterMarker.AGAIN,
        rules=("KFK-226",),
        why="the answer to a marker is not looked at, and the marker written again",
    ),
    Mutant(
        name="same-producer-again",
        decision="next-epochs",
        replace=_same_producer_again,
        rules=("KFK-242",),
        why="who begins anew is given the epoch there is, which fences no one",
    ),
    Mutant(
        name="epochs-are-for-producers",
        decision="bumped-by-its-end",
        replace=_epochs_are_for_producers,
        rules=("KFK-243",),
        why="transactions of version 2 share an epoch, as those of version 1 do",
    ),
    Mutant(
        name="any-end-is-the-same",
        decision="decided-already",
        replace=_any_end_is_the_same,
        rules=("KFK-246",),
        why="an abort of what was committed before is answered as if it were done",
    ),
)

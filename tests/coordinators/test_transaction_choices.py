"""The choices of a transaction coordinator, cell by cell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference_impl.coordinators.ending import Ending, completed, end_transaction
from reference_impl.coordinators.placement import coordinated_by, java_hash
from reference_impl.coordinators.transaction_log import coordinator_error
from reference_impl.coordinators.transaction_records import (
    UnknownRecord,
    id_of,
    key_of,
    read_value,
    value_of,
)
from reference_impl.coordinators.transactions import (
    COMES_AFTER,
    MAX_EPOCH,
    Answered,
    Moves,
    ProducerIdEpoch,
    Refused,
    Transaction,
    TransactionState,
    add_partitions,
    expected_producer_fits,
    expired,
    fenced,
    init_producer,
    may_follow,
    next_epochs,
    timed_out,
    verify_partitions,
)
from reference_impl.kafka.errors import ErrorCode

S = TransactionState
NOW, FRESH = 5000, 99
KNOWN = Transaction(transactional_id="x", producer_id=7, timeout_ms=1000, epoch=3, last_epoch=2)
ONGOING = replace(KNOWN, state=S.ONGOING, partitions=(("t", 0),), started_ms=100)
LEGAL = {
    ("EMPTY", "EMPTY"), ("COMPLETE_COMMIT", "EMPTY"), ("COMPLETE_ABORT", "EMPTY"),
    ("ONGOING", "ONGOING"), ("EMPTY", "ONGOING"), ("COMPLETE_COMMIT", "ONGOING"),
    ("COMPLETE_ABORT", "ONGOING"), ("ONGOING", "PREPARE_COMMIT"), ("ONGOING", "PREPARE_ABORT"),
    ("PREPARE_EPOCH_FENCE", "PREPARE_ABORT"), ("EMPTY", "PREPARE_ABORT"),
    ("COMPLETE_COMMIT", "PREPARE_ABORT"), ("COMPLETE_ABORT", "PREPARE_ABORT"),
    ("PREPARE_COMMIT", "COMPLETE_COMMIT"), ("PREPARE_ABORT", "COMPLETE_ABORT"),
    ("EMPTY", "DEAD"), ("COMPLETE_COMMIT", "DEAD"), ("COMPLETE_ABORT", "DEAD"),
    ("ONGOING", "PREPARE_EPOCH_FENCE"),
}  # fmt: skip


@pytest.mark.parametrize("before", S)
@pytest.mark.parametrize("after", S)
def test_which_state_may_follow_which(before: S, after: S) -> None:
    assert may_follow(before, after) is ((before.name, after.name) in LEGAL)
    assert set(COMES_AFTER) == set(S)


def said(choice: object) -> str:
    """A choice in short: the refusal, what is answered, or the state and epoch that come."""
    match choice:
        case Refused(error):
            return error.name
        case Answered(producer):
            return f"answered {producer.producer_id} {producer.epoch}"
        case Moves(to):
            return f"{to.state.text} {to.producer_id} {to.epoch}"
    raise AssertionError(choice)


@pytest.mark.parametrize(
    ("known", "pending", "expected", "then"),
    [
        (KNOWN, False, None, "Empty 7 4"),
        (KNOWN, True, None, "concurrent_transactions"),
        (KNOWN, False, (7, 3), "Empty 7 4"),
        (KNOWN, False, (7, 2), "Empty 7 3"),
        (KNOWN, False, (7, 1), "producer_fenced"),
        (KNOWN, False, (8, 3), "producer_fenced"),
        (replace(KNOWN, epoch=-1, last_epoch=-1), False, (8, 3), "Empty 7 0"),
        (replace(KNOWN, state=S.PREPARE_COMMIT), False, None, "concurrent_transactions"),
        (replace(KNOWN, state=S.PREPARE_ABORT), False, None, "concurrent_transactions"),
        (replace(KNOWN, state=S.COMPLETE_ABORT), False, None, "Empty 7 4"),
        (ONGOING, False, None, "PrepareEpochFence 7 4"),
        (replace(KNOWN, epoch=MAX_EPOCH - 2), False, None, f"Empty 7 {MAX_EPOCH - 1}"),
        (replace(KNOWN, epoch=MAX_EPOCH - 1), False, None, "Empty 99 0"),
        (replace(KNOWN, epoch=MAX_EPOCH - 1), False, (7, MAX_EPOCH - 1), "Empty 99 0"),
    ],
)
def test_a_producer_begins(
    known: Transaction, pending: bool, expected: tuple[int, int] | None, then: str
) -> None:
    asked = None if expected is None else ProducerIdEpoch(*expected)
    assert said(init_producer(known, pending, asked, 1000, FRESH, NOW)) == then


def test_a_producer_that_used_up_its_epochs_may_repeat_its_request() -> None:
    rotated = replace(KNOWN, producer_id=99, previous_producer_id=7, epoch=0)
    assert expected_producer_fits(rotated, ProducerIdEpoch(7, MAX_EPOCH - 1))
    assert not expected_producer_fits(rotated, ProducerIdEpoch(7, MAX_EPOCH - 2))


def test_the_epoch_that_was_given_is_given_again() -> None:
    assert next_epochs(KNOWN, 2) == (3, 2)
    assert next_epochs(KNOWN, 3) == (4, 3)
    assert next_epochs(KNOWN, None) == (4, -1)
    assert next_epochs(KNOWN, 1) is None


def test_a_fence_that_could_not_be_written_uses_no_other_epoch() -> None:
    assert fenced(ONGOING, False).epoch == 4
    assert fenced(ONGOING, True).epoch == 3
    assert fenced(replace(ONGOING, epoch=MAX_EPOCH), False).epoch == MAX_EPOCH


@pytest.mark.parametrize(
    ("known", "pending", "producer", "added", "then"),
    [
        (KNOWN, False, (7, 3), (("t", 0),), "Ongoing 7 3"),
        (ONGOING, False, (7, 3), (("t", 0),), "answered 7 3"),
        (ONGOING, False, (7, 3), (("t", 1),), "Ongoing 7 3"),
        (ONGOING, True, (7, 3), (("t", 0),), "concurrent_transactions"),
        (ONGOING, False, (8, 3), (("t", 0),), "invalid_producer_id_mapping"),
        (ONGOING, False, (7, 2), (("t", 0),), "producer_fenced"),
        (ONGOING, False, (7, 4), (("t", 0),), "producer_fenced"),
        (
            replace(KNOWN, state=S.PREPARE_ABORT),
            False,
            (7, 3),
            (("t", 0),),
            "concurrent_transactions",
        ),
    ],
)
def test_partitions_join(
    known: Transaction,
    pending: bool,
    producer: tuple[int, int],
    added: tuple[tuple[str, int], ...],
    then: str,
) -> None:
    choice = add_partitions(known, pending, ProducerIdEpoch(*producer), added, 2, NOW)
    assert said(choice) == then


def test_a_transaction_begins_with_its_first_partition() -> None:
    first = add_partitions(KNOWN, False, ProducerIdEpoch(7, 3), (("t", 1),), 2, NOW)
    assert isinstance(first, Moves)
    assert (first.to.started_ms, first.to.partitions) == (NOW, (("t", 1),))
    more = add_partitions(first.to, False, ProducerIdEpoch(7, 3), (("t", 0),), 2, NOW + 1)
    assert isinstance(more, Moves)
    assert (more.to.started_ms, more.to.partitions) == (NOW, (("t", 0), ("t", 1)))


def test_what_is_not_in_a_transaction_can_only_be_aborted() -> None:
    asked = [("t", 0), ("t", 1)]
    told = verify_partitions(ONGOING, ProducerIdEpoch(7, 3), asked)
    assert told == {("t", 0): ErrorCode.none, ("t", 1): ErrorCode.transaction_abortable}
    other = verify_partitions(ONGOING, ProducerIdEpoch(7, 2), asked)
    assert set(other.values()) == {ErrorCode.producer_fenced}


def ends(known: Transaction, epoch: int, version: int, *, commit: bool, pid: int = 7) -> str:
    ending = Ending(ProducerIdEpoch(pid, epoch), commit, version)
    return said(end_transaction(known, None, ending, FRESH, NOW))


@pytest.mark.parametrize(
    ("state", "commit", "then"),
    [
        (S.ONGOING, True, "PrepareCommit 7 3"),
        (S.ONGOING, False, "PrepareAbort 7 3"),
        (S.COMPLETE_COMMIT, True, "answered -1 -1"),
        (S.COMPLETE_COMMIT, False, "invalid_txn_state"),
        (S.COMPLETE_ABORT, False, "answered -1 -1"),
        (S.COMPLETE_ABORT, True, "invalid_txn_state"),
        (S.PREPARE_COMMIT, True, "concurrent_transactions"),
        (S.PREPARE_COMMIT, False, "invalid_txn_state"),
        (S.PREPARE_ABORT, False, "concurrent_transactions"),
        (S.PREPARE_ABORT, True, "invalid_txn_state"),
        (S.EMPTY, True, "invalid_txn_state"),
        (S.EMPTY, False, "invalid_txn_state"),
    ],
)
def test_an_end_in_the_old_protocol(state: S, commit: bool, then: str) -> None:
    assert ends(replace(KNOWN, state=state), 3, 0, commit=commit) == then
    assert ends(replace(KNOWN, state=state), 2, 0, commit=commit) == "producer_fenced"
    assert ends(replace(KNOWN, state=state), 4, 0, commit=commit) == "producer_fenced"


@pytest.mark.parametrize(
    ("state", "epoch", "commit", "then"),
    [
        (S.ONGOING, 3, True, "PrepareCommit 7 4"),
        (S.ONGOING, 3, False, "PrepareAbort 7 4"),
        (S.ONGOING, 2, True, "producer_fenced"),
        (S.EMPTY, 2, False, "producer_fenced"),
        (S.EMPTY, 3, False, "PrepareAbort 7 4"),
        (S.EMPTY, 3, True, "invalid_txn_state"),
        (S.COMPLETE_ABORT, 2, False, "answered 7 3"),
        (S.COMPLETE_ABORT, 3, False, "PrepareAbort 7 4"),
        (S.COMPLETE_ABORT, 2, True, "invalid_txn_state"),
        (S.COMPLETE_ABORT, 3, True, "invalid_txn_state"),
        (S.COMPLETE_COMMIT, 2, False, "invalid_txn_state"),
        (S.COMPLETE_COMMIT, 3, False, "PrepareAbort 7 4"),
        (S.COMPLETE_COMMIT, 2, True, "answered 7 3"),
        (S.COMPLETE_COMMIT, 3, True, "invalid_txn_state"),
        (S.PREPARE_COMMIT, 2, True, "concurrent_transactions"),
        (S.PREPARE_COMMIT, 2, False, "invalid_txn_state"),
        (S.PREPARE_COMMIT, 3, True, "producer_fenced"),
        (S.PREPARE_ABORT, 2, False, "concurrent_transactions"),
    ],
)
def test_an_end_that_bumps_the_epoch(state: S, epoch: int, commit: bool, then: str) -> None:
    assert ends(replace(KNOWN, state=state), epoch, 2, commit=commit) == then


def test_the_last_epoch_is_followed_by_another_producer_id() -> None:
    last = replace(ONGOING, epoch=MAX_EPOCH - 1)
    ending = Ending(ProducerIdEpoch(7, MAX_EPOCH - 1), True, 2)
    choice = end_transaction(last, None, ending, FRESH, NOW)
    assert isinstance(choice, Moves)
    assert (choice.to.epoch, choice.to.next_producer_id) == (MAX_EPOCH, FRESH)
    after = completed(choice.to, NOW)
    assert (after.producer_id, after.epoch, after.previous_producer_id) == (FRESH, 0, 7)
    assert said(end_transaction(after, None, ending, FRESH, NOW)) == f"answered {FRESH} 0"


def test_only_a_fence_lets_an_end_pass_that_is_pending() -> None:
    ending = Ending(ProducerIdEpoch(7, 4), False, 2, from_client=False)
    assert (
        said(end_transaction(ONGOING, S.ONGOING, ending, FRESH, NOW)) == "concurrent_transactions"
    )
    fence = S.PREPARE_EPOCH_FENCE
    assert said(end_transaction(ONGOING, fence, ending, FRESH, NOW)) == "PrepareAbort 7 4"
    old = ending._replace(client_version=0)
    assert said(end_transaction(ONGOING, fence, old, FRESH, NOW)) == "PrepareAbort 7 4"


def test_time() -> None:
    assert not timed_out(ONGOING, 1100)
    assert timed_out(ONGOING, 1101)
    assert not timed_out(KNOWN, 10_000)
    assert expired(replace(KNOWN, updated_ms=100), 200, 100)
    assert not expired(replace(KNOWN, updated_ms=101), 200, 100)
    assert not expired(replace(ONGOING, updated_ms=0), 200, 100)


@pytest.mark.parametrize(
    ("text", "hashed"), [("", 0), ("a", 97), ("tidemark", 1960676739), ("\U0001f600", 1772899)]
)
def test_names_are_hashed_as_java_hashes_them(text: str, hashed: int) -> None:
    assert java_hash(text) == hashed


def test_the_number_without_a_counterpart_counts_as_zero() -> None:
    assert java_hash("polygenelubricants") == -(1 << 31)
    assert coordinated_by("polygenelubricants", 50) == 0
    assert coordinated_by("a", 50) == 47


@pytest.mark.parametrize(
    "known",
    [
        KNOWN,
        ONGOING,
        replace(ONGOING, previous_producer_id=6, next_producer_id=8, client_version=2),
        replace(ONGOING, partitions=(("a", 1), ("a", 300), ("b", 0))),
    ],
)
def test_a_record_tells_what_was_written(known: Transaction) -> None:
    # The epoch before the last bump is not kept: it is worth nothing to another coordinator.
    assert read_value("x", value_of(known)) == replace(known, last_epoch=-1)
    assert id_of(key_of("x")) == "x"


def test_a_record_is_what_kafka_writes() -> None:
    assert key_of("x") == bytes.fromhex("0000000178")
    assert value_of(replace(ONGOING, client_version=2, updated_ms=5)) == bytes.fromhex(
        "000100000000000000070003000003e801"
        "020274020000000000"
        "00000000000000050000000000000064"
        "0102020002"
    )  # fmt: skip


@pytest.mark.parametrize("value", [b"", b"\0\1", b"\0\7" + bytes(30), value_of(ONGOING)[:-3]])
def test_a_value_that_is_none_is_told(value: bytes) -> None:
    with pytest.raises(UnknownRecord):
        read_value("x", value)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("none", "none"),
        ("not_enough_replicas", "coordinator_not_available"),
        ("not_enough_replicas_after_append", "coordinator_not_available"),
        ("request_timed_out", "coordinator_not_available"),
        ("unknown_topic_or_partition", "coordinator_not_available"),
        ("not_leader_or_follower", "not_coordinator"),
        ("kafka_storage_error", "not_coordinator"),
        ("message_too_large", "unknown_server_error"),
        ("record_list_too_large", "unknown_server_error"),
        ("invalid_record", "invalid_record"),
    ],
)
def test_what_clients_hear_of_a_write_that_failed(error: str, told: str) -> None:
    assert coordinator_error(ErrorCode[error]).name == told

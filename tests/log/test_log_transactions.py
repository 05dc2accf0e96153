"""Transactions in one log: what is stable, what was aborted, and that both survive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_bench import NOW, Bench, batch

from reference_impl.kafka.batches import header
from reference_impl.kafka.errors import KafkaError
from reference_impl.log import LogConfig
from reference_impl.log.indexes import CorruptIndex
from reference_impl.log.producers import read_snapshot
from reference_impl.log.transactions import (
    AbortedTransaction,
    EndMarker,
    collect_aborted,
    decode_aborted,
    encode_aborted,
)
from reference_impl.log.verification import NO_GUARD

Opened = Callable[..., Bench]
COMMIT, ABORT = EndMarker(True, 0), EndMarker(False, 0)


class Clients:
    """Transactional producers of one log, by their ids."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.sequences: dict[int, int] = {}

    def write(self, producer: int, *, epoch: int = 0, verified: bool = True) -> int:
        sequence = self.sequences.get(producer, 0)
        data = batch(
            b"x",
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=True,
        )
        log = self.bench.log
        examined = self.bench.run(log.examine(data))
        guard = NO_GUARD
        if verified:
            guard = log.start_verification(header(data), bumps=False)
        appended = self.bench.run(log.append_examined(examined, leader_epoch=0, guard=guard))
        self.sequences[producer] = sequence + 1
        return appended.base_offset

    def end(self, producer: int, marker: EndMarker, *, epoch: int = 0) -> int:
        appended = self.bench.run(
            self.bench.log.append_marker(producer, epoch, marker, leader_epoch=0)
        )
        return appended.base_offset

    def commit_all(self) -> None:
        """Everything that was appended is replicated."""
        self.bench.log.high_watermark = self.bench.log.log_end_offset


def aborted(bench: Bench, offset: int = 0) -> list[tuple[int, int]]:
    """What a reader of committed data from an offset on is told to leave out."""
    log = bench.log
    found = bench.look(
        log.locate(offset, max_bytes=1 << 20, upto=log.log_end_offset, at_least_one=True)
    )
    assert found is not None
    return [(one.producer_id, one.first_offset) for one in log.aborted_among(offset, found)]


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KafkaError) as refused:
        call()
    return refused.value.code.name


def test_the_log_is_stable_up_to_the_first_open_transaction(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    bench.append(batch(b"plain"))
    assert [clients.write(7), clients.write(8)] == [1, 2]
    clients.commit_all()
    assert bench.log.last_stable_offset == 1

    clients.end(7, COMMIT)
    clients.commit_all()
    assert bench.log.last_stable_offset == 2
    clients.end(8, ABORT)
    clients.commit_all()
    assert bench.log.last_stable_offset == bench.log.log_end_offset == 5


def test_a_decision_counts_once_its_marker_is_committed(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.write(7)
    marker = clients.end(7, COMMIT)
    bench.log.high_watermark = marker
    assert bench.log.last_stable_offset == 0
    bench.log.high_watermark = marker + 1
    assert bench.log.last_stable_offset == 2


def test_readers_are_told_of_aborted_transactions_whose_records_they_may_meet(
    opened: Opened,
) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.write(7)  # 0
    clients.end(7, ABORT)  # 1
    clients.write(8)  # 2
    clients.end(8, COMMIT)  # 3
    clients.write(7)  # 4
    clients.end(7, ABORT)  # 5
    assert aborted(bench) == [(7, 0), (7, 4)]
    assert aborted(bench, 1) == [(7, 0), (7, 4)]
    assert aborted(bench, 2) == [(7, 4)]


def test_an_abort_in_a_later_segment_is_told_with_the_records(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.write(7)
    bench.run(bench.log.roll())
    clients.write(8)
    bench.run(bench.log.roll())
    clients.end(7, ABORT)
    assert [len(one.aborted) for one in bench.log.segments] == [0, 0, 1]
    assert aborted(bench, 0) == [(7, 0)]
    assert aborted(bench, 1) == [(7, 0)]


def test_a_marker_without_records_aborts_nothing(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.end(7, ABORT)
    clients.write(8)
    clients.end(8, COMMIT)
    assert aborted(bench) == []


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda c: c.write(9, verified=False), "invalid_txn_state"),
        (lambda c: c.end(7, EndMarker(False, 1), epoch=4), "invalid_producer_epoch"),
        (lambda c: c.end(7, EndMarker(False, -1), epoch=5), "transaction_coordinator_fenced"),
        (
            lambda c: c.bench.append(batch(b"x", producer_id=7, producer_epoch=5, base_sequence=1)),
            "invalid_txn_state",
        ),
    ],
)
def test_what_does_not_fit_an_open_transaction_is_refused(
    opened: Opened, call: Callable[[Clients], object], code: str
) -> None:
    clients = Clients(opened())
    clients.end(7, EndMarker(True, 0), epoch=5)
    clients.write(7, epoch=5)
    assert code_of(lambda: call(clients)) == code


def test_a_transaction_goes_on_without_another_word_of_the_coordinator(opened: Opened) -> None:
    clients = Clients(opened())
    clients.write(7)
    assert clients.write(7, verified=False) == 1


def test_the_coordinators_word_counts_no_more_once_its_transaction_has_ended(
    opened: Opened,
) -> None:
    bench = opened()
    clients = Clients(bench)
    data = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    guard = bench.log.start_verification(header(data), bumps=False)
    clients.end(7, ABORT)

    def late() -> None:
        examined = bench.run(bench.log.examine(data))
        bench.run(bench.log.append_examined(examined, leader_epoch=0, guard=guard))

    assert code_of(late) == "invalid_txn_state"
    assert clients.write(7) == 1


def test_what_is_behind_a_batch_that_waits_for_its_coordinator_waits_as_well(
    opened: Opened,
) -> None:
    bench = opened()
    clients = Clients(bench)
    first = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    bench.log.start_verification(header(first), bumps=False)
    clients.sequences[7] = 1
    assert code_of(lambda: clients.write(7)) == "out_of_order_sequence_number"
    clients.sequences[7] = 0
    assert [clients.write(7), clients.write(7)] == [0, 1]


def test_a_marker_in_a_new_epoch_shuts_the_old_one_out(opened: Opened) -> None:
    clients = Clients(opened())
    clients.write(7)
    clients.end(7, ABORT, epoch=1)
    assert code_of(lambda: clients.write(7)) == "invalid_producer_epoch"


def test_a_producer_with_an_open_transaction_does_not_expire(opened: Opened) -> None:
    bench = opened(producer_id_expiration_ms=1000)
    clients = Clients(bench)
    clients.write(7)
    bench.clock.now += 5000
    assert bench.log.expire_producers() == 0
    clients.end(7, COMMIT)
    bench.clock.now += 5000
    assert bench.log.expire_producers() == 1


def test_a_snapshot_keeps_the_open_transaction_and_its_coordinator(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.end(7, EndMarker(True, 3))
    first = clients.write(7)
    found = read_snapshot(bench.log.producers.snapshot())
    assert [(one.coordinator_epoch, one.transaction_from) for one in found] == [(3, first)]


def test_a_cut_takes_aborts_back(opened: Opened) -> None:
    bench = opened()
    clients = Clients(bench)
    clients.write(7)
    marker = clients.end(7, ABORT)
    bench.run(bench.log.truncate_to(marker))
    assert aborted(bench) == []
    clients.commit_all()
    assert bench.log.last_stable_offset == 0
    clients.end(7, COMMIT)
    assert aborted(bench) == []


Act = tuple[str, int]
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["write", "commit", "abort", "roll", "flush", "plain", "kill", "restart"]),
        st.integers(1, 3),
    ),
    max_size=25,
)


def expected(acts: Sequence[Act]) -> tuple[list[tuple[int, int]], int | None]:
    """Aborted transactions in the order of their markers, and where the first open one begins."""
    offset, open_from, gone = 0, dict[int, int](), list[tuple[int, int]]()
    for what, producer in acts:
        if what == "write":
            open_from.setdefault(producer, offset)
        elif what in ("commit", "abort"):
            first = open_from.pop(producer, None)
            if what == "abort" and first is not None:
                gone.append((producer, first))
        offset += what in ("write", "commit", "abort", "plain")
    return gone, min(open_from.values(), default=None)


@settings(max_examples=60)
@given(acts=ACTS, power=st.booleans())
def test_what_is_open_and_what_was_aborted_follows_from_the_log_after_any_end(
    acts: list[Act], power: bool
) -> None:
    bench = Bench(LogConfig.of({"segment.bytes": "1048576", "index.interval.bytes": "0"}))
    try:
        bench.open()
        clients = Clients(bench)
        for what, producer in acts:
            _act(bench, clients, what, producer, power=power)
        gone, first_open = expected(acts)
        clients.commit_all()
        assert (aborted(bench) if bench.log.log_end_offset else []) == gone
        end = bench.log.log_end_offset
        assert bench.log.last_stable_offset == (end if first_open is None else first_open)
    finally:
        bench.close()


def _act(bench: Bench, clients: Clients, what: str, producer: int, *, power: bool) -> None:
    log = bench.log
    match what:
        case "write":
            clients.write(producer)
        case "commit" | "abort":
            clients.end(producer, COMMIT if what == "commit" else ABORT)
        case "roll":
            bench.run(log.roll())
        case "flush":
            bench.run(log.flush())
        case "plain":
            bench.append(batch(b"plain", timestamp=NOW))
        case "restart":
            bench.run(log.close(clean=True))
            bench.open(clean=True)
        case "kill":
            if power:
                bench.run(log.flush())
            bench.settle()
            point = log.recovery_point
            bench.die(power=power)
            bench.open(recovery_point=point)


def test_an_index_is_what_kafka_writes() -> None:
    entry = AbortedTransaction(7, 1, 5, 6)
    data = encode_aborted([entry])
    assert data == bytes.fromhex(
        "00000000000000000007000000000000000100000000000000050000000000000006"
    )
    assert decode_aborted(data) == [entry]


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        encode_aborted([AbortedTransaction(7, 1, 5, 6)] * 2),
        b"\0\1" + encode_aborted([AbortedTransaction(7, 1, 5, 6)])[2:],
    ],
)
def test_an_index_that_cannot_be_one_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        decode_aborted(data)


def test_the_search_for_aborts_ends_where_all_are_decided() -> None:
    decided = AbortedTransaction(7, 1, 5, 6)
    later = AbortedTransaction(8, 2, 9, 10)
    assert collect_aborted([[decided], [later]], 0, 6) == [decided]
    assert collect_aborted([[decided], [later]], 0, 7) == [decided, later]
    assert collect_aborted([[decided], [later]], 6, 7) == [later]

"""Idempotent producers: what the log remembers, forgets, and gets back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from log_bench import NOW, Bench, Producer, batch

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log import Appended
from reference_impl.log.producers import CorruptSnapshot, ProducerStates, read_snapshot

Opened = Callable[..., Bench]
MAX = (1 << 31) - 1


def append(bench: Bench, data: bytes) -> Appended:
    return bench.run(bench.log.append_as_leader(data, leader_epoch=0))


def code_of(bench: Bench, data: bytes) -> str:
    try:
        append(bench, data)
    except KafkaError as error:
        return error.code.name
    return "none"


def test_each_of_the_last_five_batches_is_answered_with_its_offset(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    first = [append(bench, producer.next(b"a", b"b")) for _ in range(7)]

    again = [append(bench, data) for data in producer.sent[2:]]

    assert [each.base_offset for each in again] == [each.base_offset for each in first[2:]]
    assert all(each.duplicate for each in again)
    assert bench.log.log_end_offset == 14


def test_the_sixth_last_batch_is_out_of_order(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    for _ in range(6):
        append(bench, producer.next(b"a"))

    assert code_of(bench, producer.sent[0]) == "out_of_order_sequence_number"


def test_a_duplicate_is_answered_with_the_timestamp_of_its_batch(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    data = producer.next(b"a")

    assert append(bench, data).log_append_time_ms == -1
    assert append(bench, data).log_append_time_ms == NOW


def test_sequence_numbers_wrap_around(opened: Opened) -> None:
    bench, producer = opened(), Producer(7, sequence=MAX - 1)
    append(bench, producer.next(b"a", b"b", b"c", b"d"))
    assert producer.sequence == 2

    append(bench, producer.next(b"e"))

    assert append(bench, producer.sent[0]).base_offset == 0
    assert code_of(bench, Producer(7, sequence=4).next(b"x")) == "out_of_order_sequence_number"


def test_the_last_number_is_followed_by_zero(opened: Opened) -> None:
    bench, producer = opened(), Producer(7, sequence=MAX)
    append(bench, producer.next(b"a"))

    assert append(bench, producer.next(b"b")).base_offset == 1


@pytest.mark.parametrize(
    ("epoch", "sequence", "code"),
    [
        (1, 1, "none"),
        (1, 2, "out_of_order_sequence_number"),
        (2, 0, "none"),
        (2, 1, "out_of_order_sequence_number"),
        (0, 1, "invalid_producer_epoch"),
        (0, 0, "invalid_producer_epoch"),
    ],
)
def test_epochs_rise_and_begin_at_zero(
    opened: Opened, epoch: int, sequence: int, code: str
) -> None:
    bench = opened()
    append(bench, Producer(7, epoch=1).next(b"a"))

    assert code_of(bench, Producer(7, epoch=epoch, sequence=sequence).next(b"b")) == code


def test_an_unknown_producer_may_begin_anywhere(opened: Opened) -> None:
    assert code_of(opened(), Producer(9, epoch=4, sequence=1000).next(b"a")) == "none"


def test_producers_do_not_mind_each_other(opened: Opened) -> None:
    bench, one, two = opened(), Producer(1), Producer(2)
    for _ in range(3):
        append(bench, one.next(b"a"))
        append(bench, two.next(b"b", b"b"))

    assert append(bench, one.sent[-1]).base_offset == 6
    assert append(bench, two.sent[-1]).base_offset == 7


def test_a_producer_is_forgotten_after_its_time(opened: Opened) -> None:
    bench, producer = opened(producer_id_expiration_ms=1000), Producer(7)
    append(bench, producer.next(b"a"))
    bench.clock.now += 999
    assert bench.log.expire_producers() == 0
    bench.clock.now += 1

    assert bench.log.expire_producers() == 1
    assert code_of(bench, Producer(7, sequence=50).next(b"x")) == "none"


def test_a_truncated_batch_can_be_sent_again(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    for _ in range(3):
        append(bench, producer.next(b"a"))

    bench.run(bench.log.truncate_to(1))

    assert append(bench, producer.sent[0]).duplicate
    assert not append(bench, producer.sent[1]).duplicate


def test_a_producer_outlives_its_records(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    append(bench, producer.next(b"a", b"b"))
    append(bench, batch(b"x"))
    bench.log.high_watermark = 3

    bench.run(bench.log.advance_log_start_offset(2))

    assert append(bench, producer.sent[0])[:2] == (0, 1)
    assert append(bench, producer.next(b"c")).base_offset == 3


@pytest.mark.parametrize("how", ["truncated", "closed", "killed"])
def test_a_log_read_again_knows_the_producers_of_what_it_still_has(
    opened: Opened, how: str
) -> None:
    bench, gone, partly = opened(), Producer(7), Producer(8)
    for data in (gone.next(b"a"), partly.next(b"b", b"c"), batch(b"x")):
        append(bench, data)
    bench.log.high_watermark = 4
    bench.run(bench.log.advance_log_start_offset(2))
    if how == "truncated":
        bench.run(bench.log.truncate_to(3))
    else:
        bench.run(bench.log.close(clean=how == "closed"))
        bench.die()
        bench.open(clean=how == "closed", log_start_offset=2)

    assert append(bench, partly.sent[0]).duplicate
    assert append(bench, gone.sent[0]).duplicate == (how == "closed")


@pytest.mark.parametrize("power", [False, True])
def test_producers_survive_a_crash_as_far_as_their_records_do(opened: Opened, power: bool) -> None:
    bench, producer = opened(segment_bytes=200), Producer(7)
    for _ in range(6):
        append(bench, producer.next(b"a"))
    bench.run(bench.log.flush())
    bench.die(power=power)

    bench.open(recovery_point=3)

    assert append(bench, producer.sent[-1]).base_offset == 5
    assert append(bench, producer.next(b"b")).base_offset == 6


def test_a_clean_end_keeps_the_last_batch_of_each_producer(opened: Opened) -> None:
    bench, producer = opened(), Producer(7)
    for _ in range(3):
        append(bench, producer.next(b"a"))
    bench.run(bench.log.close(clean=True))
    bench.sim.kill()

    bench.open(clean=True)

    assert append(bench, producer.sent[2]).duplicate
    assert code_of(bench, producer.sent[1]) == "out_of_order_sequence_number"


def test_a_damaged_snapshot_is_replaced_by_reading_the_log(opened: Opened) -> None:
    bench, producer = opened(segment_bytes=200), Producer(7)
    for _ in range(6):
        append(bench, producer.next(b"a"))
    bench.run(bench.log.flush())
    bench.die()
    snapshots = [path for path in bench.sim.contents() if path.endswith(".snapshot")]
    assert len(snapshots) > 1
    for path in snapshots:
        bench.sim.corrupt(path, 20)

    bench.open(recovery_point=6)

    assert append(bench, producer.sent[-1]).duplicate


def test_a_snapshot_is_read_as_it_was_written() -> None:
    states = ProducerStates("t-0", 1000)
    from reference_impl.kafka.batches import header

    for data in (Producer(7, epoch=2, sequence=5).next(b"a", b"b"), Producer(8).next(b"c")):
        states.add(header(data))

    found = read_snapshot(states.snapshot())

    assert [(p.producer_id, p.epoch, p.last_sequence) for p in found] == [(7, 2, 6), (8, 0, 0)]


def test_a_torn_snapshot_is_noticed_at_every_byte() -> None:
    states = ProducerStates("t-0", 1000)
    from reference_impl.kafka.batches import header

    states.add(header(batch(b"a", producer_id=1, producer_epoch=0, base_sequence=0)))
    whole = states.snapshot()

    for size in range(len(whole)):
        with pytest.raises(CorruptSnapshot):
            read_snapshot(whole[:size])


def test_a_refusal_names_producer_and_partition(opened: Opened) -> None:
    bench = opened()
    append(bench, Producer(7).next(b"a"))

    with pytest.raises(KafkaError, match=r"producer 7 at offset 1 in partition t-0: 5") as refused:
        append(bench, Producer(7, sequence=5).next(b"x"))

    assert refused.value.code is ErrorCode.out_of_order_sequence_number

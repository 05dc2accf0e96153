"""Leader epochs of a log: written before records, cut with them, asked about."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from log_bench import Bench, batch

from reference_impl.kafka.errors import KafkaError

Opened = Callable[..., Bench]


def with_epochs(opened: Opened, *epochs: int) -> Bench:
    """One record of each of these epochs."""
    bench = opened()
    for epoch in epochs:
        bench.append(batch(b"a"), epoch=epoch)
    return bench


def ends(bench: Bench) -> dict[int, tuple[int, int]]:
    log = bench.log
    return {epoch: log.epochs.end_offset_for(epoch, log.log_end_offset) for epoch in range(-1, 7)}


def test_a_log_says_where_every_epoch_ends(opened: Opened) -> None:
    bench = with_epochs(opened, 1, 1, 3, 3, 3, 5)

    assert ends(bench) == {
        -1: (-1, -1),
        0: (0, 0),
        1: (1, 2),
        2: (1, 2),
        3: (3, 5),
        4: (3, 5),
        5: (5, 6),
        6: (-1, -1),
    }


def test_a_cut_takes_epochs_with_it(opened: Opened) -> None:
    bench = with_epochs(opened, 1, 1, 3, 3, 5)

    bench.run(bench.log.truncate_to(3))

    assert bench.log.epochs.entries == ((1, 0), (3, 2))
    assert ends(bench)[3] == (3, 3)


def test_a_cut_at_the_end_takes_an_epoch_that_wrote_nothing(opened: Opened) -> None:
    bench = with_epochs(opened, 1, 3)
    bench.run(bench.log.assign_epoch(7))
    assert bench.log.epochs.entries == ((1, 0), (3, 1), (7, 2))

    bench.run(bench.log.truncate_to(99))

    assert bench.log.epochs.entries == ((1, 0), (3, 1))


def test_a_later_leader_replaces_one_that_wrote_nothing(opened: Opened) -> None:
    bench = with_epochs(opened, 1)
    bench.run(bench.log.assign_epoch(3))

    bench.append(batch(b"a"), epoch=4)

    assert bench.log.epochs.entries == ((1, 0), (4, 1))


def test_the_log_start_takes_the_epochs_before_it(opened: Opened) -> None:
    bench = with_epochs(opened, 1, 1, 3, 3, 5)
    bench.log.high_watermark = 5

    bench.run(bench.log.advance_log_start_offset(3))

    assert bench.log.epochs.entries == ((3, 3), (5, 4))
    assert bench.sim.contents()["t-0/leader-epoch-checkpoint"] == b"0\n2\n3 3\n5 4\n"
    assert ends(bench)[1] == (1, 3)


def test_an_epoch_is_on_disk_for_good_before_its_first_record(opened: Opened) -> None:
    bench = with_epochs(opened, 1, 3)

    assert bench.sim.durable()["t-0/leader-epoch-checkpoint"] == b"0\n2\n1 0\n3 1\n"


def test_a_refused_batch_may_have_begun_an_epoch_and_nothing_else(opened: Opened) -> None:
    bench = with_epochs(opened, 1)
    bench.append(batch(b"a", producer_id=1, producer_epoch=0, base_sequence=0), epoch=1)
    wrong = batch(b"a", producer_id=1, producer_epoch=0, base_sequence=9)
    with pytest.raises(KafkaError, match="OUT_OF_ORDER"):
        bench.append(wrong, epoch=2)

    assert bench.log.epochs.entries == ((1, 0), (2, 2))
    assert bench.log.log_end_offset == 2

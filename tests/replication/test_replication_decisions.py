"""The choices of replication, cell by cell."""

from __future__ import annotations

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.replication.decisions import (
    Ack,
    EpochEnd,
    FollowerView,
    Reader,
    ReplicaView,
    acknowledge,
    answer_when_time_is_up,
    caught_up,
    check_leader_epoch,
    deletion_is_done,
    enough_replicas_to_append,
    follower_high_watermark,
    logs_diverge,
    may_join_isr,
    nearest_replica,
    next_high_watermark,
    readable_upto,
    truncation_point,
)


@pytest.mark.parametrize(
    ("asked", "current", "error"),
    [
        (-1, 5, ErrorCode.none),
        (5, 5, ErrorCode.none),
        (4, 5, ErrorCode.fenced_leader_epoch),
        (6, 5, ErrorCode.unknown_leader_epoch),
    ],
)
def test_an_older_epoch_is_fenced_and_a_newer_one_unknown(
    asked: int, current: int, error: ErrorCode
) -> None:
    assert check_leader_epoch(asked, current) is error


@pytest.mark.parametrize(
    ("acks", "in_sync", "least", "enough"),
    [
        (-1, 2, 2, True),
        (-1, 1, 2, False),
        (1, 1, 2, True),
        (0, 1, 2, True),
    ],
)
def test_only_an_append_for_all_replicas_asks_how_many_are_in_sync(
    acks: int, in_sync: int, least: int, enough: bool
) -> None:
    assert enough_replicas_to_append(acks, in_sync, least) is enough


@pytest.mark.parametrize(
    ("required", "high_watermark", "in_sync", "answer"),
    [
        (10, 9, 3, Ack.WAIT),
        (10, 10, 3, Ack.DONE),
        (10, 11, 2, Ack.DONE),
        (10, 10, 1, Ack.TOO_FEW),
        (10, 9, 1, Ack.WAIT),
    ],
)
def test_an_append_is_acknowledged_below_the_high_watermark(
    required: int, high_watermark: int, in_sync: int, answer: Ack
) -> None:
    assert acknowledge(required, high_watermark, in_sync, 2) is answer


def follower(
    end: int, *, isr: bool = True, caught_up: bool = True, eligible: bool = True
) -> FollowerView:
    return FollowerView(
        log_end_offset=end, in_maximal_isr=isr, caught_up=caught_up, eligible=eligible
    )


@pytest.mark.parametrize(
    ("followers", "in_sync", "expected"),
    [
        ([follower(9), follower(7)], 3, 7),
        ([follower(9), follower(3, isr=False, caught_up=False)], 2, 9),
        ([follower(9), follower(7, isr=False)], 2, 7),
        ([follower(9), follower(7, isr=False, eligible=False)], 2, 9),
        ([follower(2)], 2, 5),
        ([follower(9), follower(9)], 1, 5),
        ([], 2, 10),
        ([follower(-1)], 2, 5),
    ],
)
def test_the_high_watermark_is_the_shortest_log_of_all_who_may_be_elected(
    followers: list[FollowerView], in_sync: int, expected: int
) -> None:
    assert next_high_watermark(5, 10, followers, in_sync, 2) == expected


@pytest.mark.parametrize(
    ("current", "leaders", "end", "expected"), [(5, 8, 10, 8), (5, 12, 10, 10), (7, 6, 10, 7)]
)
def test_a_follower_takes_its_leaders_high_watermark_as_far_as_its_log_reaches(
    current: int, leaders: int, end: int, expected: int
) -> None:
    assert follower_high_watermark(current, leaders, end) == expected


@pytest.mark.parametrize(
    ("reader", "expected"), [(Reader.FOLLOWER, 10), (Reader.CONSUMER, 7), (Reader.COMMITTED, 5)]
)
def test_consumers_read_what_is_committed_and_followers_everything(
    reader: Reader, expected: int
) -> None:
    assert readable_upto(reader, 10, 7, 5) == expected


@pytest.mark.parametrize(
    ("end", "since_ms", "expected"),
    [(10, 99_999, True), (9, 30_000, True), (9, 30_001, False)],
)
def test_a_follower_keeps_up_that_has_everything_or_had_so_lately(
    end: int, since_ms: int, expected: bool
) -> None:
    assert caught_up(end, 10, since_ms, 30_000) is expected


@pytest.mark.parametrize(
    ("end", "high_watermark", "epoch_start", "eligible", "expected"),
    [
        (10, 10, 8, True, True),
        (9, 10, 8, True, False),
        (9, 7, 10, True, False),
        (10, 10, 8, False, False),
    ],
)
def test_who_joins_has_what_is_committed_and_what_earlier_epochs_left(
    end: int, high_watermark: int, epoch_start: int, eligible: bool, expected: bool
) -> None:
    assert may_join_isr(end, high_watermark, epoch_start, eligible) is expected


@pytest.mark.parametrize(
    ("fetched", "leaders", "expected"),
    [
        ((5, 10), (5, 10), False),
        ((5, 10), (5, 12), False),
        ((5, 10), (5, 8), True),
        ((5, 10), (4, 10), True),
    ],
)
def test_logs_diverge_where_the_follower_has_more_of_its_last_epoch(
    fetched: tuple[int, int], leaders: tuple[int, int], expected: bool
) -> None:
    assert logs_diverge(end(*fetched), end(*leaders)) is expected


@pytest.mark.parametrize(
    ("leaders", "own", "expected"),
    [
        ((5, 8), (5, 12), 8),
        ((5, 20), (5, 12), 12),
        ((5, 8), (3, 10), 10),
        ((5, 8), (-1, -1), 8),
        ((5, 20), (-1, -1), 15),
    ],
)
def test_a_follower_cuts_where_the_epochs_part(
    leaders: tuple[int, int], own: tuple[int, int], expected: int
) -> None:
    assert truncation_point(end(*leaders), end(*own), 15) == expected


def end(epoch: int, offset: int) -> EpochEnd:
    return EpochEnd(epoch=epoch, end_offset=offset)


def replica(
    broker_id: int, rack: str | None, end: int = 10, since_ms: int = 0, *, leads: bool = False
) -> ReplicaView:
    return ReplicaView(
        broker_id=broker_id, rack=rack, log_end_offset=end, since_caught_up_ms=since_ms, leads=leads
    )


LEADER = replica(1, "a", leads=True)


@pytest.mark.parametrize(
    ("rack", "others", "expected"),
    [
        ("a", [replica(2, "a")], 1),
        ("b", [replica(2, "b")], 2),
        ("b", [replica(2, "b", end=9), replica(3, "b")], 3),
        ("b", [replica(2, "b", since_ms=5), replica(3, "b")], 3),
        ("c", [replica(2, "b")], 1),
        ("", [replica(2, "b")], 1),
    ],
)
def test_a_consumer_is_sent_to_who_has_most_in_its_rack(
    rack: str, others: list[ReplicaView], expected: int
) -> None:
    assert nearest_replica(rack, [LEADER, *others]) == expected


@pytest.mark.parametrize("in_sync", [1, 2, 3])
def test_what_was_appended_and_not_acknowledged_in_time_is_not_refused(in_sync: int) -> None:
    assert answer_when_time_is_up(in_sync, 2) is ErrorCode.request_timed_out


@pytest.mark.parametrize(("lowest", "done"), [(4, False), (5, True), (6, True)])
def test_a_deletion_is_done_when_every_replica_begins_behind_it(lowest: int, done: bool) -> None:
    assert deletion_is_done(lowest, 5) is done

"""The choices of replication, each a pure function.

They are Kafka's: a record is committed once every replica that may be elected has it; a follower
agrees with its leader by leader epochs, never by a high watermark; whoever is not sure that it
still leads can neither acknowledge nor show what is not committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode

NO_EPOCH = -1
NO_OFFSET = -1


class Reader(StrEnum):
    """Who reads a log."""

    FOLLOWER = "follower"
    CONSUMER = "consumer"
    COMMITTED = "committed"  # a consumer that asks for committed transactions only


class Ack(Enum):
    """What is to be said about an append that waits for its replicas."""

    WAIT = "wait"
    DONE = "done"
    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerView:
    """What a leader knows of one follower when it decides something."""

    log_end_offset: int
    in_maximal_isr: bool
    caught_up: bool
    eligible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnd:
    """An epoch and the offset after its last record, in somebody's log."""

    epoch: int
    end_offset: int


@decision("check-leader-epoch")
def check_leader_epoch(asked: int, current: int) -> ErrorCode:
    """Whoever names an older epoch is fenced; whoever names a newer one knows more than we do."""
    if asked in (NO_EPOCH, current):
        return ErrorCode.none
    return ErrorCode.fenced_leader_epoch if asked < current else ErrorCode.unknown_leader_epoch


@decision("enough-replicas-to-append")
def enough_replicas_to_append(acks: int, in_sync: int, min_in_sync: int) -> bool:
    """An append that wants all replicas is refused before it is made if too few are in sync."""
    return acks != -1 or in_sync >= min_in_sync


@decision("acknowledge")
def acknowledge(required_offset: int, high_watermark: int, in_sync: int, min_in_sync: int) -> Ack:
    """An append is acknowledged once it is below the high watermark."""
    if high_watermark < required_offset:
        return Ack.WAIT
    return Ack.DONE if in_sync >= min_in_sync else Ack.TOO_FEW


@decision("answer-when-time-is-up", rules=("KFK-033",))
def answer_when_time_is_up(in_sync: int, min_in_sync: int) -> ErrorCode:
    """An append that was made and not acknowledged in time may yet come to be committed."""
    return ErrorCode.request_timed_out


@decision("next-high-watermark")
def next_high_watermark(
    current: int,
    log_end_offset: int,
    followers: Sequence[FollowerView],
    in_sync: int,
    min_in_sync: int,
) -> int:
    """The end of the shortest log among all who are, or are about to be, in sync.

    The maximal ISR counts, with those whose joining or leaving the controller has not confirmed:
    any of them may turn out to be electable. Nothing is committed while too few are in sync.
    """
    if in_sync < min_in_sync:
        return current
    ends = [
        follower.log_end_offset
        for follower in followers
        if follower.in_maximal_isr or (follower.caught_up and follower.eligible)
    ]
    return max(current, min([log_end_offset, *ends]))


@decision("maximal-isr")
def maximal_isr(isr: Sequence[int], proposed: Sequence[int] | None) -> tuple[int, ...]:
    """Everybody who may turn out to be in sync once the controller has answered a proposal.

    Who is proposed to leave counts until the controller has written that down, who is proposed to
    join counts already.
    """
    return (*isr, *(one for one in proposed or () if one not in isr))


@decision("low-watermark")
def low_watermark(log_start_offset: int, followers: Sequence[int]) -> int:
    """Nothing below it is on any live replica; ``followers`` are their log starts."""
    return min([log_start_offset, *followers])


@decision("deletion-is-done", rules=("KFK-067",))
def deletion_is_done(low_watermark: int, wanted: int) -> bool:
    """Records are deleted once every replica that is alive begins behind them."""
    return low_watermark >= wanted


@decision("end-is-known")
def end_is_known(epoch_start_offset: int, high_watermark: int) -> bool:
    """A new leader tells clients where the log ends once all that it began with is committed.

    Before, its high watermark may be behind what its predecessor has shown (KIP-207).
    """
    return epoch_start_offset <= high_watermark


@decision("follower-high-watermark")
def follower_high_watermark(current: int, leaders: int, log_end_offset: int) -> int:
    """A follower takes its leader's, as far as its own log reaches."""
    return max(current, min(leaders, log_end_offset))


@decision("readable-upto")
def readable_upto(
    reader: Reader, log_end_offset: int, high_watermark: int, last_stable_offset: int
) -> int:
    """Followers read everything, consumers only what is committed."""
    if reader is Reader.FOLLOWER:
        return log_end_offset
    if reader is Reader.COMMITTED:
        return min(last_stable_offset, high_watermark)
    return high_watermark


@decision("caught-up")
def caught_up(
    log_end_offset: int, leaders_end: int, since_caught_up_ms: int, max_lag_ms: int
) -> bool:
    """A follower keeps up if it has everything, or had so a short while ago."""
    return log_end_offset == leaders_end or since_caught_up_ms <= max_lag_ms


@decision("may-join-isr")
def may_join_isr(
    log_end_offset: int, high_watermark: int, epoch_start_offset: int, eligible: bool
) -> bool:
    """Who has all that is committed, and all that earlier epochs left behind, may join.

    The second condition matters after an election: records between the new leader's high watermark
    and its log end may be committed without it knowing so yet.
    """
    return eligible and log_end_offset >= high_watermark and log_end_offset >= epoch_start_offset


@decision("cut-for-new-leader")
def cut_for_new_leader(high_watermark: int, log_end_offset: int) -> int:
    """Where a follower cuts its log when another leader's epoch begins: nowhere yet.

    Its high watermark says too little: what is beyond may be committed without it knowing so. The
    leader will say by its epochs where the logs part (KIP-101).
    """
    return log_end_offset


@decision("logs-diverge")
def logs_diverge(fetched: EpochEnd, leaders: EpochEnd) -> bool:
    """Whether what a follower has of its last epoch is more than the leader has of it.

    ``fetched`` is the follower's last epoch and its fetch offset, ``leaders`` the largest epoch of
    the leader's log that is not above it, and where that one ends there.
    """
    return leaders.epoch < fetched.epoch or leaders.end_offset < fetched.end_offset


@decision("truncation-point")
def truncation_point(leaders: EpochEnd, own: EpochEnd, log_end_offset: int) -> int:
    """Where a follower must cut its log so that it holds nothing its leader does not have.

    ``own`` is the largest epoch of the follower's log that is not above the leader's, and where it
    ends there. Unless both mean the same epoch, the follower cuts what is later than its own and
    asks again (KIP-279).
    """
    if own.end_offset == NO_OFFSET:
        return min(leaders.end_offset, log_end_offset)
    if own.epoch != leaders.epoch:
        return own.end_offset
    return min(own.end_offset, leaders.end_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaView:
    """A replica that a consumer might read from."""

    broker_id: int
    rack: str | None
    log_end_offset: int
    since_caught_up_ms: int
    leads: bool


@decision("nearest-replica")
def nearest_replica(rack: str, replicas: Sequence[ReplicaView]) -> int:
    """The leader if it is in the reader's rack, else who there has caught up best, else the leader.

    The answer is a broker id; the leader's own id means that it serves the reader itself.
    """
    leader = next(replica for replica in replicas if replica.leads)
    near = [replica for replica in replicas if rack and replica.rack == rack]
    if not near or leader.rack == rack:
        return leader.broker_id
    best = max(near, key=lambda one: (one.log_end_offset, -one.since_caught_up_ms, -one.broker_id))
    return best.broker_id

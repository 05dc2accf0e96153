"""Clusters as a hurried engineer might have written them: each with one choice made wrong.

All of them pass a test without faults: produce, consume, restart. What they do when a leader is
deposed, a follower lags or a producer tries again is what the rules are there to see.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.controller.decisions import Election, ProposedIsr
from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.replication.decisions import Ack, EpochEnd, FollowerView, Reader


def _acknowledged_at_once(
    required_offset: int, high_watermark: int, in_sync: int, min_in_sync: int
) -> Ack:
    return Ack.DONE


def _leader_alone_commits(
    current: int,
    log_end_offset: int,
    followers: Sequence[FollowerView],
    in_sync: int,
    min_in_sync: int,
) -> int:
    return log_end_offset


def _fastest_follower_commits(
    current: int,
    log_end_offset: int,
    followers: Sequence[FollowerView],
    in_sync: int,
    min_in_sync: int,
) -> int:
    ends = [one.log_end_offset for one in followers if one.in_maximal_isr]
    return max(current, min(log_end_offset, max(ends, default=log_end_offset)))


def _nothing_is_cut(leaders: EpochEnd, own: EpochEnd, log_end_offset: int) -> int:
    return log_end_offset


def _cuts_where_the_leader_says(leaders: EpochEnd, own: EpochEnd, log_end_offset: int) -> int:
    return min(leaders.end_offset, log_end_offset)


def _joins_once_confirmed(isr: Sequence[int], proposed: Sequence[int] | None) -> tuple[int, ...]:
    return tuple(isr)


def _only_the_end_counts(
    log_end_offset: int, leaders_end: int, since_caught_up_ms: int, max_lag_ms: int
) -> bool:
    return log_end_offset == leaders_end


def _everybody_keeps_up(
    log_end_offset: int, leaders_end: int, since_caught_up_ms: int, max_lag_ms: int
) -> bool:
    return True


def _fenced_brokers_join(broker: Broker | None, broker_epoch: int) -> bool:
    return broker is not None and broker_epoch in (-1, broker.broker_epoch)


def _logs_never_diverge(fetched: EpochEnd, leaders: EpochEnd) -> bool:
    return False


def _consumers_read_everything(
    reader: Reader, log_end_offset: int, high_watermark: int, last_stable_offset: int
) -> int:
    return log_end_offset


def _joins_when_it_fetches(
    log_end_offset: int, high_watermark: int, epoch_start_offset: int, eligible: bool
) -> bool:
    return eligible


def _high_watermark_is_enough(
    log_end_offset: int, high_watermark: int, epoch_start_offset: int, eligible: bool
) -> bool:
    return eligible and log_end_offset >= high_watermark


def _cut_to_the_high_watermark(high_watermark: int, log_end_offset: int) -> int:
    return high_watermark


def _what_was_proposed_is_so(isr: Sequence[int], proposed: Sequence[int] | None) -> tuple[int, ...]:
    return tuple(proposed or isr)


def _whoever_asks_last(
    state: PartitionState, proposed: ProposedIsr, brokers: dict[int, Broker]
) -> ErrorCode:
    members = [broker_id for broker_id, _ in proposed.isr]
    known = all(member in state.replicas for member in members)
    return ErrorCode.none if known else ErrorCode.invalid_request


def _the_end_is_always_known(epoch_start_offset: int, high_watermark: int) -> bool:
    return True


def _epoch_not_bumped(state: PartitionState, leader: int, replicas: Sequence[int]) -> bool:
    return False


def _anybody_leads(state: PartitionState, acceptable: object, election: Election) -> object:
    elect = original("elect-leader")
    return elect(state, acceptable, Election.UNCLEAN)


MUTANTS = (
    Mutant(
        name="acknowledged-at-once",
        decision="acknowledge",
        replace=_acknowledged_at_once,
        rules=("KFK-030", "KFK-039"),
        why="acks=all is answered when the leader has it",
    ),
    Mutant(
        name="leader-alone-commits",
        decision="next-high-watermark",
        replace=_leader_alone_commits,
        rules=("KFK-030", "KFK-039", "KFK-001"),
        why="the high watermark is the leader's log end",
    ),
    Mutant(
        name="fastest-follower-commits",
        decision="next-high-watermark",
        replace=_fastest_follower_commits,
        rules=("KFK-030", "KFK-039"),
        why="one follower is taken for all of them",
    ),
    Mutant(
        name="nothing-is-cut",
        decision="truncation-point",
        replace=_nothing_is_cut,
        rules=("KFK-091",),
        why="a deposed leader keeps what nobody else has",
    ),
    Mutant(
        name="cuts-where-the-leader-says",
        decision="truncation-point",
        replace=_cuts_where_the_leader_says,
        rules=("KFK-091",),
        why="the leader's last common epoch is taken for one that the follower has, too",
    ),
    Mutant(
        name="joins-once-confirmed",
        decision="maximal-isr",
        replace=_joins_once_confirmed,
        rules=("KFK-030",),
        why="records are committed without a replica that the controller has let in already",
    ),
    Mutant(
        name="everybody-keeps-up",
        decision="caught-up",
        replace=_everybody_keeps_up,
        rules=("KFK-167",),
        why="a follower that does not fetch any more is waited for",
    ),
    Mutant(
        name="only-the-end-counts",
        decision="caught-up",
        replace=_only_the_end_counts,
        rules=("KFK-169",),
        why="a follower that lacks the last batch when it is looked at is struck off",
    ),
    Mutant(
        name="fenced-brokers-join",
        decision="eligible-for-isr",
        replace=_fenced_brokers_join,
        rules=("KFK-168",),
        why="a leader that has not heard who is fenced is believed",
    ),
    Mutant(
        name="logs-never-diverge",
        decision="logs-diverge",
        replace=_logs_never_diverge,
        rules=("KFK-034", "KFK-035", "KFK-070"),
        why="a leader does not compare epochs when it is fetched from",
    ),
    Mutant(
        name="consumers-read-everything",
        decision="readable-upto",
        replace=_consumers_read_everything,
        rules=("KFK-047",),
        why="consumers see what is not committed",
    ),
    Mutant(
        name="cut-to-the-high-watermark",
        decision="cut-for-new-leader",
        replace=_cut_to_the_high_watermark,
        rules=("KFK-039",),
        why="followers cut their logs by high watermark, as before KIP-101",
    ),
    Mutant(
        name="what-was-proposed-is-so",
        decision="maximal-isr",
        replace=_what_was_proposed_is_so,
        rules=("KFK-032", "KFK-034", "KFK-035", "KFK-070", "KFK-073"),
        why="a leader counts on a smaller ISR before the controller knows of it",
    ),
    Mutant(
        name="whoever-asks-last",
        decision="accept-alter-partition",
        replace=_whoever_asks_last,
        rules=("KFK-039",),
        why="the controller changes an ISR for a leader that it has replaced",
    ),
    Mutant(
        name="epoch-not-bumped",
        decision="bump-leader-epoch",
        replace=_epoch_not_bumped,
        rules=("KFK-071",),
        why="a new leader continues the epoch of the last",
    ),
    Mutant(
        name="anybody-leads",
        decision="elect-leader",
        replace=_anybody_leads,
        rules=("KFK-030",),
        why="a replica that is not in sync is elected when no other is there",
    ),
    Mutant(
        name="joins-when-it-fetches",
        decision="may-join-isr",
        replace=_joins_when_it_fetches,
        rules=("KFK-039",),
        why="a follower is in sync as soon as it talks to its leader",
    ),
    Mutant(
        name="joins-with-the-high-watermark",
        decision="may-join-isr",
        replace=_high_watermark_is_enough,
        rules=("KFK-039",),
        why="what an earlier epoch left behind is not waited for",
    ),
    Mutant(
        name="end-always-known",
        decision="end-is-known",
        replace=_the_end_is_always_known,
        rules=("KFK-054",),
        why="a new leader names its high watermark as latest, however far that is behind",
    ),
)

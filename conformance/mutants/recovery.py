"""Clusters that lose nothing and do not recover, or do not answer: each with one mistake.

As long as nothing fails, or the client is of the usual kind, none of them shows.
"""

from __future__ import annotations

from collections.abc import Collection

from reference_impl.controller.decisions import Elected, Election
from reference_impl.decisions import Mutant
from reference_impl.metadata.image import PartitionState
from reference_impl.metadata.records import NO_LEADER
from reference_impl.replication.decisions import Reader

_KEEPS_UP = (True,)  # by how many times the limit a follower is behind


def _preferred_leader_alone(
    state: PartitionState, acceptable: Collection[int], election: Election
) -> Elected:
    preferred = state.replicas[0]
    able = preferred in acceptable and preferred in (state.isr or state.elr)
    return Elected(leader=preferred if able else NO_LEADER)


def _beyond_the_high_watermark(
    log_end_offset: int, high_watermark: int, epoch_start_offset: int, eligible: bool
) -> bool:
    return eligible and log_end_offset > high_watermark and log_end_offset >= epoch_start_offset


def _spare_replicas_wanted(acks: int, in_sync: int, min_in_sync: int) -> bool:
    return acks != -1 or in_sync > min_in_sync + 1


def _two_kinds_of_readers(
    reader: Reader, log_end_offset: int, high_watermark: int, last_stable_offset: int
) -> int:
    committed = min(last_stable_offset, high_watermark)
    return {Reader.FOLLOWER: log_end_offset, Reader.COMMITTED: committed}[reader]


def _lags_in_a_table(
    log_end_offset: int, leaders_end: int, since_caught_up_ms: int, max_lag_ms: int
) -> bool:
    return log_end_offset == leaders_end or _KEEPS_UP[since_caught_up_ms // (max_lag_ms + 1)]


MUTANTS = (
    Mutant(
        name="preferred-leader-alone",
        decision="elect-leader",
        replace=_preferred_leader_alone,
        rules=("KFK-090", "KFK-092"),
        why="a partition waits for its preferred leader, which cannot lead once it is out of sync",
    ),
    Mutant(
        name="joins-beyond-the-high-watermark",
        decision="may-join-isr",
        replace=_beyond_the_high_watermark,
        rules=("KFK-091",),
        why="beyond instead of at: in a log that nobody appends to no follower comes back",
    ),
    Mutant(
        name="spare-replicas-wanted",
        decision="enough-replicas-to-append",
        replace=_spare_replicas_wanted,
        rules=("KFK-092", "KFK-094"),
        why="the leader is not counted, and one more is wanted than min.insync.replicas says",
    ),
    Mutant(
        name="two-kinds-of-readers",
        decision="readable-upto",
        replace=_two_kinds_of_readers,
        rules=("KFK-092", "KFK-093"),
        why="read_uncommitted has no entry in a table, and its fetches end in an exception",
    ),
    Mutant(
        name="lags-in-a-table",
        decision="caught-up",
        replace=_lags_in_a_table,
        rules=("KFK-095",),
        why="the entry for followers that lag is missing, and the look for it ends the broker",
    ),
)

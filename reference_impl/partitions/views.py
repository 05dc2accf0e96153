"""Values that the choices about a partition look at: who asks, what the broker is, what there is.

FetchReader   who reads, and what it said in its request
Bounds        the offsets that delimit the log, as one reader may know them
Region        a range of offsets that is kept in one way
Standing      what this broker is to the partition at the moment of a request
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from reference_impl.replication.decisions import EpochEnd, Reader

NO_EPOCH = -1
CONSUMER_ID = -1


class Role(StrEnum):
    """What a broker is to a partition."""

    LEADER = "leader"
    FOLLOWER = "follower"
    NON_REPLICA = "non-replica"  # it knows the topic and has no replica of the partition


class RegionKind(StrEnum):
    """Where the records of a region are kept."""

    LOCAL = "local"  # the log of this broker's replica
    MATERIALISED = "materialised"  # a local copy of what is in the WAL
    ASSEMBLING = "assembling"  # such a copy while it is made: never served
    TIERED = "tiered"  # segments in the remote tier
    WAL = "wal"  # objects shared by partitions and brokers


REPLICATED = (RegionKind.LOCAL, RegionKind.MATERIALISED)
"""What followers fetch from their leader; the rest they find where the leader finds it."""


class Region(NamedTuple):
    """A range of offsets that is kept in one way; ``end`` is exclusive, None while it grows.

    Unless its bounds are ``known``, the authority over them has to be asked before it is read.
    """

    kind: RegionKind
    start: int
    end: int | None = None
    known: bool = True


class Bounds(NamedTuple):
    """The offsets that delimit a log. ``log_start_offset`` is the first that can be read anywhere,
    ``local_log_start_offset`` the first on this broker's disk. Where what is elsewhere cannot be
    read from here, followers are told ``kept_from``: the log begins there all the same."""

    log_start_offset: int
    local_log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    log_end_offset: int
    kept_from: int | None = None


class FetchReader(NamedTuple):
    """Who reads a partition, and what its request says about that."""

    kind: Reader
    replica_id: int = CONSUMER_ID
    version: int = 0
    only_leader: bool = True
    current_epoch: int = NO_EPOCH
    last_fetched_epoch: int = NO_EPOCH
    max_bytes: int = 0  # of this partition; the request as a whole may leave it less


class Refreshed(StrEnum):
    """What came of asking the authority over a region's bounds."""

    NOT_ASKED = "not asked"
    DONE = "done"
    TRANSIENT = "transient failure"
    HARD = "hard failure"


class Standing(NamedTuple):
    """What a broker is to a partition, and knows of it, when it is asked for records."""

    role: Role
    leader_epoch: int
    bounds: Bounds
    knows_reader: bool = True  # a follower that fetches is one of the replicas
    epoch_end: EpochEnd | None = None  # where the reader's last epoch ends here, if it named one
    preferred: int | None = None  # a replica that this reader had better ask
    refreshed: Refreshed = Refreshed.NOT_ASKED

"""What a simulated history is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How many of everything, and what may happen. Counts of clients are for the whole cluster,
    counts of requests for each client."""

    topics: int = 1
    partitions: int = 2
    brokers: int = 3
    min_in_sync: int = 1
    old_records: int = 0
    """Records of each partition that nobody in the history sent."""
    log_start: int = 0
    """Where the log begins, with or without old records."""

    idempotent: int = 1
    plain: int = 1
    transactional: int = 0
    sends: int = 8
    batch: int = 3
    in_flight: int = 3
    acks: tuple[int, ...] = (-1,)
    """What plain producers ask for, in turn; idempotent ones ask for all."""
    retries: int = 2
    """Attempts beyond the first that a plain producer makes."""
    broker_stamps: bool = False
    """Brokers stamp the records: the timestamps that are sent do not count."""
    tombstones: bool = False

    readers: int = 2
    fetches: int = 10
    committed_readers: bool = False
    from_followers: bool = False
    shared_requests: bool = False
    group_members: int = 0
    listings: int = 4
    deletions: int = 0
    epoch_questions: int = 0
    names_epochs: bool = True

    elections: int = 0
    kills: int = 0
    cut_offs: int = 0
    unclean: bool = False
    retention: int = 0
    loss: float = 0.0
    """How likely a request or its answer is lost, and a plain send refused for good."""
    clocks: int = 1
    """Time domains that the clients are spread over."""

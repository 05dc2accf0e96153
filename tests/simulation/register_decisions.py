"""The choices of the replicated register, one pure function each: what a mutant can make wrong.

The register is a small Raft; terms are called epochs here. A log entry has an index, from 1, and
the epoch of the leader who wrote it. What everything rests on: two logs with an entry of the same
index and epoch are the same up to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reference_impl.decisions import decision


class Role(Enum):
    """What a node is to the others."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


@dataclass(frozen=True, slots=True)
class Promise:
    """The highest epoch a node knows, and whom it voted for in it."""

    epoch: int = 0
    vote: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: `[write, v]`, `[cas, old, new]`, or None, with which a leader opens its epoch."""

    epoch: int
    command: Sequence[Any] | None


@dataclass(frozen=True, slots=True, order=True)
class Tip:
    """The epoch of the last entry of a log, and its index; the greater one is more up to date."""

    epoch: int
    index: int


def tip_of(log: Sequence[Entry]) -> Tip:
    """Where a log ends."""
    return Tip(log[-1].epoch if log else 0, len(log))


def majority(replicas: int) -> int:
    """Any two of them share a node."""
    return replicas // 2 + 1


def carried_out(value: Any, command: Sequence[Any] | None) -> tuple[Any, bool]:
    """The value after a command, and whether it did what it says."""
    match command:
        case ["write", new]:
            return new, True
        case ["cas", old, new]:
            return (new, True) if value == old else (value, False)
    return value, True


# Epochs and votes.


@decision("register-epoch-to-stand-in")
def epoch_to_stand_in(epoch: int) -> int:
    """A candidate stands in an epoch that it has not heard of."""
    return epoch + 1


@decision("register-promise-on-disk")
def promise_on_disk(promise: Promise) -> Promise:
    """What must survive before anybody is told of a promise: all of it."""
    return promise


@decision("register-grants-vote")
def grants_vote(promise: Promise, candidate: str, tip: Tip, own: Tip) -> bool:
    """One vote an epoch, and none for a log that lacks what may have been acknowledged."""
    return promise.vote in (None, candidate) and tip >= own


@decision("register-votes-to-lead")
def votes_to_lead(replicas: int) -> int:
    """How many nodes make a leader."""
    return majority(replicas)


@decision("register-role-in-a-newer-epoch")
def role_in_a_newer_epoch(role: Role) -> Role:
    """Who hears of an epoch that is newer than its own is nobody's leader in it."""
    return Role.FOLLOWER


@decision("register-heeds-leader")
def heeds_leader(own_epoch: int, epoch: int) -> bool:
    """Whether a follower takes entries from the leader of that epoch: not from a past one."""
    return epoch >= own_epoch


# The log.


@decision("register-fits-behind")
def fits_behind(own: Sequence[Entry], previous: Tip) -> bool:
    """Whether a log has the entry behind which others are to be put."""
    index = previous.index
    return index == 0 or (index <= len(own) and own[index - 1].epoch == previous.epoch)


@decision("register-entries-kept")
def entries_kept(own: Sequence[Entry], previous: int, sent: Sequence[Entry]) -> int:
    """How many entries a follower keeps: up to the first that the leader has otherwise."""
    for index, entry in enumerate(sent, start=previous + 1):
        if index > len(own) or own[index - 1].epoch != entry.epoch:
            return index - 1
    return max(len(own), previous)


@decision("register-syncs-before-answering")
def syncs_before_answering(appended: int) -> bool:
    """Whether a log is synced before anybody is told that it has so many new entries."""
    return True


# Commit.


@decision("register-replicas-to-commit")
def replicas_to_commit(replicas: int) -> int:
    """How many must have an entry before it is acknowledged."""
    return majority(replicas)


@decision("register-commit-index")
def commit_index(log: Sequence[Entry], index: int, epoch: int, committed: int) -> int:
    """Up to where a leader commits, given the index that enough replicas have.

    Only an entry of its own epoch: that enough replicas have an older one does not keep a later
    leader from overwriting it. What is before such an entry is committed with it.
    """
    return index if index > committed and log[index - 1].epoch == epoch else committed


# Reads.


@decision("register-read-index")
def read_index(committed: int, opening: int) -> int:
    """What a leader must have applied before it answers: all that was committed when it was asked.

    Of earlier epochs it knows that only once its own opening entry is committed.
    """
    return max(committed, opening)


@decision("register-serves-read")
def serves_read(asked: int, confirmed: int) -> bool:
    """Whether enough nodes took it for their leader in a round that began after it was asked."""
    return confirmed >= asked

"""Short stories that chance alone tells too rarely.

A plot is a list of moves of two leaders, `old` and `new`, on one partition. The generator gives the
parts to two clients that are free, plays the moves in order, and lets other clients act in between.
Each plot is a way in which a migration really goes wrong: a request that arrives after its leader
was deposed, a reset that meets an initialisation still on its way, a reply that never comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.sut.calls import UNDEFINED
from harness.workloads.belief import (
    COMMIT,
    GET,
    INITIALIZE,
    PRODUCERS,
    REGISTER,
    SET,
    Belief,
    Question,
)

# Who, which verb, and the call if the verb takes one.
Move = tuple[str, str, Question | None]
Race = Callable[[Belief], list[Move]]

_RESET: Question = (SET, {"boundary": UNDEFINED, "leader_epoch": None})


def _afresh(life: Belief) -> list[Move]:
    """Most stories need a boundary that is not set; often it is reset first."""
    resettable = life.boundary is not None and not life.suffix
    return [("new", "call", _RESET)] if resettable and life.random.random() < 0.7 else []


def late_leader(life: Belief) -> list[Move]:
    """The old leader's initialisation is delayed; its successor registers; then it arrives."""
    proposal = life.fresh(life.elect())  # a leader that the reset itself would not fence
    successor = life.elect()
    return [
        *_afresh(life),
        ("old", "hold", proposal.question()),
        ("new", "call", (REGISTER, {"leader_epoch": successor})),
        ("old", "release", None),
        ("new", "call", life.fresh(successor).question()),
        ("new", "call", (PRODUCERS, {})),
    ]


def race(life: Belief) -> list[Move]:
    """Two leaders initialise at the same time, with other boundaries and other seeds."""
    mine, theirs = life.fresh(life.elect()), life.fresh(life.elect())
    return [
        *_afresh(life),
        ("old", "begin", mine.question()),
        ("new", "begin", theirs.question()),
        ("new", "end", None),
        ("old", "end", None),
        ("old", "call", (GET, {})),
        ("new", "call", (PRODUCERS, {})),
    ]


def conflict_at_a_higher_epoch(life: Belief) -> list[Move]:
    """A boundary is set; a newer leader wants another one."""
    return [
        ("old", "call", life.fresh(life.elect()).question()),
        ("new", "call", life.fresh(life.elect()).question()),
        ("old", "call", (GET, {})),
    ]


def reset_and_again(life: Belief) -> list[Move]:
    """After a reset the same leader tries again, and then a newer one does."""
    first = life.fresh(life.elect())
    retry = life.fresh(first.leader_epoch)
    fenced = life.random.random() < 0.5
    epoch = first.leader_epoch if fenced else None
    reset: Question = (SET, {"boundary": UNDEFINED, "leader_epoch": epoch})
    return [
        ("old", "call", first.question()),
        ("new", "call", reset),
        ("old", "call", retry.question()),
        ("new", "call", life.fresh(life.elect()).question()),
        ("old", "call", (GET, {})),
    ]


def reset_meets_late_initialize(life: Belief) -> list[Move]:
    """A second try of an initialisation is still in the network when the boundary is reset."""
    proposal = life.fresh(life.elect())
    return [
        ("new", "call", proposal.question()),
        ("old", "hold", proposal.question()),
        ("new", "call", _RESET),
        ("old", "release", None),
        ("new", "call", (GET, {})),
    ]


def reset_of_a_suffix(life: Belief) -> list[Move]:
    """Batches were committed; then a reset of the boundary is asked for."""
    life.suffix = True
    return [
        ("old", "call", life.fresh(life.elect()).question()),
        ("new", "call", (COMMIT, {"record_count": 3})),
        ("old", "call", _RESET),
        ("new", "call", (COMMIT, {"record_count": 2})),
        ("old", "call", (GET, {})),
    ]


def lost_reply_and_retry(life: Belief) -> list[Move]:
    """The initialisation happens, its reply is lost, and its leader repeats it."""
    proposal = life.fresh(life.elect())
    return [
        ("old", "lose", proposal.question()),
        ("new", "call", (GET, {})),
        ("old", "call", proposal.question()),
    ]


def look_in_between(life: Belief) -> list[Move]:
    """Another client looks after the first transaction of an initialisation."""
    return [
        *_afresh(life),
        ("old", "hold", life.fresh(life.elect()).question()),
        ("old", "step", None),
        ("new", "call", (PRODUCERS, {})),
        ("old", "release", None),
        ("new", "call", (PRODUCERS, {})),
    ]


def crash_in_between(life: Belief) -> list[Move]:
    """The leader dies after the first transaction of its initialisation."""
    return [
        *_afresh(life),
        ("old", "hold", life.fresh(life.elect()).question()),
        ("old", "step", None),
        ("new", "call", (PRODUCERS, {})),
        ("old", "kill", None),
        ("new", "call", (GET, {})),
        ("new", "call", (PRODUCERS, {})),
    ]


def zombie(life: Belief) -> list[Move]:
    """The leader stands still with its request in hand, and wakes up deposed."""
    proposal = life.fresh(life.elect())
    successor = life.elect()
    return [
        *_afresh(life),
        ("old", "pause", None),
        ("old", "begin", proposal.question()),
        ("new", "call", (REGISTER, {"leader_epoch": successor})),
        ("new", "call", life.fresh(successor).question()),
        ("old", "resume", None),
        ("old", "end", None),
        ("new", "call", (PRODUCERS, {})),
    ]


def stale_repeat(life: Belief) -> list[Move]:
    """A deposed leader repeats, word for word, what it once achieved."""
    proposal = life.fresh(life.elect())
    return [
        ("old", "call", proposal.question()),
        ("new", "call", (REGISTER, {"leader_epoch": life.elect()})),
        ("old", "call", proposal.question()),
        ("new", "call", (INITIALIZE, {**proposal.question()[1], "leader_epoch": life.epoch})),
    ]


RACES: Mapping[str, Race] = MappingProxyType(
    {
        "late-leader": late_leader,
        "race": race,
        "conflict-at-a-higher-epoch": conflict_at_a_higher_epoch,
        "reset-and-again": reset_and_again,
        "reset-meets-late-initialize": reset_meets_late_initialize,
        "reset-of-a-suffix": reset_of_a_suffix,
        "lost-reply-and-retry": lost_reply_and_retry,
        "look-in-between": look_in_between,
        "crash-in-between": crash_in_between,
        "zombie": zombie,
        "stale-repeat": stale_repeat,
    }
)

"""The replicated register with one choice made wrong: bugs that have been written, all of them.

Each passes a test without faults.
"""

from __future__ import annotations

from collections.abc import Sequence

from register_decisions import Entry, Promise, Tip

from reference_impl.decisions import Mutant


def _keeps_what_it_has(own: Sequence[Entry], previous: int, sent: Sequence[Entry]) -> int:
    return max(len(own), previous)


def _any_length(promise: Promise, candidate: str, tip: Tip, own: Tip) -> bool:
    return promise.vote in (None, candidate) and tip.epoch >= own.epoch


MUTANTS = (
    Mutant(
        name="acknowledged before a quorum has it",
        decision="register-replicas-to-commit",
        replace=lambda replicas: replicas // 2,
        why="half is not a majority",
    ),
    Mutant(
        name="stale leader serves reads",
        decision="register-serves-read",
        replace=lambda asked, confirmed: True,
        why="who believes to lead need not lead",
    ),
    Mutant(
        name="round before the read counts",
        decision="register-serves-read",
        replace=lambda asked, confirmed: confirmed >= asked - 1,
        why="that others followed before the read was asked says nothing about later",
    ),
    Mutant(
        name="reads before the epoch is open",
        decision="register-read-index",
        replace=lambda committed, opening: committed,
        why="a new leader does not know yet what its predecessor committed",
    ),
    Mutant(
        name="acknowledged without a sync",
        decision="register-syncs-before-answering",
        replace=lambda appended: False,
        why="what is not synced is gone when power is",
    ),
    Mutant(
        name="conflicting suffix kept",
        decision="register-entries-kept",
        replace=_keeps_what_it_has,
        why="an entry at the same index need not be the same entry",
    ),
    Mutant(
        name="votes for a shorter log",
        decision="register-grants-vote",
        replace=_any_length,
        why="the new leader lacks what was acknowledged",
    ),
    Mutant(
        name="epoch not bumped",
        decision="register-epoch-to-stand-in",
        replace=lambda epoch: max(epoch, 1),
        why="two leaders in one epoch, or none for ever",
    ),
    Mutant(
        name="leads on in a newer epoch",
        decision="register-role-in-a-newer-epoch",
        replace=lambda role: role,
        why="nobody elected it in that one",
    ),
    Mutant(
        name="heeds a leader of the past",
        decision="register-heeds-leader",
        replace=lambda own_epoch, epoch: True,
        why="what it is given may have been overruled",
    ),
)

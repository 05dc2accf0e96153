"""Clusters whose answers are not Kafka's: each with one mistake, which recorded sequences show.

No client of a campaign asks for it, or none of them would notice.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference_impl.coordinators.transactions import Refused
from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode

_NO_CLIENT_ID_IS_SO_LONG = 1 << 30


def _producers_time_counts(configured: bool) -> bool:
    return False


def _every_batch_is_new(*known: object) -> None:
    return None


def _newer_epochs_will_come(asked: int, current: int) -> object:
    return original("check-leader-epoch")(min(asked, current), current)


def _session_epochs_stand_still(epoch: int) -> int:
    return epoch


def _any_name_will_do(name: str) -> str | None:
    return None if name else "the empty string is not allowed"


def _lists_only_grow(parts: Sequence[str], changed: Sequence[str], append: bool) -> object:
    return original("list-config-after")(parts, changed, True)


def _operations_stay_unsaid(version: int, asked: bool) -> bool:
    return False


def _other_ends_may_come_again(known: object, ending: object) -> object:
    chosen = original("decided-already")(known, ending)
    contradicts = Refused(ErrorCode.invalid_txn_state)
    return Refused(ErrorCode.concurrent_transactions) if chosen == contradicts else chosen


def _bytes_are_characters(metadata: str | None, most: int) -> bool:
    return metadata is None or len(metadata.encode()) <= most


def _client_ids_are_wanted(length: int) -> int:
    return length if length >= 0 else _NO_CLIENT_ID_IS_SO_LONG


MUTANTS = (
    Mutant(
        name="producers-time-counts",
        decision="stamps-append-time",
        replace=_producers_time_counts,
        rules=("KFK-110",),
        why="message.timestamp.type is never looked at, and CreateTime is what most topics have",
    ),
    Mutant(
        name="every-batch-is-new",
        decision="find-duplicate",
        replace=_every_batch_is_new,
        rules=("KFK-111",),
        why="a repeated batch is refused as out of order, which keeps it out of the log as well",
    ),
    Mutant(
        name="newer-epochs-will-come",
        decision="check-leader-epoch",
        replace=_newer_epochs_will_come,
        rules=("KFK-112", "KFK-114", "KFK-119"),
        why="a client that knows a newer epoch is answered from the old one",
    ),
    Mutant(
        name="session-epochs-stand-still",
        decision="next-session-epoch",
        replace=_session_epochs_stand_still,
        rules=("KFK-113",),
        why="the epoch of a session is set when it begins, and not counted on",
    ),
    Mutant(
        name="any-name-will-do",
        decision="topic-name-problem",
        replace=_any_name_will_do,
        rules=("KFK-115",),
        why="names are for people, and the file system will say what it does not like",
    ),
    Mutant(
        name="lists-only-grow",
        decision="list-config-after",
        replace=_lists_only_grow,
        rules=("KFK-116",),
        why="SUBTRACT is taken for APPEND",
    ),
    Mutant(
        name="operations-stay-unsaid",
        decision="tells-cluster-operations",
        replace=_operations_stay_unsaid,
        rules=("KFK-117",),
        why="without ACLs there is nothing to say about what a client may do",
    ),
    Mutant(
        name="client-ids-are-wanted",
        decision="client-id-bytes",
        replace=_client_ids_are_wanted,
        rules=("KFK-118",),
        why="every client of the lab names itself",
    ),
    Mutant(
        name="other-ends-may-come-again",
        decision="decided-already",
        replace=_other_ends_may_come_again,
        rules=("KFK-120",),
        why="a commit after an abort is told to wait for markers, which no client asks for",
    ),
    Mutant(
        name="bytes-are-characters",
        decision="metadata-fits",
        replace=_bytes_are_characters,
        rules=("KFK-121",),
        why="the bound on an offset's metadata is taken for one on its bytes",
    ),
)

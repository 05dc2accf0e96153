"""Leaders that take in what they should not, or as it should not be: each with one mistake.

Producers who do everything right, and try nothing twice, notice none of them.
"""

from __future__ import annotations

from reference_impl.decisions import Mutant
from reference_impl.kafka.errors import ErrorCode


def _checksums_are_the_clients(intact: bool) -> bool:
    return True


def _compressed_means_checked(kept_compressed: bool, out_of_place: bool) -> bool:
    return True


def _brokers_time_counts(configured: bool) -> bool:
    return True


def _too_few_replicas(in_sync: int, min_in_sync: int) -> ErrorCode:
    return ErrorCode.not_enough_replicas


MUTANTS = (
    Mutant(
        name="checksums-are-not-checked",
        decision="admit-checksum",
        replace=_checksums_are_the_clients,
        rules=("KFK-035", "KFK-042"),
        why="clients check what they read, somebody thought",
    ),
    Mutant(
        name="compressed-batches-stay-closed",
        decision="admit-offsets",
        replace=_compressed_means_checked,
        rules=("KFK-035", "KFK-037", "KFK-040", "KFK-045"),
        why="nobody looks into a batch that is compressed and may stay so",
    ),
    Mutant(
        name="brokers-time-counts",
        decision="stamps-append-time",
        replace=_brokers_time_counts,
        rules=("KFK-036",),
        why="message.timestamp.type is never looked at",
    ),
    Mutant(
        name="late-means-refused",
        decision="answer-when-time-is-up",
        replace=_too_few_replicas,
        rules=("KFK-033",),
        why="replicas that did not answer in time are reported as too few, after the append",
    ),
)

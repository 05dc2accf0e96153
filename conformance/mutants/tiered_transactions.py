"""Tiered storage with one mistake each, which shows when there are transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.log.transactions import AbortedTransaction
from reference_impl.replication.decisions import Reader

STAGE = "tier-transactions"
SHOWN: Mapping[str, str] = MappingProxyType({})
OTHERWISE = ""
FAR = 1 << 60


def _whatever_is_rolled(finished: Sequence[Any], copy_from: int, last_stable_offset: int) -> Any:
    return original("copy-candidates")(finished, copy_from, FAR)


def _begun_in_sight(one: AbortedTransaction, start: int, upto: int) -> bool:
    return one.first_offset >= start and bool(original("aborted-within")(one, start, upto))


def _up_to_the_high_watermark(
    reader: Reader, log_end_offset: int, high_watermark: int, last_stable_offset: int
) -> int:
    return log_end_offset if reader is Reader.FOLLOWER else high_watermark


MUTANTS = (
    Mutant(
        name="what-is-open-is-shown",
        decision="readable-upto",
        replace=_up_to_the_high_watermark,
        rules=("TS-202",),
        why="all that is committed to the log is taken for committed by its producer",
    ),
    Mutant(
        name="copies-what-is-open",
        decision="copy-candidates",
        replace=_whatever_is_rolled,
        rules=("TS-098",),
        why="a segment that is rolled does not change any more",
    ),
    Mutant(
        name="aborted-where-it-began",
        decision="aborted-within",
        replace=_begun_in_sight,
        rules=("TS-200",),
        why="an aborted transaction is told to readers of its first record",
    ),
)

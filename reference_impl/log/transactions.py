"""Transactions as one log knows them: which are open, and which were aborted.

A transaction begins with its first batch and ends with a marker: a control batch that a coordinator
appends. What is before the first open one, and committed, is stable. The markers of aborted
transactions are kept with the segment that holds them, in ``.txnindex`` (Kafka's format, 34 bytes
each), so that a reader of committed data is told which records to leave out. Like all indexes it
says nothing that the log does not say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.batches import Bytes, header, timestamped
from reference_impl.kafka.records import build_batch, records
from reference_impl.log.indexes import CorruptIndex

_ENTRY = struct.Struct(">hqqqq")
_INDEX_VERSION = 0
_MARKER_KEY = struct.Struct(">hh")
_MARKER_VALUE = struct.Struct(">hi")
_MARKER_VERSION = 0
_ABORT, _COMMIT = 0, 1
_LAST_EPOCH = (1 << 15) - 1


class AbortedTransaction(NamedTuple):
    """From its first record to its marker, and where the log was stable once it was decided."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class EndMarker(NamedTuple):
    """How a transaction ended, and the epoch of the coordinator that says so."""

    committed: bool
    coordinator_epoch: int


# Choices.


@decision("first-unstable-offset")
def first_unstable_offset(ongoing: Iterable[int], unreplicated: Iterable[int]) -> int | None:
    """Where the first transaction begins that is open, or whose end is not committed yet."""
    return min((*ongoing, *unreplicated), default=None)


@decision("decision-is-committed")
def decision_is_committed(last_offset: int, high_watermark: int) -> bool:
    """A transaction is decided for readers once its marker is below the high watermark."""
    return last_offset < high_watermark


@decision("coordinator-epoch-fits")
def coordinator_epoch_fits(known: int, offered: int) -> bool:
    """Markers of a coordinator that was replaced are refused."""
    return offered >= known


@decision("marker-epoch-fits")
def marker_epoch_fits(known: int, offered: int, ongoing: bool, bumps: bool) -> bool:
    """Markers for a producer that was replaced are refused.

    Where every end of a transaction bumps the epoch, so is a late marker of the epoch of an open
    one; a marker that is written again finds nothing open.
    """
    if bumps and ongoing:
        return offered > known or offered == _LAST_EPOCH == known
    return offered >= known


@decision("needs-verification")
def needs_verification(transactional: bool, ongoing: bool, verified: bool) -> bool:
    """A batch that would begin a transaction here needs the coordinator's word that there is one.

    Without it a late batch of a transaction that has ended would open one that never ends.
    """
    return transactional and not ongoing and not verified


@decision("breaks-into-transaction")
def breaks_into_transaction(transactional: bool, ongoing: bool) -> bool:
    """A producer that has a transaction open here writes nothing outside of it."""
    return ongoing and not transactional


@decision("aborted-within")
def aborted_within(one: AbortedTransaction, start: int, upto: int) -> bool:
    """Whether a reader from one offset to before another may meet records of it."""
    return one.last_offset >= start and one.first_offset < upto


@decision("no-later-abort-matters")
def no_later_abort_matters(one: AbortedTransaction, upto: int) -> bool:
    """All transactions that begin below the end of the read were decided when this one was."""
    return one.last_stable_offset >= upto


# Markers.


def read_marker(data: Bytes, at: int) -> EndMarker | None:
    """The marker in the control batch there; None if it marks no end of a transaction."""
    batch = header(data, at)
    first = next(iter(records(memoryview(data)[at : at + batch.size], 0)), None)
    if first is None or first.key is None or first.value is None:
        return None
    try:
        _, kind = _MARKER_KEY.unpack_from(first.key)
        _, coordinator_epoch = _MARKER_VALUE.unpack_from(first.value)
    except struct.error:
        return None
    return EndMarker(kind == _COMMIT, coordinator_epoch) if kind in (_ABORT, _COMMIT) else None


def marker_batch(
    *,
    producer_id: int,
    producer_epoch: int,
    marker: EndMarker,
    timestamp_ms: int,
    log_append_time: bool = False,
) -> bytes:
    """The control batch that ends a transaction."""
    key = _MARKER_KEY.pack(_MARKER_VERSION, _COMMIT if marker.committed else _ABORT)
    value = _MARKER_VALUE.pack(_MARKER_VERSION, marker.coordinator_epoch)
    batch = build_batch(
        [(timestamp_ms, key, value)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )
    return timestamped(batch, timestamp_ms, log_append_time=True) if log_append_time else batch


# Open transactions.


class Transactions:
    """Those of one log that readers of committed data have to wait for."""

    def __init__(self) -> None:
        self._ongoing: dict[int, int] = {}  # first offset → producer
        self._unreplicated: dict[int, int] = {}  # first offset → offset of the marker

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first one begins that has to be waited for."""
        return first_unstable_offset(self._ongoing, self._unreplicated)

    @property
    def ongoing(self) -> tuple[tuple[int, int], ...]:
        """First offset and producer of each that is open, in order."""
        return tuple(sorted(self._ongoing.items()))

    def begin(self, producer_id: int, first_offset: int) -> None:
        """A producer's first batch of a transaction is in the log."""
        self._ongoing[first_offset] = producer_id

    def end(self, first_offset: int, marker_offset: int) -> int:
        """Its marker is in the log; where the log is stable once that is committed."""
        self._ongoing.pop(first_offset, None)
        self._unreplicated[first_offset] = marker_offset
        return min(self._ongoing, default=marker_offset + 1)

    def replicated_up_to(self, offset: int) -> None:
        """The high watermark, or the log start, is there now."""
        if self._unreplicated:
            decided = [
                first
                for first, last in self._unreplicated.items()
                if decision_is_committed(last, offset)
            ]
            for first in decided:
                del self._unreplicated[first]

    def reset(self, ongoing: Iterable[tuple[int, int]] = ()) -> None:
        """Only these are open: first offset and producer of each."""
        self._ongoing = dict(ongoing)
        self._unreplicated = {}


# Aborted ones.


class TransactionIndex:
    """The aborted transactions whose markers are in one segment; an ``Index`` (``log.indexes``)."""

    entry_bytes = _ENTRY.size

    def __init__(self) -> None:
        self.on_disk, self.stale = 0, False
        self.entries: list[AbortedTransaction] = []

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, aborted: AbortedTransaction) -> None:
        """Its marker was appended to the segment."""
        self.entries.append(aborted)

    def cut(self, offset: int) -> None:
        """Forget those whose markers are there or later."""
        kept = [one for one in self.entries if one.last_offset < offset]
        if len(kept) < self.on_disk:
            self.on_disk, self.stale = len(kept), True
        self.entries = kept

    def encoded(self, first: int) -> bytes:
        """The entries from that one on, as they are on disk."""
        return encode_aborted(self.entries[first:])

    @classmethod
    def decoded(cls, data: bytes, base_offset: int) -> TransactionIndex:
        """The index in a file, if it can be one of a segment that begins there."""
        index = cls()
        index.entries = decode_aborted(data)
        index.on_disk = len(index)
        if any(one.last_offset < base_offset for one in index.entries):
            raise CorruptIndex("a marker lies before the segment")
        return index


def encode_aborted(entries: Sequence[AbortedTransaction]) -> bytes:
    """Entries in the format of Kafka's ``.txnindex``."""
    return b"".join(_ENTRY.pack(_INDEX_VERSION, *one) for one in entries)


def decode_aborted(data: bytes) -> list[AbortedTransaction]:
    """The entries of such a file; CorruptIndex if it cannot be one."""
    if len(data) % _ENTRY.size:
        raise CorruptIndex(f"{len(data)} bytes are no whole entries")
    entries = []
    for version, *fields in _ENTRY.iter_unpack(data):
        if version != _INDEX_VERSION:
            raise CorruptIndex(f"an entry of version {version}")
        entries.append(AbortedTransaction(*fields))
    if any(after.last_offset <= before.last_offset for before, after in pairwise(entries)):
        raise CorruptIndex("its entries do not rise")
    return entries


def collect_aborted(
    indexes: Iterable[Sequence[AbortedTransaction]], start: int, upto: int
) -> list[AbortedTransaction]:
    """Those that a read of [start, upto) may meet, from the indexes of the segments it begins in
    and all behind it: a transaction may be aborted long after its records were written."""
    found: list[AbortedTransaction] = []
    for entries in indexes:
        for one in entries:
            if aborted_within(one, start, upto):
                found.append(one)
            if no_later_abort_matters(one, upto):
                return found
    return found

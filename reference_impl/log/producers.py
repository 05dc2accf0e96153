"""What a log remembers of its idempotent producers.

Per producer id: its epoch and its last five batches. With that a retry is told from something new
(and answered with the offset it got at first), a gap in the sequence from its continuation, and a
producer that was replaced from its successor. State is a function of the log: snapshots on disk
(``%020d.snapshot``, Kafka's format) only save reading the log from its beginning. A snapshot keeps
one batch of each producer, as Kafka's do; what else is known comes from the log behind it. A log
start that rises takes nothing from memory; but a log that is read again, after a truncation or a
restart, knows nothing of producers that only snapshots and batches below its start would name.

A producer may have a transaction open: its first offset is kept with it, also in a snapshot, and
the marker that ends it is the coordinator's (``log.transactions``).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from crc32c import crc32c

from reference_impl.kafka.batches import Batch
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.decisions import (
    NO_PRODUCER_EPOCH,
    AppendedBatch,
    batches_remembered,
    find_duplicate,
    producer_epoch_fits,
    producer_expired,
    sequence_fits,
)
from reference_impl.log.transactions import (
    AbortedTransaction,
    EndMarker,
    Transactions,
    breaks_into_transaction,
    coordinator_epoch_fits,
    marker_epoch_fits,
    needs_verification,
)
from reference_impl.log.verification import NO_GUARD, Verifications

_PREFIX = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_SNAPSHOT_VERSION = 1
_NO_COORDINATOR = -1
_NO_TRANSACTION = -1


class CorruptSnapshot(ValueError):
    """The bytes are no snapshot, or not a whole one."""


@dataclass(slots=True, kw_only=True)
class Producer:
    """What is known of one producer id."""

    producer_id: int
    epoch: int = NO_PRODUCER_EPOCH
    last_timestamp: int = -1
    coordinator_epoch: int = _NO_COORDINATOR
    transaction_from: int | None = None  # the first offset of its open transaction
    batches: list[AppendedBatch] = field(default_factory=list)  # oldest first

    @property
    def last_sequence(self) -> int:
        """The sequence number of its last record, -1 if none is known in this epoch."""
        return self.batches[-1].last_sequence if self.batches else -1

    def add(self, batch: Batch) -> None:
        """Remember a batch it appended; in a new epoch, forget those of the old one."""
        if batch.producer_epoch != self.epoch:
            self.epoch = batch.producer_epoch
            self.batches = []
        del self.batches[: max(0, len(self.batches) - batches_remembered() + 1)]
        self.batches.append(
            AppendedBatch(
                batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp
            )
        )
        self.last_timestamp = batch.max_timestamp

    def end(self, batch: Batch, marker: EndMarker) -> None:
        """A marker ended what it had open; one in a new epoch makes its batches old."""
        if batch.producer_epoch != self.epoch:
            self.epoch = batch.producer_epoch
            self.batches = []
        self.coordinator_epoch = marker.coordinator_epoch
        self.transaction_from = None
        self.last_timestamp = batch.max_timestamp


class ProducerStates:
    """The producers of one log. ``end_offset`` says up to where of the log they are known."""

    def __init__(self, partition: str, expiration_ms: int) -> None:
        self.partition = partition
        self.expiration_ms = expiration_ms
        self.producers: dict[int, Producer] = {}
        self.end_offset = 0
        self.transactions = Transactions()
        self.verifications = Verifications()

    def start_verification(
        self, producer_id: int, epoch: int, sequence: int, *, bumps: bool, now_ms: int
    ) -> int:
        """A batch wants to be in a transaction: the guard under which its coordinator is asked,
        NO_GUARD if it need not be asked because that transaction is open here."""
        known = self.producers.get(producer_id)
        if known is not None and epoch < known.epoch:
            raise KafkaError(
                ErrorCode.invalid_producer_epoch,
                f"Epoch of producer {producer_id} is {epoch}, which is smaller than the last seen "
                f"epoch {known.epoch}",
            )
        if known is not None and known.epoch == epoch and known.transaction_from is not None:
            return NO_GUARD
        return self.verifications.start(producer_id, epoch, sequence, bumps=bumps, now_ms=now_ms)

    def admit(
        self, batch: Batch, *, guard: int = NO_GUARD, sequenced: bool = True
    ) -> AppendedBatch | None:
        """May a client append this batch? The batch it repeats, None if it is new, or a refusal.

        ``guard``: under which its coordinator said that it belongs to a transaction.
        ``sequenced``: its producer numbers its batches; what a coordinator appends on its behalf
        has no numbers.
        """
        known = self.producers.get(batch.producer_id)
        if known is None:
            known = Producer(producer_id=batch.producer_id)
        first, last = batch.base_sequence, batch.last_sequence
        found = find_duplicate(known.batches, known.epoch, batch.producer_epoch, first, last)
        if sequenced and found is not None:
            return found
        if not producer_epoch_fits(known.epoch, batch.producer_epoch):
            raise KafkaError(
                ErrorCode.invalid_producer_epoch,
                f"Epoch of producer {batch.producer_id} at offset {batch.base_offset} in "
                f"{self.partition} is {batch.producer_epoch}, which is < the last seen epoch "
                f"{known.epoch}",
            )
        ongoing = known.transaction_from is not None and known.epoch == batch.producer_epoch
        verified = self.verifications.holds(batch.producer_id, guard)
        if needs_verification(batch.transactional, ongoing, verified):
            raise KafkaError(
                ErrorCode.invalid_txn_state, "Record was not part of an ongoing transaction"
            )
        jumps = self.verifications.jumped_by(batch, unknown_producer=not known.batches)
        fits = sequence_fits(known.epoch, batch.producer_epoch, known.last_sequence, first)
        if sequenced and (jumps or not fits):
            raise KafkaError(
                ErrorCode.out_of_order_sequence_number,
                f"Out of order sequence number for producer {batch.producer_id} at offset "
                f"{batch.base_offset} in partition {self.partition}: {first} (incoming seq. "
                f"number), {known.last_sequence} (current end sequence number)",
            )
        if breaks_into_transaction(batch.transactional, known.transaction_from is not None):
            raise KafkaError(
                ErrorCode.invalid_txn_state,
                f"Expected transactional write from producer {batch.producer_id} at offset "
                f"{batch.base_offset} in partition {self.partition}",
            )
        return None

    def admit_marker(self, batch: Batch, marker: EndMarker, *, bumps: bool = False) -> None:
        """May a coordinator append this marker? ``bumps``: every end has an epoch of its own."""
        if not batch.has_producer_id:
            return
        known = self.producers.get(batch.producer_id) or Producer(producer_id=batch.producer_id)
        ongoing = known.transaction_from is not None
        if not marker_epoch_fits(known.epoch, batch.producer_epoch, ongoing, bumps):
            raise KafkaError(
                ErrorCode.invalid_producer_epoch,
                f"Epoch of producer {batch.producer_id} in {self.partition} is "
                f"{batch.producer_epoch}, which is < the last seen epoch {known.epoch}",
            )
        if not coordinator_epoch_fits(known.coordinator_epoch, marker.coordinator_epoch):
            raise KafkaError(
                ErrorCode.transaction_coordinator_fenced,
                f"Invalid coordinator epoch for producerId {batch.producer_id} in "
                f"{self.partition}: {marker.coordinator_epoch} (zombie), "
                f"{known.coordinator_epoch} (current)",
            )

    def add(self, batch: Batch, marker: EndMarker | None = None) -> AbortedTransaction | None:
        """A batch is in the log: remember it if it has a producer, and how far we are.

        The transaction that its marker aborted, if it did and there was one.
        """
        aborted = None
        if batch.producer_id >= 0 and (marker is not None or not batch.control):
            producer = self.producers.get(batch.producer_id)
            if producer is None:
                producer = Producer(producer_id=batch.producer_id)
                self.producers[batch.producer_id] = producer
            if marker is not None:
                aborted = self._end(producer, batch, marker)
            else:
                producer.add(batch)
                if batch.transactional and producer.transaction_from is None:
                    producer.transaction_from = batch.base_offset
                    self.transactions.begin(batch.producer_id, batch.base_offset)
            self.verifications.written(batch)
        self.end_offset = batch.next_offset
        return aborted

    def _end(
        self, producer: Producer, batch: Batch, marker: EndMarker
    ) -> AbortedTransaction | None:
        first = producer.transaction_from
        producer.end(batch, marker)
        if first is None:
            return None
        last = batch.base_offset
        stable = self.transactions.end(first, last)
        if marker.committed:
            return None
        return AbortedTransaction(producer.producer_id, first, last, stable)

    def expire(self, now_ms: int) -> int:
        """Forget producers that have been silent for too long; how many there were."""
        gone = [
            producer_id
            for producer_id, producer in self.producers.items()
            if producer.transaction_from is None
            and producer_expired(producer.last_timestamp, now_ms, self.expiration_ms)
        ]
        for producer_id in gone:
            del self.producers[producer_id]
        self.verifications.expire(now_ms - self.expiration_ms)
        return len(gone)

    def reset(self, end_offset: int, producers: Iterable[Producer] = ()) -> None:
        """Know these, up to there, and nothing else."""
        self.producers = {producer.producer_id: producer for producer in producers}
        self.end_offset = end_offset
        self.transactions.reset(
            (one.transaction_from, one.producer_id)
            for one in self.producers.values()
            if one.transaction_from is not None
        )

    def snapshot(self) -> bytes:
        """The producers in the format of Kafka's snapshot files."""
        return snapshot_of(self.producers.values())


def snapshot_of(producers: Collection[Producer]) -> bytes:
    """Producers in the format of Kafka's snapshot files."""
    entries = [_COUNT.pack(len(producers))]
    for producer in producers:
        last = producer.batches[-1] if producer.batches else AppendedBatch(-1, -1, 0, -1)
        entries.append(
            _ENTRY.pack(
                producer.producer_id,
                producer.epoch,
                last.last_sequence,
                last.last_offset,
                last.offset_delta,
                producer.last_timestamp,
                producer.coordinator_epoch,
                _NO_TRANSACTION if producer.transaction_from is None else producer.transaction_from,
            )
        )
    body = b"".join(entries)
    return _PREFIX.pack(_SNAPSHOT_VERSION, crc32c(body)) + body


def read_snapshot(data: bytes) -> list[Producer]:
    """The producers of a snapshot file; CorruptSnapshot if it is not whole."""
    try:
        version, crc = _PREFIX.unpack_from(data)
        body = data[_PREFIX.size :]
        if version != _SNAPSHOT_VERSION or crc != crc32c(body):
            raise CorruptSnapshot(f"version {version}, or another checksum than {crc}")
        count = _COUNT.unpack_from(body)[0]
        if len(body) != _COUNT.size + count * _ENTRY.size:
            raise CorruptSnapshot(f"{count} producers in {len(body)} bytes")
    except struct.error as error:
        raise CorruptSnapshot(str(error)) from error
    found = []
    for entry in _ENTRY.iter_unpack(body[_COUNT.size :]):
        producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, *rest = entry
        coordinator_epoch, transaction_from = rest
        producer = Producer(
            producer_id=producer_id,
            epoch=epoch,
            last_timestamp=timestamp,
            coordinator_epoch=coordinator_epoch,
            transaction_from=None if transaction_from < 0 else transaction_from,
        )
        if last_offset >= 0:
            producer.batches.append(
                AppendedBatch(last_sequence, last_offset, offset_delta, timestamp)
            )
        found.append(producer)
    return found

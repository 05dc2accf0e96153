"""What a log remembers of its idempotent producers.

Per producer id: its epoch and its last five batches. With that a retry is told from something new
(and answered with the offset it got at first), a gap in the sequence from its continuation, and a
producer that was replaced from its successor. State is a function of the log: snapshots on disk
(``%020d.snapshot``, Kafka's format) only save reading the log from its beginning. A snapshot keeps
one batch of each producer, as Kafka's do; what else is known comes from the log behind it. A log
start that rises takes nothing from memory; but a log that is read again, after a truncation or a
restart, knows nothing of producers that only snapshots and batches below its start would name.

Transactions are not here yet. Their seam: ``first_unstable_offset`` and the two fields of a
snapshot that are always written as "no transaction".
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


class ProducerStates:
    """The producers of one log. ``end_offset`` says up to where of the log they are known."""

    def __init__(self, partition: str, expiration_ms: int) -> None:
        self.partition = partition
        self.expiration_ms = expiration_ms
        self.producers: dict[int, Producer] = {}
        self.end_offset = 0

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction begins that is not decided: none is, so far."""
        return None

    def admit(self, batch: Batch) -> AppendedBatch | None:
        """May a client append this batch? The batch it repeats, None if it is new, or a refusal."""
        known = self.producers.get(batch.producer_id)
        if known is None:
            known = Producer(producer_id=batch.producer_id)
        first, last = batch.base_sequence, batch.last_sequence
        found = find_duplicate(known.batches, known.epoch, batch.producer_epoch, first, last)
        if found is not None:
            return found
        if not producer_epoch_fits(known.epoch, batch.producer_epoch):
            raise KafkaError(
                ErrorCode.invalid_producer_epoch,
                f"Epoch of producer {batch.producer_id} at offset {batch.base_offset} in "
                f"{self.partition} is {batch.producer_epoch}, which is < the last seen epoch "
                f"{known.epoch}",
            )
        if batch.transactional:
            raise KafkaError(
                ErrorCode.invalid_txn_state, "Record was not part of an ongoing transaction"
            )
        if not sequence_fits(known.epoch, batch.producer_epoch, known.last_sequence, first):
            raise KafkaError(
                ErrorCode.out_of_order_sequence_number,
                f"Out of order sequence number for producer {batch.producer_id} at offset "
                f"{batch.base_offset} in partition {self.partition}: {first} (incoming seq. "
                f"number), {known.last_sequence} (current end sequence number)",
            )
        return None

    def add(self, batch: Batch) -> None:
        """A batch is in the log: remember it if it has a producer, and how far we are."""
        if batch.producer_id >= 0 and not batch.control:
            producer = self.producers.get(batch.producer_id)
            if producer is None:
                producer = Producer(producer_id=batch.producer_id)
                self.producers[batch.producer_id] = producer
            producer.add(batch)
        self.end_offset = batch.next_offset

    def expire(self, now_ms: int) -> int:
        """Forget producers that have been silent for too long; how many there were."""
        gone = [
            producer_id
            for producer_id, producer in self.producers.items()
            if producer_expired(producer.last_timestamp, now_ms, self.expiration_ms)
        ]
        for producer_id in gone:
            del self.producers[producer_id]
        return len(gone)

    def reset(self, end_offset: int, producers: Iterable[Producer] = ()) -> None:
        """Know these, up to there, and nothing else."""
        self.producers = {producer.producer_id: producer for producer in producers}
        self.end_offset = end_offset

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
                _NO_COORDINATOR,
                _NO_TRANSACTION,
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
        producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, *_ = entry
        producer = Producer(producer_id=producer_id, epoch=epoch, last_timestamp=timestamp)
        if last_offset >= 0:
            producer.batches.append(
                AppendedBatch(last_sequence, last_offset, offset_delta, timestamp)
            )
        found.append(producer)
    return found

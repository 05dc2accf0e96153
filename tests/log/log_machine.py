"""A log and a list of what should be in it, and appends to both."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
)
from log_bench import Bench, batch

from reference_impl.kafka.batches import Compression, batches
from reference_impl.kafka.records import records
from reference_impl.log import LogConfig

CONFIG = LogConfig(
    segment_bytes=600,
    index_interval_bytes=100,
    retention_bytes=1500,
    retention_ms=10_000,
    segment_index_bytes=80,
)


@dataclass(frozen=True)
class Kept:
    """A record that should be in the log."""

    offset: int
    value: bytes | None
    epoch: int
    last_of_batch: int
    base_of_batch: int
    timestamp: int
    producer: tuple[int, int] | None  # id and sequence


class AppendingMachine(RuleBasedStateMachine):
    """The log, the list, and what is known about it."""

    bench: Bench

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Kept] = []
        self.start = 0
        self.highest_start = 0  # which a crash may bring down again, if it is not written down
        self.end = 0
        self.elsewhere = False
        self.forgot_below = 0  # producers of older batches were lost with the log, on purpose
        self.epoch = 0
        self.flushed = 0
        self.checkpoint = (0, 0)  # recovery point and log start, as a broker writes them down
        self.sequences = {1: 0, 2: 0}
        self.count = 0

    @initialize(seed=st.integers(0, 999), elsewhere=st.booleans())
    def begin(self, seed: int, elsewhere: bool) -> None:
        self.elsewhere = elsewhere
        self.bench = Bench(CONFIG, seed=seed)
        self.bench.open(older_elsewhere=elsewhere)

    def teardown(self) -> None:
        self.bench.close()

    # What is appended.

    def _batch(self, size: int, producer: int | None, codec: Compression, **where: int) -> bytes:
        values = []
        for _ in range(size):
            self.count += 1
            values.append(b"%d" % self.count * (self.count % 30 + 1))
        who = {}
        if producer is not None:
            who = {
                "producer_id": producer,
                "producer_epoch": 0,
                "base_sequence": self.sequences[producer],
            }
        timestamp = self.bench.clock.now - self.count % 7
        return batch(*values, timestamp=timestamp, compression=codec, **who, **where)

    def _expect(self, data: bytes, base: int, epoch: int) -> list[Kept]:
        found = []
        for at, header in batches(data):
            for record in records(data, at):
                delta = record.offset - header.base_offset
                place = base if header.base_offset == 0 else header.base_offset
                found.append(
                    Kept(
                        offset=place + delta,
                        value=record.value,
                        epoch=epoch,
                        last_of_batch=place + header.last_offset_delta,
                        base_of_batch=place,
                        timestamp=record.timestamp,
                        producer=(header.producer_id, header.base_sequence + delta)
                        if header.has_producer_id
                        else None,
                    )
                )
        return found

    def _added(self, expected: list[Kept]) -> None:
        self.kept += expected
        self.end = expected[-1].offset + 1
        for each in expected:
            if each.producer is not None:
                self.sequences[each.producer[0]] = each.producer[1] + 1

    sizes = st.integers(1, 4)
    producers = st.sampled_from([None, 1, 2])
    codecs = st.sampled_from([Compression.none, Compression.none, Compression.lz4])

    @rule(size=sizes, producer=producers, codec=codecs)
    def append_as_leader(self, size: int, producer: int | None, codec: Compression) -> None:
        data = self._batch(size, producer, codec)
        assert self.bench.append(data, self.epoch) == self.end
        self._added(self._expect(data, self.end, self.epoch))

    @rule(size=sizes, more=st.integers(1, 3))
    def append_as_follower(self, size: int, more: int) -> None:
        data, at = b"", self.end
        for _ in range(more):
            data += self._batch(
                size, None, Compression.none, base_offset=at, leader_epoch=self.epoch
            )
            at += size
        if self.end == 0:
            return  # a first batch at 0 cannot be told from one of a client by the list
        self.bench.run(self.bench.log.append_as_follower(data))
        self._added(self._expect(data, self.end, self.epoch))

    @rule(producer=st.sampled_from([1, 2]))
    def repeat_the_last_batch_of_a_producer(self, producer: int) -> None:
        mine = [each for each in self.kept if each.producer and each.producer[0] == producer]
        # Of one whose last batch lay before the log's beginning once, nothing need be known.
        if not mine or mine[-1].producer is None or mine[-1].base_of_batch < self._known_from():
            return
        last = mine[-1]
        sequence = mine[-1].producer[1] - (last.last_of_batch - last.base_of_batch)
        size = last.last_of_batch - last.base_of_batch + 1
        data = batch(
            *[b"again"] * size, producer_id=producer, producer_epoch=0, base_sequence=sequence
        )
        appended = self.bench.run(self.bench.log.append_as_leader(data, leader_epoch=self.epoch))
        assert appended.duplicate
        assert (appended.base_offset, appended.last_offset) == (
            last.base_of_batch,
            last.last_of_batch,
        )

    def _known_from(self) -> int:
        self.highest_start = max(self.highest_start, self.start)
        if self.elsewhere:
            return max(self.forgot_below, self.highest_start)
        return max(self.bench.log.segments[0].base_offset, self.highest_start)

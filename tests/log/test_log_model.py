"""A log under everything that can happen to it, against a list.

The list holds what should be in the log. A log that dies in the middle of something must be, when
it is opened again, as before or as after it, or on the way from one to the other; after a loss of
power it may have lost from its end what was not flushed. Then the list is set to what is there.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from log_bench import Bench, Killed, batch

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
    producer: tuple[int, int] | None  # id and sequence


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(CONFIG)
        self.kept: list[Kept] = []
        self.start = 0
        self.end = 0
        self.epoch = 0
        self.flushed = 0
        self.checkpoint = (0, 0)  # recovery point and log start, as a broker writes them down
        self.sequences = {1: 0, 2: 0}
        self.count = 0

    @initialize()
    def begin(self) -> None:
        self.bench.open()

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
        # Of one whose last batch lies before the log's beginning, nothing need be known.
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
        return max(self.bench.log.segments[0].base_offset, self.start)

    # What is done to it.

    @rule()
    def begin_an_epoch(self) -> None:
        self.epoch += 1
        self.bench.run(self.bench.log.assign_epoch(self.epoch))

    @rule(seconds=st.integers(1, 8))
    def let_time_pass(self, seconds: int) -> None:
        self.bench.clock.now += seconds * 1000

    @rule()
    def roll(self) -> None:
        self.bench.run(self.bench.log.roll())

    @rule()
    def flush(self) -> None:
        self.bench.run(self.bench.log.flush())
        assert self.bench.log.recovery_point == self.end
        self.flushed = self.end

    @rule()
    def write_checkpoints(self) -> None:
        self.flushed = max(self.flushed, self.bench.log.recovery_point)
        self.checkpoint = (self.bench.log.recovery_point, self.bench.log.log_start_offset)

    def _boundary(self, share: int) -> int:
        """An offset where a batch begins, or the end."""
        bases = sorted(
            {each.base_of_batch for each in self.kept if each.base_of_batch >= self.start}
        )
        return [*bases, self.end][share * len(bases) // 100]

    @rule(share=st.integers(0, 100))
    def truncate(self, share: int) -> None:
        to = self._boundary(share)
        self.bench.run(self.bench.log.truncate_to(to))
        self._truncated(to)

    def _truncated(self, to: int) -> None:
        self.kept = [each for each in self.kept if each.offset < to]
        self.end, self.start = min(self.end, to), min(self.start, to)
        self.flushed = min(self.flushed, to)
        # The recovery point written down is beyond the end now, and stays so for a while.
        self.checkpoint = (self.checkpoint[0], min(self.checkpoint[1], to))
        self._know_sequences()

    def _know_sequences(self) -> None:
        for producer in self.sequences:
            known = self.bench.log.producers.producers.get(producer)
            self.sequences[producer] = 0 if known is None else known.last_sequence + 1

    @rule(share=st.integers(0, 100))
    def delete_records(self, share: int) -> None:
        to = self.start + share * (self.end - self.start) // 100
        self.bench.log.high_watermark = self.end
        self.bench.run(self.bench.log.advance_log_start_offset(to))
        self.start = to

    @rule(commit=st.booleans())
    def delete_old_segments(self, commit: bool) -> None:
        if commit:
            self.bench.log.high_watermark = self.end
        before = self.bench.log.high_watermark
        self.bench.run(self.bench.log.delete_old_segments())
        assert self.start <= self.bench.log.log_start_offset <= max(before, self.start)
        self.start = self.bench.log.log_start_offset

    # Ends and beginnings.

    @rule()
    def restart_cleanly(self) -> None:
        self.bench.run(self.bench.log.close(clean=True))
        self.flushed = self.end
        self.checkpoint = (self.bench.log.recovery_point, self.start)
        self.bench.die(power=True)
        self.bench.open(clean=True, recovery_point=self.end, log_start_offset=self.start)

    @rule(power=st.booleans())
    def crash(self, power: bool) -> None:
        self._crash(power, lowest=self.end)

    @rule(
        what=st.sampled_from(["append", "truncate", "roll", "flush", "retain", "delete", "close"]),
        effect=st.integers(1, 12),
        after=st.booleans(),
        power=st.booleans(),
        share=st.integers(0, 100),
    )
    def crash_during(self, what: str, effect: int, after: bool, power: bool, share: int) -> None:
        log, lowest = self.bench.log, self.end
        data = self._batch(2, 1, Compression.none)
        to = self._boundary(share)
        work = {
            "append": lambda: log.append_as_leader(data, leader_epoch=self.epoch),
            "truncate": lambda: log.truncate_to(to),
            "roll": log.roll,
            "flush": log.flush,
            "retain": log.delete_old_segments,
            "delete": lambda: log.advance_log_start_offset(min(to, log.high_watermark)),
            "close": lambda: log.close(clean=True),
        }[what]
        self.bench.gate.fatal = self.bench.gate.count + effect
        self.bench.gate.after = after
        with contextlib.suppress(Killed):
            self.bench.run(work())
        if what == "append":
            # It may be there, whole.
            self.kept += self._expect(data, self.end, self.epoch)
        if what == "truncate":
            lowest = min(lowest, to)
            self.flushed = min(self.flushed, to)
            self.checkpoint = (self.checkpoint[0], min(self.checkpoint[1], to))
        self._crash(power, lowest)

    def _crash(self, power: bool, lowest: int) -> None:
        """End without a word, and look at what is left."""
        self.flushed = max(self.flushed, self.bench.log.recovery_point if not power else 0)
        lowest = min(lowest, self.flushed) if power else lowest
        self.bench.die(power=power)
        self.bench.clock.now += 1
        log = self.bench.open(
            recovery_point=self.checkpoint[0], log_start_offset=self.checkpoint[1]
        )
        assert lowest <= log.log_end_offset <= max([e.offset + 1 for e in self.kept] + [self.end])
        assert log.log_end_offset in {0, self.start, *[e.base_of_batch for e in self.kept]} | {
            e.last_of_batch + 1 for e in self.kept
        }
        self.end, self.start = log.log_end_offset, log.log_start_offset
        self.kept = [each for each in self.kept if each.offset < self.end]
        self.flushed = min(self.flushed, self.end) if power else 0
        self.checkpoint = (self.checkpoint[0], log.log_start_offset)
        self._know_sequences()

    # What always holds.

    @invariant()
    def the_log_is_the_list(self) -> None:
        if self.bench._log is None:
            return
        log = self.bench.log
        assert (log.log_start_offset, log.log_end_offset) == (self.start, self.end)
        expected = [(each.offset, each.value) for each in self.kept if each.offset >= self.start]
        found = [each for each in self.bench.everything() if each[0] >= self.start]
        assert found == expected

    @invariant()
    def epochs_are_those_of_the_records(self) -> None:
        for each in self.kept:
            if each.offset >= self.start:
                assert self.bench.log.epochs.epoch_for(each.offset) == each.epoch

    @invariant()
    def producers_go_on_where_the_log_ends(self) -> None:
        if self.bench._log is None:
            return
        last: dict[int, tuple[int, int]] = {}
        for each in self.kept:
            if each.producer is not None and each.base_of_batch >= self._known_from():
                last[each.producer[0]] = (each.producer[1], each.last_of_batch)
        for producer, (sequence, offset) in last.items():
            known = self.bench.log.producers.producers[producer]
            assert (known.last_sequence, known.batches[-1].last_offset) == (sequence, offset)

    @invariant()
    def every_offset_is_found_by_itself(self) -> None:
        for each in self.kept[-6:] + self.kept[:3]:
            if self.start <= each.offset:
                _, first = next(iter(batches(self.bench.read(each.offset, max_bytes=1))))
                assert first.base_offset == each.base_of_batch


LogMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
TestLogAgainstAList = LogMachine.TestCase

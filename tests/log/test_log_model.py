"""A log under everything that can happen to it, against a list.

The list holds what should be in the log. A log that dies in the middle of something must be, when
it is opened again, as before or as after it, or on the way from one to the other; after a loss of
power it may have lost from its end what was not flushed. A log that ends before the log start that
was written down begins anew there. Then the list is set to what is there, and from then on that
survives a loss of power.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from log_bench import Bench, Killed, MortalGate, batch

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


Death = tuple[int, bool, bool]  # at which effect, after it or before, and whether power goes


class LogMachine(RuleBasedStateMachine):
    bench: Bench

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Kept] = []
        self.start = 0
        self.highest_start = 0  # which a crash may bring down again, if it is not written down
        self.end = 0
        self.epoch = 0
        self.flushed = 0
        self.checkpoint = (0, 0)  # recovery point and log start, as a broker writes them down
        self.sequences = {1: 0, 2: 0}
        self.count = 0

    @initialize(seed=st.integers(0, 999))
    def begin(self, seed: int) -> None:
        self.bench = Bench(CONFIG, seed=seed)
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
        return max(self.bench.log.segments[0].base_offset, self.highest_start)

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

    def _somewhere(self, share: int) -> int:
        """An offset between the beginning of the first segment and the end."""
        first = self.bench.log.segments[0].base_offset
        return first + share * (self.end - first) // 100

    def _end_of_cut(self, to: int) -> int:
        """Where the log ends when it is cut there: a batch goes as a whole."""
        inside = (each for each in self.kept if each.base_of_batch < to <= each.last_of_batch)
        return next((each.base_of_batch for each in inside), to)

    @rule(share=st.integers(0, 100))
    def truncate(self, share: int) -> None:
        to = self._somewhere(share)
        self.bench.run(self.bench.log.truncate_to(to))
        self._truncated(self._end_of_cut(to))

    @rule(share=st.integers(0, 120))
    def truncate_fully_and_start(self, share: int) -> None:
        to = self._somewhere(share)
        self.bench.run(self.bench.log.truncate_fully_and_start_at(to))
        self._truncated(0)
        self.start = self.end = self.flushed = to

    def _truncated(self, to: int) -> None:
        # What is written down of recovery point and log start may be beyond the end now.
        self.kept = [each for each in self.kept if each.offset < to]
        self.end, self.start = min(self.end, to), min(self.start, to)
        self.highest_start = min(self.highest_start, to)
        self.flushed = min(self.flushed, to)
        self._know_sequences()

    def _know_sequences(self) -> None:
        # A producer that is forgotten goes on: it never gives one number to two batches.
        for producer, known in self.bench.log.producers.producers.items():
            self.sequences[producer] = known.last_sequence + 1

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

    deaths = st.tuples(st.integers(1, 25), st.booleans(), st.booleans())

    @rule(power=st.booleans(), while_opened=st.lists(deaths, max_size=2))
    def crash(self, power: bool, while_opened: list[Death]) -> None:
        self._crash(power, {self.end}, while_opened)

    @rule(
        what=st.sampled_from(
            ["append", "truncate", "restart", "roll", "flush", "retain", "delete", "close"]
        ),
        death=deaths,
        share=st.integers(0, 100),
    )
    def crash_during(self, what: str, death: Death, share: int) -> None:
        log, ends = self.bench.log, {self.end}
        data = self._batch(2, 1, Compression.none)
        to = self._somewhere(share)
        work = {
            "append": lambda: log.append_as_leader(data, leader_epoch=self.epoch),
            "truncate": lambda: log.truncate_to(to),
            "restart": lambda: log.truncate_fully_and_start_at(to),
            "roll": log.roll,
            "flush": log.flush,
            "retain": log.delete_old_segments,
            "delete": lambda: log.advance_log_start_offset(min(to, log.high_watermark)),
            "close": lambda: log.close(clean=True),
        }[what]
        effect, after, power = death
        self.bench.gate.fatal = self.bench.gate.count + effect
        self.bench.gate.after = after
        first = log.segments[0].base_offset
        with contextlib.suppress(Killed):
            self.bench.run(work())
        if what == "append":
            # It may be there, whole.
            self.kept += self._expect(data, self.end, self.epoch)
        if what == "truncate":
            ends.add(self._end_of_cut(to))
        if what == "restart":
            ends |= {first, self.checkpoint[1], to}
        self._crash(power, ends)

    def _crash(self, power: bool, ends: set[int], while_opened: Sequence[Death] = ()) -> None:
        """End without a word, and look at what is left.

        ``ends`` are where the log may end without a loss of power, besides all between them.
        """
        safe = min(max(self.flushed, self.bench.log.recovery_point), *ends, self.end)
        written = {"recovery_point": self.checkpoint[0], "log_start_offset": self.checkpoint[1]}
        self.bench.die(power=power)
        self.bench.clock.now += 1
        for effect, after, power_again in while_opened:
            with contextlib.suppress(Killed):
                self.bench.open(gate=MortalGate(fatal=effect, after=after), **written)
            self.bench.die(power=power_again)
            power |= power_again
        log = self.bench.open(**written)
        lowest = safe if power else min(ends)
        for each in self.kept:
            ends |= {each.base_of_batch, each.last_of_batch + 1}
        assert log.log_end_offset in {max(self.checkpoint[1], end) for end in ends if end >= lowest}
        assert log.recovery_point == log.log_end_offset
        self.end, self.start = log.log_end_offset, log.log_start_offset
        first = log.segments[0].base_offset
        self.kept = [each for each in self.kept if first <= each.offset < self.end]
        self.flushed = self.end
        self._know_sequences()

    # What always holds.

    @invariant()
    def the_log_is_the_list(self) -> None:
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

    @invariant()
    def the_latest_record_is_found(self) -> None:
        log = self.bench.log
        there = [each for each in self.kept if each.offset >= log.segments[0].base_offset]
        found = self.bench.look(log.offset_of_max_timestamp(upto=self.end))
        latest = max(there, key=lambda each: each.timestamp, default=None)  # the first of equals
        assert (found and (found.timestamp, found.offset)) == (
            latest and (latest.timestamp, latest.offset)
        )


LogMachine.TestCase.settings = settings(
    max_examples=settings().max_examples * 3 // 5,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
TestLogAgainstAList = LogMachine.TestCase

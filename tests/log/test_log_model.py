"""A log under everything that can happen to it, against a list.

The list holds what should be in the log. A log that dies in the middle of something must be, when
it is opened again, as before or as after it, or on the way from one to the other; after a loss of
power it may have lost from its end what was not flushed. A log that ends before the log start that
was written down begins anew there. Then the list is set to what is there, and from then on that
survives a loss of power.

In half of the runs older segments are kept elsewhere: then the log begins on this disk behind its
log start, and the list goes on holding what is not here any more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    invariant,
    precondition,
    rule,
)
from log_bench import Killed, MortalGate
from log_machine import AppendingMachine

from reference_impl.kafka.batches import Compression, batches

Death = tuple[int, bool, bool]  # at which effect, after it or before, and whether power goes


class LogMachine(AppendingMachine):
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
        """An offset between the beginning of the first segment, or of the log, and the end."""
        first = self.start if self.elsewhere else self.bench.log.segments[0].base_offset
        return first + share * (self.end - first) // 100

    def _end_of_cut(self, to: int) -> int:
        """Where the log ends when it is cut there: a batch that is here goes as a whole."""
        if to < self.bench.log.segments[0].base_offset:
            return to
        inside = (each for each in self.kept if each.base_of_batch < to <= each.last_of_batch)
        return next((each.base_of_batch for each in inside), to)

    @rule(share=st.integers(0, 100))
    def truncate(self, share: int) -> None:
        to = self._somewhere(share)
        end = self._end_of_cut(to)
        if to < self.bench.log.segments[0].base_offset:
            self.forgot_below = to
        self.bench.run(self.bench.log.truncate_to(to))
        self._truncated(end)

    @rule(share=st.integers(0, 120))
    def restart_empty(self, share: int) -> None:
        to = self._somewhere(share)
        self.bench.run(self.bench.log.restart_at(to))
        self._truncated(0)
        self.start = self.end = self.flushed = self.forgot_below = to

    async def _begin_anew_with_everything_known(self) -> None:
        """As who copies a log whose older segments are elsewhere, and learned all about them."""
        log = self.bench.log
        await log.restart_at(
            self.end,
            log_start_offset=self.start,
            epochs=log.epochs.entries,
            producers=log.producers.producers.values(),
        )

    def _all_epochs_are_known(self) -> bool:
        entries = self.bench.log.epochs.entries
        return bool(entries) and entries[0].start_offset <= self.start

    @precondition(lambda self: self.elsewhere and self._all_epochs_are_known())
    @rule()
    def restart_with_epochs_and_producers(self) -> None:
        self.bench.run(self._begin_anew_with_everything_known())
        self.flushed = self.end
        assert self.bench.log.local_log_start_offset == self.end

    @precondition(lambda self: self.elsewhere)
    @rule(share=st.integers(0, 100), commit=st.booleans())
    def delete_local_segments(self, share: int, commit: bool) -> None:
        if commit:
            self.bench.log.high_watermark = self.end
        log, upto = self.bench.log, self._somewhere(share)
        before = log.local_log_start_offset
        self.bench.run(log.delete_local_segments(upto))
        most = max(before, min(upto, log.high_watermark))
        assert before <= log.local_log_start_offset <= most

    def _truncated(self, to: int) -> None:
        # What is written down of recovery point and log start may be beyond the end now.
        self.kept = [each for each in self.kept if each.offset < to]
        self.end, self.start = min(self.end, to), min(self.start, to)
        self.highest_start = min(self.highest_start, to)
        self.forgot_below = min(self.forgot_below, to)
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
        self.bench.open(
            clean=True,
            recovery_point=self.end,
            log_start_offset=self.start,
            older_elsewhere=self.elsewhere,
        )

    deaths = st.tuples(st.integers(1, 25), st.booleans(), st.booleans())

    @rule(power=st.booleans(), while_opened=st.lists(deaths, max_size=2))
    def crash(self, power: bool, while_opened: list[Death]) -> None:
        self._crash(power, {self.end}, while_opened)

    @rule(
        what=st.sampled_from(
            [
                *("append", "truncate", "restart", "roll", "flush", "retain", "delete", "close"),
                *("restart knowing all", "delete local"),
            ]
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
            "restart": lambda: log.restart_at(to),
            "roll": log.roll,
            "flush": log.flush,
            "retain": log.delete_old_segments,
            "delete": lambda: log.advance_log_start_offset(min(to, log.high_watermark)),
            "close": lambda: log.close(clean=True),
            "restart knowing all": self._begin_anew_with_everything_known,
            "delete local": lambda: log.delete_local_segments(to),
        }[what]
        if what == "restart knowing all" and not (self.elsewhere and self._all_epochs_are_known()):
            return
        if what == "delete local" and not self.elsewhere:
            return
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
        self._crash(power, ends, forgets=what in ("truncate", "restart"))

    def _crash(
        self,
        power: bool,
        ends: set[int],
        while_opened: Sequence[Death] = (),
        *,
        forgets: bool = False,
    ) -> None:
        """End without a word, and look at what is left.

        ``ends`` are where the log may end without a loss of power, besides all between them.
        """
        safe = min(max(self.flushed, self.bench.log.recovery_point), *ends, self.end)
        written = {
            "recovery_point": self.checkpoint[0],
            "log_start_offset": self.checkpoint[1],
            "older_elsewhere": self.elsewhere,
        }
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
        if forgets or self.end == self.start:
            self.forgot_below = first
        if self.elsewhere:
            first = min(first, self.start)
        self.kept = [each for each in self.kept if first <= each.offset < self.end]
        self.flushed = self.end
        self._know_sequences()

    # What always holds.

    @invariant()
    def the_log_is_the_list(self) -> None:
        log = self.bench.log
        assert (log.log_start_offset, log.log_end_offset) == (self.start, self.end)
        local = log.local_log_start_offset
        assert self.elsewhere or local == self.start
        expected = [(each.offset, each.value) for each in self.kept if each.offset >= local]
        found = [each for each in self.bench.everything() if each[0] >= local]
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
            if self.bench.log.local_log_start_offset <= each.offset:
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

"""Whatever leaders copied before they were replaced, a scan of the remote tier is one log.

Leaders append batches, copy some of what they have, and are replaced by replicas that lack its end.
The last one copies what is missing. Every offset is then read, and every timestamp looked for.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.kafka.batches import header
from reference_impl.partitions.searching import MAX_TIMESTAMP, SearchEnd
from tests.tiered.read_bench import ReadBench, on_bench, values
from tests.tiered.remote_segments import ORDERS, batch


class Term(NamedTuple):
    """What one leader does: it keeps so many batches of the log, appends some, copies ranges."""

    kept: int
    appended: tuple[int, ...]  # the records of each batch
    copied: tuple[tuple[int, int], ...]  # from a batch, so many


terms = st.lists(
    st.builds(
        Term,
        st.integers(0, 8),
        st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple),
        st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=5,
)


class Leaders:
    """The log as its leaders wrote it: batches of the present lineage, and copies so far."""

    def __init__(self, bench: ReadBench) -> None:
        self.bench = bench
        self.log: list[bytes] = []
        self.epoch = -1
        self.copies = 0

    @property
    def end(self) -> int:
        return header(self.log[-1]).next_offset if self.log else 0

    @property
    def lineage(self) -> list[tuple[int, int]]:
        found: dict[int, int] = {}
        for one in map(header, self.log):
            found.setdefault(one.partition_leader_epoch, one.base_offset)
        return list(found.items())

    async def serve(self, term: Term) -> None:
        self.epoch += 1
        del self.log[term.kept :]
        for count in term.appended:
            stamp = 1000 + (self.end * 7 + self.epoch * 3) % 11
            self.log.append(batch(self.end, self.epoch, timestamp=stamp, count=count))
        for first, count in term.copied:
            await self.copy(first, count)

    async def copy(self, first: int, count: int) -> None:
        written = self.log[first : first + count]
        if not written:
            return
        self.copies += 1
        inside = [header(one).partition_leader_epoch for one in written]
        epochs = [one for one in self.lineage if one[0] in inside]
        await self.bench.copy(self.copies, written, epochs=epochs, leader_epoch=self.epoch)

    async def copy_what_is_missing(self) -> None:
        """As a leader does: whole segments from what no copy of its lineage has."""
        for number, one in enumerate(map(header, self.log)):
            known = self.bench.bench.metadata.remote_log_segment_metadata(
                ORDERS, one.partition_leader_epoch, one.base_offset
            )
            if known is None:
                await self.copy(number, 2)


@settings(max_examples=60)
@given(served=terms)
def test_every_offset_and_timestamp_is_that_of_the_last_leaders_log(served: list[Term]) -> None:
    async def story(bench: ReadBench) -> tuple[list[str], list[list[str]], list[SearchEnd]]:
        leaders = Leaders(bench)
        for term in served:
            await leaders.serve(term)
        await leaders.copy_what_is_missing()
        await bench.begin(leaders.end, leaders.lineage)
        written = [
            f"{offset}@{one.partition_leader_epoch}"
            for one in map(header, leaders.log)
            for offset in range(one.base_offset, one.next_offset)
        ]
        reads = [values(await bench.read(offset)) for offset in range(leaders.end)]
        stamps.extend(
            (one.base_timestamp + number, one.base_offset + number, one.partition_leader_epoch)
            for one in map(header, leaders.log)
            for number in range(one.last_offset_delta + 1)
        )
        found = [await bench.find(stamp) for stamp in (*range(1000, 1015), MAX_TIMESTAMP)]
        return written, reads, found

    stamps: list[tuple[int, int, int]] = []
    written, reads, found = on_bench(story)
    for offset, read in enumerate(reads):
        at = [int(one.partition("@")[0]) for one in read]
        assert at[0] <= offset <= at[-1]
        assert read == written[at[0] : at[-1] + 1]
    *by_stamp, latest = [one.found for one in found]
    for stamp, one in zip(range(1000, 1015), by_stamp, strict=True):
        expected = next((each for each in stamps if each[0] >= stamp), None)
        assert (one and (one.timestamp, one.offset, one.leader_epoch)) == expected
    assert latest is not None
    highest = max(each[0] for each in stamps)
    assert (latest.timestamp, latest.offset) == next(
        each[:2] for each in stamps if each[0] == highest
    )

"""What the expiry task counts before it chooses."""

from __future__ import annotations

import pytest

from reference_impl.kafka.batches import header
from reference_impl.tiered.extension import bytes_above
from tests.tiered.read_bench import ReadBench, on_bench
from tests.tiered.remote_segments import batch

BATCHES = [batch(first, 0, count=count) for first, count in ((5, 1), (6, 3), (9, 2))]


@pytest.mark.sim
@pytest.mark.parametrize("above", [3, 4, 5, 8, 10, 11])
def test_local_bytes_above_an_offset_are_those_of_the_batches_behind_it(above: int) -> None:
    async def story(bench: ReadBench) -> int:
        await bench.begin(5, [(0, 0)])
        for one in BATCHES:
            await bench.log.append_as_follower(one)
        return await bytes_above(bench.log, above)

    left = [one for one in BATCHES if header(one).base_offset > above]
    assert on_bench(story) == sum(map(len, left))

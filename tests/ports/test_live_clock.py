"""The machine's clocks and chance."""

from __future__ import annotations

import asyncio
import time

from reference_impl.live.clock import SystemClock, SystemRng


def test_the_time_of_day_is_in_milliseconds_since_1970() -> None:
    before = time.time()
    assert int(before * 1000) <= SystemClock().now_ms() <= time.time() * 1000


def test_the_monotonic_clock_does_not_fall() -> None:
    clock = SystemClock()
    readings = [clock.monotonic_ns() for _ in range(1000)]
    assert readings == sorted(readings)


def test_a_sleep_lasts_as_long_as_was_asked_for() -> None:
    clock = SystemClock()

    async def story() -> int:
        began = clock.monotonic_ns()
        await clock.sleep(0.05)
        return clock.monotonic_ns() - began

    assert asyncio.run(story()) >= 49_000_000  # the loop may wake a little early


def test_chance_keeps_within_its_bounds_and_does_not_repeat() -> None:
    rng = SystemRng()
    assert all(0 <= rng.random() < 1 for _ in range(100))
    assert {rng.randrange(3) for _ in range(200)} == {0, 1, 2}
    assert len(rng.randbytes(32)) == 32
    assert SystemRng().randbytes(32) != SystemRng().randbytes(32)

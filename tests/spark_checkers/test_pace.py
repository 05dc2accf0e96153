"""What a person who waits is told."""

from __future__ import annotations

from spark_checkers.pace import Pace


def test_it_tells_how_far_how_fast_and_how_long() -> None:
    told: list[str] = []
    times = iter([10.0, 10.0, 12.0, 14.0])
    pace = Pace(told.append, "ranges laid out", lambda: next(times))

    for done in (0, 3, 6):
        pace(done, 6)

    assert told == [
        "0 of 6 ranges laid out",
        "3 of 6 ranges laid out, 1.5 a second, 2 s left",
        "6 of 6 ranges laid out, 1.5 a second, 0 s left",
    ]

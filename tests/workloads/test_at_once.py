"""Work in threads: order, failures, what is begun."""

from __future__ import annotations

import threading

import pytest

from harness.at_once import at_the_same_time


def test_results_come_in_order() -> None:
    assert at_the_same_time(lambda one: one * 2, [3, 1, 2], 2) == [6, 2, 4]


def test_two_are_under_way_together() -> None:
    both = threading.Barrier(2, timeout=10)
    assert len(at_the_same_time(lambda _: both.wait(), [1, 2], 2)) == 2


def test_a_failure_is_raised_when_the_rest_is_over_and_nothing_new_begins() -> None:
    begun: list[int] = []
    both = threading.Barrier(2, timeout=10)

    def work(one: int) -> None:
        begun.append(one)
        if one < 2:
            both.wait()
        raise ValueError(f"failed: {one}")

    with pytest.raises(ValueError, match="failed"):
        at_the_same_time(work, [0, 1, 2], 2)
    assert sorted(begun) == [0, 1]

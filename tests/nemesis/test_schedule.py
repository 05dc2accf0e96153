"""Schedules: a seed gives the same again; every fault comes; a quarter is quiet."""

from __future__ import annotations

import pytest

from nemesis.faults import FAULTS
from nemesis.schedule import Strike, one_after_the_other, overlapping, periods_for, strikes

CHOSEN = strikes([FAULTS["kill"], FAULTS["cut"]], partition="t-0")


def test_the_same_seed_gives_the_same_schedule_and_another_another() -> None:
    first, same, other = (overlapping(seed, CHOSEN, periods=8, period_s=4) for seed in (7, 7, 8))

    assert first == same != other


def test_every_fault_comes_once_if_that_is_asked() -> None:
    entries = one_after_the_other(
        3, CHOSEN, periods=periods_for(len(CHOSEN)), period_s=4, each=True
    )

    begun = [Strike(one.fault, one.target) for one in entries if one.act == "begin"]
    assert sorted(begun) == sorted(CHOSEN)
    with pytest.raises(ValueError, match="do not fit"):
        one_after_the_other(3, CHOSEN, periods=4, period_s=4, each=True)


@pytest.mark.parametrize("make", [one_after_the_other, overlapping])
def test_a_quarter_of_the_periods_is_quiet(make) -> None:
    entries = make(5, CHOSEN, periods=16, period_s=4)

    assert len({one.at_s // 4 for one in entries}) == 12


def test_one_after_the_other_never_overlaps_and_pairs_do() -> None:
    acts = [one.act for one in one_after_the_other(5, CHOSEN, periods=8, period_s=4)]
    assert acts == ["begin", "end"] * 6

    paired = overlapping(5, CHOSEN, periods=4, period_s=4, pairs=1)
    assert [one.act for one in paired] == ["begin", "begin", "end", "end"] * 3


def test_a_schedule_is_in_order_and_ends_what_it_begins() -> None:
    entries = overlapping(1, CHOSEN, periods=12, period_s=2.5)

    assert [one.at_s for one in entries] == sorted(one.at_s for one in entries)
    begun: list[Strike] = []
    for one in entries:
        strike = Strike(one.fault, one.target)
        (begun.append if one.act == "begin" else begun.remove)(strike)
        assert len(begun) == len(set(begun))
    assert begun == []


def test_targets_that_ask_for_what_is_not_given_are_left_out() -> None:
    assert strikes([FAULTS["kill"]]) == [Strike("kill", "controller")]
    assert Strike("kill", "client a") in strikes([FAULTS["kill"]], client="a")

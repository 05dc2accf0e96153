"""One whole transaction survives whatever is done to any of its effects.

All points, and a budget of pairs of them, are slow tests; by default a few of them are tried.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.simulation.gate import Act
from harness.simulation.sweep import Point
from reference_impl.coordinators.markers import AfterMarker
from reference_impl.decisions import Mutant, mutated
from tests.coordinators.transaction_sweep import all_points, pairs_of, sentence, transacted

pytestmark = pytest.mark.sim

WAYS = [(end, protocol) for end in ("commit", "abort") for protocol in (2, 1)]
SAMPLE = 10  # points of each way
PAIRS = 300
MARKERS_ONCE = Mutant(
    name="markers-are-sent-once",
    decision="after-marker",
    replace=lambda error: AfterMarker.DONE,
)


def points_of(end: str, protocol: int) -> list[Point]:
    quiet = transacted((), end=end, protocol=protocol)
    assert quiet.problems == ()
    return all_points(quiet.effects)


def wrong(tried: Sequence[Sequence[Point]], end: str, protocol: int) -> list[str]:
    """What is wrong after each of these; every point must be reached."""
    found = []
    for points in tried:
        swept = transacted(points, end=end, protocol=protocol)
        if swept.problems:
            found.append(sentence(points, swept))
        elif not swept.reached and len(points) == 1:
            found.append(f"{points[0]}: it did not come to that")
    return found


@pytest.mark.parametrize(("end", "protocol"), WAYS)
def test_some_effects_of_a_transaction_may_fail(end: str, protocol: int) -> None:
    points = points_of(end, protocol)
    first = WAYS.index((end, protocol)) * len(points) // (SAMPLE * len(WAYS))
    step = len(points) // SAMPLE
    assert wrong([(one,) for one in points[first::step]][:SAMPLE], end, protocol) == []


@pytest.mark.slow
@pytest.mark.parametrize(("end", "protocol"), WAYS)
def test_any_effect_of_a_transaction_may_fail(end: str, protocol: int) -> None:
    assert wrong([(one,) for one in points_of(end, protocol)], end, protocol) == []


@pytest.mark.slow
@pytest.mark.parametrize(("end", "protocol"), WAYS)
def test_any_two_effects_of_a_transaction_may_fail(end: str, protocol: int) -> None:
    pairs = list(pairs_of(points_of(end, protocol), PAIRS))
    assert wrong(pairs, end, protocol) == []


def test_the_sweep_shows_markers_that_are_sent_once() -> None:
    with mutated(MARKERS_ONCE):
        deaths = [
            one
            for one in points_of("commit", 2)
            if one.node == "broker-2"
            and one.act is Act.KILL
            and one.effect % 3 == 0
            and one.effect > 20
        ]
        assert any("hangs" in told for one in deaths for told in wrong([(one,)], "commit", 2))

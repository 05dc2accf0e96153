"""Planted anomalies are found in any shards that keep keys whole, as they are in the whole."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from medleys import MICRO_RULES, WIRE_RULES, judged, medley
from plantings import WHOLE, good, good_micro, places

from harness.rules import Rule
from spark_checkers.synthetic import MICRO_PLANTS, PLANTS, Plant, Simulated
from tests.spark_checkers.sharded import ShardedEngine


@pytest.mark.parametrize(
    ("sound", "plants", "world", "rules"),
    [
        pytest.param(good(0), PLANTS, "process", WIRE_RULES, id="wire"),
        pytest.param(good_micro(0), MICRO_PLANTS, "sim", MICRO_RULES, id="micro"),
    ],
)
def test_shards_of_planted_anomalies_add_up_to_the_whole(
    sound: Simulated, plants: Sequence[Plant], world: str, rules: Sequence[Rule]
) -> None:
    planted = [one.history for plant in plants if plant.name != WHOLE for one in places(plant, 1)]
    events = medley([sound, *planted]).events

    whole = judged(events, world=world, under=("ww-deps",), rules=rules)
    sharded = ShardedEngine(Random(1), 2)
    found = judged(events, world=world, under=("ww-deps",), rules=rules, engine=sharded)

    assert [pair for pair in zip(found, whole, strict=True) if pair[0] != pair[1]] == []
    violated = {result.rule for result in whole if result.violations}
    assert violated >= {rule for plant in plants if plant.name != WHOLE for rule in plant.found_by}

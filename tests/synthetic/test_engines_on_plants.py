"""Both engines give the same findings on good histories and on every planted anomaly.

In the default selection they agree on the histories of each rule (`tests/spark_checkers`) and of
each anomaly (`tests/kafka`), which these longer ones repeat.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from medleys import MICRO_RULES, WIRE_RULES, judged, medley
from plantings import WHOLE, good, good_micro, places

from harness.rules import Rule
from spark_checkers.engine import SparkEngine
from spark_checkers.synthetic import MICRO_PLANTS, PLANTS, Plant, Simulated

WIRE = [good(0), good(1)]
MICRO = [good_micro(0), good_micro(1)]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("sound", "plants", "world", "rules"),
    [
        pytest.param(WIRE, PLANTS, "process", WIRE_RULES, id="wire"),
        pytest.param(MICRO, MICRO_PLANTS, "sim", MICRO_RULES, id="micro"),
    ],
)
def test_equal_findings_on_planted_anomalies(
    spark: SparkEngine,
    sound: Sequence[Simulated],
    plants: Sequence[Plant],
    world: str,
    rules: Sequence[Rule],
) -> None:
    planted = [one.history for plant in plants if plant.name != WHOLE for one in places(plant, 1)]
    events = medley([*sound, *planted]).events

    inline = judged(events, world=world, under=("ww-deps",), rules=rules)
    found = judged(events, world=world, under=("ww-deps",), rules=rules, engine=spark)

    assert [pair for pair in zip(found, inline, strict=True) if pair[0] != pair[1]] == []
    violated = {result.rule for result in inline if result.violations}
    assert violated >= {rule for plant in plants if plant.name != WHOLE for rule in plant.found_by}

"""Both engines say the same about sends and polls.

One history holds all that the tests of the single anomalies hold, each with processes and keys of
its own, because starting a Spark job costs more than a row.
"""

from __future__ import annotations

from typing import Any

import pytest
from anomaly_histories import PAIRS
from micro_histories import Event, checked, events

from spark_checkers.engine import SparkEngine


def renamed(told: list[Event], number: int) -> list[Event]:
    """The same history with other processes and keys."""

    def name(key: str) -> str:
        return f"{key}{number}"

    def micro(value: list[Any]) -> list[Any]:
        if value[0] == "send":
            return ["send", name(value[1]), value[2]]
        return ["poll", *({name(k): pairs for k, pairs in polled.items()} for polled in value[1:])]

    found = []
    for event in told:
        keys = event["f"] in ("assign", "subscribe")
        value = [name(v) if keys else micro(v) for v in event["value"]]
        more = {"rebalanced": [name(key) for key in event.get("rebalanced", ())]}
        process = 10 * number + event["process"]
        found.append(event | {"process": process, "value": value} | more)
    return found


def everything() -> list[Event]:
    texts = [
        text for pairs in PAIRS.values() for pair in pairs for text in (pair.shows, pair.not_so)
    ]
    found = [one for number, text in enumerate(texts) for one in renamed(events(text), number)]
    return [one | {"index": at, "time": 10 * at} for at, one in enumerate(found)]


@pytest.mark.spark
@pytest.mark.parametrize("ww_deps", [pytest.param(False, marks=pytest.mark.slow), True])
def test_spark_and_duckdb_say_the_same_about_all_anomalies_at_once(
    spark: SparkEngine, ww_deps: bool
) -> None:
    inline = checked(everything(), ww_deps=ww_deps)

    assert checked(everything(), ww_deps=ww_deps, engine=spark) == inline
    shown = {one["type"] for one in inline["anomalies"]}
    always = {name for name in PAIRS if not name.startswith(("G0", "empty"))}
    assert shown >= (always | {"G0"} if ww_deps else always)

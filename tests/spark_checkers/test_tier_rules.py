"""Each rule of tiered storage flags its history, and not the nearest one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tier_histories import HISTORIES, History

from conformance.catalogue import CATALOGUE, kafka
from harness.history import history_of
from harness.rules import Rule, Verdict
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_history

HEADER = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "process"}
STEP_NS = 1_000_000
BORROWED = {id(rule.judge) for rule in kafka.RULES}
RULES = [rule for rule in CATALOGUE if rule.profile == "tiered"]


def events(history: History) -> list[dict[str, Any]]:
    """Lines with times, a millisecond apart, unless an answer takes longer."""
    found, time, process = [], 0, 0
    for index, line in enumerate(history):
        time += STEP_NS * (1 + line.get("after_ms", 0))
        process += line.get("type") == "invoke"
        more = {"process": process} if line["kind"] == "op" else {}
        plain = {key: value for key, value in line.items() if key != "after_ms"}
        found.append({**plain, **more, "index": index, "time": time, "clock": "host"})
    return found


def verdict(rule: Rule, history: History, folder: Path) -> Verdict:
    made = history_of(events(history), header=HEADER)
    judgement = judge_history(made, folder, [rule], InlineEngine(), reference=True)
    assert judgement.problems == ()
    return judgement.judged[0].verdict


def test_every_rule_has_a_pair_or_a_judge_of_kafka() -> None:
    without = [rule.id for rule in RULES if rule.id not in HISTORIES]

    assert [one for one in without if id(CATALOGUE[one].judge) not in BORROWED] == []


@pytest.mark.parametrize("rule", sorted(HISTORIES))
def test_a_rule_flags_its_history_and_not_the_nearest(rule: str, tmp_path: Path) -> None:
    broken, kept = HISTORIES[rule]

    assert verdict(CATALOGUE[rule], broken, tmp_path / "broken") is Verdict.FAIL
    assert verdict(CATALOGUE[rule], kept, tmp_path / "kept") is not Verdict.FAIL

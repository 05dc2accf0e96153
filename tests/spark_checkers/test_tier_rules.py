"""Each rule of tiered storage flags its history, and not the nearest one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tier_histories import HISTORIES, MORE, TIERED, History, of_cases, op

from conformance.catalogue import CATALOGUE, kafka
from harness.history import history_of
from harness.rules import Holds, Judge, Rule, Verdict
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_history
from spark_checkers.view_catalogue import tables_of, views_needed

HEADER = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "process"}
STEP_NS = 1_000_000


def among(rule: Rule) -> str:
    """The topics that a rule is about; nothing if it is about all."""
    return rule.judge.among if isinstance(rule.judge, Holds) else ""


def everywhere(rule: Rule) -> Judge | None:
    """Its judge, for all topics."""
    return replace(rule.judge, among="") if isinstance(rule.judge, Holds) else rule.judge


BORROWED = [rule.judge for rule in kafka.RULES]
RULES = [rule for rule in CATALOGUE if rule.profile == "tiered"]
PAIRS = HISTORIES | of_cases(RULES)
CHOSEN = [rule.id for rule in RULES if rule.id in HISTORIES and among(rule)]


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
    without = [rule.id for rule in RULES if rule.id not in PAIRS]

    assert [one for one in without if everywhere(CATALOGUE[one]) not in BORROWED] == []


@pytest.mark.parametrize(
    ("rule", "broken", "kept"), [*((rule, *PAIRS[rule]) for rule in sorted(PAIRS)), *MORE]
)
def test_a_rule_flags_its_history_and_not_the_nearest(
    rule: str, broken: History, kept: History, tmp_path: Path
) -> None:
    assert verdict(CATALOGUE[rule], [*TIERED, *broken], tmp_path / "broken") is Verdict.FAIL
    assert verdict(CATALOGUE[rule], [*TIERED, *kept], tmp_path / "kept") is not Verdict.FAIL


@pytest.mark.parametrize("rule", CHOSEN)
def test_a_rule_about_tiered_topics_says_nothing_of_others(rule: str, tmp_path: Path) -> None:
    broken, _ = HISTORIES[rule]

    assert verdict(CATALOGUE[rule], broken, tmp_path) is Verdict.NO_PROOF


@pytest.mark.parametrize("other", ["TS-037", "TS-044", "TS-110"])
def test_a_rebuilt_replica_is_told_beside_whatever_else_is_wrong(
    other: str, tmp_path: Path
) -> None:
    """Results of other operations are no numbers."""
    lines = [*TIERED, *PAIRS[other][0], *PAIRS["TS-045"][0]]
    made = history_of(events(lines), header=HEADER)
    rules = [CATALOGUE["TS-045"], CATALOGUE[other]]
    judgement = judge_history(made, tmp_path, rules, InlineEngine(), reference=True)

    assert [len(one.result.findings) for one in judgement.judged] == [1, 1]


def test_a_number_beyond_64_bits_is_no_config_and_breaks_no_judge(tmp_path: Path) -> None:
    nines, configs_read = 25 * "9", {"topic_configs", "wall_clocks"}
    named = ["retention.ms", "retention.bytes", "segment.ms", "segment.bytes"]
    named += ["index.interval.bytes", "segment.index.bytes", "producer.id.expiration.ms"]
    configs = dict.fromkeys(named, nines)
    lines = [
        *op("create_topics", "ok", {"value": configs}, error=0),
        *({**line, "topic": None} for line in op("describe_configs", "ok", result=configs)),
        {"kind": "probe", "what": "clock", "rows": [{"now_ms": int(nines)}]},
    ]
    made = history_of(events([*TIERED, *lines]), header=HEADER)
    rules = [
        rule
        for rule in CATALOGUE.of_profiles(["classic", "tiered"]).judged()
        if rule.judge and configs_read & {*views_needed(tables_of(rule.judge))}
    ]
    judgement = judge_history(made, tmp_path, rules, InlineEngine(), reference=True)

    assert judgement.problems == ()
    assert [one.rule.id for one in judgement.judged if one.result.broken] == []

"""Any sharding that keeps the key of each rule whole gives the results of the whole.

Counts and first findings, for histories put together by chance from those of all rules, and for
planted anomalies; the naive checker, which knows no shards, is asked too. That a key which is too
narrow is found out is shown with the rules that have a wide one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from log_lines import events_of
from rule_histories import HISTORIES
from sharded import ShardedEngine
from test_boundary_rules import MIGRATION, looks_of, rows_of
from test_boundary_rules import write_tables as boundary_tables
from test_log_rules import HEADER, RULES, TEXTS
from test_tier_rules import PAIRS, TIERED
from test_tier_rules import events as tier_events

from conformance.catalogue import CATALOGUE
from harness.history import History, history_of, write_tables
from harness.rules import Key, Rule, RuleResult
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.evaluate import evaluate
from spark_checkers.view_catalogue import key_of
from tests.naive.compare import CLASSIC
from tests.naive.contested import HISTORIES as CONTESTED
from tests.naive.rules import naive_verdicts

TIER_RULES = [*CATALOGUE.of_profiles(["tiered"]).judged()]
PROCESSES = 1_000
SHARDS = st.integers(2, 3)
SEEDS = st.integers(0, 2**32)
SHARES = 16
"""So many parts of the rules, of which an example asks one."""
NARROWED = dict.fromkeys(Key, Key.PARTITION)
SLOWLY = settings(
    max_examples=settings().max_examples // 10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def one_history(texts: Sequence[str]) -> History:
    """Several histories as one, each in a topic and by a clock of its own."""
    events: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        for event in events_of(text, f"t{number}"):
            if "process" in event:
                event["process"] += number * PROCESSES
            if event["kind"] == "fault":
                event["id"] = f"{number}-{event['name']}-{event['target']}"
            events.append(event)
    return history_of(events, header=HEADER)


def judged(engine: Engine, paths: Mapping[str, Path], rules: Sequence[Rule]) -> list[RuleResult]:
    for name, path in paths.items():
        engine.load(name, path)
    try:
        return evaluate(engine, rules, reference=True)
    finally:
        engine.close()


def different(
    paths: Mapping[str, Path], rules: Sequence[Rule], engine: Engine
) -> dict[str, tuple[RuleResult, RuleResult]]:
    """The rules for which a sharded engine gives other results than the whole."""
    whole = judged(InlineEngine(), paths, rules)
    pairs = zip(whole, judged(engine, paths, rules), strict=True)
    return {one.rule: (one, other) for one, other in pairs if one != other}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tables of the histories of all rules about logs, as one history."""
    tables = write_tables(one_history([*TEXTS.values()]), tmp_path_factory.mktemp("everything"))
    assert tables.problems == []
    return tables


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same of all rules about the boundary."""
    texts = [text for pair in HISTORIES.values() for text in pair]
    rows = [row for n, text in enumerate(texts) for row in rows_of(text, f"t{n}", 1_000 * n)]
    looks = [row for n, text in enumerate(texts) for row in looks_of(text, f"t{n}")]
    return boundary_tables(tmp_path_factory.mktemp("boundaries"), rows, looks)


@pytest.fixture(scope="module")
def tiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same of all rules about tiered storage."""
    histories = [history for _, pair in sorted(PAIRS.items()) for history in pair]
    lines = [
        line | {"process": number * PROCESSES + line["process"]} if "process" in line else line
        for number, history in enumerate(histories)
        for line in renamed(tier_events([*TIERED, *history]), str(number))
    ]
    made = history_of(({**line, "index": at} for at, line in enumerate(lines)), header=HEADER)
    tables = write_tables(made, tmp_path_factory.mktemp("tiers"))
    assert tables.problems == []
    return tables


def renamed(told: Any, number: str) -> Any:
    """Lines about a topic t, whose id is T, as lines about one of many."""
    if isinstance(told, dict):
        return {name: renamed(value, number) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [renamed(value, number) for value in told]
    return f"{told}{number}" if told in ("t", "T") else told


def share_of(rules: Sequence[Rule], number: int) -> list[Rule]:
    """One share of the rules, which have few keys between them."""
    judges = {rule: rule.judge_for(reference=True) for rule in rules}
    known = [(key_of(judge).value, rule.id, rule) for rule, judge in judges.items() if judge]
    ordered = [rule for *_, rule in sorted(known, key=lambda each: each[:2])]
    size = -(-len(ordered) // SHARES)
    return ordered[number * size : (number + 1) * size]


@SLOWLY
@example(about="logs", number=SHARES - 1, shards=2, seed=1)
@example(about="tiers", number=1, shards=2, seed=1)
@given(
    about=st.sampled_from(["logs", "boundaries", "tiers"]),
    number=st.integers(0, SHARES - 1),
    shards=SHARDS,
    seed=SEEDS,
)
def test_shards_of_what_breaks_every_rule_add_up_to_the_whole(
    everything: dict[str, Path],
    boundaries: dict[str, Path],
    tiers: dict[str, Path],
    about: str,
    number: int,
    shards: int,
    seed: int,
) -> None:
    tables = {"logs": everything, "boundaries": boundaries, "tiers": tiers}[about]
    rules = {"logs": RULES, "boundaries": [*MIGRATION], "tiers": TIER_RULES}[about]

    assert different(tables, share_of(rules, number), ShardedEngine(Random(seed), shards)) == {}


@SLOWLY
@given(
    texts=st.lists(st.sampled_from(sorted(TEXTS)), min_size=3, max_size=6, unique=True),
    number=st.integers(0, SHARES - 1),
    shards=SHARDS,
    seed=SEEDS,
)
def test_shards_of_any_history_add_up_to_the_whole(
    texts: list[str], number: int, shards: int, seed: int
) -> None:
    rules = share_of(RULES, number)
    with TemporaryDirectory() as folder:
        tables = write_tables(one_history([TEXTS[name] for name in texts]), folder)

        assert different(tables, rules, ShardedEngine(Random(seed), shards)) == {}


@settings(SLOWLY, max_examples=settings().max_examples // 50)
@given(
    texts=st.lists(st.sampled_from(sorted(CONTESTED)), min_size=2, max_size=6, unique=True),
    shards=SHARDS,
    seed=SEEDS,
)
def test_the_naive_checker_says_the_same_of_shards(
    texts: list[str], shards: int, seed: int
) -> None:
    history = one_history([CONTESTED[name][0] for name in texts])
    with TemporaryDirectory() as folder:
        tables = write_tables(history, folder)
        found = judged(ShardedEngine(Random(seed), shards), tables, CLASSIC)
    naive = naive_verdicts(history, CLASSIC)

    assert {
        one.rule: (one, naive[one.rule])
        for one in found
        if bool(one.violations) != bool(naive[one.rule].violating)
    } == {}


def with_a_wide_key(rules: Sequence[Rule]) -> Iterator[tuple[str, Key]]:
    for rule in rules:
        if rule.judge is not None and (key := key_of(rule.judge)) is not Key.PARTITION:
            yield rule.id, key


def test_a_key_that_is_too_narrow_is_found_out(
    everything: dict[str, Path], boundaries: dict[str, Path]
) -> None:
    wide = dict(with_a_wide_key([*RULES, *MIGRATION]))
    logs, migration = ([one for one in rules if one.id in wide] for rules in (RULES, MIGRATION))
    wrong = different(everything, logs, ShardedEngine(Random(1), 2, NARROWED))
    wrong |= different(boundaries, migration, ShardedEngine(Random(1), 2, NARROWED))

    assert {wide[rule] for rule in wrong} == set(wide.values())

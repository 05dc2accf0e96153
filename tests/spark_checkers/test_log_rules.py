"""Each rule of the log has a history it must flag and the nearest one it must not.

All of them are judged at once, side by side: what a rule costs is paid once, not once a history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import edge_histories
import liveness_histories
import log_breaches
import log_histories
import log_legal
import metric_histories
import pytest
import replica_histories
import sequence_histories
import transaction_histories
from log_breaches import OTHERS_SEE_IT
from log_lines import events_of
from log_windows import BESIDE_WINDOWS
from log_words import WORDS as LOG_WORDS

import harness.history as history_package
from conformance.catalogue import CATALOGUE
from harness.history import History, history_of
from harness.rules import Level, Rule, RuleResult
from spark_checkers.circumstances import circumstances_of
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.evaluate import evaluate_each
from spark_checkers.judge_history import load_tables
from spark_checkers.side_by_side import JudgingProfile, ground_folder, lay_out_batch, table_folder
from spark_checkers.view_catalogue import view_sql

SOURCES = (
    log_histories,
    liveness_histories,
    replica_histories,
    sequence_histories,
    edge_histories,
    metric_histories,
    transaction_histories,
)
HISTORIES = {rule: pair for one in SOURCES for rule, pair in one.HISTORIES.items()}
BAD = (log_breaches, *SOURCES[1:])
ALSO_BAD = {name: one for each in BAD for name, one in each.ALSO_BAD.items()}
GOOD = (log_legal, *SOURCES[1:])
LEGAL = {name: one for each in GOOD for name, one in each.LEGAL.items()}
WORDS = LOG_WORDS | sequence_histories.WORDS | edge_histories.WORDS | metric_histories.WORDS
WORDS |= transaction_histories.WORDS
NO_TOPIC = {"KFK-095", "KFK-097", "KFK-145", *sequence_histories.HISTORIES}  # about nodes, requests
NO_TOPIC |= {*metric_histories.HISTORIES, *transaction_histories.NO_TOPIC}
RULES = [rule for rule in CATALOGUE.of_profiles(["classic"]).judged() if rule.id >= "KFK-030"]
HEADER = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "process"}
TEXTS = {
    **{f"{rule}, broken": pair[0] for rule, pair in HISTORIES.items()},
    **{f"{rule}, kept": pair[1] for rule, pair in HISTORIES.items()},
    **{
        f"{rule.id}, excused": f"{HISTORIES[rule.id][0]}\n0-99 window {rule.assumes[0]}"
        for rule in RULES
        if rule.assumes
    },
    **{name: text for name, (_, text) in (ALSO_BAD | BESIDE_WINDOWS).items()},
    **{name: text for name, (_, _, text) in OTHERS_SEE_IT.items()},
    **LEGAL,
}
Results = dict[str, dict[str, RuleResult]]


@dataclass(frozen=True, slots=True)
class Told:
    """A history in place of a source of one."""

    told: str | History

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[History]:
        if isinstance(self.told, History):
            yield self.told
        else:
            yield history_of(events_of(self.told), header=HEADER)


def judged(
    engine: Engine,
    folder: Path,
    texts: Mapping[str, str | History],
    rules: list[Rule] = RULES,
    **how: bool,
) -> Results:
    """By history, by rule."""
    ground = JudgingProfile(profiles=("classic",), reference=how.get("reference", True))
    sources: list[Any] = [(at, Told(text)) for at, text in enumerate(texts.values())]
    laid = lay_out_batch(sources, folder, lambda history: ground)
    assert [each for each in laid if each.problems or each.alone or each.unreadable] == []
    path_of = partial(table_folder, ground_folder(folder, ground))
    load_tables(engine, rules, path_of, reference=ground.reference)
    found = evaluate_each(engine, rules, range(len(texts)), reference=ground.reference)
    return {name: {r.rule: r for r in found[at]} for at, name in enumerate(texts)}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return judged(InlineEngine(), tmp_path_factory.mktemp("log-rules"), TEXTS)


def test_every_rule_has_its_pair_of_histories() -> None:
    assert sorted(HISTORIES) == sorted(WORDS) == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", HISTORIES)
def test_the_history_that_breaks_the_rule_is_flagged_in_words(rule: str, results: Results) -> None:
    result = results[f"{rule}, broken"][rule]

    assert (result.violations > 0, result.broken) == (True, "")
    assert result.findings[0].topic == (None if rule in NO_TOPIC else "t")
    assert f"op {result.findings[0].op}: {result.findings[0].seen}" == WORDS[rule]


@pytest.mark.parametrize("rule", HISTORIES)
def test_the_nearest_history_that_keeps_the_rule_is_not(rule: str, results: Results) -> None:
    result = results[f"{rule}, kept"][rule]

    assert (result.violations, result.broken) == (0, "")


@pytest.mark.parametrize("name", ALSO_BAD)
def test_other_ways_to_break_a_rule_are_flagged(name: str, results: Results) -> None:
    assert results[name][ALSO_BAD[name][0]].violations > 0


@pytest.mark.parametrize("name", BESIDE_WINDOWS)
def test_a_broken_assumption_hides_nothing_that_lies_beside_it(name: str, results: Results) -> None:
    assert results[name][BESIDE_WINDOWS[name][0]].violations > 0


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_history_raises_no_alarm(name: str, results: Results) -> None:
    found = results[name].values()

    assert [(r.rule, r.broken, r.findings) for r in found if r.violations or r.broken] == []


@pytest.mark.parametrize("name", OTHERS_SEE_IT)
def test_what_another_rule_sees_is_not_held_against_this_one(name: str, results: Results) -> None:
    rule, sees_it, _ = OTHERS_SEE_IT[name]

    assert (results[name][rule].violations, results[name][sees_it].violations > 0) == (0, True)


@pytest.mark.parametrize("rule", [rule.id for rule in RULES if rule.assumes])
def test_a_rule_is_excused_while_its_assumption_is_broken(rule: str, results: Results) -> None:
    result = results[f"{rule}, excused"][rule]

    assert (result.violations, result.broken) == (0, "")


def test_some_things_are_held_against_the_reference_only(tmp_path: Path) -> None:
    """Marks that were not read at one moment; a record that a remote store brought too late."""
    broken = {rule: HISTORIES[rule][0] for rule in ("KFK-047", "KFK-048", "KFK-053")}
    never_served = """
        send a  => ok 0
        fetch 0 => ok hw=1
        fetch 0 => ok hw=1
    """

    found = judged(
        InlineEngine(), tmp_path, {**broken, "never served": never_served}, reference=False
    )

    assert [rule for rule in broken if rule in found[rule] and found[rule][rule].violations] == []
    assert found["never served"]["KFK-048"].violations == 2


# Apache Kafka 4.3.1, campaign of seed 2: follower 3 was told 9 by its old leader; the new leader
# had heard of 1 only. A leader that falls back itself is the nearest that must be flagged.
FOLLOWER_GOES_BACK = """
    1-2  fetch 9 node=3 epoch=1 => ok hw=9 lso=9
    3-4  latest  node=2 epoch=1 => ok 1 /1
    5-6  fetch 9 node=3 epoch=1 => ok hw=1 lso=1
    7-8  fetch 9 node=2 epoch=1 => ok hw=1 lso=1
    9-10 fetch 9 node=3 epoch=1 => ok hw=11 lso=11
    11-12 fetch 9 node=2 epoch=1 => ok hw=11 lso=11
"""
LEADER_GOES_BACK = FOLLOWER_GOES_BACK.replace("latest  node=2", "latest  node=3")


@pytest.mark.parametrize("rule", ["KFK-050", "KFK-051"])
def test_a_follower_may_go_back_to_what_its_new_leader_tells_it(rule: str, tmp_path: Path) -> None:
    texts = {"follower": FOLLOWER_GOES_BACK, "leader": LEADER_GOES_BACK}

    others = judged(InlineEngine(), tmp_path / "others", texts, reference=False)
    ours = judged(InlineEngine(), tmp_path / "ours", texts, reference=True)

    assert [others[name][rule].violations for name in texts] == [0, 1]
    assert [ours[name][rule].violations for name in texts] == [1, 1]
    assert others["follower"][rule].exercised > 0


def test_stretches_of_time_are_cut_by_what_the_rules_rest_on() -> None:
    """The kinds of `spans_unbroken`, and the rules whose views compare within one."""
    kinds = {
        "durable": ("KFK-030", "KFK-032"),
        "led": ("KFK-054",),
        "running": ("KFK-049", "KFK-050", "KFK-051", "KFK-052"),
        "led and running": ("KFK-065", "KFK-066", "KFK-160", "KFK-161"),
        "led and kept": ("KFK-061", "KFK-062", "KFK-063"),
    }
    names = {name for rule in RULES for name in rule.assumes}
    engine = InlineEngine()
    windows = " UNION ALL ".join(
        f"SELECT '{name}' AS clock, '{name}' AS assumption, 1 AS since, 2 AS until"
        for name in sorted(names)
    )
    engine.define("fault_windows", windows, shared=True)
    engine.define("spans_unbroken", view_sql("spans_unbroken"), shared=True)

    cut = engine.rows("SELECT kind, clock FROM spans_unbroken GROUP BY 1, 2 HAVING count(*) > 1")

    found = {(row["kind"], row["clock"]) for row in cut}
    assert {kind for kind, _ in found} == set(kinds)
    for kind, rules in kinds.items():
        for rule in rules:
            assert {name for of, name in found if of == kind} == set(CATALOGUE[rule].assumes)


def test_a_log_without_a_disk_has_no_leader_of_its_own() -> None:
    rule = CATALOGUE["KFK-071"]

    claimed = [circumstances_of({"profiles": each}, bool) for each in (["classic"], ["diskless"])]

    assert [rule.level_under(under) for under in claimed] == [Level.MUST, Level.MAY]


def test_what_is_as_it_was_acknowledged_is_counted_record_by_record(tmp_path: Path) -> None:
    text = """
        send a,b,c => ok 0
        fetch 0    => ok a@0 b@1 c@2 hw=3
        fetch 1    => ok b@1 c@2 hw=3
    """

    found = judged(InlineEngine(), tmp_path, {"one": text})["one"]

    assert [found[rule].exercised for rule in ("KFK-031", "KFK-035", "KFK-046")] == [5, 5, 5]


NOTHING_TOLD = {
    "KFK-030": "send a => ok 0",
    "KFK-032": """
        send a => ok 0
        send b => ok 1
    """,
    "KFK-040": """
        send a  => ok 0
        fetch 0 => ok a@0 hw=1
    """,
    "KFK-049": """
        fetch 1        => ok hw=1
        latest         => ok 1
    """,
    "KFK-050": """
        fetch 1 => ok hw=1
        fetch 1 => ok hw=0
    """,
    "KFK-051": """
        fetch 1 epoch=-1 => ok hw=1 lso=1
        fetch 1 epoch=-1 => ok hw=1 lso=0
    """,
    "KFK-054": """
        send a           => ok 0
        fetch 0          => ok hw=0
        latest committed => ok 0
    """,
}


def test_a_rule_that_nothing_was_told_for_is_not_exercised(tmp_path: Path) -> None:
    """No epoch to fall in, no latest offset that was asked for, no batch, nothing before."""
    found = judged(InlineEngine(), tmp_path, NOTHING_TOLD)

    assert {rule: found[rule][rule].exercised for rule in found} == dict.fromkeys(found, 0)


def test_records_that_the_broker_stamps_are_counted_too(tmp_path: Path) -> None:
    text = """
        send a!-,b!- => ok 0
        fetch 0      => ok a@0!7 b@1!7 hw=2
    """

    found = judged(InlineEngine(), tmp_path, {"one": text})["one"]

    counted = ("KFK-031", "KFK-035", "KFK-037", "KFK-038", "KFK-040")
    assert [found[rule].exercised for rule in counted] == [2] * 5


def test_an_end_that_is_lost_shows_in_the_form_of_the_example(tmp_path: Path) -> None:
    """The lines that FORMAT.md shows for requests, with latest in place of earliest."""
    shown = (Path(history_package.__file__).parent / "FORMAT.md").read_text(encoding="utf-8")
    lines = [line for line in shown.splitlines() if '"topic":"t",' in line]
    for end, violations in ((104, 1), (105, 0)):
        text = "\n".join(lines).replace('"timestamp":-2', '"timestamp":-1')
        text = text.replace('"error":0,"offset":0', f'"error":0,"offset":{end}')
        text = text.replace('"high_watermark":120,"last_stable_offset":120', '"high_watermark":105')
        events = [json.loads(line) for line in text.splitlines()]
        history = history_of(events, header=HEADER)
        folder = tmp_path / str(end)
        found = judged(InlineEngine(), folder, {"example": history})["example"]["KFK-054"]

        assert (found.exercised, found.violations) == (1, violations)


@pytest.mark.spark
def test_spark_and_duckdb_agree_on_all_of_them(
    tmp_path: Path, spark: SparkEngine, results: Results
) -> None:
    found = judged(spark, tmp_path, TEXTS)

    assert [
        (name, rule, found[name][rule], inline)
        for name, by_rule in results.items()
        for rule, inline in by_rule.items()
        if found[name][rule] != inline
    ] == []


@pytest.mark.spark
def test_spark_and_duckdb_agree_on_what_others_are_granted(
    tmp_path: Path, spark: SparkEngine
) -> None:
    rules = [rule for rule in RULES if rule.tolerant]
    texts = {rule.id: HISTORIES[rule.id][0] for rule in rules}
    texts |= {"follower": FOLLOWER_GOES_BACK, "leader": LEADER_GOES_BACK}

    inline = judged(InlineEngine(), tmp_path / "inline", texts, rules, reference=False)

    assert judged(spark, tmp_path / "spark", texts, rules, reference=False) == inline


def test_one_rule_that_cannot_be_judged_spares_those_of_its_table(tmp_path: Path) -> None:
    sound = CATALOGUE["KFK-034"]
    assert sound.judge is not None
    wrong = replace(sound, id="KFK-999", judge=replace(sound.judge, when="no_such_column"))
    broken = {"one": HISTORIES["KFK-034"][0]}

    found = judged(InlineEngine(), tmp_path, broken, [sound, wrong])["one"]

    assert found["KFK-034"].violations == 1
    assert "no_such_column" in found["KFK-999"].broken

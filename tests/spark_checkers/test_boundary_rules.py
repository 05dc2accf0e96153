"""Each rule of the boundary has a history it must flag and the nearest one it must not.

A history is a table: `[from-to] client call [key=value…] => type [stored]`, where stored is
`boundary@epoch`. Without times each operation ends before the next begins. What the lab finds in
the control plane is `look p=0 b0=100 hw=103 [first=100 next=103]`.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from boundary_rule_histories import ALSO_BAD, ALSO_GOOD, LEGAL
from pyarrow import parquet
from rule_histories import HISTORIES

from conformance.catalogue import CATALOGUE
from harness.history import TABLES
from harness.rules import RuleResult
from spark_checkers.engine import InlineEngine, SparkEngine
from spark_checkers.evaluate import evaluate
from spark_checkers.view_catalogue import base_tables

MIGRATION = CATALOGUE.of_profiles(["migration"]).judged()
CALLS = {
    "upgrade": "upgrade_schema",
    "create": "create_log",
    "initialize": "initialize_diskless_migration",
    "set": "set_diskless_log_start_offset",
    "get": "get_diskless_log_start_offset",
    "seed": "seed_producer_state",
    "register": "register_leader_epoch",
    "producers": "describe_producers",
    "commit": "commit_batch",
}
SEEDS = {
    "": "[]",
    "A": "[[1,0,0,0,0,0]]",
    "B": "[[2,0,0,0,0,0]]",
    "AB": "[[1,0,0,0,0,0],[2,0,0,0,0,0]]",
}
FOUND = {
    "p": "partition",
    "b0": "boundary",
    "hw": "high_watermark",
    "first": "first_offset",
    "next": "next_offset",
    "misplaced": "misplaced",
}
NAMES = {
    "b0": "boundary",
    "epoch": "leader_epoch",
    "seeds": "entries",
    "count": "record_count",
    "together": "together",
}


def rows_of(text: str, topic: str, first_op: int) -> list[dict[str, object]]:
    """Rows of the table boundary_ops, one per line."""
    rows = []
    for number, line in enumerate(filter(None, map(str.strip, text.splitlines()))):
        if line.startswith("look"):
            continue
        asked, _, answered = line.partition("=>")
        words, outcome = asked.split(), answered.split()
        times = words.pop(0) if words[0][0].isdigit() else f"{2 * number + 1}-{2 * number + 2}"
        began, _, ended = times.partition("-")
        client, call, *arguments = words
        row: dict[str, object] = dict.fromkeys(c.name for c in TABLES["boundary_ops"].columns)
        node = sum(map(ord, client))
        row |= {"op": first_op + number, "process": node, "node": node, "client": client}
        row |= {"topic": topic, "partition": 0, "f": CALLS[call], "clock": "host"}
        row |= {"type": outcome[0], "began": int(began), "answered": int(ended)}
        row["ended"] = None if outcome[0] == "info" else int(ended)
        row["error"] = "NONE" if outcome[0] == "ok" else None
        if call == "initialize":
            row["entries"] = SEEDS[""]
        for name, _, value in (word.partition("=") for word in arguments):
            place = "partition" if name == "p" else NAMES[name]
            as_it_is = {"seeds": SEEDS.get(value), "together": value}
            row[place] = as_it_is[name] if name in as_it_is else int(value)
        for word in outcome[1:]:
            row |= _stored(word)
        rows.append(row)
    return rows


def looks_of(text: str, topic: str) -> list[dict[str, object]]:
    """Rows of the table probes_control_plane, one per look."""
    lines = [line.split() for line in text.splitlines() if line.strip().startswith("look")]
    rows = []
    for probe, (_, *words) in enumerate(lines):
        row: dict[str, object] = {"probe": probe, "clock": "host", "happened": probe}
        row |= {"topic": topic, "misplaced": 0}
        row |= {FOUND[name]: int(value) for name, _, value in (w.partition("=") for w in words)}
        rows.append(row)
    return rows


def _stored(word: str) -> dict[str, object]:
    name, _, value = word.partition("=")
    if name == "seen":
        return {"stored_seeds": SEEDS[value]}
    if name == "base":
        return {"base_offset": int(value)}
    if "@" in word:
        boundary, _, epoch = word.partition("@")
        return {
            "stored_boundary": int(boundary),
            "stored_epoch": int(epoch),
            "stored_reset_epoch": -1,
        }
    return {"error": word}


def write_tables(
    folder: Path, rows: list[dict[str, object]], looks: list[dict[str, object]]
) -> dict[str, Path]:
    """The tables that boundary rules read; refused from 10 on, broken from 20 on, with a loss."""
    windows = [
        ("control-plane-refused", "control-plane", 10, 19),
        ("control-plane-broken", "control-plane", 20, 30),
        ("lose-reply", "client-a → control-plane", 20, 30),
    ]
    faults = [
        {"fault": fault, "target": target, "clock": "host", "since": since, "until": until}
        for fault, target, since, until in windows
    ]
    contents = {"boundary_ops": rows, "fault_windows": faults, "probes_control_plane": looks}
    kinds = {
        "bigint": pyarrow.int64(),
        "int": pyarrow.int32(),
        "string": pyarrow.string(),
        "boolean": pyarrow.bool_(),
    }
    paths = {}
    for name, content in contents.items():
        schema = pyarrow.schema([(c.name, kinds[c.type]) for c in TABLES[name].columns])
        paths[name] = folder / f"{name}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(content, schema=schema), paths[name])
    return paths


def tables_of(folder: Path, text: str) -> dict[str, Path]:
    return write_tables(folder, rows_of(text, "t", 0), looks_of(text, "t"))


def judged(engine: InlineEngine | SparkEngine, paths: dict[str, Path]) -> dict[str, RuleResult]:
    rules = list(MIGRATION)
    for name in base_tables({r.judge.table for r in rules if r.judge}):
        engine.load(name, paths[name])
    return {result.rule: result for result in evaluate(engine, rules, reference=True)}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_history_raises_no_alarm(name: str, tmp_path: Path) -> None:
    paths = tables_of(tmp_path, LEGAL[name])

    results = judged(InlineEngine(), paths).values()

    assert [(r.rule, r.broken) for r in results if r.violations or r.broken] == []


def test_every_rule_has_its_pair_of_histories() -> None:
    assert sorted(HISTORIES) == [rule.id for rule in MIGRATION]


@pytest.mark.parametrize("rule", HISTORIES)
def test_the_history_that_breaks_the_rule_is_flagged(rule: str, tmp_path: Path) -> None:
    paths = tables_of(tmp_path, HISTORIES[rule][0])

    result = judged(InlineEngine(), paths)[rule]

    assert result.violations > 0
    assert result.findings[0].topic == "t"


@pytest.mark.parametrize("rule", HISTORIES)
def test_the_nearest_history_that_keeps_the_rule_is_not(rule: str, tmp_path: Path) -> None:
    paths = tables_of(tmp_path, HISTORIES[rule][1])

    result = judged(InlineEngine(), paths)[rule]

    assert (result.violations, result.broken) == (0, "")


def test_each_further_bad_history_is_flagged_and_each_good_one_is_not(tmp_path: Path) -> None:
    flagged = set()
    for name, (rule, text) in (ALSO_BAD | ALSO_GOOD).items():
        result = judged(InlineEngine(), tables_of(tmp_path, text))[rule]
        assert not result.broken
        if result.violations:
            flagged.add(name)

    assert flagged == set(ALSO_BAD)


@pytest.mark.spark
def test_spark_and_duckdb_agree_on_all_of_them_at_once(tmp_path: Path, spark: SparkEngine) -> None:
    rows: list[dict[str, object]] = []
    looks: list[dict[str, object]] = []
    for rule, pair in HISTORIES.items():
        for side, text in zip(("bad", "good"), pair, strict=True):
            rows += rows_of(text, f"{rule}-{side}", len(rows))
            looks += looks_of(text, f"{rule}-{side}")
    paths = write_tables(tmp_path, rows, looks)

    inline = judged(InlineEngine(), paths)

    assert judged(spark, paths) == inline
    assert all(inline[rule].violations for rule in HISTORIES)

"""Both engines give the same findings on whatever a table may hold.

The table is drawn without regard to sense: rules see every mixture of nulls, ties and
contradictions. It holds many logs, because starting a Spark job costs more than a row.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow
import pytest
from pyarrow import parquet

from conformance.catalogue import CATALOGUE
from harness.history import TABLES
from harness.rules import Depth, Holds, Level, Rule, RuleResult
from spark_checkers.engine import Engine, InlineEngine, SparkEngine
from spark_checkers.evaluate import FINDINGS_KEPT, evaluate

KINDS = {
    "bigint": pyarrow.int64(),
    "int": pyarrow.int32(),
    "string": pyarrow.string(),
    "boolean": pyarrow.bool_(),
}
CALLS = (
    "create_log",
    "initialize_diskless_migration",
    "set_diskless_log_start_offset",
    "get_diskless_log_start_offset",
    "seed_producer_state",
    "register_leader_epoch",
    "describe_producers",
    "commit_batch",
)
ERRORS = {
    "ok": ["NONE"],
    "fail": ["BOUNDARY_MISMATCH", "FENCED_LEADER_EPOCH", "REQUEST_TIMED_OUT"],
    "info": [None, "REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR"],
}
SMALL = [None, -1, 0, 1, 2, 100]

CALM = Rule(
    id="TST-001",
    document="migration",
    section="none",
    lines=(1,),
    sentence="Every read shows the boundary 100.",
    level=Level.MUST,
    depth=Depth.HOOKS,
    profile="test",
    assumes=("calm",),
    judge=Holds(
        table="boundary_ops",
        when="f = 'get_diskless_log_start_offset'",
        holds="stored_boundary = 100",
        show=("stored_boundary",),
    ),
)


def operations(random: Random, *, logs: int, each: int) -> list[dict[str, object]]:
    """Calls on so many logs, in no order that makes sense; some logs are seen by two clocks."""

    def drawn(op: int, log: int) -> dict[str, object]:
        kind = random.choice(["ok", "ok", "fail", "info"])
        began = random.randint(0, 40)
        ended = began + random.randint(0, 9)
        return {
            "op": op,
            "process": op,
            "node": random.randint(1, 2),
            "topic": f"t{log}",
            "partition": random.randint(0, 1),
            "f": random.choice(CALLS),
            "type": kind,
            "error": random.choice(ERRORS[kind]),
            "clock": "host" if log % 4 else random.choice(["host", "other"]),
            "began": began,
            "ended": None if kind == "info" else ended,
            "answered": ended,
            "boundary": random.choice(SMALL),
            "leader_epoch": random.choice(SMALL),
            "entries": random.choice([None, "[]", "[1]"]),
            "record_count": random.choice([None, 1, 2]),
            "stored_boundary": random.choice(SMALL),
            "stored_epoch": random.choice(SMALL),
            "stored_seeds": random.choice([None, "[]", "[1]"]),
            "base_offset": random.choice(SMALL),
        }

    return [drawn(op, op % logs) for op in range(logs * each)]


def windows(random: Random) -> list[dict[str, object]]:
    """Times at which an assumption may not hold."""
    return [
        {
            "fault": random.choice(["control-plane-refused", "control-plane-broken"]),
            "target": "control-plane",
            "assumption": assumption,
            "clock": random.choice(["host", "other"]),
            "since": random.randint(0, 30),
            "until": random.choice([None, random.randint(30, 50)]),
            "landed": True,
        }
        for assumption in (None, "calm", "calm")
    ]


LOOKS: list[dict[str, object]] = [
    {
        "probe": number,
        "clock": "host",
        "happened": number,
        "topic": "t1",
        "partition": number % 2,
        "boundary": boundary,
        "high_watermark": boundary + 1,
        "first_offset": first,
        "next_offset": first + 1 if first is not None else None,
        "misplaced": number % 3 // 2,
    }
    for number, (boundary, first) in enumerate(((-1, None), (0, 0), (4, 4), (4, 5), (0, None)))
]


def load(engine: Engine, folder: Path, **tables: list[dict[str, object]]) -> None:
    for name, rows in tables.items():
        schema = pyarrow.schema([(c.name, KINDS[c.type]) for c in TABLES[name].columns])
        path = folder / f"{name}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
        engine.load(name, path)


def judged(
    engine: Engine,
    folder: Path,
    rules: list[Rule],
    rows: list[dict[str, object]],
    faults: list[dict[str, object]],
) -> list[RuleResult]:
    load(engine, folder, boundary_ops=rows, fault_windows=faults, probes_control_plane=LOOKS)
    return evaluate(engine, rules, reference=True)


@pytest.mark.spark
def test_equal_findings_on_any_table(spark: SparkEngine, tmp_path: Path) -> None:
    rules = [*CATALOGUE.of_profiles(["migration"]).judged(), CALM]
    random = Random(1)
    rows, faults = operations(random, logs=60, each=8), windows(random)

    inline = judged(InlineEngine(), tmp_path, rules, rows, faults)
    found = judged(spark, tmp_path, rules, rows, faults)

    assert [pair for pair in zip(found, inline, strict=True) if pair[0] != pair[1]] == []
    assert [result for result in inline if result.broken] == []
    assert 2 * sum(result.exercised > 0 for result in inline) > len(rules)


READS = [
    {
        "op": number,
        "f": "get_diskless_log_start_offset",
        "type": "ok",
        "clock": "host",
        "topic": "t",
        "partition": 0,
        "began": 10 * number,
        "ended": 10 * number + 5,
        "stored_boundary": 7,
    }
    for number in range(20)
]


def window(since: int, until: int | None, assumption: str = "calm") -> dict[str, object]:
    return {
        "fault": "unclean-election",
        "target": "t",
        "assumption": assumption,
        "clock": "host",
        "since": since,
        "until": until,
        "landed": True,
    }


def test_a_rule_is_not_judged_while_its_assumption_is_broken(tmp_path: Path) -> None:
    faults = [window(15, 40)]

    (result,) = judged(InlineEngine(), tmp_path, [CALM], READS, faults)

    assert result.exercised == 16  # reads 1 to 4 touch the window


def test_a_window_that_never_closed_lasts_for_ever(tmp_path: Path) -> None:
    (result,) = judged(InlineEngine(), tmp_path, [CALM], READS, [window(15, None)])

    assert (result.exercised, result.violations) == (1, 1)


def test_a_window_of_another_assumption_excuses_nothing(tmp_path: Path) -> None:
    (result,) = judged(InlineEngine(), tmp_path, [CALM], READS, [window(0, None, "other")])

    assert result.exercised == 20


def test_only_the_first_findings_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    (result,) = judged(InlineEngine(), tmp_path, [CALM], READS, [])

    assert result.violations == 20
    assert [finding.op for finding in result.findings] == list(range(FINDINGS_KEPT))


def test_a_judge_that_cannot_run_is_broken_and_spares_its_neighbours(tmp_path: Path) -> None:
    wrong = Holds(table="boundary_ops", when="no_such_column > 1", holds="TRUE", show=("f",))
    rules = [CALM, replace(CALM, id="TST-002", judge=wrong)]

    good, bad = judged(InlineEngine(), tmp_path, rules, READS, [])

    assert good.violations == 20
    assert "no_such_column" in bad.broken


def test_a_judge_whose_rows_cannot_be_told_spares_its_neighbours(tmp_path: Path) -> None:
    wrong = Holds(table="boundary_ops", when="TRUE", holds="FALSE", show=("no_such_column",))
    rules = [CALM, replace(CALM, id="TST-002", judge=wrong)]

    good, bad = judged(InlineEngine(), tmp_path, rules, READS, [])

    assert (good.violations, len(good.findings)) == (20, FINDINGS_KEPT)
    assert (bad.violations, bad.findings) == (20, ())
    assert "no_such_column" in bad.broken


def test_a_claim_that_cannot_be_decided_counts_as_broken_promise(tmp_path: Path) -> None:
    rows = [{**READS[0], "stored_boundary": None}]

    (result,) = judged(InlineEngine(), tmp_path, [CALM], rows, [])

    assert (result.exercised, result.violations) == (1, 1)

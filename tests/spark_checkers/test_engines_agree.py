"""Both engines give the same findings on whatever a table may hold.

Tables are generated without regard to sense: rules see every mixture of nulls, ties and
contradictions. One example holds many logs, because starting a Spark job costs more than a row.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
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
SMALL = st.sampled_from([None, -1, 0, 1, 2, 100])

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


@st.composite
def operations(draw: st.DrawFn) -> list[dict[str, object]]:
    rows = []
    for op in range(draw(st.integers(0, 150))):
        type_ = draw(st.sampled_from(["ok", "ok", "fail", "info"]))
        began = draw(st.integers(0, 40))
        ended = began + draw(st.integers(0, 9))
        rows.append(
            {
                "op": op,
                "process": op,
                "node": draw(st.integers(1, 2)),
                "topic": draw(st.sampled_from("abcdefgh")),
                "partition": draw(st.integers(0, 1)),
                "f": draw(st.sampled_from(CALLS)),
                "type": type_,
                "error": draw(st.sampled_from(ERRORS[type_])),
                "clock": draw(st.sampled_from(["host", "host", "host", "other"])),
                "began": began,
                "ended": None if type_ == "info" else ended,
                "answered": ended,
                "boundary": draw(SMALL),
                "leader_epoch": draw(SMALL),
                "entries": draw(st.sampled_from([None, "[]", "[1]"])),
                "record_count": draw(st.sampled_from([None, 1, 2])),
                "stored_boundary": draw(SMALL),
                "stored_epoch": draw(SMALL),
                "stored_seeds": draw(st.sampled_from([None, "[]", "[1]"])),
                "base_offset": draw(SMALL),
            }
        )
    return rows


@st.composite
def windows(draw: st.DrawFn) -> list[dict[str, object]]:
    return [
        {
            "fault": draw(st.sampled_from(["control-plane-refused", "control-plane-broken"])),
            "target": "control-plane",
            "assumption": draw(st.sampled_from([None, "calm"])),
            "clock": draw(st.sampled_from(["host", "other"])),
            "since": draw(st.integers(0, 30)),
            "until": draw(st.none() | st.integers(30, 50)),
            "landed": True,
        }
        for _ in range(draw(st.integers(0, 3)))
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
    load(engine, folder, boundary_ops=rows, fault_windows=faults)
    return evaluate(engine, rules, reference=True)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
# Without shrinking: an example costs half a minute of Spark. The tables are small as they are.
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
@given(rows=operations(), faults=windows())
def test_equal_findings_on_any_table(
    spark: SparkEngine, rows: list[dict[str, object]], faults: list[dict[str, object]]
) -> None:
    rules = [*CATALOGUE.of_profiles(["migration"]).judged(), CALM]
    with tempfile.TemporaryDirectory() as folder:
        inline = judged(InlineEngine(), Path(folder), rules, rows, faults)

        found = judged(spark, Path(folder), rules, rows, faults)
    assert [pair for pair in zip(found, inline, strict=True) if pair[0] != pair[1]] == []
    assert [result for result in inline if result.broken] == []


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


def test_a_claim_that_cannot_be_decided_counts_as_broken_promise(tmp_path: Path) -> None:
    rows = [{**READS[0], "stored_boundary": None}]

    (result,) = judged(InlineEngine(), tmp_path, [CALM], rows, [])

    assert (result.exercised, result.violations) == (1, 1)

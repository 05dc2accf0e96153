"""From a sealed run to verdicts: history, silver tables, evaluation, two result tables.

`verdicts.parquet` has one row per rule, `findings.parquet` one per kept violation. Both are written
beside the history; reports only ever read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from harness.history import History, read_history, write_tables
from harness.rules import Judged, Judgement, Rule, RuleResult, Verdict
from spark_checkers.engine import Engine
from spark_checkers.evaluate import evaluate
from spark_checkers.view_catalogue import base_tables


def judge_run(
    folder: Path,
    rules: Iterable[Rule],
    engine: Engine,
    *,
    reference: bool,
    progress: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """Judge the sealed history in a run folder and write the result tables beside it."""
    history = read_history(folder / "history.jsonl")
    judgement = judge_history(
        history, folder / "tables", rules, engine, reference=reference, progress=progress
    )
    write_results(folder, judgement)
    return judgement


def judge_history(
    history: History,
    tables_folder: Path,
    rules: Iterable[Rule],
    engine: Engine,
    *,
    reference: bool,
    progress: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """Lay a history out as tables and judge it."""
    rules = list(rules)
    progress("building tables")
    tables = write_tables(history, tables_folder)
    problems = [*history.problems, *tables.problems]
    complete = history.complete and not problems
    needed = {
        judge.table for rule in rules if (judge := rule.judge_for(reference=reference)) is not None
    }
    for name in sorted(base_tables(needed) | {"fault_windows"}):
        engine.load(name, tables[name])
    progress(f"judging {len(rules)} rules on {engine.name}")
    results = {r.rule: r for r in evaluate(engine, rules, reference=reference)}
    return Judgement(
        judged=tuple(_judged(rule, results.get(rule.id), complete) for rule in rules if rule.judge),
        complete=complete,
        events=history.footer["events"] if history.footer else 0,
        sha256=history.footer["sha256"] if history.footer else "",
        problems=tuple(str(problem) for problem in problems),
    )


def _judged(rule: Rule, result: RuleResult | None, complete: bool) -> Judged:
    if result is None:
        return Judged(
            rule=rule,
            verdict=Verdict.NOT_APPLICABLE,
            reason="binds the reference only",
            result=RuleResult(rule=rule.id, exercised=0, violations=0),
        )
    verdict, reason = result.verdict(rule, complete=complete)
    return Judged(rule=rule, verdict=verdict, reason=reason, result=result)


def write_results(folder: Path, judgement: Judgement) -> None:
    """Write verdicts and findings as Parquet."""
    import pyarrow
    from pyarrow import parquet

    verdicts = [
        {
            "rule": j.rule.id,
            "verdict": j.verdict.value,
            "reason": j.reason,
            "exercised": j.result.exercised,
            "violations": j.result.violations,
        }
        for j in judgement.judged
    ]
    findings = [
        {"rule": f.rule, "op": f.op, "topic": f.topic, "partition": f.partition, "seen": f.seen}
        for j in judgement.judged
        for f in j.result.findings
    ]
    text, number = pyarrow.string(), pyarrow.int64()
    verdict_schema = pyarrow.schema(
        [("rule", text), ("verdict", text), ("reason", text)]
        + [("exercised", number), ("violations", number)]
    )
    finding_schema = pyarrow.schema(
        [("rule", text), ("op", number), ("topic", text), ("partition", number), ("seen", text)]
    )
    for name, rows, schema in (
        ("verdicts", verdicts, verdict_schema),
        ("findings", findings, finding_schema),
    ):
        table = pyarrow.Table.from_pylist(rows, schema=schema)
        parquet.write_table(table, folder / f"{name}.parquet")

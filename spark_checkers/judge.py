"""From a sealed run to verdicts: history, silver tables, evaluation, two result tables.

`verdicts.parquet` has one row per rule, `findings.parquet` one per kept violation. Both are written
beside the history; reports only ever read them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from harness.history import TABLES, History, HistoryUnreadable, read_history, write_tables
from harness.rules import Judged, Judgement, Rule, RuleResult, Verdict
from harness.sut.errors import UsageError
from spark_checkers.circumstances import circumstances_of
from spark_checkers.engine import Engine
from spark_checkers.evaluate import FINDINGS_KEPT, evaluate
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
    circumstances: Collection[str] = (),
    kept: int = FINDINGS_KEPT,
    progress: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """Lay a history out as tables and judge it, keeping so many findings a rule.

    The `circumstances` under which it was made are those given and those that it shows itself.
    """
    rules = list(rules)
    progress("building tables")
    tables = write_tables(history, tables_folder)
    problems = [*history.problems, *tables.problems]
    loaded = load_tables(engine, rules, tables.__getitem__, reference=reference)
    progress(f"judging {len(rules)} rules on {engine.name}")
    under = frozenset(circumstances) | circumstances_of(
        history.header, lambda: "assignments" in loaded and bool(engine.rows(_SUBSCRIBED))
    )
    judged = evaluate(
        engine, rules, reference=reference, circumstances=under, kept=kept, progress=progress
    )
    footer = history.footer or {"events": 0, "sha256": ""}
    return judgement_of(
        rules,
        judged,
        circumstances=under,
        complete=history.complete and not problems,
        events=footer["events"],
        sha256=footer["sha256"],
        problems=[str(problem) for problem in problems],
    )


_SUBSCRIBED = "SELECT 1 AS one FROM assignments WHERE f = 'subscribe' LIMIT 1"


def load_tables(
    engine: Engine, rules: Iterable[Rule], path_of: Callable[[str], Path], *, reference: bool
) -> set[str]:
    """Load the tables that the rules finally read, each a file or a folder; their names."""
    judges = [rule.judge_for(reference=reference) for rule in rules]
    read = {table for judge in judges if judge is not None for table in judge.tables}
    needed = base_tables(read) | {"fault_windows"}
    for name in sorted(needed):
        path = path_of(name)
        if missing := _missing_columns(name, path):
            raise HistoryUnreadable(f"{path} is no table {name}: it lacks {', '.join(missing)}")
        try:
            engine.load(name, path)
        except Exception as cause:
            first = next(iter(str(cause).splitlines()), type(cause).__name__)
            raise UsageError(
                f"the engine cannot read {path} ({first}). Driver and workers of a cluster see the "
                "tables under the same path: set TMPDIR to a folder that they share"
            ) from cause
    return needed


def _missing_columns(table: str, path: Path) -> list[str]:
    from pyarrow import parquet

    file = next(path.glob("*.parquet")) if path.is_dir() else path
    found = parquet.read_schema(file).names
    return [column.name for column in TABLES[table].columns if column.name not in found]


def judgement_of(
    rules: Iterable[Rule],
    results: Iterable[RuleResult],
    *,
    circumstances: Collection[str],
    complete: bool,
    events: int,
    sha256: str,
    problems: Iterable[str],
) -> Judgement:
    """The verdicts that follow from what was counted in one history."""
    by_rule = {result.rule: result for result in results}
    return Judgement(
        judged=tuple(
            _judged(rule, by_rule.get(rule.id), complete, circumstances)
            for rule in rules
            if rule.judge
        ),
        complete=complete,
        events=events,
        sha256=sha256,
        problems=tuple(problems),
    )


def _judged(
    rule: Rule, result: RuleResult | None, complete: bool, circumstances: Collection[str]
) -> Judged:
    if result is None:
        return Judged(
            rule=rule,
            verdict=Verdict.NOT_APPLICABLE,
            reason="binds the reference only",
            result=RuleResult(rule=rule.id, exercised=0, violations=0),
        )
    verdict, reason = result.verdict(rule, complete=complete, circumstances=circumstances)
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

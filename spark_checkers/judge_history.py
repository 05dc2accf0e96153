"""A history by rules: silver tables, evaluation, verdicts. What was planned is not looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from harness.errors import UsageError
from harness.history import (
    TABLES,
    History,
    HistoryUnreadable,
    Written,
    read_history,
    write_tables,
)
from harness.history.ranges import is_whole
from harness.rules import Judged, Judgement, Rule, RuleResult, Verdict
from spark_checkers.circumstances import circumstances_of
from spark_checkers.engine import Engine
from spark_checkers.evaluate import FINDINGS_KEPT, evaluate
from spark_checkers.pace import Pace, Progress
from spark_checkers.view_catalogue import base_tables


def judge_run(folder: Path, rules: Iterable[Rule], engine: Engine, *, reference: bool) -> Judgement:
    """Judge the sealed history in a folder by some rules, whatever was planned."""
    history = read_history(folder / "history.jsonl")
    return judge_history(history, folder / "tables", rules, engine, reference=reference)


def judge_history(
    history: History,
    tables: Path | Written,
    rules: Iterable[Rule],
    engine: Engine,
    *,
    reference: bool,
    circumstances: Collection[str] = (),
    kept: int = FINDINGS_KEPT,
    progress: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """Judge a history by rules, keeping so many findings each; no plan is looked at.

    `tables` is where to lay them out, or where they were laid out. The `circumstances` under which
    it was made are those given and those that it shows itself.
    """
    rules = list(rules)
    if isinstance(tables, Path):
        tables = lay_out_on(engine, history, tables, progress)
    problems = [str(problem) for problem in (*history.problems, *tables.problems)]
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
        damaged=bool(problems),
        events=footer["events"],
        sha256=footer["sha256"],
        problems=problems,
    )


def lay_out_on(
    engine: Engine, history: History, folder: Path, progress: Progress = lambda text: None
) -> Written:
    """The tables of a history in a folder, laid out where the engine runs."""
    progress("building tables")
    watch = Pace(progress, "ranges laid out")
    return write_tables(history, folder, runs=engine.runs, watch=watch)


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
        if not is_whole(path):
            raise HistoryUnreadable(f"{path} is not whole: a file of the table is gone or damaged")
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
    damaged: bool,
    events: int,
    sha256: str,
    problems: Iterable[str],
) -> Judgement:
    """The verdicts that follow from what was counted in one history."""
    by_rule = {result.rule: result for result in results}
    return Judgement(
        judged=tuple(
            _judged(rule, by_rule.get(rule.id), complete, damaged, circumstances)
            for rule in rules
            if rule.judge
        ),
        complete=complete,
        damaged=damaged,
        events=events,
        sha256=sha256,
        problems=tuple(problems),
    )


def _judged(
    rule: Rule,
    result: RuleResult | None,
    complete: bool,
    damaged: bool,
    circumstances: Collection[str],
) -> Judged:
    if result is None:
        return Judged(
            rule=rule,
            verdict=Verdict.NOT_APPLICABLE,
            reason="binds the reference only",
            result=RuleResult(rule=rule.id, exercised=0, violations=0),
        )
    verdict, reason = result.verdict(
        rule, complete=complete, damaged=damaged, circumstances=circumstances
    )
    return Judged(rule=rule, verdict=verdict, reason=reason, result=result)

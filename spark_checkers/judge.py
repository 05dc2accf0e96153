"""From a run folder to what it is worth: `judge` is the one place that gives verdicts.

The verdict is a function of the folder: history into silver tables, rules evaluated, the counts
held against the plan that stands in the history. `certify`, `check` and `report` all show what
comes out here; nothing is corrected afterwards. `result_tables` has one row per rule, and one per
kept violation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import UsageError
from harness.history import Run, read_history
from harness.history.evidence import contradictions
from harness.history.plan import RunPlan, Skip
from harness.rules import Brokers, Catalogue, Conclusion, Judgement
from spark_checkers.conclusion import (
    Landed,
    Standing,
    depths,
    detection,
    faults_seen,
    held_against_plan,
    not_examined,
    rules_hash,
    unsaid,
    waivers,
)
from spark_checkers.engine import Engine
from spark_checkers.judge_history import judge_history, lay_out_on
from spark_checkers.kernel import parquet_files, row_count
from spark_checkers.placing import placed_in_time

REFERENCE = "reference"
_OF_THE_RUN = ("fault_windows", "plans", "skips", "probes_other")


def judge(
    folder: Path,
    catalogue: Catalogue,
    engine: Engine,
    *,
    tables: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Conclusion:
    """Judge a run folder: verdicts, and what they come to. A run that was cut short is sealed.

    The silver tables are laid out in `tables`, by default in the folder itself.
    """
    run = Run.open(folder)
    if not run.history.exists():
        progress("sealing")
        run.seal()
    history = read_history(run.history)
    header = history.header or run.header
    made = lay_out_on(engine, history, tables or folder / "tables", progress)
    for name in _OF_THE_RUN:
        engine.load(name, made[name])
    plan, lacks = _plan_of(engine, header, catalogue)
    rules = [rule for rule in catalogue if rule.id in plan.rules]
    with ThreadPoolExecutor(1) as beside:
        evidence = beside.submit(contradictions, folder, sound=not history.problems)
        judgement = judge_history(
            history, made, rules, engine, reference=plan.reference, progress=progress
        )
        progress("holding the history against its shards")
        tampered = evidence.result()
    judgement = placed_in_time(engine, judgement, made)
    ended = (history.footer or {}).get("ended")
    conclusion = _concluded(engine, judgement, plan, lacks, header, ended, catalogue)
    conclusion = replace(conclusion, operations=sum(map(row_count, parquet_files(made["ops"]))))
    return conclusion.tampered_with(tampered) if tampered else conclusion


def _concluded(
    engine: Engine,
    judgement: Judgement,
    plan: RunPlan,
    lacks: tuple[str, ...],
    header: Mapping[str, Any],
    ended: str | None,
    catalogue: Catalogue,
) -> Conclusion:
    """What the counts come to, held against what was planned, skipped and landed."""
    skips = [
        Skip(what=row["what"], name=row["skipped"], reason=row["reason"])
        for row in engine.rows("SELECT what, skipped, reason FROM skips ORDER BY index")
    ]
    windows = [
        Landed(fault=row["fault"], part=row["plan_part"], landed=bool(row["landed"]))
        for row in engine.rows("SELECT fault, plan_part, landed FROM fault_windows")
    ]
    lacks += unsaid(plan, skips, windows, found := _brokers(engine))
    judged = held_against_plan(judgement.judged, plan, skips, windows)
    judgement = replace(judgement, judged=judged)
    waived, stale = waivers(plan, judgement)
    standing = Standing(
        plan=plan,
        judgement=judgement,
        faults=faults_seen(plan, skips, windows),
        brokers=Brokers(expected=plan.brokers, found=found),
        waived=waived,
        stale=stale,
        lacks=lacks,
    )
    return Conclusion(
        header=header,
        plan=plan,
        judgement=judgement,
        verdict=standing.verdict,
        headline=standing.headline,
        certified=standing.certified,
        rules_sha256=rules_hash(one.rule for one in judged),
        depth=depths(judgement, plan, catalogue),
        faults=standing.faults,
        brokers=standing.brokers,
        not_examined=not_examined(plan, skips),
        waived=waived,
        stale=stale,
        lacks=lacks,
        detection=detection(plan, header.get("world"), _levers(engine)),
        ended=ended,
    )


def _plan_of(
    engine: Engine, header: Mapping[str, Any], catalogue: Catalogue
) -> tuple[RunPlan, tuple[str, ...]]:
    """The plan of a run, and what the folder does not say that a certificate would need."""
    lacks = []
    if header.get("suite") != __version__:
        lacks.append(f"it was recorded by suite {header.get('suite')}, this is {__version__}")
    rows = engine.rows("SELECT detail FROM plans ORDER BY index")
    if not rows:
        lacks.append("it has no plan: which faults and rules were asked for is not known")
    elif len(rows) > 1:
        lacks.append(f"it has {len(rows)} plans: which of them was carried out is not known")
    try:
        if rows:
            plan = RunPlan.read(json.loads(rows[0]["detail"]))
            return plan, (*lacks, *_unfounded(plan, header, catalogue))
    except ValueError as cause:
        lacks.append(f"its plan cannot be read: {str(cause)[:120]}")
    profiles = [str(name) for name in header.get("profiles") or ()]
    rules = catalogue.of_profiles(profiles).played()
    if not len(rules):
        raise UsageError("the run says neither by which rules nor for which profile to judge it")
    plan = RunPlan(
        rules=tuple(rule.id for rule in rules),
        claimed=tuple(profiles),
        examined=tuple(profiles),
        whole=False,
        reference=header.get("sut") == REFERENCE,
    )
    return plan, tuple(lacks)


def _unfounded(plan: RunPlan, header: Mapping[str, Any], catalogue: Catalogue) -> Iterator[str]:
    """What a plan says that catalogue and header do not bear out."""
    waived = [waiver.rule for waiver in plan.waivers]
    if unknown := [rule for rule in (*plan.rules, *waived) if rule not in catalogue]:
        yield f"it names rules that are not in this catalogue: {', '.join(unknown)}"
    if sorted(map(str, header.get("profiles") or ())) != sorted(plan.examined):
        yield "its header names other profiles than its plan examines"
    asked = {rule.id for rule in catalogue.of_profiles(plan.examined).played()}
    if plan.whole and not asked:
        yield "its plan examines no profile that has rules"
    elif left_out := sorted(asked.difference(plan.rules)) if plan.whole else []:
        yield f"its plan calls itself whole and leaves out {', '.join(left_out)}"


_LEVERS = "SELECT detail FROM probes_other WHERE what = 'levers' ORDER BY probe"


def _levers(engine: Engine) -> dict[str, str]:
    """By profile, the set of levers that the lab had."""
    found = [json.loads(row["detail"]) for row in engine.rows(_LEVERS)]
    return {str(row["profile"]): str(row["levers"]) for row in found if isinstance(row, dict)}


_BROKERS = """
    SELECT detail FROM probes_other
    WHERE what = 'brokers'
      AND probe = (SELECT min(probe) FROM probes_other WHERE what = 'brokers')
"""


def _brokers(engine: Engine) -> tuple[int, ...]:
    found = [json.loads(row["detail"]) for row in engine.rows(_BROKERS)]
    told = [row.get("id") for row in found if isinstance(row, dict)]
    return tuple(sorted({one for one in told if type(one) is int}))


def result_tables(judgement: Judgement) -> dict[str, Any]:
    """Verdicts and findings as Arrow tables, by name."""
    import pyarrow

    verdicts = [
        {
            "rule": one.rule.id,
            "verdict": one.verdict.value,
            "reason": one.reason,
            "exercised": one.result.exercised,
            "violations": one.result.violations,
        }
        for one in judgement.judged
    ]
    findings = [
        {
            "rule": finding.rule,
            "op": finding.op,
            "topic": finding.topic,
            "partition": finding.partition,
            "at_s": finding.at_s,
            "faults": ", ".join(finding.faults),
            "seen": finding.seen,
        }
        for one in judgement.judged
        for finding in one.result.findings
    ]
    text, number = pyarrow.string(), pyarrow.int64()
    verdict_schema = [("rule", text), ("verdict", text), ("reason", text)]
    verdict_schema += [("exercised", number), ("violations", number)]
    finding_schema = [("rule", text), ("op", number), ("topic", text), ("partition", number)]
    finding_schema += [("at_s", pyarrow.float64()), ("faults", text), ("seen", text)]
    return {
        "verdicts": pyarrow.Table.from_pylist(verdicts, schema=pyarrow.schema(verdict_schema)),
        "findings": pyarrow.Table.from_pylist(findings, schema=pyarrow.schema(finding_schema)),
    }

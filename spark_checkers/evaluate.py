"""Rules over histories: shards of whole keys are judged, counts and first findings added up.

Any way to cut a history into shards that keeps the key of each rule whole gives the results of the
whole: a log is in one shard, so what is counted there is counted once; rows about no log are in
every shard and counted in one. Findings are merged in order of `op`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from harness.rules import Finding, Key, Rule, RuleResult
from spark_checkers.engine import Engine
from spark_checkers.kernel import Shard
from spark_checkers.pace import Progress
from spark_checkers.places import ALONE, HistoryBatch
from spark_checkers.shard_judge import FINDINGS_KEPT, Asked, Results
from spark_checkers.view_catalogue import key_of

__all__ = ["FINDINGS_KEPT", "Progress", "evaluate", "evaluate_each"]


def evaluate(
    engine: Engine,
    rules: Iterable[Rule],
    *,
    reference: bool,
    circumstances: Collection[str] = (),
    kept: int = FINDINGS_KEPT,
    progress: Progress = lambda text: None,
) -> list[RuleResult]:
    """Judge the rules over the tables that the engine has loaded, in order of rule id.

    Under the circumstance `ww-deps` cycles rest on the order of writes too. Of the violations of a
    rule the first ones are `kept` as findings.
    """
    asked = Asked(
        rules=tuple(rules),
        reference=reference,
        beside=ALONE,
        kept=kept,
        ww_deps="ww-deps" in circumstances,
    )
    work = [
        (shard, replace(asked, rules=tuple(group)))
        for shards, group in _by_shards(engine, asked).items()
        for shard in shards
    ]
    return _added_up(engine.judge(work, progress), ALONE, kept)[0]


def evaluate_each(
    engine: Engine,
    rules: Iterable[Rule],
    numbers: Sequence[int],
    *,
    reference: bool,
    kept: int = FINDINGS_KEPT,
    progress: Progress = lambda text: None,
) -> dict[int, list[RuleResult]]:
    """Judge histories that stand side by side in the tables, each by itself, by their numbers.

    None of them has micro-operations: for cycles the graph of one history is searched as a whole.
    """
    beside = HistoryBatch(tuple(numbers))
    asked = Asked(rules=tuple(rules), reference=reference, beside=beside, kept=kept)
    work = [
        (shard, replace(asked, beside=HistoryBatch(tuple(members))))
        for shard, members in engine.shards_of_histories(asked.reads, numbers)
    ]
    return _added_up(engine.judge(work, progress), beside, kept)


def _by_shards(engine: Engine, asked: Asked) -> dict[tuple[Shard, ...], list[Rule]]:
    """The rules by the shards in which they are judged; what needs the same shards shares views."""
    by_key: dict[Key, list[Rule]] = defaultdict(list)
    judges = asked.judges
    for rule in asked.rules:
        if rule.id in judges:
            by_key[key_of(judges[rule.id])].append(rule)
    found: dict[tuple[Shard, ...], list[Rule]] = defaultdict(list)
    for key, group in by_key.items():
        found[engine.shards(asked.reads, key)] += group
    return found


def _added_up(parts: Iterable[Results], beside: HistoryBatch, kept: int) -> Results:
    """The results of each history, in order of rule id."""
    found: dict[int, dict[str, list[RuleResult]]] = {number: {} for number in beside.numbers}
    for part in parts:
        for number, results in part.items():
            for result in results:
                found[number].setdefault(result.rule, []).append(result)
    return {
        number: [_sum(rules[rule], kept) for rule in sorted(rules)]
        for number, rules in found.items()
    }


def _sum(parts: list[RuleResult], kept: int) -> RuleResult:
    if len(parts) == 1:
        return parts[0]
    findings = sorted((f for part in parts for f in part.findings), key=_place)
    return RuleResult(
        rule=parts[0].rule,
        exercised=sum(part.exercised for part in parts),
        violations=sum(part.violations for part in parts),
        unknown=sum(part.unknown for part in parts),
        findings=tuple(findings[:kept]),
        broken=next((part.broken for part in parts if part.broken), ""),
    )


def _place(finding: Finding) -> tuple[object, ...]:
    """The order of findings. Those of one operation on one log are of one shard, in order."""
    return (
        finding.op,
        finding.topic is None,
        finding.topic or "",
        finding.partition is None,
        finding.partition or 0,
    )

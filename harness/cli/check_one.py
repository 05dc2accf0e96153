"""What one history shows, ours or somebody else's.

A history of ours is judged by the rules of the profiles in its header; without any, by those that
its operations call for. Sends and polls as Jepsen's Kafka workload records them are held to the
anomalies of its checker. Operations on a register, a key-value store or a lock are searched for a
legal order, key by key.

A history of which something could not be used, or whose hash does not fit, is *damaged*: what is
missing may excuse what is seen. It is judged, and its findings are listed as seen in a damaged
history, but it gets no verdict. One that only ends early may still refute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka import jepsen
from harness.cli.grounds import KAFKA, called_for, is_reference, model_of, profile_models
from harness.history import History
from harness.history.sources import Source
from harness.rules import Catalogue, Judged, Judgement, Verdict
from harness.sut import LabBroken, UsageError
from reports import terminal
from spark_checkers.engine import Engine
from spark_checkers.judge_history import judge_history, lay_out_on
from spark_checkers.kafka import check_kafka
from spark_checkers.placing import placed_in_time
from spark_checkers.search_history import search_history

_SHOWN = 5

Say = Callable[[str], None]
Found = dict[str, Any]
"""`valid` (true, false, null), `model`, `ops`, `keys`, `anomalies`, `problems`, `damaged`,
`ignored`; by rules also `rules`, their number, and `unproven`, the ids of those without a proof."""


def _nothing(text: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a history is to be judged."""

    model: str | None = None
    initial: str = "nil"
    ww_deps: bool = False
    engine: str | None = None  # by the size of what is judged
    master: str | None = None


def check_one(
    source: Source,
    asked: Asked,
    engine: Engine,
    scratch: Path,
    *,
    say: Say = _nothing,
    progress: Say = _nothing,
) -> Found:
    """Judge the history at a source; what is told beside the result goes to `say`, what is going
    on to `progress`."""
    with source.opened(scratch) as history:
        found = _judge(history, asked, engine, scratch, say, progress)
        if found.setdefault("damaged", bool(found["problems"])):
            found["valid"] = None
        found["problems"] = listed([*history.notes, *found["problems"]])
        found["ignored"] = history.ignored
    return found


def _judge(
    history: History, asked: Asked, engine: Engine, scratch: Path, say: Say, progress: Say
) -> Found:
    """What a history shows by the model asked for, or by what it calls for itself."""
    called = asked.model or called_for(history)
    if called == KAFKA:
        found = check_kafka(
            history, jepsen.RULES, engine, scratch, ww_deps=asked.ww_deps, progress=progress
        )
        found["damaged"] = bool(found["problems"])
        if found["valid"] is None:
            found["problems"] = _blamed(found["problems"], found["broken"])
        return found
    if asked.ww_deps:
        raise UsageError("--ww-deps is about transactions: it goes with --model kafka")
    if isinstance(called, str):
        called = profile_models().get(called, called)
    if isinstance(called, str):
        return search_history(history, asked.model, initial_value(asked.initial), engine, scratch)
    tables = lay_out_on(engine, history, scratch / "tables", progress)
    judgement = judge_history(
        history,
        tables,
        rules_of(called),
        engine,
        reference=is_reference(history),
        progress=progress,
    )
    judgement = placed_in_time(engine, judgement, tables)
    for line in () if judgement.problems else terminal.sections(judgement):
        say(line)
    say("")
    for line in terminal.contradicted(judgement, terminal.Where.of_history(history.name)):
        say(line)
    engine.load("ops", tables["ops"])
    operations = int(engine.rows("SELECT count(*) AS ops FROM ops")[0]["ops"])
    return found_by_rules(judgement, called, operations)


def verdict_word(found: Found) -> str:
    """What a history is, in a word or two."""
    if found["valid"] is None:
        return "DAMAGED" if found.get("damaged") else "NO VERDICT"
    return "VALID" if found["valid"] else "NOT VALID"


def initial_value(text: str) -> object:
    """The value that a text means: nil, JSON, or itself."""
    if text == "nil":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def rules_of(profiles: Sequence[str]) -> Catalogue:
    """The rules of some profiles that have a judge."""
    rules = CATALOGUE.of_profiles(profiles).judged()
    if not len(rules):
        raise UsageError(f"there are no rules yet for the profiles {', '.join(profiles)}")
    return rules


def found_by_rules(judgement: Judgement, profiles: Sequence[str], operations: int) -> Found:
    """A judgement in the form that every model has."""
    failed = [j for j in judgement.judged if j.verdict is Verdict.FAIL]
    shown = [j for j in judgement.judged if j.result.exercised]
    broken = [f"{j.rule.id}: {j.reason}" for j in judgement.judged if j.verdict is Verdict.BROKEN]
    problems = list(judgement.problems) if failed else _blamed(judgement.problems, broken)
    sound = judgement.complete and shown and all(j.verdict is Verdict.PASS for j in shown)
    damaged = bool(judgement.problems)
    return {
        "valid": None if damaged else False if failed else True if sound else None,
        "model": model_of(profiles),
        "ops": operations,
        "keys": len(shown),
        "anomalies": [_anomaly(j) for j in judgement.judged if j.result.violations],
        "rules": sum(j.verdict is not Verdict.NOT_APPLICABLE for j in judgement.judged),
        "unproven": [j.rule.id for j in judgement.judged if j.verdict is Verdict.NO_PROOF],
        "problems": problems,
        "damaged": damaged,
    }


def _anomaly(judged: Judged) -> Found:
    """A rule that was violated; `first` says nothing where no violation could be told."""
    first = next(iter(judged.result.findings), None)
    why = judged.result.broken if first is None else first.seen
    return {
        "type": judged.rule.anomaly or judged.rule.id,
        "count": judged.result.violations,
        "bad": judged.verdict is Verdict.FAIL,
        "rule": judged.rule.id,
        "why": why,
        "first": {} if first is None else {"op": first.op, "why": why},
    }


def _blamed(problems: Sequence[str], broken: Sequence[str]) -> list[str]:
    """What of a history could not be used; where all of it could, a judge that failed is ours."""
    if broken and not problems:
        raise LabBroken(f"could not be judged: {broken[0]}")
    return [*problems, *broken]


def listed(problems: list[str]) -> list[str]:
    """The first of them, closed by a count of the others."""
    more = len(problems) - _SHOWN
    return [*problems[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]

"""A recorded history of sends and polls against Jepsen's Kafka checker.

The history becomes tables, tables become views, rules are judged over them on either engine: the
same way as everything else. What comes out has Jepsen's names and forms. An anomaly is bad unless
the circumstances of the history allow it; one bad anomaly makes the history not valid. What of the
history could not be read or laid out keeps it from being valid, and from being not valid for the
lack of something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.history import History
from harness.rules import Judged, Rule, Verdict
from spark_checkers.circumstances import WW_DEPS
from spark_checkers.engine import Engine
from spark_checkers.judge_history import judge_history
from spark_checkers.kafka.details import LISTED, cases, words
from spark_checkers.kafka.lag import realtime_lags
from spark_checkers.kafka.series import unseen_at_the_end, unseen_series

__all__ = ["check_kafka"]

_SHOWN_BY_ABSENCE = (
    "garbage-read",
    "unseen",
    "lost-write",
    "poll-skip",
    "nonmonotonic-poll",
    "empty-transaction-graph",
)
"""What is missing from a history shows these; it may be what could not be read."""

_LOOKED_AT = {
    f"log_{name}"
    for name in (
        *("acknowledged", "offsets", "copies", "due", "polled", "order", "values"),
        *("poll_turns", "poll_steps", "send_steps"),
    )
}
"""The views that details are told from."""
_KEYS = """
SELECT count(*) AS keys FROM (
  SELECT topic, partition FROM records_sent UNION SELECT topic, partition FROM responses
  UNION SELECT topic, partition FROM assignments WHERE topic IS NOT NULL
) named
"""


def check_kafka(
    history: History,
    rules: Iterable[Rule],
    engine: Engine,
    scratch: Path,
    *,
    ww_deps: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Judge a history by rules that name anomalies: `valid` (true, false, null), `model`, `ops`,
    `keys`, `anomalies` with their cases; and what is told only: `unseen-series`, `realtime-lag`.
    """
    judgement = judge_history(
        history,
        scratch / "tables",
        rules,
        engine,
        reference=False,
        circumstances=(WW_DEPS,) if ww_deps else (),
        kept=LISTED,
        progress=progress,
    )
    engine.look_at(_LOOKED_AT)
    keys = int(engine.rows(_KEYS)[0]["keys"])
    seen = [judged for judged in judgement.judged if judged.result.violations]
    broken = [judged for judged in judgement.judged if judged.verdict is Verdict.BROKEN]
    bad = any(_counts(judged, whole=judgement.complete) for judged in seen)
    shown = judgement.complete and not broken
    shown = shown and any(judged.result.exercised for judged in judgement.judged)
    unseen = any(judged.rule.anomaly == "unseen" for judged in seen)
    end = unseen_at_the_end(engine) if unseen else {"messages": {}}
    operations = int(engine.rows("SELECT count(*) AS ops FROM ops")[0]["ops"])
    worst, lags = realtime_lags(engine, operations)
    return {
        "valid": False if bad else True if shown else None,
        "model": "kafka",
        "ops": operations,
        "keys": keys,
        "anomalies": [
            _anomaly(judged, engine, end)
            for judged in sorted(seen, key=lambda j: (j.verdict is not Verdict.FAIL, j.rule.id))
        ],
        "unseen-series": unseen_series(engine, keys, end),
        "worst-realtime-lag": worst,
        "realtime-lag": lags,
        "broken": [f"{judged.rule.id}: {judged.reason}" for judged in broken],
        "problems": list(judgement.problems),
    }


def _counts(judged: Judged, *, whole: bool) -> bool:
    shown = whole or judged.rule.anomaly not in _SHOWN_BY_ABSENCE
    return judged.verdict is Verdict.FAIL and shown


def _anomaly(judged: Judged, engine: Engine, end: dict[str, Any]) -> dict[str, Any]:
    rule, result = judged.rule, judged.result
    if rule.anomaly == "unseen":
        found = [end]
        counts = (f"{count} of {key}" for key, count in found[0]["unseen"].items())
        why = f"acknowledged and never polled: {', '.join(counts)}"
    else:
        found = cases(rule.anomaly, result.findings, engine)
        why = words(rule.anomaly, found[0])
    return {
        "type": rule.anomaly,
        "count": result.violations,
        "bad": judged.verdict is Verdict.FAIL,
        "rule": rule.id,
        "why": why,
        "first": found[0],
        "all": found,
    }

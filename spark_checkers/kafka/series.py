"""What was acknowledged and not yet polled, over time, and at the end.

A point of the series is an ok operation that sends or polls, at the time it completed: for each key
with an acknowledged value, how many of them no ok operation had polled. Long histories are thinned
out to evenly spaced points, so that the series stays small whatever the history.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spark_checkers.engine import Engine, Row
from spark_checkers.kafka.text import in_order, key_of, value_of

POINTS = 1_000
CELLS = 20_000
KEYS = 100
MESSAGES = 32

_SPAN = """
SELECT count(*) AS ops, min(completion) AS since, max(completion) AS until
FROM ops WHERE type = 'ok' AND f IN ('send', 'poll', 'txn')
"""
_LAST = """
SELECT max_by(completed_ns, completion) AS completed_ns
FROM ops WHERE type = 'ok' AND f IN ('send', 'poll', 'txn')
"""
_POINTS = """
SELECT max(completion) AS moment, max_by(completed_ns, completion) AS time
FROM ops WHERE type = 'ok' AND f IN ('send', 'poll', 'txn')
GROUP BY CAST(floor((completion - {since}) / {width}) AS BIGINT) ORDER BY max(completion)
"""
_CHANGES = """
SELECT topic, CAST(floor((moment - {since}) / {width}) AS BIGINT) AS point, sum(change) AS change
FROM (
  SELECT topic, acked_at AS moment, 1 AS change FROM log_acknowledged
  UNION ALL
  SELECT topic, greatest(acked_at, seen_at), -1 FROM log_acknowledged WHERE seen_at IS NOT NULL
) changes
GROUP BY topic, CAST(floor((moment - {since}) / {width}) AS BIGINT)
"""
_LEFT = """
SELECT topic, count(*) AS unseen FROM log_acknowledged WHERE seen_at IS NULL
GROUP BY topic ORDER BY topic LIMIT {most}
"""
_MESSAGES = """
SELECT topic, value FROM (
  SELECT topic, value, row_number() OVER (PARTITION BY topic ORDER BY acked_at, value) AS turn
  FROM log_acknowledged WHERE seen_at IS NULL
) unseen WHERE turn <= {most} ORDER BY topic, turn LIMIT {all}
"""


def unseen_at_the_end(engine: Engine) -> dict[str, Any]:
    """When the last ok operation completed, what was unseen then by key, and the first messages."""
    left = engine.rows(_LEFT.format(most=KEYS))
    messages: dict[str, list[object]] = {row["topic"]: [] for row in left}
    for row in engine.rows(_MESSAGES.format(most=MESSAGES, all=MESSAGES * KEYS)):
        messages.setdefault(row["topic"], []).append(value_of(row["value"]))
    (last,) = engine.rows(_LAST)
    return {
        "time": last["completed_ns"],
        "unseen": {str(key_of(row["topic"])): int(row["unseen"]) for row in left},
        "messages": {str(key_of(topic)): in_order(found) for topic, found in messages.items()},
    }


def unseen_series(engine: Engine, keys: int, end: dict[str, Any]) -> list[dict[str, Any]]:
    """The series; its last point lists the messages of the `end`."""
    (span,) = engine.rows(_SPAN)
    if not span["ops"] or keys > CELLS // 10:
        return []
    points = max(10, min(POINTS, CELLS // max(keys, 1)))
    exact = span["ops"] <= points
    width = 1 if exact else -(-(span["until"] - span["since"] + 1) // points)
    places = {"since": span["since"], "width": width}
    changes: dict[int, list[Row]] = {}
    for row in engine.rows(_CHANGES.format(**places)):
        changes.setdefault(int(row["point"]), []).append(row)
    series = list(_summed(engine.rows(_POINTS.format(**places)), changes, **places))
    messages = {key: end["messages"].get(key, []) for key in series[-1]["unseen"]}
    return [*series[:-1], {**series[-1], "messages": messages}]


def _summed(
    points: list[Row], changes: dict[int, list[Row]], *, since: int, width: int
) -> Iterator[dict[str, Any]]:
    unseen: dict[str, int] = {}
    for point in points:
        for row in changes.get((point["moment"] - since) // width, ()):
            key = str(key_of(row["topic"]))
            unseen[key] = unseen.get(key, 0) + int(row["change"])
        yield {"time": point["time"], "unseen": dict(sorted(unseen.items()))}

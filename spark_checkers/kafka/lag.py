"""How far polls lagged behind real time: told, and never part of a verdict."""

from __future__ import annotations

from typing import Any

from spark_checkers.engine import Engine, Row
from spark_checkers.kafka.text import key_of
from spark_checkers.view_catalogue import view_sql

VIEW = "log_lags"
LISTED = 1_000
SMALL = 1_000

_COLUMNS = "invoked_ns, process, topic, lag_ns"


def realtime_lags(engine: Engine, operations: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The worst lag of any poll behind any log, and the first lags in order of the history.

    A history of many operations is asked twice, so its lags are computed once.
    """
    engine.define(VIEW, view_sql(VIEW), shared=operations > SMALL)
    first = engine.rows(f"SELECT {_COLUMNS} FROM {VIEW} ORDER BY completion, topic LIMIT {LISTED}")
    worst = sorted(first, key=lambda row: -int(row["lag_ns"]))
    if len(first) == LISTED:
        order = "lag_ns DESC, completion, topic"
        worst = engine.rows(f"SELECT {_COLUMNS} FROM {VIEW} ORDER BY {order} LIMIT 1")
    return _told(worst[0]) if worst else {"time": 0, "lag": 0}, [_told(row) for row in first]


def _told(row: Row) -> dict[str, Any]:
    return {
        "time": row["invoked_ns"],
        "process": row["process"],
        "key": key_of(row["topic"]),
        "lag": row["lag_ns"],
    }

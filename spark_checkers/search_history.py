"""Is a recorded history of a register, a key-value store or a lock linearizable, key by key?

What of the history could not be read or laid out keeps any verdict from being given: what was lost
may be the write that a read needs, or the read that contradicts. Keys whose search ran out of
budget keep a clean one from being given, as does a history without a single event, or with nothing
but operations of unknown outcome. One in which all that was asked failed is linearizable: nothing
happened, and nobody was told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.history import History, Problem, write_tables
from harness.history.independent import by_key
from harness.rules import LEGAL_PREFIX
from harness.sut import UsageError
from spark_checkers.engine import Engine, Row
from spark_checkers.linearizability import MODELS, search_rows

SEARCHED = tuple(model for model in MODELS if not model.startswith("boundary"))
_WITH_INITIAL = ("register", "cas-register")
_ALL_UNKNOWN = "SELECT count(*) > 0 AND count(*) = count_if(type = 'info') AS dark FROM ops"
_SHOWN_BY = {
    "cas": "cas-register",
    "write": "register",
    "put": "kv",
    "append": "kv",
    "acquire": "mutex",
    "release": "mutex",
    "get": "kv",
    "read": "register",
}


def search_history(
    history: History, model: str | None, initial: object, engine: Engine, scratch: Path
) -> dict[str, Any]:
    """Search every key for a legal order: `valid` (true, false, null), `model`, `ops`, `keys`, and
    `anomalies` with the first of each kind.

    Without a model the operations show which one it is. The table of operations is laid out in
    `scratch`.
    """
    history = by_key(history)
    tables = write_tables(history, scratch / "tables", only=("ops",))
    engine.load("ops", tables["ops"])
    problems = [*history.problems, *tables.problems]
    name = model or _guess(engine, history.name, problems)
    if initial is not None and name not in _WITH_INITIAL:
        raise UsageError(f"the model {name} has no initial value to choose: leave --initial out")
    results = engine.per_key("ops", ("key",), partial(search_rows, model=name, initial=initial))
    bad = sorted((r for r in results if r["verdict"] == "not-linearizable"), key=_first_op)
    unknown = [r for r in results if r["verdict"] == "unknown"]
    damaged = bool(problems) or not history.complete or not any(True for _ in history.events)
    seen = sum(int(r["operations"]) for r in results)
    unproven = bool(unknown) or bool(engine.rows(_ALL_UNKNOWN)[0]["dark"])
    anomalies = []
    for kind, rows in (("not-linearizable", bad), ("search-budget-exhausted", unknown)):
        if rows:
            first = {"key": rows[0]["key"], "op": rows[0]["op"], "why": rows[0]["explanation"]}
            first[LEGAL_PREFIX] = rows[0]["prefix"]
            anomalies.append({"type": kind, "count": len(rows), "first": first})
    return {
        "valid": None if damaged else False if bad else None if unproven else True,
        "model": name,
        "ops": seen,
        "keys": len(results),
        "anomalies": anomalies,
        "problems": [str(problem) for problem in problems],
    }


def _guess(engine: Engine, history: str, problems: Sequence[Problem]) -> str:
    seen = {row["f"] for row in engine.rows("SELECT DISTINCT f FROM ops")}
    for f, model in _SHOWN_BY.items():
        if f in seen:
            return model
    damage = f". What could not be used begins with {problems[0]}" if problems else ""
    if not seen:
        raise UsageError(f"there is no operation in {history}{damage}")
    known = ", ".join(sorted(str(f) for f in seen))
    wanted = "|".join(SEARCHED)
    raise UsageError(f"no model fits operations {known}; name one with --model {wanted}{damage}")


def _first_op(row: Row) -> int:
    return int(row["op"])

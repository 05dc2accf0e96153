"""Is a recorded history of a register, a key-value store or a lock linearizable, key by key?

What of the history could not be read or laid out keeps a clean verdict from being given, as do keys
whose search ran out of budget, and as does a history in which nothing happened.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from harness.history import History, write_tables
from harness.sut import UsageError
from spark_checkers.engine import Engine, Row
from spark_checkers.linearizability import MODELS, search_rows

SEARCHED = tuple(model for model in MODELS if not model.startswith("boundary"))
_WITH_INITIAL = ("register", "cas-register")
_SHOWN_BY = {
    "cas": "cas-register",
    "write": "register",
    "put": "kv",
    "append": "kv",
    "acquire": "mutex",
    "release": "mutex",
}


def search_history(
    history: History, model: str | None, initial: object, engine: Engine, scratch: Path
) -> dict[str, Any]:
    """Search every key for a legal order: `valid` (true, false, null), `model`, `ops`, `keys`, and
    `anomalies` with the first of each kind.

    Without a model the operations show which one it is. The table of operations is laid out in
    `scratch`.
    """
    tables = write_tables(history, scratch / "tables", only=("ops",))
    engine.load("ops", tables["ops"])
    name = model or _guess(engine)
    if initial is not None and name not in _WITH_INITIAL:
        raise UsageError(f"the model {name} has no initial value to choose: leave --initial out")
    results = engine.per_key("ops", ("key",), partial(search_rows, model=name, initial=initial))
    bad = sorted((r for r in results if r["verdict"] == "not-linearizable"), key=_first_op)
    unknown = [r for r in results if r["verdict"] == "unknown"]
    damaged = bool(tables.problems) or not history.complete
    seen = sum(int(r["operations"]) for r in results)
    anomalies = []
    for kind, rows in (("not-linearizable", bad), ("search-budget-exhausted", unknown)):
        if rows:
            first = {"key": rows[0]["key"], "op": rows[0]["op"], "why": rows[0]["explanation"]}
            anomalies.append({"type": kind, "count": len(rows), "first": first})
    return {
        "valid": False if bad else None if unknown or damaged or not seen else True,
        "model": name,
        "ops": seen,
        "keys": len(results),
        "anomalies": anomalies,
    }


def _guess(engine: Engine) -> str:
    seen = {row["f"] for row in engine.rows("SELECT DISTINCT f FROM ops")}
    for f, model in _SHOWN_BY.items():
        if f in seen:
            return model
    known = ", ".join(sorted(str(f) for f in seen)) or "nothing"
    raise UsageError(
        f"no model fits operations {known}; name one with --model {'|'.join(SEARCHED)}"
    )


def _first_op(row: Row) -> int:
    return int(row["op"])

"""The body of `check`: judge a recorded history, ours or somebody else's.

A history of ours is judged by the rules of the profiles in its header. A history of operations on
a register, a key-value store or a lock is searched for a legal order, key by key. What of the file
could not be read is said, and keeps a clean verdict from being given.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from harness.cli.certify import open_chosen_engine
from harness.cli.progress import Stage
from harness.history import History, import_history, write_tables
from harness.rules import Verdict
from harness.sut import UsageError
from reports import terminal
from spark_checkers.engine import Engine
from spark_checkers.judge import judge_history
from spark_checkers.linearizability import MODELS, search_rows

SEARCHED = tuple(model for model in MODELS if not model.startswith("boundary"))
_SHOWN_BY = {
    "cas": "cas-register",
    "write": "register",
    "put": "kv",
    "append": "kv",
    "acquire": "mutex",
    "release": "mutex",
}


def run(
    path: Path, *, model: str | None, initial: str, engine: str, master: str, as_json: bool
) -> int:
    """0 valid, 1 not valid, 2 no verdict."""
    started = time.monotonic()
    if not path.exists():
        raise UsageError(f"there is no history at {path}")
    if model is not None and model not in SEARCHED:
        raise UsageError(f"there is no model {model!r} to check with; known: {', '.join(SEARCHED)}")
    if path.is_dir():
        path = path / "history.jsonl"
    history = import_history(path)
    stage = Stage(sys.stderr if as_json else sys.stdout)
    with tempfile.TemporaryDirectory(prefix="tidemark-check-") as scratch:
        chosen = open_chosen_engine(engine, master=master, log=Path(scratch) / "spark.log")
        try:
            if history.header.get("world") == "import" or model is not None:
                found = _search(history, model, initial, chosen, Path(scratch))
            else:
                found = _by_rules(history, chosen, Path(scratch), stage)
        finally:
            chosen.close()
    found["seconds"] = round(time.monotonic() - started, 3)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    for line in _lines(found, history):
        stage.say(line)
    return {True: 0, False: 1, None: 2}[found["valid"]]


def _search(
    history: History, model: str | None, initial: str, engine: Engine, scratch: Path
) -> dict[str, Any]:
    tables = write_tables(history, scratch / "tables")
    engine.load("ops", tables["ops"])
    name = model or _guess(engine)
    function = partial(search_rows, model=name, initial=_initial(initial, name))
    results = engine.per_key("ops", ("key",), function)
    bad = sorted((r for r in results if r["verdict"] == "not-linearizable"), key=_first_op)
    unknown = [r for r in results if r["verdict"] == "unknown"]
    damaged = bool(tables.problems) or not history.complete
    valid = False if bad else None if unknown or damaged or not results else True
    anomalies = []
    for kind, rows in (("not-linearizable", bad), ("search-budget-exhausted", unknown)):
        if rows:
            first = {"key": rows[0]["key"], "op": rows[0]["op"], "why": rows[0]["explanation"]}
            anomalies.append({"type": kind, "count": len(rows), "first": first})
    return {
        "valid": valid,
        "model": name,
        "ops": sum(int(r["operations"]) for r in results),
        "keys": len(results),
        "anomalies": anomalies,
    }


def _guess(engine: Engine) -> str:
    seen = {row["f"] for row in engine.rows("SELECT DISTINCT f FROM ops")}
    if seen & {"send", "poll"}:
        raise UsageError("send and poll operations need the model kafka, which is not built yet")
    for f, model in _SHOWN_BY.items():
        if f in seen:
            return model
    known = ", ".join(sorted(str(f) for f in seen)) or "nothing"
    raise UsageError(
        f"no model fits operations {known}; name one with --model {'|'.join(SEARCHED)}"
    )


def _initial(text: str, model: str) -> object:
    if text == "nil":
        return None
    if model not in ("register", "cas-register"):
        raise UsageError(f"the model {model} has no initial value to choose: leave --initial out")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _first_op(row: dict[str, Any]) -> int:
    return int(row["op"])


def _by_rules(history: History, engine: Engine, scratch: Path, stage: Stage) -> dict[str, Any]:
    profiles = history.header.get("profiles") or ["migration"]
    rules = CATALOGUE.of_profiles(profiles).judged()
    if not len(rules):
        raise UsageError(f"there are no rules yet for the profiles {', '.join(profiles)}")
    reference = history.header.get("sut") == "reference"
    judgement = judge_history(history, scratch / "tables", rules, engine, reference=reference)
    failed = [j for j in judgement.judged if j.verdict is Verdict.FAIL]
    shown = [j for j in judgement.judged if j.result.exercised]
    for line in terminal.sections(judgement):
        stage.say(line)
    sound = judgement.complete and shown and all(j.verdict is Verdict.PASS for j in shown)
    return {
        "valid": False if failed else True if sound else None,
        "model": "rules",
        "ops": judgement.events,
        "keys": len(shown),
        "anomalies": [
            {
                "type": j.rule.id,
                "count": j.result.violations,
                "first": {"op": j.result.findings[0].op, "why": j.result.findings[0].seen},
            }
            for j in failed
        ],
    }


def _lines(found: dict[str, Any], history: History) -> list[str]:
    lines = []
    for anomaly in found["anomalies"]:
        first = anomaly["first"]
        lines.append(f"× {anomaly['type']} ×{anomaly['count']}, first at op {first['op']}")
        for line in str(first["why"]).splitlines():
            lines += terminal.wrapped("    ", line)
    for problem in history.problems[:5]:
        lines += terminal.wrapped("ignored    ", str(problem))
    word = {True: "VALID", False: "NOT VALID", None: "NO VERDICT"}[found["valid"]]
    what = f"{found['ops']} operations, {found['keys']} {_unit(found)}, model {found['model']}"
    return [*lines, f"{word}  {what} · {found['seconds']} s"]


def _unit(found: dict[str, Any]) -> str:
    return "rules exercised" if found["model"] == "rules" else "keys"

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
from harness.cli.progress import Stage, plural
from harness.cli.runs import RUNS, find_run
from harness.history import History, Run, import_history, read_history, write_tables
from harness.rules import Verdict
from harness.sut import LabBroken, UsageError
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
    path = _history_file(path)
    if model is not None and model not in SEARCHED:
        raise UsageError(f"there is no model {model!r} to check with; known: {', '.join(SEARCHED)}")
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


def _history_file(path: Path) -> Path:
    """The file to judge; a run that was cut short is sealed first, as incomplete."""
    if not path.exists():
        if not (RUNS / path).is_dir():
            raise UsageError(f"there is no history and no run at {path}")
        path = find_run(str(path))
    if not path.is_dir():
        return path
    run_ = Run.open(path)
    if not run_.history.exists():
        run_.seal()
    told = read_history(run_.history).header
    if any(told.get(name) != run_.header.get(name) for name in ("run", "sut", "seed", "started")):
        raise UsageError(f"{run_.history} is not the history of the run in {path}")
    return run_.history


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
    seen = sum(int(r["operations"]) for r in results)
    valid = False if bad else None if unknown or damaged or not seen else True
    anomalies = []
    for kind, rows in (("not-linearizable", bad), ("search-budget-exhausted", unknown)):
        if rows:
            first = {"key": rows[0]["key"], "op": rows[0]["op"], "why": rows[0]["explanation"]}
            anomalies.append({"type": kind, "count": len(rows), "first": first})
    return {
        "valid": valid,
        "model": name,
        "ops": seen,
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
    broken = [j for j in judgement.judged if j.verdict is Verdict.BROKEN]
    if broken and not failed:
        raise LabBroken(f"{broken[0].rule.id} could not be judged: {broken[0].reason}")
    sound = judgement.complete and shown and all(j.verdict is Verdict.PASS for j in shown)
    return {
        "valid": False if failed else True if sound else None,
        "model": "rules",
        "ops": int(engine.rows("SELECT count(*) AS ops FROM boundary_ops")[0]["ops"]),
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
        lines += terminal.wrapped("damaged    ", str(problem))
    word = {True: "VALID", False: "NOT VALID", None: "NO VERDICT"}[found["valid"]]
    judged_by = "rule" if found["model"] == "rules" else "key"
    what = f"{plural(found['ops'], 'operation')}, {plural(found['keys'], judged_by)}"
    return [*lines, f"{word}  {what}, model {found['model']} · {found['seconds']} s"]

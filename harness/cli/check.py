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
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from harness.cli.certify import open_chosen_engine
from harness.cli.progress import Stage, plural
from harness.cli.runs import RUNS, find_run
from harness.history import History, Run, import_history, read_history
from harness.rules import Verdict
from harness.sut import LabBroken, UsageError
from reports import terminal
from spark_checkers.engine import Engine
from spark_checkers.judge import judge_history
from spark_checkers.search_history import SEARCHED, search_history


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
                first = _initial(initial)
                found = search_history(history, model, first, chosen, Path(scratch))
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


def _initial(text: str) -> object:
    """The value that a text means: nil, JSON, or itself."""
    if text == "nil":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


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

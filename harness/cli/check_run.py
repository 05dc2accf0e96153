"""`check` of a run folder: judged again from its evidence, shown as `certify` showed it."""

from __future__ import annotations

from pathlib import Path

from harness.cli.check_one import Found, found_by_rules
from harness.cli.hashes import is_judged
from harness.cli.progress import Stage
from harness.cli.report import LOCAL, judge_folder, show
from harness.history.plan import LAB
from harness.history.run import HEADER_FILE, SHARDS_FOLDER, Run
from harness.rules import Conclusion, Verdict

_VALID = {Verdict.PASS: True, Verdict.WEAK: True, Verdict.FAIL: False}


def is_run(place: str) -> bool:
    """Whether this is a folder that `certify` made; other folders are histories like any."""
    folder = Path(place)
    if "://" in place:
        return False
    if is_judged(folder) or (folder / SHARDS_FOLDER / f"{LAB}.jsonl").exists():
        return True
    return (folder / HEADER_FILE).is_file() and "options" in Run.open(folder).header


def check_run(
    place: str, stage: Stage, *, engine: str | None, master: str | None
) -> tuple[Conclusion, Found]:
    """Judge the folder and show it; the conclusion, and the same in the form of every model."""
    folder = Path(place)
    conclusion = judge_folder(folder, stage, engine=engine, master=master or LOCAL)
    show(stage, conclusion, folder)
    return conclusion, found_in_run(conclusion)


def found_in_run(conclusion: Conclusion) -> Found:
    """A conclusion in the form that every model has."""
    examined, operations = conclusion.plan.examined, conclusion.operations
    found = found_by_rules(conclusion.judgement, examined, operations)
    found |= {"valid": _VALID.get(conclusion.verdict), "headline": conclusion.headline}
    return found | {"problems": [*conclusion.tampered, *found["problems"]], "ignored": 0}

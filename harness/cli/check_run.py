"""`check` of a run folder: judged again from its evidence, shown as `certify` showed it.

A folder that was not judged yet gets its verdict; one that was is held against it.
"""

from __future__ import annotations

from pathlib import Path

from harness.cli.check_one import Found, found_by_rules
from harness.cli.hashes import HASHES_FILE, VERDICT_FILE
from harness.cli.judged_run import keep
from harness.cli.progress import Stage
from harness.cli.report import LOCAL, judge_folder, show
from harness.history.run import HEADER_FILE
from harness.rules import Conclusion, Verdict

_VALID = {Verdict.PASS: True, Verdict.WEAK: True, Verdict.FAIL: False}


def is_run(place: str) -> bool:
    """Whether this is the folder of one run of ours."""
    return "://" not in place and (Path(place) / HEADER_FILE).is_file()


def check_run(
    place: str, stage: Stage, *, engine: str | None, master: str | None
) -> tuple[Conclusion, Found]:
    """Judge the folder and show it; the conclusion, and the same in the form of every model."""
    folder = Path(place)
    conclusion = judge_folder(folder, stage, engine=engine, master=master or LOCAL)
    judged = any((folder / name).exists() for name in (VERDICT_FILE, HASHES_FILE))
    if not conclusion.tampered and not judged:
        keep(folder, conclusion)
    show(stage, conclusion, folder)
    return conclusion, _found(conclusion)


def _found(conclusion: Conclusion) -> Found:
    """A conclusion in the form that every model has."""
    judgement = conclusion.judgement
    found = found_by_rules(judgement, conclusion.plan.examined, judgement.events)
    found |= {"valid": _VALID.get(conclusion.verdict), "headline": conclusion.headline}
    return found | {"problems": [*conclusion.tampered, *found["problems"]], "ignored": 0}

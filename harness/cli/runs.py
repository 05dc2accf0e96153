"""Run folders on disk: numbering them, finding one, listing them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.cli.hashes import VERDICT_FILE, altered, is_judged
from harness.cli.progress import printable
from harness.errors import UsageError
from harness.history.errors import HistoryError
from harness.history.files import read_object
from harness.history.run import HEADER_FILE
from harness.rules import Verdict
from reports.terminal import called_as

RUNS = Path("runs")


def next_run(parent: Path = RUNS) -> str:
    """The first number that no run has yet."""
    taken = {path.name for path in parent.glob("*") if path.is_dir()}
    number = 1
    while str(number) in taken:
        number += 1
    return str(number)


def called(folder: Path) -> str:
    """What a run is called on a command line: by its number, or by its folder."""
    return folder.name if folder.parent == RUNS else shlex.quote(str(folder))


def find_run(name: str) -> Path:
    """A run by its number or by its folder."""
    for folder in (RUNS / name, Path(name)):
        if (folder / HEADER_FILE).is_file():
            return folder
    for folder in (RUNS / name, Path(name)):
        if is_judged(folder):
            raise UsageError(f"{folder / HEADER_FILE} is missing: the run in {folder} is not whole")
    known = ", ".join(folder.name for folder in runs_by_age()[-8:])
    here = f"the newest are {known}" if known else f"{RUNS}/ holds none yet"
    raise UsageError(f"there is no run {name!r}; {here}")


def judged_document(folder: Path) -> dict[str, Any]:
    """What was judged about a run."""
    if not is_judged(folder):
        raise UsageError(
            f"run {folder.name} was never judged; `{called_as()} check {folder}` judges it"
        )
    document = read_object(folder / VERDICT_FILE)
    rules = document.get("rules")
    rules = rules if isinstance(rules, list) else [None]
    words = [verdict.value for verdict in Verdict]
    if not all(isinstance(r, dict) and r.get("id") and r.get("verdict") in words for r in rules):
        where = folder / VERDICT_FILE
        raise UsageError(f"{where} is no verdict; see `{called_as()} report {folder}`")
    return document


def mutants_told(document: dict[str, Any]) -> str:
    """The mutants of a run, as a title shows them; nothing for a whole system."""
    told = document.get("mutants")
    names = [str(one).rpartition(":")[2] for one in told] if isinstance(told, list) else []
    return "".join(f" · mutant {name}" for name in names)


def runs_by_age() -> list[Path]:
    """Run folders, newest last."""
    folders = [path for path in RUNS.glob("*") if (path / HEADER_FILE).is_file()]
    return sorted(folders, key=lambda path: (path / HEADER_FILE).stat().st_mtime_ns)


def listed() -> Iterator[str]:
    """One line a run, newest last; one that cannot be read does not hide the others."""
    for folder in runs_by_age():
        try:
            header = read_object(folder / HEADER_FILE)
            started, what = header.get("started", ""), f"{header['sut']} in {header['world']}"
            state, more = _state(folder)
            asked = header.get("options")
            mutants = mutants_told(asked if isinstance(asked, dict) else header)
            text = f"{folder.name:>6}  {started!s:<20}  {state:<14}  {what}{mutants}{more}"
        except (HistoryError, OSError, KeyError):
            text = f"{folder.name:>6}  {'':<20}  unreadable"
        yield printable(text)


def _state(folder: Path) -> tuple[str, str]:
    """What a run came to, and what was changed in it since."""
    if not is_judged(folder):
        return ("not judged" if (folder / "history.jsonl").is_file() else "cut short"), ""
    if not (folder / VERDICT_FILE).is_file():
        return "tampered", f" · {VERDICT_FILE} is missing"
    wrong = altered(folder)
    if wrong:
        return "tampered", f" · {wrong[0]}"
    return str(read_object(folder / VERDICT_FILE)["verdict"]), ""


def run() -> int:
    """The body of `runs`."""
    lines = list(listed())
    none = f"no runs yet in {RUNS}/; `{called_as()} certify` makes one"
    print("\n".join(lines) if lines else none)
    return 0

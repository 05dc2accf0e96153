"""Run folders on disk: numbering them, finding one, listing them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.sut.errors import UsageError
from reports.terminal import called_as

RUNS = Path("runs")
VERDICT_FILE = "verdict.json"


def next_run(parent: Path = RUNS) -> str:
    """The first number that no run has yet."""
    taken = {path.name for path in parent.glob("*") if path.is_dir()}
    number = 1
    while str(number) in taken:
        number += 1
    return str(number)


def find_run(name: str) -> Path:
    """A run by its number or by its folder."""
    for folder in (RUNS / name, Path(name)):
        if (folder / "header.json").is_file():
            return folder
    known = ", ".join(folder.name for folder in _by_age()[-8:])
    here = f"the newest are {known}" if known else f"{RUNS}/ holds none yet"
    raise UsageError(f"there is no run {name!r}; {here}")


def read_json(path: Path) -> dict[str, Any]:
    """One JSON document of a run folder."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} is not a JSON object")
    return found


def judged_document(folder: Path) -> dict[str, Any]:
    """What was judged about a run."""
    if not (folder / VERDICT_FILE).is_file():
        raise UsageError(
            f"run {folder.name} was never judged; `{called_as()} check {folder}` judges it"
        )
    return read_json(folder / VERDICT_FILE)


def _by_age() -> list[Path]:
    """Run folders, newest last."""
    folders = [path for path in RUNS.glob("*") if (path / "header.json").is_file()]
    return sorted(folders, key=lambda path: (path / "header.json").stat().st_mtime_ns)


def listed() -> Iterator[str]:
    """One line a run, newest last; one that cannot be read does not hide the others."""
    for folder in _by_age():
        try:
            header = read_json(folder / "header.json")
            started, what = header.get("started", ""), f"{header['sut']} in {header['world']}"
            yield f"{folder.name:>6}  {started:<20}  {_state(folder):<14}  {what}"
        except (UsageError, KeyError):
            yield f"{folder.name:>6}  {'':<20}  unreadable"


def _state(folder: Path) -> str:
    if (folder / VERDICT_FILE).is_file():
        return str(read_json(folder / VERDICT_FILE)["verdict"])
    return "not judged" if (folder / "history.jsonl").is_file() else "cut short"


def run() -> int:
    """The body of `runs`."""
    lines = list(listed())
    none = f"no runs yet in {RUNS}/; `{called_as()} certify` makes one"
    print("\n".join(lines) if lines else none)
    return 0

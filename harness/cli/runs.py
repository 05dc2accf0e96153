"""Run folders on disk: numbering them, finding one, listing them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.cli.hashes import HASHES_FILE, VERDICT_FILE, altered
from harness.cli.progress import printable
from harness.sut.errors import UsageError
from reports.terminal import called_as

RUNS = Path("runs")


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
    document = read_json(folder / VERDICT_FILE)
    if not isinstance(document.get("rules"), list):
        raise UsageError(f"{folder / VERDICT_FILE} is no verdict; `{called_as()} report {folder}`")
    return document


def mutants_told(document: dict[str, Any]) -> str:
    """The mutants of a run, as a title shows them; nothing for a whole system."""
    names = [str(one).rpartition(":")[2] for one in document.get("mutants") or ()]
    return "".join(f" · mutant {name}" for name in names)


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
            state, more = _state(folder)
            mutants = mutants_told(header.get("options") or header)
            text = f"{folder.name:>6}  {started:<20}  {state:<14}  {what}{mutants}{more}"
            yield printable(text)
        except (UsageError, KeyError, TypeError, ValueError):
            yield f"{folder.name:>6}  {'':<20}  unreadable"


def _state(folder: Path) -> tuple[str, str]:
    """What a run came to, and what was changed in it since."""
    if not (folder / VERDICT_FILE).is_file():
        if (folder / HASHES_FILE).exists():
            return "tampered", f" · {VERDICT_FILE} is missing"
        return ("not judged" if (folder / "history.jsonl").is_file() else "cut short"), ""
    wrong = altered(folder)
    if wrong == [f"{HASHES_FILE} is missing"]:
        return str(read_json(folder / VERDICT_FILE)["verdict"]), " · without hashes"
    if wrong:
        return "tampered", f" · {wrong[0]}"
    return str(read_json(folder / VERDICT_FILE)["verdict"]), ""


def run() -> int:
    """The body of `runs`."""
    lines = list(listed())
    none = f"no runs yet in {RUNS}/; `{called_as()} certify` makes one"
    print("\n".join(lines) if lines else none)
    return 0

"""Run folders on disk: numbering them, finding one, listing them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.sut.errors import UsageError

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
    known = ", ".join(sorted(path.name for path in RUNS.glob("*"))[-8:])
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
            f"run {folder.name} was never judged; `./tidemark check {folder}` judges it"
        )
    return read_json(folder / VERDICT_FILE)


def listed() -> Iterator[str]:
    """One line a run, newest last."""
    folders = [p for p in RUNS.glob("*") if (p / "header.json").is_file()]
    for folder in sorted(folders, key=lambda p: (p / "header.json").stat().st_mtime):
        header = read_json(folder / "header.json")
        verdict = folder / VERDICT_FILE
        word = read_json(verdict)["verdict"] if verdict.is_file() else "not judged"
        yield (
            f"{folder.name:>6}  {header.get('started', ''):<20}  {word:<12}  "
            f"{header['sut']} in {header['world']}, seed {header.get('seed')}"
        )


def run() -> int:
    """The body of `runs`."""
    lines = list(listed())
    print("\n".join(lines) if lines else f"no runs yet in {RUNS}/; `./tidemark certify` makes one")
    return 0

"""Run folders on disk: numbering them, finding one, listing them."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.cli.hashes import VERDICT_FILE, altered, is_judged, write_whole
from harness.cli.progress import plural, print_document, printable
from harness.errors import Stopped, UsageError
from harness.history.errors import HistoryError
from harness.history.files import read_object
from harness.history.run import HEADER_FILE
from harness.rules import Verdict
from reports.html.index import index_page
from reports.plain import scrubbed
from reports.terminal import called_as, width

RUNS = Path(os.environ.get("TIDEMARK_RUNS") or "runs")
"""Where runs are kept: in the folder in which the command runs, unless TIDEMARK_RUNS names one."""
UNDER_WAY = "under-way.pid"
NIGHT = "night-"
"""How the folder of a night is called; its runs are in it."""


def next_run(parent: Path = RUNS) -> str:
    """The first number that no run has yet."""
    taken = {path.name for path in parent.glob("*") if path.is_dir()}
    number = 1
    while str(number) in taken:
        number += 1
    return str(number)


@contextmanager
def under_way(folder: Path) -> Iterator[None]:
    """Within the block the run is recorded and judged by this process."""
    mark = folder / UNDER_WAY
    mark.write_text(f"{os.getpid()}\n", encoding="ascii")
    try:
        yield
    except KeyboardInterrupt as stop:
        name, how = called(folder), called_as()
        raise Stopped(
            f"stopped; what was recorded of run {name} is kept in {folder}/\n"
            f"`{how} report {name}` judges it as far as it got, `{how} replay {name}` begins again"
        ) from stop
    finally:
        mark.unlink(missing_ok=True)


def is_under_way(folder: Path) -> bool:
    """Whether the process that records a run is still there."""
    try:
        os.kill(int((folder / UNDER_WAY).read_text(encoding="ascii")), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def called(folder: Path) -> str:
    """What a run is called on a command line: by its number, its night and name, or its folder."""
    near = folder.parent == RUNS or (
        folder.parent.parent == RUNS and folder.parent.name.startswith(NIGHT)
    )
    return shlex.quote(str(folder.relative_to(RUNS) if near else folder))


def find_run(name: str) -> Path:
    """A run by its number or by its folder."""
    for folder in (RUNS / name, Path(name)):
        if (folder / HEADER_FILE).is_file():
            return folder
    for folder in (RUNS / name, Path(name)):
        if is_judged(folder):
            raise UsageError(f"{folder / HEADER_FILE} is missing: the run in {folder} is not whole")
    known = ", ".join(called(folder) for folder in runs_by_age()[-8:])
    here = f"the newest are {known}" if known else f"{RUNS}/ holds none yet"
    raise UsageError(f"there is no run {name!r}; {here}")


def judged_document(folder: Path) -> dict[str, Any]:
    """What was judged about a run."""
    if not is_judged(folder):
        name = called(folder)
        raise UsageError(f"run {name} was never judged; `{called_as()} report {name}` judges it")
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
    """Run folders, also those of nights, newest last."""
    places = [*RUNS.glob("*"), *RUNS.glob(f"{NIGHT}*/*")]
    folders = [path for path in places if (path / HEADER_FILE).is_file()]
    return sorted(folders, key=lambda path: (path / HEADER_FILE).stat().st_mtime_ns)


def runs_of_night(name: str) -> list[Path]:
    """The runs of a night that are kept, if a night is called that, in the order of their names."""
    for night in (RUNS / name, Path(name)):
        if not (night / HEADER_FILE).is_file():
            found = sorted(one.parent for one in night.glob(f"*/{HEADER_FILE}"))
            if found and night.name.startswith(NIGHT):
                return found
    return []


def told_runs() -> Iterator[dict[str, Any]]:
    """What is known of each run, newest last; one that cannot be read does not hide the others."""
    for folder in runs_by_age():
        told: dict[str, Any] = {"run": called(folder), "folder": str(folder), "state": "unreadable"}
        with suppress(HistoryError, OSError, KeyError):
            header = read_object(folder / HEADER_FILE)
            asked = header.get("options")
            asked = asked if isinstance(asked, dict) else header
            mutants = asked.get("mutants")
            named = {name: header.get(name) for name in _FROM_HEADER}
            state, changed = _state(folder)
            told |= {**named, "sut": header["sut"], "world": header["world"], "changed": changed}
            told |= {"mutants": mutants if isinstance(mutants, list) else [], "state": state}
            told |= _outcome(folder) if is_judged(folder) and state != "tampered" else {}
        yield told


_FROM_HEADER = ("started", "sut_version", "suite", "seed", "profiles", "commit")


def _outcome(folder: Path) -> dict[str, Any]:
    """What a judged run came to, in numbers."""
    document = read_object(folder / VERDICT_FILE)
    rules = document.get("rules")
    broken = [r["id"] for r in rules if r["verdict"] == "fail"] if isinstance(rules, list) else []
    faults = document.get("faults")
    landed = faults.get("landed") if isinstance(faults, dict) else {}
    return {
        "headline": document.get("headline"),
        "exit": document.get("exit"),
        "ended": document.get("ended"),
        "events": document.get("events"),
        "faults": sum(landed.values()) if isinstance(landed, dict) else 0,
        "findings": broken,
    }


def listed() -> Iterator[str]:
    """A run after the other, newest last: in a pipe a line each, at a terminal as wide as it is."""
    runs_ = [*told_runs()]
    columns = width() if sys.stdout.isatty() else sys.maxsize
    room = max(6, *(min(len(told["run"]), 24) for told in runs_)) if runs_ else 6
    for told in runs_:
        if "sut" not in told:
            yield printable(f"{told['run']:>{room}}  {'':<20}  unreadable")
            continue
        what = f"{told['sut']} in {told['world']}{mutants_told(told)}"
        state = f"{told['started'] or ''!s:<20}  {told['state']:<14}"
        line = f"{told['run']:>{room}}  {state}  {what}{told['changed']}"
        text = printable(scrubbed(line))
        yield from textwrap.wrap(
            text, columns, subsequent_indent=" " * (room + 24), break_on_hyphens=False
        )


def _state(folder: Path) -> tuple[str, str]:
    """What a run came to, and what was changed in it since."""
    if not is_judged(folder):
        if is_under_way(folder):
            return "under way", ""
        return ("not judged" if (folder / "history.jsonl").is_file() else "cut short"), ""
    if not (folder / VERDICT_FILE).is_file():
        return "tampered", f" · {VERDICT_FILE} is missing"
    wrong = altered(folder)
    if wrong:
        return "tampered", f" · {wrong[0]}"
    return str(read_object(folder / VERDICT_FILE)["verdict"]), ""


def run(*, html: Path | None, as_json: bool) -> int:
    """The body of `runs`."""
    from harness.cli.hidden import hiding_secrets_of

    with hiding_secrets_of(runs_by_age()):
        if as_json:
            print_document([*told_runs()])
            return 0
        if html is not None:
            rows = [*told_runs()]
            write_whole(html, index_page(rows, at=html.parent))
            print(f"{html}: {plural(len(rows), 'run')}")
            return 0
        lines = list(listed())
    none = f"no runs yet in {RUNS}/; `{called_as()} certify` makes one"
    print("\n".join(lines) if lines else none)
    return 0

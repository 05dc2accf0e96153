"""A night of campaigns: the files of a folder one after the other, round after round, seed by seed.

It is bounded in time and on disk, and each run is judged by itself. What came of a run is written
down as soon as it is over, so a night that was stopped or killed is continued with `--resume` where
it was. At the end: a summary, the same as JSON and JUnit, and the trend over the nights before.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from conformance.campaigns import read_campaign
from harness.cli import campaign
from harness.cli.certify import Options
from harness.cli.hashes import VERDICT_FILE
from harness.cli.progress import Stage, plural
from harness.cli.runs import RUNS
from harness.errors import LabError, Stopped, UsageError
from harness.history.errors import HistoryError
from harness.history.files import read_object
from harness.rules import Verdict
from reports.night import Night, NightRun, junit, summary
from reports.terminal import called_as

ASKED, RESULTS, SUMMARY, JUNIT, NIGHTS = (
    "night.json",
    "results.jsonl",
    "summary.json",
    "junit.xml",
    "nights.jsonl",
)
BROKEN_IN_A_ROW = 3  # after which nothing more is tried
PASSED, FAILED, NO_PROOF, BROKEN = 0, 1, 2, 3
WORST_FIRST = (FAILED, BROKEN, NO_PROOF)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long, and how many bytes of runs are kept; no time: every file once."""

    seconds: float | None = None
    disk_bytes: int = 10 << 30


def seconds_of(text: str) -> float:
    """`8h`, `30m`, `90s`, `1.5h`."""
    number, unit = text[:-1], text[-1:]
    try:
        found = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise UsageError(f"--for {text!r}: write 8h, 30m or 90s") from None
    if not 0 < found <= 7 * _UNITS["d"]:
        raise UsageError(f"--for {text}: a night is longer than nothing and no longer than a week")
    return found


def files_of(where: Path) -> list[Path]:
    """A campaign, or all of a folder and the folders in it."""
    found = sorted(where.rglob("*.toml")) if where.is_dir() else [where]
    if not found:
        raise UsageError(f"there is no campaign in {where}: no file ends with .toml")
    return found


def run(where: Path, options: Options, bounds: Bounds, *, resume: bool = False) -> int:
    """Play a night, or go on with one; the exit code is that of its worst run."""
    files = files_of(where)
    for one in files:
        read_campaign(one)  # a mistake is told now, not at three in the morning
    asked = {
        "where": str(where),
        "files": [str(one) for one in files],
        "sut": options.sut,
        "world": options.world,
        "seed": options.seed,
        "seconds": bounds.seconds,
    }
    folder = _folder(options.out, asked, resume=resume)
    night = _Night(folder, asked)
    say = _sayer(options)
    if night.runs:
        say(f"goes on in {folder}: {plural(len(night.runs), 'run')} done")
    try:
        night.play(files, options, bounds, say)
    except (KeyboardInterrupt, Stopped) as stop:
        done = plural(len(night.runs), "run")
        raise Stopped(
            f"stopped after {done}; the night is kept in {folder}/\n"
            f"`{resumed_by(where, options, bounds)}` goes on with it"
        ) from stop
    return night.conclude(options, say)


def resumed_by(where: Path, options: Options, bounds: Bounds) -> str:
    """The command that goes on with a night that asked this."""
    usual, endless = Options(), Bounds()
    words = [called_as(), "campaign", str(where)]
    for name in ("sut", "world", "seed", "engine", "out"):
        if (asked := getattr(options, name)) != getattr(usual, name):
            words += [f"--{name}", str(asked)]
    if bounds.seconds is not None:
        words += ["--for", f"{bounds.seconds:g}s"]
    if bounds.disk_bytes != endless.disk_bytes:
        words += ["--disk-gb", f"{bounds.disk_bytes / (1 << 30):g}"]
    return shlex.join([*words, "--resume"])


class _Night:
    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        self.folder = folder
        self._asked = asked
        self.runs = [NightRun(**one) for one in _lines(folder / RESULTS)]

    @property
    def spent_s(self) -> float:
        """By all of its runs, also those before it was stopped."""
        return sum(one.seconds for one in self.runs)

    def play(
        self,
        files: Sequence[Path],
        options: Options,
        bounds: Bounds,
        say: Callable[[str], None],
    ) -> None:
        """What is left of it, until a bound is reached."""
        began, spent_before = time.monotonic(), self.spent_s
        for number, (file, seed) in enumerate(_rounds(files, options.seed), start=1):
            if number <= len(self.runs):
                continue
            spent = spent_before + time.monotonic() - began
            if why := self._over(number, len(files), file, spent, bounds):
                say(f"ends: {why}")
                return
            of = "" if bounds.seconds is None else f" of {_told(bounds.seconds)}"
            found = sum(one.exit_code == FAILED for one in self.runs)
            say(f"run {number} · {file.stem} · seed {seed} · {_told(spent)}{of} · {found} found")
            self._add(self._play_one(number, file, replace(options, seed=seed)))
            self._tidy(bounds.disk_bytes)

    def _over(
        self, number: int, files: int, file: Path, spent: float, bounds: Bounds
    ) -> str | None:
        """Why the night is over, if it is."""
        if bounds.seconds is None:
            return "every campaign was played" if number > files else None
        like = [one.seconds for one in self.runs if one.campaign == file.stem]
        if spent + (max(like) if like else 0) > bounds.seconds:
            return "time is up"
        last = self.runs[-BROKEN_IN_A_ROW:]
        if len(last) == BROKEN_IN_A_ROW and all(one.exit_code == BROKEN for one in last):
            return f"the lab broke {BROKEN_IN_A_ROW} times in a row"
        if _size_of(self.folder) > bounds.disk_bytes:
            return f"runs with findings fill {bounds.disk_bytes >> 20} MiB"
        return None

    def _play_one(self, number: int, file: Path, options: Options) -> NightRun:
        out = self.folder / f"{number:04}-{file.stem}"
        shutil.rmtree(out, ignore_errors=True)  # a run that was cut short is begun anew
        began, code, headline = time.monotonic(), BROKEN, ""
        try:
            stage = Stage(sys.stderr if options.as_json else sys.stdout)
            code = campaign.run(file, replace(options, out=out, as_json=False), stage)
        except UsageError:
            raise
        except LabError as problem:
            headline = str(problem).partition("\n")[0]
        told = read_object(out / VERDICT_FILE) if (out / VERDICT_FILE).is_file() else {}
        rules = told.get("rules", [])
        return NightRun(
            number=number,
            campaign=file.stem,
            seed=options.seed,
            exit_code=code,
            headline=str(told.get("headline", headline)),
            findings=[r["id"] for r in rules if r.get("verdict") == Verdict.FAIL.value],
            events=int(told.get("events", 0)),
            faults=sum(told.get("faults", {}).get("landed", {}).values()),
            seconds=round(time.monotonic() - began, 1),
            folder=str(out),
        )

    def _add(self, one: NightRun) -> None:
        self.runs.append(one)
        with (self.folder / RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")

    def _tidy(self, most_bytes: int) -> None:
        """Let go of the oldest runs that found nothing, until the rest fits."""
        for one in self.runs[:-1]:
            if _size_of(self.folder) <= most_bytes:
                return
            if one.exit_code == PASSED:
                shutil.rmtree(one.folder, ignore_errors=True)

    def conclude(self, options: Options, say: Callable[[str], None]) -> int:
        """Write down what came of it; the exit code."""
        codes = {one.exit_code for one in self.runs}
        code = next((one for one in WORST_FIRST if one in codes), PASSED if codes else NO_PROOF)
        began = (self.folder / ASKED).stat().st_mtime
        night = Night(
            name=self.folder.name,
            sut=str(self._asked["sut"]),
            where=str(self._asked["where"]),
            began=time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(began)),
            runs=self.runs,
            exit_code=code,
        )
        kept = RUNS / NIGHTS
        # A folder that was deleted, as on a CI service, gives its name to a later night.
        this = (night.name, night.began)
        past = [one for one in _lines(kept) if (one["name"], one["began"]) != this]
        told = night.document()
        (self.folder / SUMMARY).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        (self.folder / JUNIT).write_text(junit(night), encoding="utf-8")
        lines = [json.dumps(one) + "\n" for one in (*past, night.trend())]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(lines), encoding="utf-8")
        alike = [one for one in past if (one["where"], one["sut"]) == (night.where, night.sut)]
        for line in summary(night, alike):
            say(line)
        say(f"{self.folder}/{SUMMARY} · {self.folder}/{JUNIT}")
        if options.as_json:
            print(json.dumps(told))
        return code


def first_seed(night: Path) -> int | None:
    """The seed of the first round of a night, if it is still told."""
    with suppress(HistoryError, OSError, KeyError, TypeError, ValueError):
        return int(read_object(night / ASKED)["seed"])
    return None


def _rounds(files: Sequence[Path], seed: int) -> Iterator[tuple[Path, int]]:
    while True:
        for file in files:
            yield file, seed
        seed += 1


def _folder(out: Path | None, asked: dict[str, Any], *, resume: bool) -> Path:
    """The folder of a new night, or of the newest one that asked the same and has not ended."""
    nights = sorted(RUNS.glob("night-*"), key=lambda one: one.stat().st_mtime)
    if resume:
        for one in [out] if out is not None else reversed(nights):
            unended = (one / ASKED).is_file() and not (one / SUMMARY).is_file()
            if unended and read_object(one / ASKED) == asked:
                return one
        raise UsageError("no night that asked the same was stopped; begin one without --resume")
    folder = out or RUNS / f"night-{_greatest(nights) + 1}"
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; `--resume` goes on with a night")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ASKED).write_text(json.dumps(asked), encoding="utf-8")
    return folder


def _greatest(nights: Iterable[Path]) -> int:
    """Of the numbers of nights, those that are told of only in the trend among them."""
    names = [*(one.name for one in nights), *(one["name"] for one in _lines(RUNS / NIGHTS))]
    numbers = (name.removeprefix("night-") for name in names)
    return max((int(one) for one in numbers if one.isdecimal()), default=0)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a file; the last may be half written."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        found.append(json.loads(line))
    return found


def _size_of(folder: Path) -> int:
    return sum(_sizes(folder.rglob("*")))


def _sizes(paths: Iterable[Path]) -> Iterator[int]:
    for path in paths:
        if path.is_file():
            yield path.stat().st_size


def _told(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def _sayer(options: Options) -> Callable[[str], None]:
    stream = sys.stderr if options.as_json else sys.stdout

    def say(line: str) -> None:
        print(line, file=stream, flush=True)

    return say

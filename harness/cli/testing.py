"""The project's own tests, through tox.

Tests in `conformance/` are one environment. Tests in `tests/` are split by marker, each test into
exactly one environment, so that the closing totals count nothing twice. An environment without a
test yet is left out of the default selection; naming it is a usage error, because an empty
selection must never look like a pass. The totals come from the JUnit files the runs leave, not
from what they print.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from harness.sut.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One tox environment: where its tests live, and by which marker they are chosen."""

    name: str
    folders: tuple[str, ...] = ()
    marker: str | None = None
    by_default: bool = True


SUITES = (
    Suite(name="lint"),
    Suite(name="unit", folders=("tests",)),
    Suite(name="conformance", folders=("conformance",)),
    Suite(name="sim", folders=("tests",), marker="sim"),
    Suite(name="spark", folders=("tests",), marker="spark"),
    Suite(name="process", folders=("tests",), marker="process"),
    Suite(name="docker", folders=("tests", "conformance"), marker="docker", by_default=False),
    Suite(name="foreign", folders=("tests", "conformance"), marker="foreign", by_default=False),
    Suite(name="slow", folders=("tests", "conformance"), marker="slow", by_default=False),
)
"""In the order in which they run: what fails soonest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a run counted."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class EmptySelection(UsageError):
    """Nothing would run; the message says what could."""


def run(names: Sequence[str], root: Path = ROOT) -> int:
    """The `test` command: 0 when everything passed, 1 when not."""
    chosen = select(names, root)
    results = root / ".tidemark" / "test-results"
    for folder in (results, root / "allure-results"):
        shutil.rmtree(folder, ignore_errors=True)
    results.mkdir(parents=True)
    environ = os.environ | {"TIDEMARK_PYTHON": sys.executable, "TIDEMARK_RESULTS": str(results)}
    outcomes = [_run_suite(suite, root, environ) for suite in chosen]
    return close(outcomes)


def select(names: Sequence[str], root: Path = ROOT) -> tuple[Suite, ...]:
    """The suites asked for; without a name all default ones that have tests."""
    known = {suite.name: suite for suite in SUITES}
    for name in names:
        if name not in known and name != "all":
            choice = ", ".join([*known, "all"])
            raise EmptySelection(f"there are no tests called {name!r}. Choose from: {choice}.")
        if name in known and not has_tests(known[name], root):
            built = ", ".join(suite.name for suite in SUITES if has_tests(suite, root))
            raise EmptySelection(f"{name} has no tests yet. These have: {built}.")
    if not names or "all" in names:
        wanted = [suite for suite in SUITES if suite.by_default or "all" in names]
        return tuple(suite for suite in wanted if has_tests(suite, root))
    return tuple(suite for suite in SUITES if suite.name in names)


def has_tests(suite: Suite, root: Path) -> bool:
    """Whether a suite has anything to run: a test file, with its marker where it goes by one."""
    if not suite.folders:
        return True
    mark = re.compile(rf"\bmark\.{suite.marker}\b" if suite.marker else "")
    files = (file for folder in suite.folders for file in (root / folder).rglob("test_*.py"))
    return any(mark.search(file.read_text(encoding="utf-8")) for file in files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one suite ended."""

    suite: str
    good: bool
    totals: Totals


def close(outcomes: Iterable[Outcome]) -> int:
    """Print the end of a run: what to repeat, then the totals alone on the last line."""
    outcomes = tuple(outcomes)
    bad = [outcome.suite for outcome in outcomes if not outcome.good]
    print()
    for outcome in outcomes:
        print(f"{outcome.suite:<12} {'ok' if outcome.good else 'FAILED':<7} {outcome.totals}")
    if bad:
        print(f"repeat: ./tidemark test {' '.join(bad)}")
    print(sum((outcome.totals for outcome in outcomes), Totals()), flush=True)
    return 1 if bad else 0


def judge(suite: Suite, exit_code: int, junit: Path) -> Outcome:
    """What a suite amounts to. One that broke without a failing test is itself a failure."""
    totals = read_totals(junit) if junit.exists() else Totals()
    ran = totals.passed + totals.failed
    good = exit_code == 0 and totals.failed == 0 and (ran > 0 or not suite.folders)
    if not suite.folders:
        totals = Totals(failed=int(not good))
    elif not good and totals.failed == 0:
        totals += Totals(failed=1)
    return Outcome(suite=suite.name, good=good, totals=totals)


def read_totals(junit: Path) -> Totals:
    """The counts of a JUnit file; an unreadable one counts as a failure."""
    try:
        suites = list(ElementTree.parse(junit).getroot().iter("testsuite"))
    except ElementTree.ParseError:
        return Totals(failed=1)
    tests, failures, errors, skipped = (
        sum(int(suite.get(key, "0")) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    return Totals(passed=max(0, tests - failed - skipped), failed=failed, skipped=skipped)


def _run_suite(suite: Suite, root: Path, environ: dict[str, str]) -> Outcome:
    tox = [sys.executable, "-m", "tox", "run", "-q"]
    command = [*tox, "-c", str(root / "tox.ini"), "-e", suite.name]
    print(f"\n== {suite.name}", flush=True)
    code = subprocess.run(command, cwd=root, env=environ).returncode
    return judge(suite, code, Path(environ["TIDEMARK_RESULTS"]) / f"{suite.name}.xml")

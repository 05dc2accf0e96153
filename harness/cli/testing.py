"""The project's own tests, through tox.

Tests in `conformance/` are one environment. Tests in `tests/` are split by marker, each test into
exactly one environment, so that the closing totals count nothing twice. An environment without a
test yet is left out of the default selection; naming it is a usage error, because an empty
selection must never look like a pass. The totals come from the JUnit files the runs leave, not
from what they print.

`explore` is apart, and not part of `all`: it plays the property tests and state machines with
examples drawn anew, round after round, until one fails. Each round says its seed; a failure shows
the example it was shrunk to. Save it as an `@example` of that test, or as a test of its own: the
default selection draws the same examples on every run and would not meet it again.

An environment that does not end is killed, with the stacks of what still runs.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from harness.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
ALLURE_RESULTS = "allure-results"
ALLURE_TESTS = f"{ALLURE_RESULTS}/tests"
HOUR_S = 3600.0
END_S = 15.0
LAST_WORDS_S = 1.0
LOOK_S = 0.05
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One tox environment: where its tests live, and by which marker they are chosen."""

    name: str
    folders: tuple[str, ...] = ()
    marker: str | None = None
    sign: str = ""
    """What a file with tests of this suite contains, by pattern; a mark, if there is a marker."""
    by_default: bool = True
    limit_s: float = HOUR_S
    """When it has hung; nothing that works takes nearly as long."""
    explores: bool = False


BOTH = ("tests", "conformance")
DOCKER = "docker"
SUITES = (
    Suite(name="lint"),
    Suite(name="unit", folders=("tests",)),
    Suite(name="conformance", folders=("conformance",)),
    Suite(name="sim", folders=("tests",), marker="sim"),
    Suite(name="spark", folders=("tests",), marker="spark"),
    Suite(name="process", folders=("tests",), marker="process"),
    *(
        Suite(name=name, folders=BOTH, marker=name, by_default=False, limit_s=6 * HOUR_S)
        for name in (DOCKER, "foreign", "slow")
    ),
    Suite(
        name="explore",
        folders=BOTH,
        sign=r"from hypothesis\b",
        by_default=False,
        limit_s=6 * HOUR_S,
        explores=True,
    ),
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


def run(names: Sequence[str], root: Path = ROOT, *, allure: bool = False) -> int:
    """The `test` command: 0 when everything passed, 1 when not.

    Results for Allure, thousands of files, are written on request only.
    """
    chosen = with_engine(select(names, root), names)
    results = root / ".tidemark" / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    environ = os.environ | {"TIDEMARK_PYTHON": sys.executable, "TIDEMARK_RESULTS": str(results)}
    if allure:
        shutil.rmtree(root / ALLURE_TESTS, ignore_errors=True)
        environ["TIDEMARK_ALLURE"] = f"--alluredir={root / ALLURE_TESTS}"
    outcomes = [
        _explore(suite, root, environ) if suite.explores else _run_suite(suite, root, environ)
        for suite in chosen
    ]
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
        wanted = [
            suite
            for suite in SUITES
            if suite.by_default or suite.name in names or ("all" in names and not suite.explores)
        ]
        return tuple(suite for suite in wanted if has_tests(suite, root))
    return tuple(suite for suite in SUITES if suite.name in names)


def with_engine(chosen: tuple[Suite, ...], names: Sequence[str]) -> tuple[Suite, ...]:
    """Without those that need a Docker engine, where none answers; it is an error if asked for."""
    if all(suite.name != DOCKER for suite in chosen) or (why := engine_missing()) is None:
        return chosen
    if DOCKER in names:
        raise EmptySelection(f"the tests in containers cannot be run: {why}")
    print(f"left out: {DOCKER}: {why}")
    return tuple(suite for suite in chosen if suite.name != DOCKER)


def engine_missing() -> str | None:
    """Why no Docker engine can be used, if none can."""
    from harness.deployments.docker.engine import EngineUnavailable, connect  # takes its time

    try:
        connect().close()
    except EngineUnavailable as problem:
        return str(problem)
    return None


def has_tests(suite: Suite, root: Path) -> bool:
    """Whether a suite has anything to run: a test file, with its marker where it goes by one."""
    if not suite.folders:
        return True
    mark = re.compile(rf"\bmark\.{suite.marker}\b" if suite.marker else suite.sign)
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


def _explore(suite: Suite, root: Path, environ: dict[str, str]) -> Outcome:
    totals = Totals()
    for number in range(1, ROUNDS + 1):
        seed = f"--hypothesis-seed={secrets.randbelow(2**32)}"
        print(f"\nround {number} of {ROUNDS}: pytest --hypothesis-profile=explore {seed}")
        outcome = _run_suite(suite, root, environ, seed)
        totals += outcome.totals
        if not outcome.good:
            break
    return Outcome(suite=suite.name, good=outcome.good, totals=totals)


def _run_suite(suite: Suite, root: Path, environ: dict[str, str], *options: str) -> Outcome:
    tox = [sys.executable, "-m", "tox", "run", "-q"]
    command = [*tox, "-c", str(root / "tox.ini"), "-e", suite.name]
    command += ["--", *options] if options else []
    print(f"\n== {suite.name}", flush=True)
    code = run_bounded(command, root, environ, limit_s=suite.limit_s)
    return judge(suite, code, Path(environ["TIDEMARK_RESULTS"]) / f"{suite.name}.xml")


def run_bounded(
    command: Sequence[str], root: Path, environ: Mapping[str, str], *, limit_s: float
) -> int:
    """The exit code of a command; it and what it started end by then, or with this process."""
    child = subprocess.Popen(command, cwd=root, env=environ, start_new_session=True)
    try:
        return child.wait(limit_s)
    except subprocess.TimeoutExpired:
        print(f"ended after {limit_s:.0f} s; where it was:", file=sys.stderr, flush=True)
        _end(child, signal.SIGABRT)  # makes each process of pytest print its stacks
        return child.returncode
    except BaseException:
        _end(child, signal.SIGINT)
        raise


def _end(child: subprocess.Popen[bytes], first: signal.Signals) -> None:
    """Signal the whole group, and kill what does not end by that."""
    os.killpg(child.pid, first)
    deadline = time.monotonic() + END_S
    # Looked at, not waited for: its number stays the group's until the others are killed.
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while time.monotonic() < deadline and os.waitid(os.P_PID, child.pid, look) is None:
        time.sleep(LOOK_S)
    time.sleep(LAST_WORDS_S)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()

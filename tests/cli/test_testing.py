"""Which tests `tidemark test` runs, and how it counts them. No test runner is started here."""

import configparser
import os
import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli import testing
from harness.cli.testing import SUITES, EmptySelection, Outcome, Suite, Totals, close, judge, select

ROOT = Path(__file__).resolve().parents[2]
MARK = "pytest.mark."
UNIT = Suite(name="unit", folders=("tests",))
LINT = Suite(name="lint")


def project(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(f"test_{path.name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def junit(path: Path, **counts: int) -> Path:
    attributes = " ".join(f'{name}="{count}"' for name, count in counts.items())
    path.write_text(f"<testsuites><testsuite {attributes}></testsuite></testsuites>")
    return path


def names(suites: tuple[Suite, ...]) -> list[str]:
    return [suite.name for suite in suites]


def test_without_a_name_all_that_has_tests_is_run(tmp_path: Path):
    root = project(tmp_path, tests__a="", tests__b=f"@{MARK}spark", conformance__c="")

    assert names(select((), root)) == ["lint", "unit", "conformance", "spark"]


def test_what_needs_more_than_this_machine_or_patience_is_not_run_unasked(tmp_path: Path):
    root = project(tmp_path, tests__a=f"{MARK}docker {MARK}foreign {MARK}slow")

    assert names(select((), root)) == ["lint", "unit"]
    assert names(select(("all",), root)) == ["lint", "unit", "docker", "foreign", "slow"]


def test_named_suites_run_in_their_own_order_and_once(tmp_path: Path):
    root = project(tmp_path, tests__a=f"{MARK}spark")

    assert names(select(("spark", "unit", "spark"), root)) == ["unit", "spark"]


@pytest.mark.parametrize("name", ["docker", "foreign", "sim", "conformance"])
def test_a_suite_without_tests_is_a_usage_error(name: str, tmp_path: Path):
    root = project(tmp_path, tests__a="")

    with pytest.raises(EmptySelection, match=f"{name} has no tests yet. These have: lint, unit."):
        select((name,), root)


def test_an_unknown_name_is_a_usage_error_that_lists_the_known(tmp_path: Path):
    with pytest.raises(EmptySelection, match=r"no tests called 'units'\. Choose from: lint, unit,"):
        select(("units",), tmp_path)


def test_a_marker_that_only_begins_alike_does_not_count(tmp_path: Path):
    root = project(tmp_path, tests__a=f"@{MARK}simulated_clock")

    assert names(select((), root)) == ["lint", "unit"]


def test_counts_come_from_the_junit_file(tmp_path: Path):
    counted = junit(tmp_path / "unit.xml", tests=10, failures=1, errors=1, skipped=3)

    assert testing.read_totals(counted) == Totals(passed=5, failed=2, skipped=3)


def test_a_torn_junit_file_is_a_failure(tmp_path: Path):
    (tmp_path / "unit.xml").write_text("<testsuites><testsu")

    assert testing.read_totals(tmp_path / "unit.xml") == Totals(failed=1)


@pytest.mark.parametrize(
    ("suite", "exit_code", "counts", "good", "totals"),
    [
        (UNIT, 0, {"tests": 4, "skipped": 1}, True, Totals(passed=3, skipped=1)),
        (UNIT, 1, {"tests": 4, "failures": 2}, False, Totals(passed=2, failed=2)),
        (UNIT, 1, {"tests": 4}, False, Totals(passed=4, failed=1)),
        (UNIT, 1, None, False, Totals(failed=1)),
        (UNIT, 0, {"tests": 0}, False, Totals(failed=1)),
        (UNIT, 0, {"tests": 2, "skipped": 2}, False, Totals(failed=1, skipped=2)),
        (LINT, 0, None, True, Totals()),
        (LINT, 1, None, False, Totals(failed=1)),
    ],
    ids=[
        "passed",
        "failed",
        "broke after its tests",
        "broke before its tests",
        "ran nothing",
        "skipped everything",
        "clean",
        "unclean",
    ],
)
def test_a_suite_is_good_only_if_something_ran_and_nothing_failed(
    suite: Suite,
    exit_code: int,
    counts: dict[str, int] | None,
    good: bool,
    totals: Totals,
    tmp_path: Path,
):
    path = tmp_path / "results.xml"
    if counts is not None:
        junit(path, **counts)

    assert judge(suite, exit_code, path) == Outcome(suite=suite.name, good=good, totals=totals)


def test_the_last_line_is_the_totals_alone(capsys: pytest.CaptureFixture[str]):
    code = close(
        [
            Outcome(suite="unit", good=True, totals=Totals(passed=7, skipped=1)),
            Outcome(suite="spark", good=False, totals=Totals(passed=2, failed=3)),
        ]
    )

    assert code == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "repeat: ./tidemark test spark",
        "9 passed, 3 failed, 1 skipped",
    ]


def test_every_suite_is_run_by_tox_with_the_projects_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    root = project(tmp_path, tests__a="")
    started: list[tuple[list[str], str]] = []

    def start(command: list[str], _root: Path, env: dict[str, str], *, limit_s: float) -> int:
        assert limit_s > 0
        started.append((command[-2:], env["TIDEMARK_PYTHON"]))
        if command[-1] == "unit":
            junit(Path(env["TIDEMARK_RESULTS"]) / "unit.xml", tests=1)
        return 0

    monkeypatch.setattr(testing, "run_bounded", start)

    assert testing.run([], root) == 0
    assert started == [(["-e", "lint"], sys.executable), (["-e", "unit"], sys.executable)]
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_exploring_stops_at_the_first_round_that_fails_and_says_each_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    root = project(tmp_path, tests__a="from hypothesis import given")
    seeds: list[str] = []

    def start(command: list[str], _root: Path, env: dict[str, str], *, limit_s: float) -> int:
        seeds.append(command[-1])
        failures = len(seeds) - 1
        junit(Path(env["TIDEMARK_RESULTS"]) / "explore.xml", tests=3, failures=failures)
        return failures

    monkeypatch.setattr(testing, "run_bounded", start)

    assert testing.run(["explore"], root) == 1
    printed = capsys.readouterr().out
    assert len(set(seeds)) == 2
    assert all(f"explore {seed}" in printed for seed in seeds)
    assert printed.splitlines()[-1] == "5 passed, 1 failed, 0 skipped"


def test_exploring_is_asked_for_by_name_alone(tmp_path: Path):
    root = project(tmp_path, tests__a="from hypothesis import given")

    assert "explore" not in names(select((), root)) + names(select(("all",), root))
    assert names(select(("explore",), root)) == ["explore"]
    with pytest.raises(EmptySelection, match="explore has no tests yet"):
        select(("explore",), project(tmp_path / "other", tests__a=""))


HANGS = """
import faulthandler, os, subprocess, sys, threading
faulthandler.enable()
held = os.open(sys.argv[1], os.O_WRONLY)
os.write(held, b"started")
subprocess.Popen(["sleep", "600"], pass_fds=[held])
def hang(): threading.Event().wait()
hang()
"""


def test_an_environment_that_hangs_is_ended_with_all_it_started_and_shows_its_stacks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held_open = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", HANGS, str(pipe)]

    assert testing.run_bounded(command, tmp_path, os.environ, limit_s=2.0) != 0
    assert "in hang" in capfd.readouterr().err
    assert [os.read(held_open, 100), os.read(held_open, 100)] == [b"started", b""]
    os.close(held_open)


STOPS_US = """
import os, signal, sys
held = os.open(sys.argv[1], os.O_WRONLY)
os.write(held, b"started")
os.kill(os.getppid(), signal.SIGINT)
signal.pause()
"""


def test_what_runs_ends_with_the_command(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    held_open = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", STOPS_US, str(pipe)]

    with pytest.raises(KeyboardInterrupt):
        testing.run_bounded(command, tmp_path, os.environ, limit_s=60.0)
    assert [os.read(held_open, 100), os.read(held_open, 100)] == [b"started", b""]
    os.close(held_open)


def test_one_that_ends_in_time_keeps_its_exit_code(tmp_path: Path):
    command = [sys.executable, "-c", "raise SystemExit(7)"]
    assert testing.run_bounded(command, tmp_path, os.environ, limit_s=60.0) == 7


def test_tox_knows_every_suite_that_runs_by_default():
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")

    wanted = [suite.name for suite in SUITES if suite.by_default]
    assert [name.strip() for name in tox["tox"]["env_list"].split(",")] == wanted
    assert "testenv:explore" in tox


def test_every_marker_of_a_suite_is_registered():
    project_file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = project_file["tool"]["pytest"]["ini_options"]["markers"]
    registered = {line.split(":")[0].split("(")[0] for line in lines}

    assert {suite.marker for suite in SUITES if suite.marker} <= registered


def test_without_an_engine_the_tests_in_containers_are_refused_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    root = project(tmp_path, tests__a=f"{MARK}docker {MARK}slow")
    monkeypatch.setattr(testing, "engine_missing", lambda: "no Docker engine answers here.")

    assert names(testing.with_engine(select(("all",), root), ("all",))) == ["lint", "unit", "slow"]
    assert capsys.readouterr().out == "left out: docker: no Docker engine answers here.\n"
    with pytest.raises(EmptySelection, match="cannot be run: no Docker engine"):
        testing.with_engine(select(("docker",), root), ("docker",))
    assert names(testing.with_engine(select((), root), ())) == ["lint", "unit"]

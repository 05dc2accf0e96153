"""What strangers meet first: mistakes end in a sentence that helps, and views answer programs."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.app import main

MUTANT = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"
FAILING = f"certify --rule MIG-003 --world sim --engine inline --rounds 0 --mutant {MUTANT}"
Command = Callable[[str], tuple[int, str, str]]


def left(words: str) -> int:
    """Run a command in this process; its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
        with pytest.raises(SystemExit) as stopped:
            main()
    return int(stopped.value.code or 0)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("failing")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert left(FAILING) == 1
    return place / "runs/1"


@pytest.fixture
def tidemark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = left(words)
        return code, *capfd.readouterr()

    return run


@pytest.mark.parametrize(
    ("words", "help_"),
    [
        ("report", "report --help"),
        ("serve --port 99999", "serve --help"),
        ("runs --loud", "runs --help"),
        ("certfy", "`./tidemark --help`"),
    ],
)
def test_a_wrong_word_names_the_help_that_answers_it(
    words: str, help_: str, tidemark: Command
) -> None:
    code, out, err = tidemark(words)
    assert (code, out) == (64, "")
    assert help_ in err


def test_a_folder_that_a_page_cannot_be_written_into_is_named(tidemark: Command) -> None:
    code, _, err = tidemark("runs --html /nowhere/index.html")
    assert code == 64
    assert err == "tidemark: there is no folder /nowhere/ to write index.html into\n"


def test_a_setting_for_the_designs_that_leads_nowhere_is_told_before_the_run(
    tidemark: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_DESIGNS", "/nowhere")
    code, _, err = tidemark(FAILING)
    assert code == 64
    assert "TIDEMARK_DESIGNS /nowhere: there is no such folder" in err
    assert not Path("runs").exists()


def test_what_happened_around_an_operation_is_told_to_programs_too(
    failing: Path, tidemark: Command
) -> None:
    code, out, _ = tidemark(f"report {failing} --around 21 --json")
    told = json.loads(out)
    (asked,) = [one for one in told["operations"] if one["op"] == 21]
    assert (code, told["around"], told["left_out"]) == (0, 21, 0)
    assert (asked["client"], asked["f"]) == ("new", "initialize_diskless_migration")
    assert asked["began_s"] < asked["ended_s"]


def test_runs_that_share_no_rule_are_not_called_alike(failing: Path, tidemark: Command) -> None:
    shutil.copytree(failing, "runs/1")
    left(FAILING.replace("MIG-003", "MIG-001"))
    code, out, _ = tidemark("compare 1 2")
    assert code == 0
    assert "no rule was asked of more than one of them; 2 were asked of one" in out
    assert "differ" not in out


def test_long_names_of_runs_stand_in_one_column(failing: Path, tidemark: Command) -> None:
    for name in ("1", "before-the-upgrade"):
        shutil.copytree(failing, f"runs/{name}")
    _, out, _ = tidemark("runs")
    assert len({line.index("20") for line in out.splitlines()}) == 1


def test_a_run_is_a_line_in_a_pipe_and_fits_a_terminal(
    failing: Path, tidemark: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(failing, "runs/before-the-upgrade")
    _, piped, _ = tidemark("runs")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    _, wide, _ = tidemark("runs")

    assert len(piped.splitlines()) == 1
    assert len(piped.rstrip()) > 80 >= max(map(len, wide.splitlines()))
    assert wide.split() == piped.split()


def test_an_interrupt_that_a_command_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.doctor.run", interrupted)

    assert (left("doctor"), *capfd.readouterr()) == (130, "", "tidemark: stopped\n")

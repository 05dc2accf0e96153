"""Trials that own a simulation: what they find is shrunk, kept, printed, and played again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from counter_trial import MUTANTS, CounterTrial, StumblingTrial

from harness.cli.app import app
from harness.errors import UsageError
from harness.steps.draw import explore
from harness.steps.program import program_of
from harness.steps.replay import replay
from harness.steps.trial import Trial, Violated


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("harness.steps.trial.RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def failure_of(trial: type[Trial]) -> BaseException:
    with pytest.raises((Violated, LookupError)) as caught:
        explore(trial, examples=60, steps=15)
    return caught.value


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[BaseException, Path]:
    """What the machine found in the mutant, and the run it kept; nobody changes that one."""
    runs = tmp_path_factory.mktemp("found")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.steps.trial.RUNS", runs)
        return failure_of(CounterTrial.with_seed(4, *MUTANTS)), runs / "CounterTrial-4"


@pytest.fixture
def kept(found: tuple[BaseException, Path], tmp_path: Path) -> Path:
    """A copy of that run."""
    return Path(shutil.copytree(found[1], tmp_path / "CounterTrial-4"))


def test_a_sound_system_passes_and_leaves_nothing_behind(runs: Path) -> None:
    explore(CounterTrial, examples=60, steps=15)
    assert not runs.exists()


def test_a_broken_one_is_found_and_shrunk_to_the_steps_that_matter(kept: Path) -> None:
    names = [line.split()[1] for line in program_of(kept)]

    assert names.count("count") == 2
    assert names.count("lose-power") == 1
    assert len(names) <= 4


def test_the_failure_shows_findings_program_run_and_the_command_that_replays_it(
    found: tuple[BaseException, Path],
) -> None:
    failure, folder = found

    assert str(failure) == "answered twice: 1"
    note = failure.__notes__[0]
    assert note.startswith("seed 4, with these steps:\n    a count\n")
    assert note.endswith(f"replay  ./tidemark replay {folder}")


def test_a_step_that_raises_is_kept_as_an_incomplete_run(runs: Path) -> None:
    failure = failure_of(StumblingTrial)

    assert isinstance(failure, LookupError)
    folder = runs / "StumblingTrial-0"
    assert program_of(folder) == ["a stumble number=13"]
    footer = json.loads((folder / "history.jsonl").read_bytes().splitlines()[-1])
    assert footer["complete"] is False


def test_steps_stand_in_the_history_before_what_came_of_them(kept: Path) -> None:
    lines = [json.loads(line) for line in (kept / "history.jsonl").read_bytes().splitlines()]
    told = [line.get("verb") or line["f"] for line in lines if line["kind"] in ("step", "op")]

    assert told[:2] == ["count", "count"]


def test_a_replay_gives_the_same_history_and_the_same_findings(kept: Path) -> None:
    replayed = replay(kept)

    assert replayed.differs_at is None
    assert len(replayed.lines) == len(replayed.before)
    assert replayed.findings == ["answered twice: 1"]


def test_a_replay_keeps_its_hands_off_the_run(kept: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in kept.rglob("*"))

    replay(kept)

    assert sorted((path, path.stat().st_mtime_ns) for path in kept.rglob("*")) == before


def test_a_replay_after_the_code_has_changed_names_the_first_difference(kept: Path) -> None:
    header = json.loads((kept / "header.json").read_text())
    (kept / "header.json").write_text(json.dumps({**header, "mutants": []}))

    replayed = replay(kept)

    assert replayed.problem is None
    assert replayed.differs_at == 0  # the header says which mutants there are


def test_a_replay_can_be_stopped_at_an_event(kept: Path) -> None:
    replayed = replay(kept, until_op=3)

    assert replayed.differs_at is None
    assert 4 <= len(replayed.lines) - 1 < len(replayed.before) - 2
    assert replayed.waiting.startswith("Stopped at ")


def cli(arguments: list[str]) -> int:
    code = app(arguments, standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_the_command_shows_the_program_and_that_the_history_is_the_same(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["replay", str(kept)]) == 1

    out = capsys.readouterr().out
    assert "CounterTrial · seed 4 · mutant 'count without sync'" in out
    assert " lose-power" in out
    assert "byte for byte" in out
    assert "FOUND  answered twice: 1" in out
    assert out.splitlines()[-1].endswith(f"replay {kept}")


def test_the_command_stops_where_it_is_told(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["replay", str(kept), "--until-op", "3"]) == 2
    assert "Stopped at " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("machine", "nowhere.py:CounterTrial", "is not there"),
        ("machine", "harness.steps.program:load", "no trial"),
        ("mutants", ["counter_trial:no such mutant"], "a mutant of this run is not there"),
    ],
)
def test_a_run_whose_machine_is_gone_says_so(
    kept: Path, field: str, value: object, says: str
) -> None:
    header = json.loads((kept / "header.json").read_text())
    (kept / "header.json").write_text(json.dumps({**header, field: value}))

    with pytest.raises(UsageError, match=says):
        replay(kept)

"""Nothing that can happen to a file makes `check` crash, hang, hold it whole or pass in silence."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from bad_histories import BAD
from good_histories import GOOD, HEADER, events, line, ours

from harness.cli.app import main
from harness.history import Run, read_history

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check` and return its exit code and all it said, in one line."""

    def run(path: Path, *options: str) -> tuple[int, str]:
        arguments = ["tidemark", "check", str(path), "--engine", "inline", *options]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, " ".join((said.out + said.err).split())

    return run


@pytest.mark.parametrize("form", GOOD)
def test_the_histories_are_good_before_anything_happens_to_them(
    form: str, tmp_path: Path, check: Check
) -> None:
    path = tmp_path / "history"
    path.write_bytes(GOOD[form])
    code, said = check(path)
    assert code == 0
    assert "damaged" not in said


@pytest.mark.parametrize(
    ("form", "name"), [(form, name) for form, cases in BAD.items() for name in cases]
)
def test_a_bad_history_is_called_what_it_is(
    form: str, name: str, tmp_path: Path, check: Check
) -> None:
    case = BAD[form][name]
    path = tmp_path / "history"
    path.write_bytes(case.content)
    code, said = check(path)
    assert case.said in said
    assert code == case.code
    assert "Traceback" not in said


def test_what_was_ignored_is_in_the_json_too(tmp_path: Path, check: Check) -> None:
    path = tmp_path / "history"
    path.write_bytes(ours().replace(line(events()[4]), b""))
    _, said = check(path, "--json")
    found, _ = json.JSONDecoder().raw_decode(said[said.index('{"valid"') :])
    assert found["valid"] is None
    assert any("events 4 to 4 are missing" in problem for problem in found["problems"])


def test_only_the_first_of_many_problems_are_listed(tmp_path: Path, check: Check) -> None:
    path = tmp_path / "history"
    path.write_bytes(ours() + b"{}\n" * 3_000)
    code, said = check(path)
    assert code == 2
    assert said.count("there is no kind") == 5
    assert "more" in said


def test_a_folder_without_a_run_is_no_history(tmp_path: Path, check: Check) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    code, said = check(tmp_path)
    assert code == 64
    assert "header.json" in said


def test_a_run_folder_with_the_history_of_another_run_is_refused(
    tmp_path: Path, check: Check
) -> None:
    fields = {name: value for name, value in HEADER.items() if name not in ("kind", "format")}
    run = Run.create(tmp_path / "run", **fields | {"run": "8"})
    run.history.write_bytes(ours())
    code, said = check(tmp_path / "run")
    assert code == 64
    assert "is not the history of the run" in said


def test_a_run_without_writers_proves_nothing(tmp_path: Path, check: Check) -> None:
    fields = {name: value for name, value in HEADER.items() if name not in ("kind", "format")}
    Run.create(tmp_path / "run", **fields)
    code, said = check(tmp_path / "run")
    assert code == 2
    assert "sealed as incomplete" in said


def test_a_pipe_is_no_file(tmp_path: Path, check: Check) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code, said = check(pipe)
    assert code == 64
    assert "is no file" in said


def test_a_table_is_no_history(tmp_path: Path, check: Check) -> None:
    path = tmp_path / "ops.parquet"
    path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    code, said = check(path)
    assert code == 64
    assert "Parquet" in said


def test_a_line_without_end_is_passed_over_and_not_held(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with path.open("wb") as file:
        file.write(line(HEADER))
        file.truncate(256 * 2**20)
    tracemalloc.start()
    try:
        assert read_history(path).complete is False
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 128 * 2**20

"""`shrink`: what it writes is a history of its own, on which `check` says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import shrink as body
from harness.cli.app import main
from harness.history import Run, read_history

CONSOLE = "".join(
    f"INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}\n"
    for process, kind, f, value in [
        *((0, kind, "write", n) for n in range(20) for kind in ("invoke", "ok")),
        (1, "invoke", "read", "nil"),
        (1, "ok", "read", 7),
        *((2, kind, "write", n) for n in range(20, 30) for kind in ("invoke", "ok")),
    ]
)
KAFKA = {
    "history": [
        {"process": 0, "type": "invoke", "f": "send", "value": [["send", "x", n]]}
        if kind == "invoke"
        else {"process": 0, "type": "ok", "f": "send", "value": [["send", "x", [n, n]]]}
        for n in range(6)
        for kind in ("invoke", "ok")
    ]
    + [
        {"process": 1, "type": "invoke", "f": "poll", "value": [["poll"]]},
        {"process": 1, "type": "ok", "f": "poll", "value": [["poll", {"x": [[0, 0], [3, 3]]}]]},
    ]
}

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tidemark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["tidemark", *words])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, said.out, said.err

    return run


def boundary_run(folder: Path) -> None:
    """A run in which one of many logs shows two boundaries in one leader epoch."""
    run = Run.create(folder, run="7", sut="x", world="process", profiles=["migration"])
    with run.shard("client", "host") as shard:
        for at in range(10):
            call = {"kind": "op", "process": at, "f": "get_diskless_log_start_offset"}
            call |= {"topic": f"t{at % 5}", "partition": 0}
            boundary = 200 if at == 8 else 100
            stored = {"boundary": boundary, "epoch": 5, "reset_epoch": -1}
            shard.write(call | {"time": 2 * at, "type": "invoke"})
            shard.write(call | {"time": 2 * at + 1, "type": "ok", "error": 0, "stored": stored})
    run.seal()


def written(form: str, folder: Path) -> str:
    if form == "run":
        boundary_run(folder / "runs" / "7")
        return "7"
    path = folder / form
    path.write_text(CONSOLE if form == "console.log" else json.dumps(KAFKA))
    return str(path)


@pytest.mark.parametrize(
    ("form", "finding", "operations"),
    [("console.log", None, 3), ("kafka.json", "int-poll-skip", 4), ("run", "MIG-001", 2)],
)
def test_what_is_left_is_a_history_that_shows_the_same(
    form: str, finding: str | None, operations: int, tmp_path: Path, tidemark: Command
) -> None:
    asked = () if finding is None else ("--finding", finding)
    code, out, _ = tidemark("shrink", written(form, tmp_path), *asked, "--json")
    told = json.loads(out)
    _, again, _ = tidemark("check", told["file"], "--engine", "inline", "--json")
    found = json.loads(again)

    assert (code, told["operations"], told["minimal"]) == (0, operations, True)
    assert read_history(told["file"]).complete
    assert (found["ops"], found["problems"]) == (operations, [])
    assert told["finding"] in [one["type"] for one in found["anomalies"]]


def test_a_judged_run_is_shrunk_to_what_it_failed(tmp_path: Path, tidemark: Command) -> None:
    mutant = "conformance.mutants.boundary:equal-epoch-moves-the-boundary"
    options = f"--world sim --engine inline --rounds 0 --mutant {mutant}".split()
    assert tidemark("certify", "--rule", "MIG-021", *options)[0] == 1

    _, out, _ = tidemark("shrink", "1", "--json")

    assert json.loads(out)["rule"] == "MIG-021"


def test_a_spent_budget_is_told(tmp_path: Path, tidemark: Command) -> None:
    path = written("console.log", tmp_path)
    _, out, _ = tidemark("shrink", path, "--budget", "3")
    assert "the budget ran out" in out


def test_an_option_of_the_judging_is_in_the_command_that_repeats_it(
    tmp_path: Path, tidemark: Command
) -> None:
    path = written("console.log", tmp_path)
    _, out, _ = tidemark("shrink", path, "--model", "register", "--initial", "5")
    assert out.splitlines()[-1].endswith("console.shrunk.jsonl --model register --initial 5")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("console.log", "--out", "console.log"), "is the history itself"),
        (("console.log", "--model", "tarot"), "there is no model 'tarot'"),
        (("console.log", "--budget", "0"), "--budget"),
        (("console.log", "--finding", "MIG-001"), "what it shows: not-linearizable"),
        ((".",), "choose from"),
    ],
)
def test_a_wrong_argument_is_a_sentence(
    words: tuple[str, ...], said: str, tmp_path: Path, tidemark: Command
) -> None:
    before = written("console.log", tmp_path)
    boundary_run(tmp_path / "runs" / "7")
    code, _, err = tidemark("shrink", *words)
    assert code == 64
    assert said in " ".join(err.split())
    assert Path(before).read_text() == CONSOLE


def test_a_history_too_long_to_be_held_is_refused(
    tmp_path: Path, tidemark: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "MOST_EVENTS", 61)
    code, _, err = tidemark("shrink", written("console.log", tmp_path))
    assert code == 64
    assert "62 events" in err


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path, tidemark: Command) -> None:
    code, _, err = tidemark(
        "shrink", written("console.log", tmp_path), "--out", "nowhere/shrunk.jsonl"
    )
    assert code == 3
    assert "No such file" in err


def test_a_damaged_history_can_be_shrunk_too(tmp_path: Path, tidemark: Command) -> None:
    path = Path(written("console.log", tmp_path))
    path.write_text(path.read_text()[:-4])
    code, out, _ = tidemark("shrink", str(path))
    told: list[Any] = out.splitlines()
    assert code == 0
    assert any(line.startswith("SHRUNK  not-linearizable in 3 operations") for line in told)

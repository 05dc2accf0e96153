"""What a run is worth: text, exit code, verdict file and certificate always say the same."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main

MUTANT = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"
REGISTER = """\
import fcntl, json, os, sys

PATH = sys.argv[1]
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    lock = open(PATH + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    stored = json.load(open(PATH)) if os.path.exists(PATH) else {}
    key = f"{asked['topic']}/{asked['partition']}"
    log = stored.setdefault(key, [-1, -1]) if asked["f"] == "create_log" else stored.get(key)
    error = "NONE" if log is not None else "UNKNOWN_TOPIC_OR_PARTITION"
    if asked["f"] == "initialize_diskless_migration" and log is not None:
        if log[0] == -1 or WRONG:
            log[:] = asked["boundary"], asked["leader_epoch"]
        error = "NONE" if log[0] == asked["boundary"] else "REFUSED"
    if asked["f"] in ("commit_batch", "describe_producers"):
        error = "REFUSED"
    with open(PATH + ".new", "w") as file:
        json.dump(stored, file)
    os.replace(PATH + ".new", PATH)
    lock.close()
    boundary, epoch = log or (-1, -1)
    answer = {"id": asked["id"], "error": error, "boundary": boundary, "epoch": epoch}
    print(json.dumps(answer), flush=True)
"""
SUT = """\
[sut]
name = "acme"
version = "1"
profiles = ["migration"]
[hooks]
control_plane = "exec:{python} {program} {state}"
"""
WAIVER = '[[waiver]]\nrule = "{rule}"\nreason = "issue 418"\nuntil = {until}\n'
BOTH = "--engine inline --rounds 0 --rule MIG-003 --rule MIG-001"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tidemark(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(words: str) -> int:
        monkeypatch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0)

    return run


def system(place: Path, *, wrong: bool, waivers: str = "") -> None:
    program = place / "register.py"
    program.write_text(f"WRONG = {wrong}\n" + REGISTER, encoding="utf-8")
    text = SUT.format(python=sys.executable, program=program, state=place / "state.json")
    (place / "acme.toml").write_text(text + waivers, encoding="utf-8")


def verdict(run: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(run, "verdict.json").read_text(encoding="utf-8"))
    return document


def test_a_system_that_remembers_gets_the_same_verdict_twice(place: Path, tidemark: Any) -> None:
    system(place, wrong=False)

    assert tidemark(f"certify acme.toml {BOTH}") == 0
    assert tidemark(f"certify acme.toml {BOTH}") == 0


def test_a_broken_must_is_exit_1_everywhere(place: Path, tidemark: Any) -> None:
    system(place, wrong=True)

    assert tidemark(f"certify acme.toml {BOTH}") == 1
    assert (verdict("runs/1")["exit"], verdict("runs/1")["certified"]) == (1, False)


def test_a_waiver_excuses_and_certifies_nothing(
    place: Path, tidemark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    excuses = "".join(WAIVER.format(rule=r, until="2999-01-01") for r in ("MIG-001", "MIG-003"))
    system(place, wrong=True, waivers=excuses)

    assert tidemark(f"certify acme.toml {BOTH}") == 0
    assert "CONFORMANT EXCEPT WAIVED  MIG-001, MIG-003" in capfd.readouterr().out
    assert (verdict("runs/1")["exit"], verdict("runs/1")["certified"]) == (0, False)
    assert not Path("runs/1/certificate.json").exists()


@pytest.mark.parametrize(
    ("wrong", "until", "words"),
    [
        (True, "2020-01-01", "waived until 2020-01-01, which has passed"),
        (False, "2999-01-01", "passes, so the waiver is no longer needed"),
    ],
    ids=["expired", "no longer needed"],
)
def test_a_stale_waiver_fails_the_run(
    place: Path,
    tidemark: Any,
    capfd: pytest.CaptureFixture[str],
    wrong: bool,
    until: str,
    words: str,
) -> None:
    system(place, wrong=wrong, waivers=WAIVER.format(rule="MIG-003", until=until))

    assert tidemark(f"certify acme.toml {BOTH}") == 1
    assert words in capfd.readouterr().out
    assert (verdict("runs/1")["exit"], verdict("runs/1")["certified"]) == (1, False)


def test_a_waiver_for_no_rule_is_a_usage_error(place: Path, tidemark: Any) -> None:
    system(place, wrong=False, waivers=WAIVER.format(rule="MIG-999", until="2999-01-01"))

    assert tidemark("certify acme.toml --engine inline") == 64
    assert not Path("runs").exists()


@pytest.mark.parametrize("part", ["--rule MIG-001", f"--mutant {MUTANT} --rule MIG-001"])
def test_part_of_a_run_is_never_certified(
    tidemark: Any, capfd: pytest.CaptureFixture[str], part: str
) -> None:
    assert tidemark(f"certify --profile migration --world sim --engine inline {part}") == 0
    assert tidemark("report 1") == 0

    assert verdict("runs/1")["certified"] is False
    assert "CERTIFIED" not in capfd.readouterr().out
    assert not Path("runs/1/certificate.json").exists()


def test_a_run_needs_a_folder_of_its_own(place: Path, tidemark: Any) -> None:
    (place / "mine" / "shards").mkdir(parents=True)

    assert tidemark("certify --profile migration --world sim --engine inline --out mine") == 64


def test_a_run_that_was_cut_short_is_sealed_and_is_no_proof(place: Path, tidemark: Any) -> None:
    tidemark("certify --profile migration --world sim --engine inline --rounds 0")
    Path("runs/1/history.jsonl").unlink()
    shard = Path("runs/1/shards/sim-0.jsonl")
    shard.write_bytes(shard.read_bytes()[:-200])

    assert tidemark("check 1 --engine inline") == 2


def test_a_history_that_was_changed_is_no_proof(
    tidemark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    tidemark("certify --profile migration --world sim --engine inline --rounds 1")
    history = Path("runs/1/history.jsonl")
    history.write_bytes(history.read_bytes().replace(b'"boundary":100', b'"boundary":101', 1))

    assert tidemark("check 1 --engine inline") == 2
    assert tidemark("report 1") == 2
    assert "TAMPERED" in capfd.readouterr().out


def test_the_history_of_another_run_is_no_proof(tidemark: Any) -> None:
    tidemark("certify --profile migration --world sim --engine inline --rounds 0 --seed 1")
    tidemark("certify --profile migration --world sim --engine inline --rounds 0 --seed 2")
    Path("runs/1/history.jsonl").write_bytes(Path("runs/2/history.jsonl").read_bytes())

    assert tidemark("check 1 --engine inline") == 2


def test_one_unreadable_run_does_not_hide_the_others(
    place: Path, tidemark: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    tidemark("certify --profile migration --world sim --engine inline --rounds 0 --rule MIG-003")
    (place / "runs" / "junk").mkdir()
    (place / "runs" / "junk" / "header.json").write_text("garbage", encoding="utf-8")
    capfd.readouterr()

    assert tidemark("runs") == 0
    listed = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == ["1", "junk"]


@pytest.mark.parametrize(
    "source",
    ["import sys\nsys.exit(0)\n", "MUTANTS = 5\n", "raise ValueError('no')\n", "(\n", "x = 1\n"],
    ids=["exits", "no sequence", "raises", "no Python", "no mutants"],
)
def test_a_bad_file_of_mutants_is_a_usage_error(place: Path, tidemark: Any, source: str) -> None:
    (place / "mine.py").write_text(source, encoding="utf-8")

    assert tidemark("selfcheck --mutants mine.py") == 64


@pytest.mark.parametrize("body", ["42", "__import__('sys').exit(0)", "1 / 0"])
def test_a_mutant_that_breaks_the_lab_is_not_killed(
    place: Path, tidemark: Any, capfd: pytest.CaptureFixture[str], body: str
) -> None:
    (place / "mine.py").write_text(
        "from reference_impl.decisions import Mutant\n"
        f'MUTANTS = (Mutant(name="m", decision="admit-epoch", rules=("MIG-016",),\n'
        f"    replace=lambda log, epoch: {body}),)\n",
        encoding="utf-8",
    )

    assert tidemark("selfcheck --mutants mine.py") in (1, 3)
    assert "0 killed" in capfd.readouterr().out


def test_a_model_that_does_not_fit_is_a_usage_error(place: Path, tidemark: Any) -> None:
    (place / "lock.edn").write_text(
        "{:process 0, :type :invoke, :f :acquire, :value nil}\n"
        "{:process 0, :type :ok, :f :acquire, :value nil}\n",
        encoding="utf-8",
    )

    assert tidemark("check lock.edn --model register --engine inline") == 64
    assert tidemark("check lock.edn --engine inline") == 0


def test_a_history_without_a_known_outcome_gets_no_verdict(place: Path, tidemark: Any) -> None:
    (place / "open.edn").write_text(
        "{:process 0, :type :invoke, :f :write, :value 1}\n", encoding="utf-8"
    )

    assert tidemark("check open.edn --engine inline") == 2


def test_a_history_in_which_everything_failed_is_linearizable(place: Path, tidemark: Any) -> None:
    (place / "refused.edn").write_text(
        "{:process 0, :type :invoke, :f :write, :value 1}\n"
        "{:process 0, :type :fail, :f :write, :value 1}\n",
        encoding="utf-8",
    )

    assert tidemark("check refused.edn --engine inline") == 0


def test_only_a_nemesis_at_work_shows_no_model_and_breaks_none(place: Path, tidemark: Any) -> None:
    (place / "nemesis.edn").write_text(
        "{:process :nemesis, :type :info, :f :kill, :value nil}\n", encoding="utf-8"
    )

    assert tidemark("check nemesis.edn --engine inline") == 64
    assert tidemark("check nemesis.edn --engine inline --model register") == 0

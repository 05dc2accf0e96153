"""What people see is frozen: standard output, standard error and exit code of each command.

The golden files hold the command, the exit code and the output with times, counts of seconds and
hashes blanked. `TIDEMARK_GOLDEN=write` renews them; read the diff before you commit it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from harness.cli.app import main

GOLDEN = Path(__file__).parent / "golden"
MUTANT = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"

STALE_READ = """\
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\tnil
"""
LOST_WRITE = """\
{:process 0, :type :invoke, :f :send, :value [[:send :x 1] [:send :x 2] [:send :x 3]]}
{:process 0, :type :ok, :f :send, :value [[:send :x [0 1]] [:send :x [2 2]] [:send :x [3 3]]]}
{:process 1, :type :invoke, :f :send, :value [[:send :x 4]]}
{:process 1, :type :info, :f :send, :value [[:send :x 4]]}
{:process 2, :type :invoke, :f :poll, :value [[:poll]]}
{:process 2, :type :ok, :f :poll, :value [[:poll {:x [[1 4] [2 2] [3 3]]}]]}
"""
KEPT_WRITE = LOST_WRITE.replace("{:x [[1 4]", "{:x [[0 1] [1 4]")
FRESH_READ = STALE_READ.replace(":ok\t:read\tnil", ":ok\t:read\t1")

COMMANDS = {
    "certify-pass": "certify --profile migration --world sim --engine inline",
    "certify-fail": "certify --profile migration --world sim --engine inline --rounds 0"
    f" --mutant {MUTANT}",
    "certify-readme": "certify --rule MIG-003 --world sim --engine inline --rounds 0"
    f" --mutant {MUTANT}",
    "certify-one-rule": "certify --profile migration --world sim --engine inline --rounds 0"
    " --rule MIG-003",
    "certify-unknown-rule": "certify --rule MIG-999",
    "certify-unknown-profile": "certify --profile diskless",
    "certify-unknown-world": "certify --world mars",
    "certify-unknown-engine": "certify --world sim --engine abacus",
    "certify-unknown-sut": "certify no-such-file.toml",
    "certify-bad-sut": "certify bad.toml",
    "certify-mutant-of-others": "certify good.toml --mutant x:y",
    "certify-unknown-mutant": "certify --mutant conformance.mutants.boundary:nobody",
    "campaign": "campaign short.toml --world sim --engine inline",
    "campaign-bad": "campaign good.toml",
    "campaign-missing": "campaign nothing-here.toml",
    "check-valid": "check fresh.log --engine inline",
    "check-stale": "check stale.log --engine inline",
    "check-kafka-lost": "check lost.edn --engine inline",
    "check-kafka-valid": "check kept.edn --engine inline",
    "check-ww-deps": "check stale.log --engine inline --ww-deps",
    "check-garbage": "check garbage.bin --engine inline",
    "check-missing": "check nothing-here --engine inline",
    "check-unknown-model": "check stale.log --model tarot",
    "shrink-stale": "shrink stale.log",
    "shrink-kafka": "shrink lost.edn --finding lost-write",
    "shrink-valid": "shrink fresh.log",
    "shrink-unknown-finding": "shrink lost.edn --finding poll-skip",
    "shrink-missing": "shrink nothing-here",
    "shrink-garbage": "shrink garbage.bin",
    "rules": "rules",
    "rules-coverage": "rules --coverage",
    "explain": "explain MIG-015",
    "explain-anomaly": "explain KFK-007",
    "explain-unknown": "explain MIG-3",
    "selfcheck-one-rule": "selfcheck --rule MIG-011",
    "selfcheck-unknown-world": "selfcheck --world docker",
    "selfcheck-survivor": "selfcheck --mutants harmless.py",
    "bench-unknown-row": "bench speed-of-light",
    "compare-one": "compare 1",
    "replay-unknown": "replay 77",
    "report-unknown": "report 77",
    "runs-none": "runs",
    "test-unknown": "test everything",
    "unknown-command": "certfy",
    "unknown-option": "rules --colour",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "stale.log").write_text(STALE_READ, encoding="utf-8")
    (tmp_path / "fresh.log").write_text(FRESH_READ, encoding="utf-8")
    (tmp_path / "lost.edn").write_text(LOST_WRITE, encoding="utf-8")
    (tmp_path / "kept.edn").write_text(KEPT_WRITE, encoding="utf-8")
    (tmp_path / "garbage.bin").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "bad.toml").write_text('[sut]\nname = "x"\nprofile = ["tiered"]\n', "utf-8")
    (tmp_path / "good.toml").write_text(
        '[sut]\nname = "x"\nversion = "1"\nprofiles = ["migration"]\n'
        '[hooks]\ncontrol_plane = "exec:true"\n',
        encoding="utf-8",
    )
    (tmp_path / "short.toml").write_text(
        "name = 'short'\nprofiles = ['migration']\nbrokers = 0\ncontrol_plane = true\n"
        "steps = '''a call create\na hold initialize b0=10 epoch=1\na release'''\n",
        encoding="utf-8",
    )
    (tmp_path / "harmless.py").write_text(
        "from reference_impl.decisions import Mutant, original\n"
        'MUTANTS = (Mutant(name="harmless", decision="is-set",\n'
        '    replace=lambda boundary: original("is-set")(boundary)),)\n',
        encoding="utf-8",
    )
    return tmp_path


def run(words: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def blanked(text: str) -> str:
    text = re.sub(r"\d+\.\d+ s\b", "N s", text)
    text = re.sub(r"median \S+ s", "median N s", text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_output_of_the_command_is_the_golden_one(
    name: str,
    place: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = run(COMMANDS[name], monkeypatch)
    out, err = capfd.readouterr()
    err = "" if code in (0, 1, 2) else err
    shown = blanked(f"$ ./tidemark {COMMANDS[name]}\n{out}{err}exit {code}\n")

    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("TIDEMARK_GOLDEN") == "write":
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")
    # An address stays in one piece, so that it can be copied.
    lines = [line for line in shown.splitlines()[1:] if "https://" not in line]
    assert max(map(len, lines)) <= 100


def test_the_readme_shows_what_the_command_prints() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    golden = (GOLDEN / "certify-readme.txt").read_text(encoding="utf-8")
    shown = golden[golden.index("× MIG-003") : golden.index("exit 1")]

    assert shown in blanked(readme)


def test_every_golden_file_belongs_to_a_command() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted(COMMANDS)


def test_json_stands_alone_on_standard_output(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = run(
        "certify --profile migration --world sim --engine inline --rounds 1 --json", monkeypatch
    )
    document = json.loads(capfd.readouterr().out)

    assert (code, document["verdict"], document["certified"]) == (0, "pass", True)
    assert document == json.loads((place / "runs/1/verdict.json").read_text(encoding="utf-8"))
    certificate = json.loads((place / "runs/1/certificate.json").read_text(encoding="utf-8"))
    assert (certificate["certificate"], "rules" in certificate) == ("CERTIFIED", False)


def test_a_failing_run_has_a_verdict_and_no_certificate(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = run(COMMANDS["certify-fail"], monkeypatch)

    assert code == 1
    assert (place / "runs/1/verdict.json").is_file()
    assert not (place / "runs/1/certificate.json").exists()


def test_comparing_two_runs_shows_where_they_differ(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(COMMANDS["certify-one-rule"], monkeypatch)
    run(COMMANDS["certify-readme"], monkeypatch)
    capfd.readouterr()

    assert run("compare 1 2", monkeypatch) == 0
    assert capfd.readouterr().out.endswith(
        "         1 2\nMIG-003  ✓ ×  pass → FAIL\n\n1 rule: 0 alike, 1 differ\n"
    )


def test_a_judged_run_can_be_shown_again_with_its_exit_code(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(COMMANDS["certify-readme"], monkeypatch)
    capfd.readouterr()

    assert run("report 1", monkeypatch) == 1
    assert "× MIG-003  must" in capfd.readouterr().out


def test_replaying_a_run_records_the_same_history(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("certify --profile migration --world sim --engine inline", monkeypatch)
    run("replay 1", monkeypatch)

    def events(number: int) -> list[bytes]:
        lines = (place / "runs" / str(number) / "history.jsonl").read_bytes().splitlines()
        return lines[1:-1]

    assert events(1) == events(2)


def test_a_run_of_a_mutant_shrinks_to_what_shows_it(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(COMMANDS["certify-readme"], monkeypatch)

    assert run("shrink 1 --finding MIG-003", monkeypatch) == 0
    assert run("check 1.shrunk.jsonl --engine inline", monkeypatch) == 1
    assert (
        "SHRUNK  MIG-003 in 2 operations; nothing of it can be left out" in capfd.readouterr().out
    )

"""The folder decides: the same verdict from it anywhere, and none from one that was edited."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main

CERTIFY = "certify --profile migration --world sim --engine inline --rounds 1"

Run = Callable[[str], int]
Edit = Callable[[Path], None]


@pytest.fixture
def tidemark(monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(words: str) -> int:
        monkeypatch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0)

    return run


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("certified")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr("sys.argv", ["tidemark", *CERTIFY.split()])
        with pytest.raises(SystemExit):
            main()
    assert (place / "runs/1/certificate.json").exists()
    return place / "runs/1"


@pytest.fixture
def copy(certified: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(certified, tmp_path / "runs" / "1"))


def below_the_stages(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index("migration") :]


def test_certify_report_and_check_say_the_same(
    tmp_path: Path,
    tidemark: Run,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    told = []
    for command in (CERTIFY, "report 1", "check 1"):
        assert tidemark(command) == 0
        told.append(below_the_stages(capfd.readouterr().out))

    assert told[0] == told[1] == told[2]


def test_a_copied_folder_that_is_judged_again_gives_the_same_bytes(
    certified: Path, copy: Path, tidemark: Run
) -> None:
    for derived in ("verdict.json", "certificate.json", "hashes.json"):
        (copy / derived).unlink()
    for parquet in copy.rglob("*.parquet"):
        parquet.unlink()

    assert tidemark("check 1") == 0

    for derived in ("verdict.json", "certificate.json", "hashes.json"):
        assert (copy / derived).read_bytes() == (certified / derived).read_bytes()


def edited(name: str, change: Callable[[bytes], bytes]) -> Edit:
    def edit(folder: Path) -> None:
        path = folder / name
        raw = path.read_bytes()
        path.write_bytes(change(raw))
        assert path.read_bytes() != raw

    return edit


def removed(name: str) -> Edit:
    return lambda folder: (folder / name).unlink()


def swapped(raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    lines[5], lines[6] = lines[6], lines[5]
    return b"".join(lines)


def one_less(raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    return b"".join(lines[:7] + lines[8:])


def passed_instead(raw: bytes) -> bytes:
    document: dict[str, Any] = json.loads(raw)
    document["rules"][0]["exercised"] += 1
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


TAMPERED: dict[str, tuple[Edit, str]] = {
    "a byte of the history": (
        edited("history.jsonl", lambda raw: raw.replace(b'"boundary":100', b'"boundary":101', 1)),
        "history.jsonl",
    ),
    "two lines of the history": (edited("history.jsonl", swapped), "history.jsonl"),
    "a line of the history": (edited("history.jsonl", one_less), "history.jsonl"),
    "a line of a shard": (edited("shards/sim-0.jsonl", one_less), "history.jsonl"),
    "a whole shard": (removed("shards/smoke.jsonl"), "history.jsonl"),
    "the header": (
        edited("header.json", lambda raw: raw.replace(b'"seed":1', b'"seed":2', 1)),
        "header.json",
    ),
    "the verdict": (edited("verdict.json", passed_instead), "verdict.json"),
    "an empty verdict": (edited("verdict.json", lambda raw: b""), "verdict.json"),
    "the certificate": (
        edited("certificate.json", lambda raw: raw.replace(b'"sim"', b'"process"', 1)),
        "certificate.json",
    ),
    "no certificate": (removed("certificate.json"), "certificate.json"),
    "a table": (edited("tables/ops.parquet", lambda raw: raw[:-9]), "tables/ops.parquet"),
    "the findings": (removed("findings.parquet"), "findings.parquet"),
    "the hashes": (removed("hashes.json"), "hashes.json"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_an_edited_folder_is_tampered_and_never_passed(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str], what: str
) -> None:
    edit, named = TAMPERED[what]
    edit(copy)

    for command in ("report 1", "check 1 --engine inline"):
        assert tidemark(command) == 2
        out = capfd.readouterr().out
        (headline,) = [line for line in out.splitlines() if line.startswith("TAMPERED")]
        assert named in out
        assert "CERTIFIED" not in out, headline
    assert tidemark("runs") == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert "tampered" in line or "without hashes" in line


def test_a_hash_that_was_computed_anew_does_not_hide_an_edited_verdict(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    from harness.cli.hashes import write_hashes

    edited("verdict.json", passed_instead)(copy)
    write_hashes(copy)

    assert tidemark("report 1") == 2
    assert "verdict.json is not what the evidence gives" in capfd.readouterr().out


def test_an_edited_history_with_a_new_hash_contradicts_the_shards(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    import hashlib

    path = copy / "history.jsonl"
    raw = path.read_bytes().replace(b'"boundary":100', b'"boundary":101', 1)
    body = raw[: raw.rindex(b',"sha256":"')]
    path.write_bytes(body + b',"sha256":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n')

    assert tidemark("report 1") == 2
    assert "is not what the shards hold" in capfd.readouterr().out


def test_a_folder_without_a_plan_is_judged_and_says_what_it_lacks(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    derived = ("verdict.json", "certificate.json", "hashes.json")
    for name in ("shards/lab.jsonl", "history.jsonl", *derived):
        (copy / name).unlink()

    assert tidemark("check 1") == 2
    out = capfd.readouterr().out
    assert "lacks      it has no plan" in out
    assert "\nNO PROOF  for 1 rule" in out


def test_runs_report_and_compare_name_the_mutants(
    tmp_path: Path,
    tidemark: Run,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    mutant = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"
    for _ in range(2):
        tidemark(f"{CERTIFY} --rule MIG-001 --mutant {mutant}")
    capfd.readouterr()

    for command in ("runs", "report 1", "compare 1 2"):
        tidemark(command)
        assert "higher-epoch-moves-the-boundary" in capfd.readouterr().out

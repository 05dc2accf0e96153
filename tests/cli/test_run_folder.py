"""The folder decides: the same verdict from it anywhere, and none from one that was edited."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main
from harness.cli.hashes import hashes_document

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
    "a whole shard": (removed("shards/smoke-migration.jsonl"), "history.jsonl"),
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

    # Both judge again by the same function; one of them for each edit is enough.
    command = ("report 1", "check 1 --engine inline")[list(TAMPERED).index(what) % 2]
    assert tidemark(command) == 2
    out = capfd.readouterr().out
    (headline,) = [line for line in out.splitlines() if line.startswith("TAMPERED")]
    assert named in out
    assert "CERTIFIED" not in out, headline
    assert tidemark("runs") == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert "tampered" in line


def test_among_many_runs_an_edited_one_is_seen(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(copy, copy.parent / "2")
    edited("verdict.json", passed_instead)(copy)

    assert tidemark("check runs --engine inline") == 2
    lines = capfd.readouterr().out.splitlines()
    told = {line.split()[1]: line for line in lines if line.startswith(("?", "✓"))}
    assert told["runs/1"].startswith("?")
    assert told["runs/2"].startswith("✓")


def test_a_hash_that_was_computed_anew_does_not_hide_an_edited_verdict(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    edited("verdict.json", passed_instead)(copy)
    (copy / "hashes.json").write_text(hashes_document(copy), encoding="utf-8")

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


def planned(folder: Path, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """Write the plan anew, as if the run had been recorded so and never judged."""
    for name in ("history.jsonl", "verdict.json", "certificate.json", "hashes.json"):
        (folder / name).unlink()
    path = folder / "shards/lab.jsonl"
    first, plan, *others = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    plans = change(plan)
    others[-1]["lines"] = len(plans) + len(others) - 1
    lines = [json.dumps(one) + "\n" for one in (first, *plans, *others)]
    path.write_text("".join(lines), encoding="utf-8")


PLANS: dict[str, tuple[Callable[[dict[str, Any]], list[dict[str, Any]]], str]] = {
    "two plans": (lambda plan: [plan, plan], "it has 2 plans"),
    "a rule of many": (lambda plan: [plan | {"rules": ["MIG-001"]}], "leaves out MIG-002"),
    "no profile": (lambda plan: [plan | {"examined": []}], "examines no profile that has rules"),
    "another profile": (lambda plan: [plan | {"examined": ["classic"]}], "names other profiles"),
    "unheard-of rules": (lambda plan: [plan | {"rules": ["X-1"]}], "not in this catalogue: X-1"),
    "promises that hurt nothing": (
        lambda plan: [plan | {"parts": [part | {"faults": []} for part in plan["parts"]]}],
        "CONFORMANT WITHOUT FAULTS",
    ),
    "no brokers found": (lambda plan: [plan | {"brokers": 3}], "which of 3 brokers were found"),
    "a part that has no name": (lambda plan: [plan | {"parts": [{}]}], "name must be a text"),
    "a scope unheard of": (
        lambda plan: [plan | {"parts": [{"name": "x", "profile": "y", "scope": "z"}]}],
        "there is no scope 'z'",
    ),
    "a day that is none": (lambda plan: [plan | {"day": "soon"}], "its plan cannot be read"),
    "a waiver without a day": (
        lambda plan: [plan | {"waivers": [{"rule": "MIG-001", "reason": "", "until": "soon"}]}],
        "its plan cannot be read",
    ),
    "rules in one text": (lambda plan: [plan | {"rules": [["MIG-001"]]}], "a list of texts"),
}


@pytest.mark.parametrize("what", PLANS)
def test_a_plan_that_lies_or_cannot_be_read_certifies_nothing(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str], what: str
) -> None:
    change, told = PLANS[what]
    planned(copy, change)

    assert tidemark("check 1 --engine inline") in (0, 2)
    out = capfd.readouterr().out
    assert told in " ".join(out.split())
    assert "\nCERTIFIED" not in out
    assert not (copy / "certificate.json").exists()


def test_a_claimed_profile_is_named_though_no_line_says_why(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    planned(copy, lambda plan: [plan | {"claimed": ["migration", "diskless"]}])

    assert tidemark("check 1") == 0
    assert "unexamined diskless: no reason is given" in capfd.readouterr().out


def test_a_waiver_excuses_no_missing_proof(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    waiver = {"rule": "MIG-001", "reason": "", "until": "2999-01-01"}
    planned(copy, lambda plan: [plan | {"rules": ["MIG-001"], "waivers": [waiver]}])
    shard = copy / "shards/sim-0.jsonl"
    shard.write_bytes(shard.read_bytes()[:-40])

    assert tidemark("check 1") == 2
    assert "NO PROOF  for 1 rule" in capfd.readouterr().out


STRANGE: dict[str, Edit] = {
    "a pipe": lambda path: os.mkfifo(path),
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
    "too deep": lambda path: path.write_text("[" * 100_000) and None,
}


@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.parametrize("name", ["hashes.json", "verdict.json"])
def test_what_is_no_document_is_named_and_not_waited_for(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str], name: str, what: str
) -> None:
    shutil.copytree(copy, copy.parent / "2")
    (copy / name).unlink()
    STRANGE[what](copy / name)

    assert tidemark("report 1") == 2
    assert f"TAMPERED  {name}" in capfd.readouterr().out
    assert tidemark("runs") == 0
    assert name in capfd.readouterr().out
    assert tidemark("compare 1 2") == (64 if name == "verdict.json" else 0)
    told = capfd.readouterr()
    assert name in told.out + told.err


def test_a_shard_that_leads_nowhere_is_named(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy / "shards/smoke-migration.jsonl").unlink()
    (copy / "shards/smoke-migration.jsonl").symlink_to("nowhere")

    assert tidemark("report 1") == 64
    assert "cannot read runs/1/shards/smoke-migration.jsonl" in capfd.readouterr().err


def test_a_verdict_is_never_written_through_a_link(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    outside = copy.parent.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    for name in ("verdict.json", "certificate.json", "hashes.json", "verdicts.parquet"):
        (copy / name).unlink()
    (copy / "verdicts.parquet").symlink_to(outside / "file")
    assert tidemark("check 1") == 0
    assert (outside / "file").read_text() == "mine"

    for name in ("verdict.json", "certificate.json", "hashes.json"):
        (copy / name).unlink()
    shutil.rmtree(copy / "tables")
    (copy / "tables").symlink_to(outside)
    assert tidemark("check 1") == 64
    assert "runs/1/tables is a link" in capfd.readouterr().err
    assert [path.name for path in outside.iterdir()] == ["file"]


def test_a_verdict_that_was_not_kept_to_the_end_is_given_again(
    certified: Path, copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy / "hashes.json").rename(copy / "hashes.json.tmp")
    (copy / "verdict.json").write_text("{")

    assert tidemark("runs") == 0
    assert "not judged" in capfd.readouterr().out
    assert tidemark("check 1") == 0
    assert not list(copy.glob("*.tmp"))
    assert (copy / "verdict.json").read_bytes() == (certified / "verdict.json").read_bytes()


def test_a_header_that_was_taken_away_is_missed(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy / "header.json").unlink()

    for command in ("check 1", "check runs/1", "report 1", "replay 1", "compare 1 1"):
        assert tidemark(command) == 64
        assert "header.json" in capfd.readouterr().err


def test_a_history_that_was_taken_away_is_missed(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy / "history.jsonl").unlink()

    assert tidemark("report 1") == 2
    assert "TAMPERED  history.jsonl is missing" in capfd.readouterr().out


@pytest.mark.parametrize("options", [{}, [], {"sut": 3}, {"mutants": 3, "seed": "x"}])
def test_a_header_that_does_not_say_what_was_asked_is_not_repeated(
    copy: Path, tidemark: Run, capfd: pytest.CaptureFixture[str], options: object
) -> None:
    header = json.loads((copy / "header.json").read_text(encoding="utf-8"))
    (copy / "header.json").write_text(json.dumps(header | {"options": options}), encoding="utf-8")

    assert tidemark("replay 1") == 64
    assert tidemark("runs") == 0
    assert "tampered" in capfd.readouterr().out


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

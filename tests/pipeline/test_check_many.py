"""`check` on a folder or a bucket: a line for each history, the exit code of the worst."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from good_histories import HEADER, KAFKA, events, line, ours, sealed

from harness.cli.app import main
from harness.processes.s3_server import SeaweedServer
from reference_impl.live.object_store import open_object_store

WRONG = ours({5: line(events()[5] | {"stored": {"boundary": 200, "epoch": 5, "reset_epoch": -1}})})
CUT = ours()[:-40]
UNKNOWN = sealed([line(HEADER | {"profiles": ["tarot"]}), *map(line, events())])
FAR = sealed(
    [
        line(HEADER),
        *(line(e | {"process": e["process"] + 2**50, "index": e["index"]}) for e in events()),
    ]
)

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Run `check`: exit code, standard output, standard error."""

    def run(where: str, *options: str) -> tuple[int, str, str]:
        arguments = ["tidemark", "check", where, "--engine", "inline", *options]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, said.out, said.err

    return run


def runs(folder: Path, histories: Mapping[str, bytes]) -> str:
    for name, content in histories.items():
        (folder / name).mkdir()
        (folder / name / "history.jsonl").write_bytes(content)
    return str(folder)


def valid(check: Check, where: str, *options: str) -> dict[str, bool | None]:
    _, out, _ = check(where, "--json", *options)
    return {Path(found["name"]).name: found["valid"] for found in json.loads(out)["histories"]}


def test_every_history_gets_its_verdict(tmp_path: Path, check: Check) -> None:
    histories = {"a": ours(), "b": WRONG, "c": CUT, "d": KAFKA.encode(), "e": UNKNOWN, "f": FAR}
    where = runs(tmp_path, histories)
    expected = {"a": True, "b": False, "c": None, "d": True, "e": None, "f": True}
    assert valid(check, where) == expected


@pytest.mark.parametrize(
    ("histories", "code"),
    [
        ({"a": ours(), "b": ours()}, 0),
        ({"a": ours(), "b": WRONG, "c": CUT}, 1),
        ({"a": ours(), "c": CUT}, 2),
        ({"a": b"", "b": ours()}, 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst(
    histories: dict[str, bytes], code: int, tmp_path: Path, check: Check
) -> None:
    assert check(runs(tmp_path, histories))[0] == code


def test_a_history_has_a_line_and_the_last_one_shows_more_of_the_worst(
    tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    runs(tmp_path / "runs", {"a": ours(), "b": WRONG, "c": CUT})
    _, out, _ = check("runs")
    lines = out.splitlines()
    assert any(text.startswith("✓ runs/a  VALID  3 operations · no proof of ") for text in lines)
    assert any(text.startswith("× runs/b  NOT VALID  3 operations · MIG-001 ×2") for text in lines)
    assert any(text.startswith("? runs/c  DAMAGED  3 operations · no footer") for text in lines)
    assert lines[-2].startswith("NOT VALID  3 histories: 1 damaged, 1 not valid, 1 valid")
    assert lines[-1].endswith("check runs/b")


def test_what_a_history_shows_is_told_as_if_it_were_alone(tmp_path: Path, check: Check) -> None:
    where = runs(tmp_path, {"a": ours(), "b": WRONG})
    _, out, _ = check(where, "--json")
    (together,) = [h for h in json.loads(out)["histories"] if h["name"].endswith("/b")]
    _, out, _ = check(f"{where}/b", "--json")
    alone = json.loads(out)
    for name in ("valid", "model", "ops", "keys", "anomalies", "problems"):
        assert together[name] == alone[name]


def test_a_model_that_is_asked_for_holds_for_all(tmp_path: Path, check: Check) -> None:
    read = {"kind": "op", "index": 0, "time": 0, "clock": "host", "process": 0, "type": "invoke"}
    lines = [read | {"f": "read"}, read | {"f": "read", "index": 1, "type": "ok", "value": 1}]
    history = sealed([line(HEADER), *map(line, lines)])
    where = runs(tmp_path, {"a": history, "b": history})
    assert valid(check, where, "--model", "register") == {"a": False, "b": False}
    assert valid(check, where, "--model", "register", "--initial", "1") == {"a": True, "b": True}


@pytest.mark.process
def test_a_bucket_is_judged_like_a_folder_and_shows_no_keys(tmp_path: Path, check: Check) -> None:
    histories = {"a": ours(), "b": WRONG, "c": CUT}

    async def fill(url: str) -> None:
        for name, content in histories.items():
            await open_object_store(url).put(f"runs/{name}/history.jsonl", content)

    with SeaweedServer() as server:
        url = server.url("judged")
        asyncio.run(fill(url))
        where = url.replace("s3://judged", "s3://judged/runs")
        code, out, err = check(where)
        expected = valid(check, runs(tmp_path, histories))
        assert valid(check, where) == expected
    assert code == 1
    assert "× s3://judged/runs/b  NOT VALID" in out
    assert server.secret_access_key not in out + err

"""What lies around a history: what is no file, a full disk, names that steer a terminal."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.cli.app import main
from harness.cli.progress import printable
from harness.history import Run

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command: exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["tidemark", *words])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, said.out, said.err

    return run


def recorded(folder: Path, **header: str) -> Run:
    run = Run.create(folder, **{"run": "7", "sut": "x", "world": "sim", **header})
    op = {"kind": "op", "clock": "host", "process": 1, "f": "fetch", "topic": "t", "partition": 0}
    with run.shard("client", clock="host") as shard:
        shard.write({**op, "time": 0, "type": "invoke", "offset": 0})
        shard.write({**op, "time": 1, "type": "ok", "error": 0, "high_watermark": 0, "records": []})
    return run


@pytest.mark.parametrize("name", ["header.json", "history.jsonl", "shards/other.jsonl"])
@pytest.mark.parametrize("kind", ["a named pipe", "a socket", "a device"])
def test_what_is_no_file_is_refused_wherever_it_stands_in_a_run(
    tmp_path: Path, call: Call, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded(tmp_path / "run")
    path = run.folder / name
    path.unlink(missing_ok=True)
    if kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        monkeypatch.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(path.name)
    code, _, err = call("check", str(run.folder), "--engine", "inline")

    assert code == 64
    assert f"{kind}:" in " ".join(err.split())


def test_a_pipe_where_sealing_writes_is_put_aside(tmp_path: Path) -> None:
    run = recorded(tmp_path / "run")
    os.mkfifo(run.folder / "history.jsonl.tmp")
    assert run.seal().complete


def test_a_full_disk_is_a_sentence_and_the_recording_is_kept(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded(tmp_path / "runs" / "run")
    before = (run.folder / "shards/client.jsonl").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    for module, name, where in (
        (pq.ParquetWriter, "write_table", "runs/run"),  # the tables of one history
        (pq.ParquetWriter, "write_table", "runs"),  # those of many
        (os, "replace", "runs/run"),  # sealing
        (os, "replace", "runs"),
        (os, "mkdir", "runs/run"),  # the temporary folder
    ):
        run.history.unlink(missing_ok=True)
        with monkeypatch.context() as patched:
            patched.setattr(module, name, full)
            code, _, err = call("check", str(tmp_path / where), "--engine", "inline")
        assert code == 3
        assert "No space left on device" in " ".join(err.split())
        assert "Traceback" not in err
    assert (run.folder / "shards/client.jsonl").read_bytes() == before
    assert call("check", str(run.folder), "--engine", "inline")[0] in (0, 2)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jacme", "\\u001b[2Jacme"),
        ("a\nCERTIFIED", "a\\u000aCERTIFIED"),
        ("a\x9b31m\x85", "a\\u009b31m\\u0085"),
        ("abc\u202edef\u2066", "abc\\u202edef\\u2066"),
        ("Bücher ✓ × 漢字 שלום", "Bücher ✓ × 漢字 שלום"),
    ],
)
def test_only_what_steers_a_terminal_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert json.loads(printable(json.dumps(text, ensure_ascii=False))) == text


def test_a_name_in_a_history_steers_no_terminal(tmp_path: Path, call: Call) -> None:
    run = recorded(tmp_path / "run", profiles=["\x1b[2J\u202e"])  # type: ignore[arg-type]
    code, out, err = call("check", str(run.folder), "--engine", "inline")

    assert code == 64
    assert "\\u001b[2J" in err
    assert not set("\x1b\u202e") & set(out + err)

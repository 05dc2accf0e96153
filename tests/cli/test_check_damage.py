"""What of a damaged history is said, and what a clean one was not held to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import app
from harness.history import Run

HEADER = {"run": "7", "sut": "x", "world": "sim", "profiles": ["classic"]}
TWO_AT_ONE_OFFSET = [
    ("invoke", {"send": "a", "records": [["a", 1]], "acks": -1}),
    ("ok", {"send": "a", "error": 0, "offset": 0}),
    ("invoke", {"send": "b", "records": [["b", 2]], "acks": -1}),
    ("ok", {"send": "b", "error": 0, "offset": 0}),
]


def recorded(folder: Path, offset: int = 0) -> Run:
    """A run in which two records are acknowledged, the second at this offset."""
    run = Run.create(folder, **HEADER)
    with run.shard("client", clock="host") as shard:
        for time, (kind, fields) in enumerate(TWO_AT_ONE_OFFSET):
            if kind == "ok":
                fields = fields | {"offset": offset if fields["send"] == "b" else 0}
            op = {"kind": "op", "time": time, "clock": "host", "process": 1, "type": kind}
            shard.write({**op, "f": "produce", "topic": "t", "partition": 0, **fields})
    return run


def change(path: Path, old: bytes, new: bytes) -> None:
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))


def checked(capfd: pytest.CaptureFixture[str], run: Run) -> tuple[int, dict[str, Any], str]:
    """The exit code, the document, and what is said to people."""
    words = ["check", str(run.folder), "--engine", "inline"]
    code = app([*words, "--json"], standalone_mode=False)
    found, silence = capfd.readouterr()
    assert silence == ""
    assert app(words, standalone_mode=False) == code
    return code, json.loads(found), capfd.readouterr().out


def test_what_a_whole_history_shows_accuses_the_system(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found, said = checked(capfd, recorded(tmp_path / "run"))

    assert (code, found["valid"], found["damaged"]) == (1, False, False)
    assert "KFK-039" in [one["rule"] for one in found["anomalies"]]
    assert "NOT VALID  2 operations" in said


def test_what_a_damaged_one_shows_is_listed_and_accuses_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = recorded(tmp_path / "run")
    run.seal()
    change(run.history, b'["a",1]', b'["a",3]')
    code, found, said = checked(capfd, run)

    assert (code, found["valid"], found["damaged"]) == (2, None, True)
    assert "KFK-039" in [one["rule"] for one in found["anomalies"]]
    assert "in a history that is damaged" in said
    assert "DAMAGED  2 operations" in said
    assert "NOT VALID" not in said
    assert "FAIL" not in said


def test_a_line_lost_from_a_shard_is_damage_and_a_killed_writer_is_not(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    killed, torn = recorded(tmp_path / "killed"), recorded(tmp_path / "torn")
    shard = "shards/client.jsonl"
    change(killed.folder / shard, b'{"kind":"end","lines":4}\n', b'{"kind":"e')
    change(torn.folder / shard, b'"type":"invoke"', b'"type":invoke')

    assert checked(capfd, killed)[0] == 1
    code, found, _ = checked(capfd, torn)
    assert (code, found["damaged"]) == (2, True)


def test_a_valid_history_says_which_rules_it_was_not_held_to(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found, said = checked(capfd, recorded(tmp_path / "run", offset=1))
    unproven = found["unproven"]

    assert (code, found["valid"]) == (0, True)
    assert "KFK-039" not in unproven
    assert "KFK-034" in unproven
    of = f"{found['rules'] - len(unproven)} of {found['rules']} rules (no proof of {len(unproven)})"
    assert f"VALID  2 operations, {of}" in said
    assert all(rule in said for rule in unproven)

"""Histories that strangers may bring: correct ones are not accused, damaged ones not believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import app


def checked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, text: str
) -> dict[str, Any]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    app(["check", str(path), "--json"], standalone_mode=False)
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def op(process: int, kind: str, f: str, value: str) -> str:
    return f"{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n"


def pair(process: int, f: str, asked: str, told: str) -> str:
    return op(process, "invoke", f, asked) + op(process, "ok", f, told)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        pytest.param(pair(1, "write", "nil", "2") + pair(2, "read", "nil", "2"), True, id="chosen"),
        pytest.param(pair(1, "write", "3", "2") + pair(2, "read", "nil", "3"), False, id="changed"),
        pytest.param(
            pair(0, "write", "1", "1")
            + pair(0, "cas", "nil", "[1 2]")
            + pair(1, "read", "nil", "2"),
            True,
            id="chosen pair",
        ),
        pytest.param(
            pair(0, "write", "1", "1")
            + pair(0, "cas", "[1 2]", "true")
            + pair(1, "read", "nil", "1"),
            False,
            id="only told that it worked",
        ),
        pytest.param(
            pair(0, "write", "[1 5]", "[1 5]") + pair(0, "cas", "[1 [5 6]]", "[1 [5 6]]"),
            True,
            id="keys without a read",
        ),
        pytest.param(
            pair(0, "write", "[1 5]", "[1 5]") + pair(0, "cas", "[2 [5 6]]", "[2 [5 6]]"),
            False,
            id="another key",
        ),
        pytest.param(
            pair(0, "write", "#{1 2}", "#{1 2}") + pair(1, "read", "nil", "#{2 1}"), True, id="set"
        ),
        pytest.param(
            pair(0, "write", "[1 2]", "[1 2]") + pair(1, "read", "nil", "[2 1]"), False, id="vector"
        ),
        pytest.param("#_{:a 1}\n[" + pair(1, "write", "2", "2") + "]", True, id="discard before"),
        pytest.param("[" + pair(1, "write", "2", "2") + "#_{:x 1}]", True, id="discard at the end"),
        pytest.param(pair(1, "write", "2", "2") + "#_ #_ 1 {:x 1}", True, id="two discards"),
        pytest.param(
            op(0, "invoke", "write", "1")
            + '{:process 0, :type :info, :f :write, :value 1, :error #object[a.B 0x1f "x"]}'
            + pair(1, "read", "nil", "1"),
            True,
            id="an object",
        ),
    ],
)
def test_what_edn_says_is_what_is_judged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, valid: bool
) -> None:
    found = checked(tmp_path, capfd, "history.edn", text)
    assert (found["valid"], found["problems"]) == (valid, [])


def test_a_mark_before_the_first_line_of_a_console_is_no_part_of_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "\ufeff0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n"
    found = checked(tmp_path, capfd, "console.log", text)
    assert (found["valid"], found["problems"], found["ops"]) == (True, [], 1)


# Sends and polls.


def kafka(*operations: tuple[int, str, str, Any], **options: Any) -> str:
    history = [
        {"index": index, "time": index, "process": process, "type": kind, "f": f, "value": value}
        for index, (process, kind, f, value) in enumerate(operations)
    ]
    return json.dumps({"history": history, **options})


def sent(offset: Any, value: str = "a") -> list[tuple[int, str, str, Any]]:
    asked, told = [["send", "x", value]], [["send", "x", [offset, value]]]
    return [(0, "invoke", "send", asked), (0, "ok", "send", told)]


def polled(*records: list[Any]) -> list[tuple[int, str, str, Any]]:
    told = [["poll", {"x": [*records]} if records else {}]]
    return [(1, "invoke", "poll", [["poll"]]), (1, "ok", "poll", told)]


@pytest.mark.parametrize(
    ("operations", "anomaly"),
    [
        pytest.param([*sent("0"), *polled([0, "a"]), *polled()], "garbage-read", id="send"),
        pytest.param([*sent(0), *polled(["0", "a"]), *polled()], "unseen", id="poll"),
    ],
)
def test_what_could_not_be_read_accuses_nobody(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    operations: list[tuple[int, str, str, Any]],
    anomaly: str,
) -> None:
    found = checked(tmp_path, capfd, "torn.json", kafka(*operations))

    assert anomaly in [one["type"] for one in found["anomalies"]]
    assert found["problems"]
    assert found["valid"] is None


def test_what_was_read_of_a_damaged_history_is_listed_and_accuses_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    operations = [*sent(0), *sent(0, "b"), *polled([0, "a"])]
    for damage, valid in ((sent("2", "c"), None), (sent(2, "c"), False)):
        found = checked(tmp_path, capfd, "torn.json", kafka(*operations, *damage))
        assert "inconsistent-offsets" in [one["type"] for one in found["anomalies"]]
        assert (found["valid"], found["damaged"]) == (valid, valid is None)


def test_the_highest_offset_there_can_be_is_one_like_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    last = 2**63 - 1
    found = checked(
        tmp_path, capfd, "high.json", kafka(*sent(last), *polled([last, "a"]), *polled())
    )
    assert (found["valid"], found["broken"]) == (True, [])

"""Looks of the lab at what a hook shows: they are recorded, in lines that a history can have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.deployments.external import external_deployment
from harness.errors import AdapterError
from harness.history import Run, read_history
from harness.sut import read_sut
from harness.workloads import look_steps
from harness.workloads.look_steps import look_around

FILE = """
[sut]
name = "heron"
version = "1"
profiles = ["migration"]
[hooks]
trace = "file:./trace.jsonl"
"""


def seen(folder: Path, *rows: dict[str, Any]) -> list[tuple[str, Any]]:
    """The steps and probes of one look around, at a trace with these rows."""
    (folder / "sut.toml").write_text(FILE)
    (folder / "trace.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run = Run.create(folder / "run", run="1", sut="heron", world="external")
    with external_deployment(run, read_sut(folder / "sut.toml")) as system:
        assert look_around(system, ("objects", "trace")) == 1
        assert look_around(system, ("objects",)) == 0
    run.seal()
    events = read_history(run.folder / "history.jsonl").events
    return [(one["kind"], one.get("rows")) for one in events if one["kind"] in ("step", "probe")]


def test_what_is_offered_and_wanted_is_looked_at_once(tmp_path: Path) -> None:
    assert seen(tmp_path, {"a": 1}, {"a": 2}) == [("step", None), ("probe", [{"a": 1}, {"a": 2}])]


def test_a_look_that_finds_nothing_is_recorded(tmp_path: Path) -> None:
    assert seen(tmp_path) == [("step", None), ("probe", [])]


def test_what_does_not_fit_into_a_line_takes_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_steps, "LINE_BYTES", 70)
    rows = [{"a": "x" * 10}] * 3

    assert seen(tmp_path, *rows) == [("step", None), ("probe", rows[:2]), ("probe", rows[2:])]


def test_a_row_that_no_history_can_have_is_the_fault_of_the_hook(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(70):
        deep = {"a": deep}

    with pytest.raises(AdapterError, match="trace has a row that no history can have: nested"):
        seen(tmp_path, deep)

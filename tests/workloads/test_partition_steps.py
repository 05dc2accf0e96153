"""Steps on one partition: what clients, the load, the lab and the nemesis do by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.driver import Driver
from conformance.programs import plan_of
from harness.deployments.sim import open_sim
from harness.errors import UsageError
from harness.history import Run
from harness.steps.step import read_steps

pytestmark = pytest.mark.sim


def played(folder: Path, program: str) -> list[dict[str, Any]]:
    """The lines that a program leaves, from its first step on."""
    run = Run.create(folder / "run", run="1", sut="reference", world="sim", seed=1)
    with open_sim(run, plan_of("sim"), seed=1) as on:
        driver = Driver(on, bound_s=10.0)
        driver.play(read_steps(f"lab create\nlab converge\n{program}"))
    run.seal()
    return [json.loads(line) for line in run.history.read_text("utf-8").splitlines()]


def faults(lines: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(one["name"], one["target"], one["phase"]) for one in lines if one["kind"] == "fault"]


def meant(lines: list[dict[str, Any]], verb: str) -> list[dict[str, str]]:
    steps = [one for one in lines if one["kind"] == "step" and one["verb"] == verb]
    return [one.get("resolved", {}) for one in steps]


def test_a_step_says_whom_it_meant_and_why_it_was_skipped(tmp_path: Path) -> None:
    lines = played(
        tmp_path,
        """
        nemesis kill target='leader of t-0'
        nemesis kill target=broker-1
        nemesis heal-all
        """,
    )
    hit, skipped = meant(lines, "kill")
    assert hit == {"target": "broker-1"}
    assert "broker-1" in skipped["skipped"]
    told = [phase for name, _, phase in faults(lines) if name == "kill"]
    assert told == ["begin", "landed", "end"]


def test_a_fault_ends_by_itself_by_its_name_or_by_its_age(tmp_path: Path) -> None:
    lines = played(
        tmp_path,
        """
        nemesis pause target=broker-2 lasts=200 ms=300
        nemesis cut target='broker-1 -> broker-2'
        nemesis isolate target=broker-3
        nemesis end fault=cut
        nemesis heal which=0
        """,
    )
    ended = [(name, target) for name, target, phase in faults(lines) if phase == "end"]
    assert [one for one in ended if one[0] != "assumption-suspended"] == [
        ("pause", "broker-2"),
        ("cut", "broker-3 ↔ controller,broker-1,broker-2"),
        ("cut", "broker-1 → broker-2"),
    ]


def test_an_election_is_trusted_once_the_cluster_was_at_rest(tmp_path: Path) -> None:
    lines = played(tmp_path, "e elect-preferred ask=broker-1\nlab wait ms=1000")
    told = [(one["phase"], one["assumption"]) for one in lines if one["kind"] == "fault"]
    assert told == [("begin", "one-leader"), ("end", "one-leader")]


def test_a_suspended_assumption_is_not_trusted_while_a_broker_is_down(tmp_path: Path) -> None:
    lines = played(tmp_path, "nemesis kill target=broker-3\nlab wait ms=3000")
    told = [phase for name, _, phase in faults(lines) if name == "assumption-suspended"]
    assert told == ["begin"]


def test_an_append_without_an_answer_stays_unknown_and_is_in_the_log(tmp_path: Path) -> None:
    lines = played(tmp_path, "b1 append-blindly at=broker-1\nlab read-all")
    sent = [one for one in lines if one.get("f") == "produce"]
    assert [one["type"] for one in sent] == ["invoke", "info"]
    read = [one["records"] for one in lines if one.get("f") == "fetch" and one["type"] == "ok"]
    assert [row[1] for row in read[-1] or read[-2]] == ["t-1-0", "t-1-1", "t-1-2"]
    assert ("cut", "broker-1 → client-b1", "landed") in faults(lines)


def test_a_batch_that_was_acknowledged_is_not_sent_again(tmp_path: Path) -> None:
    again = "b1 append-blindly at=broker-1 answered=true"
    lines = played(tmp_path, f"{again}\n{again}\nlab wait ms=100")
    sent = [one for one in lines if one.get("f") == "produce"]
    assert [one["type"] for one in sent] == ["invoke", "ok"]


def test_load_goes_on_until_it_ends_and_only_a_known_mix_begins(tmp_path: Path) -> None:
    program = "load begin mix=few seed=1\nlab wait ms=2000\nload end\nlab wait ms=2000"
    lines = played(tmp_path / "known", program)
    (end,) = [number for number, one in enumerate(lines) if one.get("name") == "load"][1:]
    assert len([one for one in lines[:end] if one.get("f") == "produce"]) > 10
    assert [one for one in lines[end:] if one["kind"] == "op"] == []
    with pytest.raises(UsageError, match=r"no mix 'loud'; there are: many, few"):
        played(tmp_path / "unknown", "load begin mix=loud seed=1")

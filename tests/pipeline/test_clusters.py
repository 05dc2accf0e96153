"""The same judging on this machine, on a standalone cluster and behind Spark Connect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clusters import connect_server, standalone
from good_histories import CONSOLE, events, line, ours

from harness.processes.java import java_home_for_spark

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
JUDGE = Path(__file__).with_name("judge_on.py")
WORKERS = 2
COMMAND_S = 600
WRONG = ours({5: line(events()[5] | {"stored": {"boundary": 200, "epoch": 5, "reset_epoch": -1}})})
STALE = CONSOLE.replace(":ok\t:read\t1", ":ok\t:read\tnil")


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """One that keeps the rules and one that does not, to be judged together."""
    folder = tmp_path_factory.mktemp("histories")
    paths = []
    for name, content in {"good": ours(), "wrong": WRONG}.items():
        path = folder / f"{name}.jsonl"
        path.write_bytes(content)
        paths.append(str(path))
    return paths


def python(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A process has one Spark session, so each master has a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"},
    )


def judged_on(master: str, folder: Path, histories: list[str]) -> list[Any]:
    done = python(JUDGE, master, java_home_for_spark(), folder, *histories)
    assert done.returncode == 0, done.stderr
    return [json.loads(text) for text in done.stdout.splitlines()]


def test_a_standalone_cluster_judges_as_this_machine_does(
    tmp_path: Path, histories: list[str]
) -> None:
    with standalone(tmp_path, WORKERS) as master:
        there = judged_on(master, tmp_path, histories)
    here = judged_on("inline", tmp_path, histories)

    assert there == here
    assert {verdict for _, verdict, _ in here} >= {"pass", "fail"}
    (run,) = (tmp_path / "work").glob("app-*")
    assert len([*run.glob("*/stderr")]) == WORKERS


@pytest.mark.slow
def test_a_connect_server_judges_as_this_machine_does(tmp_path: Path, histories: list[str]) -> None:
    with connect_server(tmp_path) as master:
        there = judged_on(master, tmp_path, histories)

    assert there == judged_on("inline", tmp_path, histories)


@pytest.mark.slow
def test_check_takes_the_master_of_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "stale.log"
    path.write_text(STALE)
    with standalone(tmp_path, workers=1) as master:
        done = python("-m", "harness.cli", "check", path, "--master", master, "--json")

    assert (done.returncode, json.loads(done.stdout)["valid"]) == (1, False)


def test_a_cluster_that_is_gone_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "stale.log"
    path.write_text(STALE)
    done = python("-m", "harness.cli", "check", path, "--master", "spark://127.0.0.1:1")

    assert done.returncode == 64
    assert "nobody answers at 127.0.0.1:1" in done.stderr

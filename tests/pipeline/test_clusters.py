"""The same judging on this machine, on a standalone cluster and behind Spark Connect."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from clusters import bare_python, connect_server, standalone
from good_histories import CONSOLE, events, line, ours

from harness.cli.benches.pipeline import recorded
from harness.processes.java import java_home_for_spark

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
JUDGE = Path(__file__).with_name("judge_on.py")
WORKERS = 2
COMMAND_S = 600
LARGE = 35_000
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


def python(*words: str | Path, cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """A process has one Spark session, so each master has a process of its own; `more` of what it
    finds in its environment."""
    given = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
        cwd=cwd,
        env=given | more,
    )


def judged_on(master: str, folder: Path, histories: list[str], **more: str) -> list[Any]:
    words = (JUDGE, master, java_home_for_spark(), folder, *histories)
    done = python(*words, cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    return [json.loads(text) for text in done.stdout.splitlines()]


def test_a_standalone_cluster_judges_as_this_machine_does(
    tmp_path: Path, histories: list[str]
) -> None:
    """One is large enough to be laid out in tasks, and named as somebody in its folder would."""
    large = recorded(tmp_path / "large", LARGE).relative_to(tmp_path)
    histories = [*histories, str(large)]
    with standalone(tmp_path, WORKERS) as master:
        there = judged_on(master, tmp_path, histories)
    here = judged_on("inline", tmp_path, histories)

    assert there == here
    assert {verdict for _, verdict, _ in here} >= {"pass", "fail"}
    assert {verdict for name, verdict, _ in here if name == str(large)} == {"pass"}
    (run,) = (tmp_path / "work").glob("app-*")
    assert len([*run.glob("*/stderr")]) == WORKERS


@pytest.mark.slow
def test_a_connect_server_judges_as_this_machine_does(tmp_path: Path, histories: list[str]) -> None:
    with connect_server(tmp_path) as master:
        there = judged_on(master, tmp_path, histories)

    assert there == judged_on("inline", tmp_path, histories)


@pytest.mark.slow
def test_workers_take_their_python_from_an_archive(tmp_path: Path, histories: list[str]) -> None:
    """As the README says; what is packed here is a Python that tells when it is started."""
    started = tmp_path / "started"
    script = bare_python(tmp_path).read_text().replace("exec", f"echo here >> {started}; exec")
    packed = tmp_path / "environment.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        entry = tarfile.TarInfo("bin/python")
        entry.mode, entry.size = 0o755, len(script)
        archive.addfile(entry, BytesIO(script.encode()))
    with standalone(tmp_path, workers=1) as master:
        there = judged_on(
            master,
            tmp_path,
            histories,
            PYSPARK_PYTHON="./environment/bin/python",
            PYSPARK_SUBMIT_ARGS=f"--archives {packed}#environment pyspark-shell",
        )

    assert there == judged_on("inline", tmp_path, histories)
    assert started.exists()


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "appears", ["*.part", "fault_windows.parquet"], ids=["laying out", "judging"]
)
def test_an_executor_that_is_killed_changes_no_verdict(appears: str, tmp_path: Path) -> None:
    history, scratch = recorded(tmp_path / "run", 300_000), tmp_path / "scratch"
    scratch.mkdir()
    with (
        standalone(tmp_path, WORKERS) as master,
        subprocess.Popen(
            [sys.executable, "-m", "harness.cli", "check", history, "--json", "--master", master],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"TMPDIR": str(scratch), "JAVA_HOME": str(java_home_for_spark())},
        ) as check,
    ):
        while not [*scratch.rglob(appears)] and check.poll() is None:
            time.sleep(0.002)
        killed = executors_in(tmp_path / "work")
        assert check.poll() is None
        os.kill(killed[0], signal.SIGKILL)
        there = json.loads(check.communicate(timeout=COMMAND_S)[0])
    here = python("-m", "harness.cli", "check", history, "--engine", "inline", "--json")

    assert len(killed) == WORKERS
    assert differing(there, json.loads(here.stdout)) == {"engine", "seconds"}
    assert there["rules"] > 50


def executors_in(work: Path) -> list[int]:
    """The Java processes of the applications of a cluster."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            inside = (process / "cwd").readlink().is_relative_to(work)
            if inside and b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in one | other if one.get(name) != other.get(name)}

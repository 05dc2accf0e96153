"""Ctrl-C ends `check` with a sentence, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli.benches.pipeline import recorded
from harness.processes.java import java_home_for_spark

ROOT = Path(__file__).resolve().parents[2]


GONE_S = 60
STARTING, JUDGING = "tidemark-check-*", "**/ops.*/0*.parquet"


@pytest.mark.parametrize(
    ("engine", "lines", "when"),
    [
        ("inline", 30_000, STARTING),
        pytest.param("spark", 1_000, STARTING, marks=pytest.mark.spark),
        pytest.param("spark", 35_000, JUDGING, marks=pytest.mark.spark),
    ],
)
def test_it_says_how_to_go_on(tmp_path: Path, engine: str, lines: int, when: str) -> None:
    history = recorded(tmp_path / "run", lines)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    given = {"PYTHONPATH": str(ROOT), "TMPDIR": str(scratch), "TIDEMARK_CALLED_AS": "tidemark"}
    if engine == "spark":
        given["JAVA_HOME"] = str(java_home_for_spark())
    command = [sys.executable, "-m", "harness.cli", "check", str(history), "--engine", engine]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | given,
    ) as check:
        while not any(scratch.glob(when)) and check.poll() is None:
            time.sleep(0.01)
        check.send_signal(signal.SIGINT)
        _, told = check.communicate(timeout=100)

    assert (check.returncode, told) == (
        130,
        (
            f"tidemark: stopped; what is recorded at {history} is as it was\n"
            f"tidemark: `tidemark check {history} --engine {engine}` begins again\n"
        ),
    )
    assert [*scratch.glob("tidemark-*")] == []
    until = time.monotonic() + GONE_S
    while still_there(check.pid):  # Java ends when it sees that nobody talks to it any more
        assert time.monotonic() < until
        time.sleep(0.01)


def still_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

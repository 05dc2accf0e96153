"""Orders to somebody else's nodes: obeyed, refused, or never ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.sut import AdapterError, CannotConnect
from harness.sut.process_hook import VERBS, ProcessHook

pytestmark = pytest.mark.process


def sh(script: str, folder: Path, **how: float) -> ProcessHook:
    """A shell that knows the verb as $0 and the node as $1."""
    return ProcessHook(["sh", "-c", script], folder, **how)


def test_an_order_is_the_verb_and_the_node_in_the_folder_of_the_file(tmp_path: Path) -> None:
    sh('echo "$0 $1" > told', tmp_path).order("kill", "2")

    assert (tmp_path / "told").read_text() == "kill 2\n"


def test_an_order_that_was_not_obeyed_shows_what_was_said(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"kill 2\) ended with exit code 4\n  it said: no such"):
        sh("echo no such broker >&2; exit 4", tmp_path).order("kill", "2")


def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(CannotConnect, match="cannot be started"):
        ProcessHook(["./no-such-program"], tmp_path).order("start", "1")


def test_what_an_order_leaves_running_keeps_nobody_waiting(tmp_path: Path) -> None:
    script = "sleep 600 & echo $! > started"

    sh(script, tmp_path).order("start", "1")

    left = int((tmp_path / "started").read_text())
    assert Path(f"/proc/{left}").exists()
    sh(f"kill {left}", tmp_path).order("kill", "1")


def test_an_order_that_never_ends_is_ended(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"did not end within 0\.1 s"):
        sh("sleep 600", tmp_path, within_s=0.1).order("pause", "1")


def test_a_program_says_what_it_can_do_besides(tmp_path: Path) -> None:
    assert sh("echo cut heal held", tmp_path).verbs() == {*VERBS, "cut", "heal", "held"}
    assert sh("true", tmp_path).verbs() == set(VERBS)

"""A lab that was killed owes a cluster by address what its next run on that address pays."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.deployments import external_journal
from harness.deployments.external_journal import TOPICS, Journal, pay_what_is_owed
from harness.deployments.external_topics import of_run
from harness.sut import Sut
from harness.sut.model import Hook

pytestmark = pytest.mark.process

ADDRESS = "127.0.0.1:1"
KILLED = """
import os, signal, sys
from pathlib import Path
from harness.deployments import external_journal
from harness.deployments.external_nodes import ExternalNodes
from harness.sut.process_hook import ProcessHook

external_journal.PLACE = Path("journal")
hook = ProcessHook(["./nodes.sh"], Path.cwd())
nodes = ExternalNodes({}, hook, external_journal.Journal(sys.argv[1]))
nodes.pause("broker-1")
nodes.pause("broker-2")
nodes.resume("broker-2")
nodes.cut("broker-1", "controller")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def sut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sut:
    """A system whose hook notes its orders, unless it is told to refuse."""
    monkeypatch.setattr(external_journal, "PLACE", tmp_path / "journal")
    program = tmp_path / "nodes.sh"
    program.write_text('#!/bin/sh\n[ -e refuse ] && exit 1\necho "$@" >> orders\n')
    program.chmod(0o755)
    hook = Hook(name="process", scheme="exec:", target="./nodes.sh")
    return Sut(
        name="heron",
        version="1",
        profiles=("classic",),
        bootstrap=ADDRESS,
        hooks={"process": hook},
        folder=tmp_path,
    )


def killed_half_way(folder: Path) -> None:
    lab = subprocess.run([sys.executable, "-c", KILLED, ADDRESS], cwd=folder, check=False)
    assert lab.returncode == -signal.SIGKILL


def orders(folder: Path) -> list[str]:
    return (folder / "orders").read_text().splitlines()


def test_what_a_killed_lab_did_to_nodes_and_links_is_undone_once(sut: Sut, tmp_path: Path) -> None:
    killed_half_way(tmp_path)

    pay_what_is_owed(sut)
    pay_what_is_owed(sut)

    assert orders(tmp_path)[4:] == ["resume 1", "heal 1 controller"]


def test_what_the_hook_cannot_do_now_stays_owed(sut: Sut, tmp_path: Path) -> None:
    killed_half_way(tmp_path)
    (tmp_path / "refuse").touch()
    assert pay_what_is_owed(sut) == []

    (tmp_path / "refuse").unlink()

    assert pay_what_is_owed(sut) == [("resume", "1"), ("heal", "1", "controller")]


def test_nothing_is_undone_under_a_lab_that_lives(sut: Sut) -> None:
    living = Journal(ADDRESS)
    living.owes("resume", "1")

    assert pay_what_is_owed(sut) == []
    living.close()
    assert pay_what_is_owed(sut) == [("resume", "1")]


def test_another_address_is_none_of_its_business(sut: Sut) -> None:
    other = Journal("127.0.0.1:2")
    other.owes("resume", "1")
    other.close()

    assert pay_what_is_owed(sut) == []


def test_the_topics_of_a_run_stay_owed_while_no_broker_answers(sut: Sut, tmp_path: Path) -> None:
    journal = Journal(ADDRESS)
    journal.owes(TOPICS, "17c0ffee")
    journal.close()

    assert pay_what_is_owed(sut) == []
    assert len(list((tmp_path / "journal").iterdir())) == 1


def test_topics_of_recorded_sequences_are_deleted_by_the_tokens_of_their_plays(
    sut: Sut, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def removed(bootstrap: str, tag: str, tokens: Sequence[str]) -> bool:
        asked.append((bootstrap, tag, tokens))
        return True

    monkeypatch.setattr("harness.deployments.external_topics.remove_topics", removed)
    journal = Journal(ADDRESS)
    journal.owes(TOPICS, "17c0ffee", "d0a1b2c3d", "d4e5f6a7b")
    journal.close()

    assert pay_what_is_owed(sut) == [(TOPICS, "17c0ffee", "d0a1b2c3d", "d4e5f6a7b")]
    assert asked == [(ADDRESS, "17c0ffee", ("d0a1b2c3d", "d4e5f6a7b"))]


@pytest.mark.parametrize(
    ("name", "own"),
    [("classic-x1", True), ("d0a1b2c3d-a", True), ("d0a1b2c3e-a", False)],
)
def test_only_topics_of_the_run_are_deleted(name: str, own: bool) -> None:
    assert of_run("x1", ["d0a1b2c3d"])(name) is own

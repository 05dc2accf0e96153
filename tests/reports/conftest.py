"""Runs to look at: recorded by the commands, once for all tests that show them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.cli.app import main

MUTANT = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"
FAILING = "certify --rule MIG-003 --world sim --engine inline --rounds 0 --mutant " + MUTANT


def tidemark(words: str) -> int:
    """Run a command in this process; its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
        with pytest.raises(SystemExit) as stopped:
            main()
    return int(stopped.value.code or 0)


@pytest.fixture(scope="session")
def failing_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in which a mutant breaks one rule."""
    place = tmp_path_factory.mktemp("failing")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert tidemark(FAILING) == 1
    return place / "runs" / "1"

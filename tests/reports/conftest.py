"""Runs to look at: recorded by the commands, once for all tests that show them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.cli.app import main

MUTANT = "conformance.mutants.boundary:higher-epoch-moves-the-boundary"
CAMPAIGN = Path(__file__).resolve().parents[2] / "nemesis/campaigns/every-role-is-hurt.toml"
FAILING = "certify --rule MIG-003 --world sim --engine inline --rounds 0 --mutant " + MUTANT


def tidemark(words: str) -> int:
    """Run a command in this process; its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["tidemark", *shlex.split(words)])
        with pytest.raises(SystemExit) as stopped:
            main()
    return int(stopped.value.code or 0)


def recorded(place: Path, words: str, code: int) -> Path:
    """The folder of a run made by a command in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert tidemark(words) == code
    return place / "runs" / "1"


@pytest.fixture(scope="session")
def failing_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in which a mutant breaks one rule."""
    return recorded(tmp_path_factory.mktemp("failing"), FAILING, 1)


@pytest.fixture(scope="session")
def passing_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a whole profile that is certified."""
    words = "certify --profile migration --world sim --engine inline --rounds 1"
    return recorded(tmp_path_factory.mktemp("passing"), words, 0)


@pytest.fixture(scope="session")
def unplaceable_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which a search finds no legal order."""
    words = "certify --rule MIG-021 --world sim --engine inline --rounds 1 --mutant "
    mutant = "conformance.mutants.boundary:equal-epoch-moves-the-boundary"
    return recorded(tmp_path_factory.mktemp("unplaceable"), words + mutant, 1)


@pytest.fixture(scope="session")
def campaign_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that hurts every role."""
    words = f"campaign {CAMPAIGN} --world sim --engine inline"
    return recorded(tmp_path_factory.mktemp("campaign"), words, 0)

"""`campaign` and its `replay`: refused before anything is played, or played as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import campaign
from harness.cli.certify import Options
from harness.errors import UsageError
from harness.history import Run

TEXT = "name = 'short'\nprofiles = ['classic']\nsteps = 'lab create'\n"


def test_a_campaign_that_was_changed_since_is_not_played_as_a_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "short.toml"
    file.write_text(TEXT)
    asked = Options(world="sim", engine="inline", out=tmp_path / "run")
    campaign.run(file, asked)
    header = Run.open(tmp_path / "run").header

    assert campaign.replay(header, engine=None, as_json=False) == 2
    file.write_text(TEXT + "brokers = 1\n")
    with pytest.raises(UsageError, match="was changed since"):
        campaign.replay(header, engine=None, as_json=False)


def test_an_engine_that_does_not_exist_is_refused_before_anything_is_recorded(
    tmp_path: Path,
) -> None:
    file = tmp_path / "short.toml"
    file.write_text(TEXT)

    with pytest.raises(UsageError, match="no engine 'abacus'"):
        campaign.run(file, Options(world="sim", engine="abacus", out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()

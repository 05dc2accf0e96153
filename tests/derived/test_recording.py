"""`selfcheck --derived --record`: bars that can fail, and files that are renewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.derived.kept import Kept
from conformance.derived.plays import plays_of
from conformance.derived.rates import CAMPAIGN, read_rates, write_rates
from conformance.derived.survivors import survivors
from conformance.derived.unreached import read_unreached, write_unreached
from conformance.derived.work import Told
from conformance.profiles import PROFILES
from harness.cli import detection
from harness.cli.detection import Options, offered

MIGRATION = PROFILES["migration"]
WHOLE = Options(by=CAMPAIGN, profiles=("migration",), record=True)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where results are kept and rates are recorded."""
    readme = tmp_path / "README.md"
    readme.write_text("<!-- detection --><!-- end of detection -->")
    rates, unreached = tmp_path / "detection.json", tmp_path / "unreached.json"
    monkeypatch.setattr(detection, "kept_results", lambda mutants: tmp_path / "kept.jsonl")
    monkeypatch.setattr(detection, "write_rates", lambda new: write_rates(new, rates, readme))
    monkeypatch.setattr(detection, "write_unreached", lambda new: write_unreached(new, unreached))
    return tmp_path


def known(folder: Path, told: Told, *, but: str = "") -> None:
    """Every mutant was played before, with this outcome; those of one decision were not reached."""
    kept = Kept(folder / "kept.jsonl")
    (offer,) = offered(WHOLE, survivors())
    for mutant in offer.there.values():
        plane = MIGRATION.control_plane(mutant, "sim")
        for play in plays_of("migration", by=CAMPAIGN, world="sim", control_plane=plane):
            reached = mutant.decision != but
            kept.keep(play, told if reached else Told(reached=False), mutant.name)


def test_a_profile_that_reaches_its_bar_passes_and_what_it_lacks_is_recorded(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known(recorded, Told(failed=("MIG-001",)), but="admit-commit")
    assert detection.run(WHOLE) == 0
    (one,) = read_unreached(recorded / "unreached.json")
    assert (one.profile, one.sample, list(one.areas)) == ("migration", 0, ["control_plane"])
    names = one.areas["control_plane"]["admit-commit"]
    assert len(names) == 4
    said = capsys.readouterr().out
    assert "never reached: 4 mutants\ncontrol_plane\n  admit-commit: " in said
    assert all(name in said for name in names)
    assert {row.kind: row.sample for row in read_rates(recorded / "detection.json")} == {
        "python": 0,
        "sql": 0,
    }


def test_a_profile_under_its_bar_fails(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known(recorded, Told())
    assert detection.run(WHOLE) == 1
    assert "× migration, python: under its bar of 90 %" in capsys.readouterr().out

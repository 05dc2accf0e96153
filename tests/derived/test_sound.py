"""`selfcheck --sound`: the reference under several seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.derived.kept import Kept
from conformance.derived.plays import WHOLE, Play
from conformance.derived.sound import THE_REFERENCE, play_seeds
from conformance.derived.work import Told
from harness.cli import sound
from harness.errors import UsageError


@pytest.mark.sim
def test_seeds_of_the_sound_reference_are_clean_and_each_is_played_once(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    told = play_seeds("migration", [3, 4], world="sim", workers=1, kept=kept)
    assert told == {3: Told(), 4: Told()}
    known = kept.read_text()
    assert play_seeds("migration", [3, 4], world="sim", workers=1, kept=kept) == told
    assert kept.read_text() == known


def test_a_rule_that_fails_on_a_seed_is_named_with_what_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.jsonl"
    monkeypatch.setattr(sound, "kept_results", lambda: kept)
    for seed, failed in ((7, ()), (8, ("MIG-001",))):
        play = Play(name=WHOLE, profile="migration", world="sim", seed=seed)
        Kept(kept).keep(play, Told(failed=failed), THE_REFERENCE)
    assert sound.run(profiles=["migration"], seeds=2, first=7, world="sim") == 1
    said = capsys.readouterr().out
    assert "2 seeds, 1 clean" in said
    assert "migration, seed 8: MIG-001" in said
    assert "certify --profile migration --world sim --seed 8" in said


def test_soundness_is_shown_where_the_lab_starts_the_reference() -> None:
    with pytest.raises(UsageError, match="sim or process"):
        sound.run(profiles=[], seeds=1, first=1, world="docker")

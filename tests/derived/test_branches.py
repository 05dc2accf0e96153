"""One sound play that branches shows of mutants what playing each from the start shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.derived import branches as branches_of
from conformance.derived import find_mutant, reference
from conformance.derived.branches import play_branches
from conformance.derived.plays import Play
from conformance.derived.work import play_and_judge

NAMES = ("low-watermark/dropped-47e1", "low-watermark/dropped-cf43")


@pytest.mark.sim
def test_a_branch_is_the_play_of_its_mutant(tmp_path: Path) -> None:
    play = Play(name="leaders-log-start-is-enough", profile="classic", world="sim", program=True)
    mutants = [reference(find_mutant(name)) for name in NAMES]

    sound, branches = play_branches(play, mutants, tmp_path / "branches")

    assert not sound.failed
    assert not sound.broken
    alone = play_and_judge(play, mutants, tmp_path / "alone")
    assert branches[0] == alone[0]
    assert branches[0].failed
    assert not branches[1].reached  # it never answered differently: what it shows is nothing
    assert not alone[1].failed


@pytest.mark.sim
def test_a_copy_that_cannot_be_made_ends_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(old: Path, new: Path) -> None:
        raise OSError("no room for a copy")

    monkeypatch.setattr(branches_of, "_move", fails)
    play = Play(name="leaders-log-start-is-enough", profile="classic", world="sim", program=True)
    mutants = [reference(find_mutant(name)) for name in NAMES]

    sound, told = play_branches(play, mutants, tmp_path / "branches")

    assert (sound.failed, sound.broken) == ((), "")
    assert [one.broken for one in told] == ["its process was ended", ""]
    assert [one.reached for one in told] == [True, False]

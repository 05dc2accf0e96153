"""What is known already: what each play showed of each mutant, line by line in a file.

A line stands for itself, so a measurement that was interrupted goes on where it stopped, and plays
that two plans share are played once. The file belongs to one state of the code. Those of others
beside it say nothing of this one, but which play is likely to show a mutant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.derived.plays import Play
from conformance.derived.work import Told

_PLAYED = 3  # parts of a name that say what is played, and not where


class Kept:
    """Reads once, appends at once; without a file it remembers."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._told: dict[tuple[str, str], Told] = {}
        self._showed: dict[str, str] = {}
        files = [] if file is None else sorted(file.parent.glob("*.jsonl"), key=_age)
        for one in files:
            for said in _lines(one):
                if said["failed"]:
                    self._showed[said["mutant"]] = said["play"]
                if one == file:
                    self._told[said["play"], said["mutant"]] = Told(
                        failed=tuple(said["failed"]),
                        broken=said["broken"],
                        reached=said["reached"],
                    )

    def showed(self, play: Play, mutant: str) -> bool:
        """Whether this was the last play that showed it, in whatever world, levers and code."""
        known = self._showed.get(mutant, "")
        return known.split("/")[:_PLAYED] == _name(play).split("/")[:_PLAYED]

    def told(self, play: Play, mutant: str) -> Told | None:
        """What a play showed, if it was played."""
        return self._told.get((_name(play), mutant))

    def keep(self, play: Play, told: Told, mutant: str) -> None:
        """It was played."""
        name = _name(play)
        self._told[name, mutant] = told
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            said = {
                "play": name,
                "mutant": mutant,
                "failed": told.failed,
                "broken": told.broken,
                "reached": told.reached,
            }
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")


def _age(file: Path) -> float:
    return file.stat().st_mtime


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text("utf-8").split("\n"):
        if line.endswith("}"):  # the last may be torn
            yield json.loads(line)


def _name(play: Play) -> str:
    """All of a play in one word."""
    kind = "program" if play.program else f"{play.rounds}-rounds"
    parts = (play.profile, kind, play.name, play.world, play.control_plane or "", play.levers)
    return "/".join((*parts, str(play.seed)))

"""What is known already: what each play showed of each mutant, line by line in a file.

A line stands for itself, so a measurement that was interrupted goes on where it stopped, and plays
that two plans share are played once. The file belongs to one state of the code.
"""

from __future__ import annotations

import json
from pathlib import Path

from conformance.derived.plays import Play
from conformance.derived.work import Told


class Kept:
    """Reads once, appends at once; without a file it remembers."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._told: dict[tuple[str, str], Told] = {}
        if file is not None and file.exists():
            for line in file.read_text("utf-8").split("\n"):
                if line.endswith("}"):  # the last may be torn
                    said = json.loads(line)
                    self._told[said["play"], said["mutant"]] = Told(
                        failed=tuple(said["failed"]),
                        broken=said["broken"],
                    )

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
            }
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")


def _name(play: Play) -> str:
    """All of a play in one word."""
    kind = "program" if play.program else f"{play.rounds}-rounds"
    parts = (play.profile, kind, play.name, play.world, play.control_plane or "", play.levers)
    return "/".join((*parts, str(play.seed)))

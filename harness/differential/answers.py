"""Recorded answers: what Apache Kafka said to each sequence, one file per sequence.

A file holds the sequence and its answers, so that it can be played again without the code that
wrote the sequence, and without Kafka.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.differential.sequence import RequestSequence

ANSWERS = Path(__file__).with_name("answers")
"""What Apache Kafka said."""


class NoAnswers(LookupError):
    """A folder without recorded answers; comparing with nothing is a mistake, not a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A sequence and the answers of the cluster that is held to be right."""

    oracle: str
    sequence: RequestSequence
    answers: Sequence[Any]

    def write(self, folder: Path) -> None:
        path = folder / f"{self.sequence.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.as_text(), encoding="utf-8")

    def as_text(self) -> str:
        """JSON with one line per request and one per answer, so that a change is a few lines."""
        head = {"oracle": self.oracle, **self.sequence.as_json()}
        del head["steps"]
        steps = ",\n".join(_line(step.as_json()) for step in self.sequence.steps)
        answers = ",\n".join(_line(answer) for answer in self.answers)
        return f'{_line(head)[:-1]}, "steps": [\n{steps}\n], "answers": [\n{answers}\n]}}\n'


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def names_of_recordings(folder: Path = ANSWERS) -> list[str]:
    """What the recorded sequences are called, without reading them."""
    return sorted(str(one.relative_to(folder).with_suffix("")) for one in folder.rglob("*.json"))


def read_recordings(folder: Path = ANSWERS) -> Iterator[Recording]:
    """All recordings below a folder, by name."""
    paths = sorted(folder.rglob("*.json"))
    if not paths:
        raise NoAnswers(f"There are no recorded answers in {folder}.")
    for path in paths:
        said = json.loads(path.read_text(encoding="utf-8"))
        yield Recording(
            oracle=said["oracle"],
            sequence=RequestSequence.from_json(said),
            answers=said["answers"],
        )

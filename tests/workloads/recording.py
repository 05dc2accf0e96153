"""What a world recorded, in words a test can say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.sut.calls import CALLS

Line = dict[str, Any]
WRONG = Path(__file__).with_name("wrong_decisions.py")


def wrong(name: str) -> str:
    """How a system names a mutant of this folder."""
    return f"{WRONG}:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The lines of one world, in the order in which it wrote them."""

    shard: Path
    lines: list[Line]

    def of(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def story(self) -> list[str]:
        """Operations as `node call type error`, invocations as `node call ?`."""
        told = []
        for line in self.of("op"):
            ending = "?" if line["type"] == "invoke" else f"{line['type']} {line['error']}"
            told.append(f"{line['node']} {CALLS[line['f']].alias} {ending}")
        return told

    @property
    def endings(self) -> list[str]:
        """The completions of the story."""
        return [line for line in self.story if not line.endswith("?")]

    def phases(self, fault: str) -> list[str]:
        return [line["phase"] for line in self.of("fault") if line["name"] == fault]

    def evidence(self, fault: str) -> Line:
        """What the landed line of a fault shows."""
        landed = [
            line for line in self.of("fault") if line["name"] == fault and line["phase"] == "landed"
        ]
        assert len(landed) == 1, f"{fault} landed {len(landed)} times"
        found: Line = landed[0]["evidence"]
        return found

    def stored(self, completion: int) -> Line:
        """The state that the n-th completion reported."""
        found: Line = [line for line in self.of("op") if line["type"] != "invoke"][completion]
        return dict(found["stored"])


def read_shard(path: Path) -> list[Line]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if line["kind"] not in ("shard", "end")]


Play = Callable[..., Recording]

"""What a default run never reaches: mutants that never answered otherwise than their original.

In a simulation that is certain (`shadow.py`). By area and decision it says which situations the run
lacks. `unreached.json` has what was measured last, and stands in the report of a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).parents[1] / "unreached.json"
Areas = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreached:
    """What the default run of a profile does not reach: by area and decision, mutants by name.

    Of a `population` a `sample` was drawn, or all were tried (0).
    """

    profile: str
    world: str
    levers: str
    population: int
    sample: int
    areas: Areas

    @property
    def plan(self) -> tuple[str, str, str]:
        """What was played."""
        return (self.profile, self.world, self.levers)


def read_unreached(path: Path = FILE) -> tuple[Unreached, ...]:
    """What was recorded."""
    if not path.exists():
        return ()
    return tuple(Unreached(**one) for one in json.loads(path.read_text("utf-8")))


def write_unreached(new: Sequence[Unreached], path: Path = FILE) -> None:
    """Put these in the place of those of the same plans."""
    rows = {one.plan: one for one in (*read_unreached(path), *new)}
    told = [asdict(rows[plan]) for plan in sorted(rows)]
    path.write_text(f"{json.dumps(told, indent=1)}\n", "utf-8")

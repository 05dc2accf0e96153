"""The recorded self-check: what `rules` and `explain` say about proof without running anything.

`kill_matrix.json` is the golden outcome of `selfcheck` in the simulated world. A test repeats a
sample of it, `./tidemark test slow` all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.selfcheck import statuses
from harness.rules import Status

KILL_MATRIX = Path(__file__).parent / "kill_matrix.json"
LINE_MAP = Path(__file__).parent / "linemap.toml"


def recorded_matrix() -> dict[str, Any]:
    """The golden kill matrix."""
    matrix: dict[str, Any] = json.loads(KILL_MATRIX.read_text(encoding="utf-8"))
    return matrix


def renewed(
    recorded: Mapping[str, Any], fresh: Mapping[str, Any], names: Iterable[str]
) -> dict[str, Any]:
    """The recorded matrix with the rows that were played anew; of mutants by these names alone."""
    rows = {row["mutant"]: row for matrix in (recorded, fresh) for row in matrix["mutants"]}
    return {
        "world": fresh["world"],
        "reference": dict(sorted({**recorded["reference"], **fresh["reference"]}.items())),
        "mutants": [rows[name] for name in sorted(set(names)) if name in rows],
    }


def recorded_statuses() -> dict[str, Status]:
    """What stands behind each rule, as recorded."""
    return statuses(CATALOGUE, [recorded_matrix()])


def mutants_of(rule: str) -> list[dict[str, Any]]:
    """The recorded mutants that name a rule."""
    return [m for m in recorded_matrix()["mutants"] if rule in m["rules"]]

"""Every mutant is caught, by the rules that the recorded matrix names.

Playing all of them takes minutes; by default some of each profile are played, always the same.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.profiles import built_in_mutants, profile_of
from conformance.profiles.profile import AnyMutant
from conformance.proofs import recorded_matrix, renewed
from conformance.selfcheck import kill_matrix

_EACH = 10
"""One of so many mutants of a profile is played by default."""


def test_the_matrix_tells_of_the_mutants_that_there_are() -> None:
    said = [
        {"mutant": one.name, "decision": one.decision, "why": one.why, "rules": list(one.rules)}
        for one in sorted(built_in_mutants("sim").values(), key=lambda one: one.name)
    ]
    rows = recorded_matrix()["mutants"]

    assert [{what: row[what] for what in said[0]} for row in rows] == said
    assert all(row["killed"] for row in rows)


def test_a_sample_of_mutants_is_killed_as_recorded() -> None:
    _killed_as_recorded(_sample())


@pytest.mark.slow
def test_every_mutant_is_killed_as_recorded() -> None:
    _killed_as_recorded(built_in_mutants("sim"))


def _killed_as_recorded(mutants: Mapping[str, AnyMutant]) -> None:
    matrix = kill_matrix(mutants, world="sim", workers=2)
    recorded = recorded_matrix()
    names = [row["mutant"] for row in recorded["mutants"]]
    played: dict[str, Any] = json.loads(json.dumps(matrix.document()))

    assert matrix.sound
    assert [row.mutant.name for row in matrix.survivors] == []
    assert renewed(recorded, played, names) == recorded


def _sample() -> dict[str, AnyMutant]:
    of_profile = defaultdict(list)
    for reference, mutant in sorted(built_in_mutants("sim").items()):
        of_profile[profile_of(mutant).name].append((reference, mutant))
    return dict(one for found in of_profile.values() for one in found[::_EACH])

"""Every anomaly that is planted in a good history is found, where it is, and little else is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from medleys import MICRO_RULES, RULES, WIRE_RULES, violations
from plantings import PLACES, WHOLE, places

from harness.rules import Finding, Level
from spark_checkers.synthetic import MICRO_PLANTS, PLANTS, Plant, Planted

FREE = {rule.id for rule in RULES if rule.level is Level.MAY}

Case = tuple[Planted, dict[str, list[Finding]]]


@cache
def cases(plants: Sequence[Plant], world: str) -> dict[str, list[Case]]:
    """All plants, judged at once."""
    planted = [(plant.name, one) for plant in plants for one in places(plant)]
    under = plants[0].under
    found = violations([one.history for _, one in planted], world=world, under=under)
    result: dict[str, list[Case]] = {plant.name: [] for plant in plants}
    for (name, one), seen in zip(planted, found, strict=True):
        result[name].append((one, seen))
    return result


def cases_of(plant: Plant) -> list[Case]:
    if plant.name == WHOLE:
        return [(one, violations([one.history], world="sim")[0]) for one in places(plant)]
    if plant in PLANTS:
        return cases(PLANTS, "process")[plant.name]
    alike = tuple(one for one in MICRO_PLANTS if one.under == plant.under and one.name != WHOLE)
    return cases(alike, "sim")[plant.name]


def named(plant: Plant) -> str:
    return plant.name


ALL = pytest.mark.parametrize("plant", [*PLANTS, *MICRO_PLANTS], ids=named)


@ALL
def test_there_is_a_history_to_plant_it_in(plant: Plant) -> None:
    assert len(cases_of(plant)) == PLACES


@ALL
def test_it_is_found_where_it_was_planted(plant: Plant) -> None:
    for planted, found in cases_of(plant):
        for rule in plant.found_by:
            assert planted.at & {finding.op for finding in found.get(rule, [])}, (rule, found)


@ALL
def test_only_rules_that_see_the_same_change_object(plant: Plant) -> None:
    for _, found in cases_of(plant):
        others = set(found) - set(plant.found_by) - set(plant.seen_by) - FREE
        assert {rule: found[rule] for rule in others} == {}


def test_every_rule_about_logs_finds_something() -> None:
    """Searches that come to no end, and answers that nobody can read, cannot be planted."""
    found_by = {rule for plant in (*PLANTS, *MICRO_PLANTS) for rule in plant.found_by}

    endless = {"KFK-021", "KFK-022", "KFK-023", "KFK-024", "KFK-026"}
    unreadable = {"KFK-096"}
    assert {rule.id for rule in (*MICRO_RULES, *WIRE_RULES)} - found_by - endless - unreadable == {
        "KFK-013"
    }

"""Two answers side by side."""

from __future__ import annotations

from typing import Any

import pytest

from harness.differential.allowed import Allowed, allowed_paths, read_allowed
from harness.differential.sequence import Step
from harness.history.differences import ABSENT, differences, matches, split_differences


def paths(expected: Any, seen: Any) -> list[str]:
    return [f"{one.path} {one.kind}" for one in differences(expected, seen)]


@pytest.mark.parametrize(
    ("expected", "seen", "told"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["a value"]),
        ({"a": 1}, {"a": True}, ["a value"]),
        ({"a": None}, {"a": 0}, ["a value"]),
        ({"a": 1}, {}, ["a value"]),
        ({}, {"a": 1}, ["a value"]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ["a.b value"]),
        ({"error_message": "x"}, {"error_message": "y"}, ["error_message wording"]),
        ({"error_message": "x"}, {"error_message": None}, ["error_message value"]),
        ({"ids": [1, 2]}, {"ids": [2, 1]}, ["ids[0] value", "ids[1] value"]),
    ],
)
def test_each_field_is_compared_by_value_and_type(expected: Any, seen: Any, told: Any) -> None:
    assert paths(expected, seen) == told


def test_entries_are_matched_by_name_and_not_by_place() -> None:
    expected = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
    seen = [{"name": "b", "n": 2}, {"name": "a", "n": 9}]

    assert paths({"topics": expected}, {"topics": seen}) == ["topics[a].n value", "topics order"]


def test_one_missing_entry_is_one_difference() -> None:
    expected = [{"name": "a"}, {"name": "b"}, {"name": "c"}]

    (one,) = differences(expected, expected[1:])

    assert (one.path, one.expected, one.seen) == ("[a]", {"name": "a"}, ABSENT)


def test_entries_with_the_same_name_are_matched_by_place() -> None:
    expected = [{"name": "a", "n": 1}, {"name": "a", "n": 2}]
    seen = [{"name": "a", "n": 1}, {"name": "a", "n": 3}]

    assert paths(expected, seen) == ["[1].n value"]


def test_a_star_stands_for_anything_and_a_bracket_for_itself() -> None:
    assert matches("api_keys[8]", "api_keys[8]")
    assert not matches("api_keys[8]", "api_keys8")
    assert matches("cluster/*", "cluster/api_versions_0")
    assert not matches("api_keys[8]", "api_keys[8].max_version")


def test_an_excuse_covers_its_paths_in_its_steps_of_its_sequences_only() -> None:
    excuse = Allowed(sequence="cluster/*", paths=["a[*].b"], steps=[2], api="fetch", reason="so")
    step, other = Step(api="fetch", version=4), Step(api="produce", version=4)

    assert allowed_paths([excuse], "cluster/x", 2, step) == ["a[*].b"]
    assert allowed_paths([excuse], "cluster/x", 3, step) == []
    assert allowed_paths([excuse], "fetch/x", 2, step) == []
    assert allowed_paths([excuse], "cluster/x", 2, other) == []


def test_a_difference_outside_the_allowed_paths_is_found_beside_an_excused_one() -> None:
    expected, seen = {"a": [{"b": 1, "c": 1}]}, {"a": [{"b": 2, "c": 2}]}

    found, excused = split_differences(expected, seen, ["a[*].b"])

    assert ([one.path for one in found], excused) == (["a[0].c"], 1)


def test_every_allowed_difference_has_a_reason_that_is_a_sentence() -> None:
    for one in read_allowed():
        assert one.reason.endswith("."), one
        assert one.paths, one

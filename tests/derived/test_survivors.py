"""Mutants that are argued away: the arguments that send a mutant elsewhere can be checked there."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance.derived import find_mutant
from conformance.derived.survivors import Survivor, argued_away, offered_to, survivors
from conformance.profiles import PROFILES, profile_of
from harness.cli.detection import Offer, Options, offered
from reference_impl.decisions import Mutant, decisions, mutated

ROOT = Path(__file__).parents[2]
PLAYED = {name: one for name, one in survivors().items() if one.played_by}
SHOWN = {name: one for name, one in survivors().items() if one.shown_by}


@cache
def offers() -> dict[str, Offer]:
    return {one.profile: one for one in offered(Options(), survivors())}


def test_what_another_profile_plays_is_offered_to_it_and_counts_there() -> None:
    there = {name: {one.name for one in offer.there.values()} for name, offer in offers().items()}
    assert PLAYED
    for name, one in PLAYED.items():
        own = profile_of(find_mutant(name)).name
        assert offered_to(find_mutant(name), survivors()) == (own, one.played_by)
        assert name in there[one.played_by]
        assert argued_away(survivors(), name, own)
        assert not argued_away(survivors(), name, one.played_by)


def test_a_decision_that_a_profile_names_is_its_own_and_made_elsewhere() -> None:
    for profile in PROFILES.values():
        for name in profile.decides:
            function = decisions()[name].function
            assert function is not None
            assert not function.__module__.startswith(profile.decided_in)
            assert name in {one.decision for one in offers()[profile.name].there.values()}
    assert not PROFILES["tiered"].decides & {
        one.decision for one in offers()["classic"].there.values()
    }


def test_an_argument_that_sends_a_mutant_elsewhere_says_where() -> None:
    elsewhere = {
        name
        for name, one in survivors().items()
        if any(word in one.because.lower() for word in ("tiered", "toy", "participant"))
    }
    assert elsewhere == {*PLAYED, *SHOWN}


# ── what no profile reaches, and a test does ─────────────────────────────────────────────────────


def loaded(path: str) -> ModuleType:
    """A file of tests, as pytest imports it: those of some folders find their neighbours there."""
    assert (ROOT / path).is_file()
    folder = str((ROOT / path).parent)
    sys.path.insert(0, folder)
    try:
        return import_module(path.removesuffix(".py").replace("/", "."))
    finally:
        sys.path.remove(folder)


def cases(module: ModuleType) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
    """Its tests that ask for no fixture, with each row of their tables."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or not inspect.isfunction(test):
            continue
        marks = [one for one in getattr(test, "pytestmark", []) if one.name == "parametrize"]
        for rows in product(*map(rows_of, marks)):
            given = {key: value for row in rows for key, value in row.items()}
            if given.keys() == inspect.signature(test).parameters.keys():
                yield test, given


def rows_of(mark: pytest.Mark) -> list[dict[str, Any]]:
    names, table = mark.args
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    return [dict(zip(names, row if len(names) > 1 else [row], strict=True)) for row in table]


def shows(path: str, mutant: Mutant) -> bool:
    """Whether a test of that file fails on it."""
    for test, given in cases(loaded(path)):
        try:
            with mutated(mutant):
                test(**given)
        except Exception:
            return True
    return False


def about(shown: dict[str, Survivor]) -> dict[str, list[str]]:
    by_file: dict[str, list[str]] = {}
    for name, one in shown.items():
        by_file.setdefault(one.shown_by, []).append(name)
    return by_file


@pytest.mark.parametrize("path", about(SHOWN))
def test_the_named_file_passes_and_fails_on_each_mutant_that_it_shows(path: str) -> None:
    for test, given in cases(loaded(path)):
        test(**given)
    missed = []
    for name in about(SHOWN)[path]:
        mutant = find_mutant(name)
        assert isinstance(mutant, Mutant)
        if not shows(path, mutant):
            missed.append(name)
    assert missed == []

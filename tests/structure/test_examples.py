"""The default selection draws the same examples everywhere; exploring draws them anew."""

from __future__ import annotations

import pytest
from hypothesis import settings


def test_examples_are_the_same_on_every_run_unless_asked_for(
    pytestconfig: pytest.Config,
) -> None:
    assert pytestconfig.getoption("--hypothesis-profile") is None
    assert settings.default is not None
    assert settings.default.derandomize


def test_exploring_draws_anew_and_says_how_to_draw_a_failure_again() -> None:
    explore = settings.get_profile("explore")
    assert not explore.derandomize
    assert explore.print_blob
    assert explore.max_examples > settings.get_profile("same").max_examples

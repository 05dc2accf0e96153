"""What was measured last: it reaches the bars, and it is about the mutants that there are."""

from __future__ import annotations

from functools import cache

import pytest

from conformance.derived.rates import (
    BARS,
    CAMPAIGN,
    LEAST_DRAWN,
    Rate,
    is_about_other_mutants,
    read_rates,
)
from conformance.derived.survivors import survivors
from conformance.profiles import PROFILES
from harness.cli.detection import Options, kind_of, offered

ROWS = pytest.mark.parametrize("row", read_rates(), ids=lambda row: "-".join(row.plan))


@cache
def there(world: str) -> dict[tuple[str, str], int]:
    """How many mutants each profile is offered today, by kind."""
    kinds = [
        (offer.profile, kind_of(one))
        for offer in offered(Options(world=world), survivors())
        for one in offer.there.values()
    ]
    return {kind: kinds.count(kind) for kind in set(kinds)}


def test_the_default_run_of_every_profile_has_a_bar_and_was_measured() -> None:
    measured = {row.plan[:1] + row.plan[2:] for row in read_rates()}
    for profile in PROFILES:
        assert (profile, CAMPAIGN, "sim") in BARS
        assert (profile, CAMPAIGN, "sim", "all") in measured


@ROWS
def test_a_recorded_rate_reaches_its_bar(row: Rate) -> None:
    assert not row.is_under_its_bar, f"{row.percent} % and the bar is {row.bar} %"


@ROWS
def test_a_recorded_sample_is_large_enough_and_all_there_were(row: Rate) -> None:
    drawn = row.sample or row.population
    assert row.mutants + row.argued_away == drawn
    assert row.sample == 0 or row.sample >= LEAST_DRAWN


@ROWS
def test_a_recorded_rate_is_about_the_mutants_that_there_are(row: Rate) -> None:
    now = there(row.world)[row.profile, row.kind]
    assert not is_about_other_mutants(row, now), (
        f"it was measured when there were {row.population:,}, and now there are {now:,}; "
        f"to renew it: ./tidemark {row.renewed_by}"
    )

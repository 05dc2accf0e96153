"""What a report says of the rules and the plan without its run."""

from __future__ import annotations

from reports.html.known import unreached
from reports.view import Background, UnreachedRow


def test_what_a_default_run_never_reaches_is_folded_by_area_and_decision() -> None:
    rows = [
        UnreachedRow(profile=profile, area="log", decision=decision, mutants=("a-1", "b-2"))
        for profile, decision in (("classic", "find-duplicate"), ("tiered", "copy-from"))
    ]
    told = str(unreached("classic", Background(unreached=tuple(rows))))
    assert told.startswith("<details><summary>what a default run of classic never reaches: 2 mut")
    assert "find-duplicate" in told
    assert "a-1 b-2" in told
    assert "copy-from" not in told
    assert unreached("migration", Background(unreached=tuple(rows))) == ()

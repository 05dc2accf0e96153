"""What a plan detects: results, resuming, samples, rates, levers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.derived import derived_mutants
from conformance.derived.detection import (
    BROKE,
    DETECTED,
    NOT_REACHED,
    SURVIVED,
    Measurement,
    Result,
    measure,
)
from conformance.derived.kept import Kept
from conformance.derived.outcomes import by_area, by_decision, counting
from conformance.derived.plays import Play, plays_of
from conformance.derived.rates import (
    CAMPAIGN,
    PROGRAMS,
    Rate,
    known_rates,
    read_rates,
    table,
    write_rates,
)
from conformance.derived.survivors import Survivor
from conformance.derived.unreached import Unreached, read_unreached, write_unreached
from conformance.derived.work import Told, TooLong, within
from conformance.profiles import PROFILES
from harness.cli.detection import Options, offered
from harness.errors import UsageError
from harness.sut.lever_sets import LEVER_SETS, reach


@pytest.mark.sim
def test_what_has_threads_is_played_from_the_start(tmp_path: Path) -> None:
    chosen = {ref: one for ref, one in derived_mutants().items() if one.decision == "one-log-dir"}
    (ref, mutant), *_ = chosen.items()
    how = Measurement(by="campaign", world="sim", levers="all", seed=1, workers=1)

    (found,) = measure({ref: mutant}, how)

    assert (found.outcome, found.play) == (DETECTED, "plug-ins")


@pytest.mark.sim
def test_a_measurement_goes_on_where_it_stopped(tmp_path: Path) -> None:
    mutants = [(ref, one) for ref, one in derived_mutants().items() if one.decision == "is-set"]
    chosen = dict(mutants[1:3])  # one answers otherwise, one is negated
    how = Measurement(
        by="programs", world="sim", levers="all", seed=1, workers=1, kept=tmp_path / "kept.jsonl"
    )
    whole = measure(chosen, how)
    assert [one.outcome for one in whole] == [DETECTED] * len(chosen)
    assert all(rule.startswith("MIG-") for one in whole for rule in one.rules)
    known = (tmp_path / "kept.jsonl").read_text()
    with (tmp_path / "kept.jsonl").open("a") as file:
        file.write('{"play": "migr')  # the line that was being written
    assert measure(chosen, how) == whole
    assert (tmp_path / "kept.jsonl").read_text().startswith(known)
    assert len((tmp_path / "kept.jsonl").read_text().split("\n")) == len(chosen) + 1


def result(mutant: str, outcome: str) -> Result:
    return Result(mutant=mutant, decision=mutant.partition("/")[0], outcome=outcome)


def test_what_is_argued_away_counts_only_if_it_is_detected_after_all() -> None:
    argued = {
        name: Survivor(mutant=name, kind="equivalent", because="…") for name in ("d/b", "d/c")
    }
    results = [
        result("d/a", SURVIVED),
        result("d/b", SURVIVED),
        result("d/c", DETECTED),
        result("d/d", NOT_REACHED),
        result("d/e", BROKE),
    ]
    (row,) = by_decision(results, argued)
    counts = (row.detected, row.survived, row.not_reached, row.broke, row.argued_away)
    assert counts == (1, 1, 1, 1, 1)


def rate(**changed: object) -> Rate:
    said = {
        "profile": "classic",
        "kind": "python",
        "by": "campaign",
        "world": "sim",
        "levers": "all",
        "mutants": 3,
        "detected": 2,
        "argued_away": 1,
        "population": 4,
    }
    return Rate(**{**said, **changed})  # type: ignore[arg-type]


def test_a_rate_takes_the_place_of_the_one_before_and_stands_in_the_docs(tmp_path: Path) -> None:
    file, readme = tmp_path / "detection.json", tmp_path / "README.md"
    readme.write_text("a\n<!-- detection -->\nold\n<!-- end of detection -->\nb\n")
    write_rates([rate(), rate(kind="sql", mutants=4, detected=4)], file, readme)
    write_rates([rate(detected=3)], file, readme)
    assert read_rates(file) == (rate(detected=3), rate(kind="sql", mutants=4, detected=4))
    assert table(read_rates(file)) in readme.read_text()
    assert "old" not in readme.read_text()
    (known,) = known_rates(("classic",), file)
    assert (known.detected, known.of, known.percent) == (7, 7, 100)
    assert (known.population, known.sample) == (8, 0)
    assert known_rates(("migration",), file) == ()


def test_a_rate_of_several_kinds_says_of_how_many_they_were_drawn(tmp_path: Path) -> None:
    file, readme = tmp_path / "detection.json", tmp_path / "README.md"
    readme.write_text("<!-- detection --><!-- end of detection -->")
    write_rates([rate(population=100, sample=60), rate(kind="sql")], file, readme)
    (known,) = known_rates(("classic",), file)
    assert (known.population, known.sample) == (104, 64)
    assert "60 of 100 python" in readme.read_text()


def test_a_percentage_never_says_more_than_was_seen() -> None:
    assert rate(mutants=3, detected=2).percent == 66


def test_a_sample_is_the_same_each_time_and_from_every_large_decision() -> None:
    drawn = offered(Options(sample=240, profiles=("classic",)))
    assert drawn == offered(Options(sample=240, profiles=("classic",)))
    (classic,) = drawn
    assert len(classic.drawn) == 240
    sizes = Counter(one.decision for one in classic.there.values())
    large = {name for name, size in sizes.items() if size > len(classic.there) / 240}
    assert large
    assert large <= {one.decision for one in classic.drawn.values()}


def test_every_profile_has_a_sample_of_its_own() -> None:
    assert {one.profile: len(one.drawn) for one in offered(Options(sample=48))} == dict.fromkeys(
        PROFILES, 48
    )


def test_a_mutant_that_only_another_profile_plays_is_offered_to_both() -> None:
    name = "event-superseded/answers-fa5b"
    entry = {name: Survivor(mutant=name, kind="equivalent", because="…", played_by="tiered")}
    both = offered(Options(decisions=("event-superseded",)), entry)
    assert [one.profile for one in both] == ["classic", "tiered"]
    assert [one.name for one in both[1].there.values()] == [name]
    results = [replace(result(name, SURVIVED), profile=one.profile) for one in both]
    assert counting(results, entry) == results[1:]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(by="luck"), "measured by programs or campaign"),
        (Options(world="docker"), "sim or process"),
        (Options(levers="hammer"), "there are no levers"),
        (Options(sample=-1), "a sample has"),
        (Options(record=True, decisions=("is-set",)), "only a whole measurement"),
        (Options(record=True, sample=47), "a sample of 47 says too little to be recorded"),
    ],
)
def test_what_cannot_be_measured_is_told(options: Options, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        offered(options)


def _never_ends() -> None:
    while True:
        pass


def test_what_does_not_end_is_ended() -> None:
    with pytest.raises(TooLong, match="did not end within"), within(0.05, of_cpu=True):
        _never_ends()


@pytest.mark.parametrize(
    ("offered", "started", "found"),
    [
        ((), False, "address"),
        (("kill", "pause"), False, "address"),
        (("kill", "pause", "wipe"), False, "process-hook"),
        (("kill", "pause", "wipe", "cut", "delay"), False, "process-hook-and-cuts"),
        (("kill", "pause", "wipe", "cut", "delay", "stop"), True, "all"),
        (("kill", "pause", "wipe", "stop"), True, "process-hook"),
    ],
)
def test_the_reach_is_the_largest_set_that_is_offered_whole(
    offered: tuple[str, ...], started: bool, found: str
) -> None:
    assert reach(offered, started=started) == found
    assert found in LEVER_SETS


def test_plans_share_the_stages_that_are_lists_of_steps() -> None:
    programs = plays_of("classic", by=PROGRAMS, world="sim")
    campaign = plays_of("classic", by=CAMPAIGN, world="sim")
    scripted = {one.name for one in programs if not one.program}
    assert scripted
    assert {one for one in campaign if one.name in scripted} <= set(programs)


def test_what_showed_a_mutant_in_one_world_is_played_first_in_another(tmp_path: Path) -> None:
    simulated, live, other = (
        Play(name=name, profile="classic", world=world)
        for name, world in (("races", "sim"), ("races", "process"), ("edges", "process"))
    )
    Kept(tmp_path / "other-code.jsonl").keep(simulated, Told(failed=("KFK-030",)), "d/a")
    kept = Kept(tmp_path / "this-code.jsonl")
    assert kept.showed(live, "d/a")
    assert not kept.showed(other, "d/a")
    assert kept.told(live, "d/a") is None


def test_what_is_not_reached_is_kept_by_area_and_decision(tmp_path: Path) -> None:
    unreached = [
        result(name, outcome)
        for name, outcome in (
            ("route-read/b", NOT_REACHED),
            ("route-read/a", SURVIVED),
            ("find-duplicate/a", NOT_REACHED),
            ("find-duplicate/b", NOT_REACHED),
        )
    ]
    argued = {
        "find-duplicate/b": Survivor(mutant="find-duplicate/b", kind="legal", because="…"),
    }
    areas = by_area(unreached, argued)
    assert areas == {"log": {"find-duplicate": ["a"]}, "partitions": {"route-read": ["b"]}}

    plan = Unreached(
        profile="classic", world="sim", levers="all", population=9, sample=0, areas=areas
    )
    other = replace(plan, profile="tiered")
    write_unreached([plan, other], tmp_path / "unreached.json")
    write_unreached([replace(plan, areas={})], tmp_path / "unreached.json")
    assert read_unreached(tmp_path / "unreached.json") == (replace(plan, areas={}), other)


def test_a_rate_below_its_bar_is_found() -> None:
    at = rate(mutants=100, detected=80)
    assert (at.bar, at.is_under_its_bar) == (80, False)
    assert replace(at, detected=79).is_under_its_bar
    assert not replace(at, detected=0, levers="address").is_under_its_bar  # it has none
    assert not rate(mutants=0, detected=0).is_under_its_bar
